/* The constants of NCCL's model from catalog/nccl.yaml. */
#include "exchange/nccl.h"
#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pace_nccl_algorithm_names[PACE_NCCL_ALGORITHMS] = {"tree",      "ring", "nvls",
                                                                     "nvls_tree", "pat",  "direct"};
int pace_nccl_algorithm_find(const char *word, size_t length) {
    static const char logged[] = "nvlstree"; /* NCCL_ALGO and logs write NVLSTree */
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++) {
        const char *name = pace_nccl_algorithm_names[a];
        if (strlen(name) == length && pace_strncasecmp(word, name, length) == 0) return a;
    }
    return length == sizeof logged - 1 && pace_strncasecmp(word, logged, length) == 0 ? PACE_NCCL_NVLSTREE : -1;
}

const char *const pace_nccl_protocol_names[PACE_NCCL_PROTOCOLS] = {"ll", "ll128", "simple"};

static pace_status read_list(double *out, int *count, size_t most, const pace_yaml *yaml, const pace_yaml_node *list) {
    size_t n = pace_yaml_count(list);
    if (!pace_yaml_is_list(list) || n == 0 || n > most || (!count && n != most))
        return pace_yaml_fail(yaml, list, "expected a list of %zu numbers", most);
    for (size_t i = 0; i < n; i++) PACE_TRY(pace_yaml_number(&out[i], yaml, pace_yaml_item(list, i)));
    if (count) *count = (int)n;
    return PACE_OK;
}

static pace_status read_words(bool *out, const pace_yaml *yaml, const pace_yaml_node *list, const char *const *names,
                              int count) {
    PACE_YAML_EACH (one, list) {
        const char *word = pace_yaml_text(one);
        int k = 0;
        while (k < count && (!word || strcmp(word, names[k]) != 0)) k++;
        if (k == count) return pace_yaml_fail(yaml, one, "unknown word");
        out[k] = true;
    }
    return PACE_OK;
}

/* {tree: [LL, LL128, Simple], …} in microseconds. */
static pace_status read_latencies(double out[][PACE_NCCL_PROTOCOLS], const pace_yaml *yaml, const pace_yaml_node *map) {
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++) {
        const pace_yaml_node *list = pace_yaml_get(map, pace_nccl_algorithm_names[a]);
        if (!list) continue;
        PACE_TRY(read_list(out[a], NULL, PACE_NCCL_PROTOCOLS, yaml, list));
        for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++) out[a][p] *= 1e-6;
    }
    return PACE_OK;
}

/* What a line that does not say has; NAN = each line has to say. */
static const struct {
    const char *key;
    size_t offset;
    double otherwise, unit;
} scalars[] =
    {
        {"ring_ll_share", offsetof(pace_nccl, ring_ll_share), NAN, 1},
        {"ring_ll128_share", offsetof(pace_nccl, ring_ll128_share), NAN, 1},
        {"tree_share", offsetof(pace_nccl, tree_share), NAN, 1},
        {"tree_ll_share", offsetof(pace_nccl, tree_ll_share), NAN, 1},
        {"pat_share", offsetof(pace_nccl, pat_share), 0, 1},
        {"pat_hops", offsetof(pace_nccl, pat_hops), 1, 1},
        {"pat_rank_us", offsetof(pace_nccl, pat_rank_s), 0, 1e-6},
        {"ring_cap_sm80", offsetof(pace_nccl, ring_cap_sm80), INFINITY, 1},
        {"intra_ll_factor", offsetof(pace_nccl, intra_ll_factor), 1, 1},
        {"plateau", offsetof(pace_nccl, plateau), 1, 1},
        {"plateau_old", offsetof(pace_nccl, plateau_old), 0, 1},
        {"nic_latency", offsetof(pace_nccl, nic_latency), 0, 1},
        {"nvls_tree_devices", offsetof(pace_nccl, nvls_tree_devices), 0, 1},
        {"net_overhead_us", offsetof(pace_nccl, net_overhead_s), 0, 1e-6},
},
  tiers[] = {
      {"ll_max", offsetof(pace_nccl, ll_max), INFINITY, 1},
      {"ring_ll128", offsetof(pace_nccl, ring_ll128), INFINITY, 1},
      {"tree_ll128", offsetof(pace_nccl, tree_ll128), INFINITY, 1},
      {"tree", offsetof(pace_nccl, tree), INFINITY, 1},
      {"nvls_tree", offsetof(pace_nccl, nvls_tree), 0, 1},
};

static double *number_at(pace_nccl *nccl, size_t offset) { return (double *)(void *)((char *)nccl + offset); }

static pace_status read_constants(pace_nccl *out, const pace_yaml *yaml, const pace_yaml_node *line) {
    PACE_TRY(read_latencies(out->base_s, yaml, pace_yaml_get(line, "base_us")));
    PACE_TRY(read_latencies(out->nvlink_s, yaml, pace_yaml_get(line, "nvlink_us")));
    PACE_TRY(read_latencies(out->pci_s, yaml, pace_yaml_get(line, "pci_us")));
    PACE_TRY(read_latencies(out->net_s, yaml, pace_yaml_get(line, "net_us")));
    for (size_t i = 0; i < PACE_COUNT(scalars); i++) {
        const pace_yaml_node *node = pace_yaml_get(line, scalars[i].key);
        double *field = number_at(out, scalars[i].offset);
        *field = scalars[i].otherwise;
        if (node) PACE_TRY(pace_yaml_number(field, yaml, node));
        if (isnan(*field)) return pace_yaml_fail(yaml, line, "expected %s", scalars[i].key);
        *field *= scalars[i].unit;
    }
    out->tree_cap[0] = out->tree_cap[1] = INFINITY;
    const pace_yaml_node *cap = pace_yaml_get(line, "tree_cap");
    if (cap) PACE_TRY(read_list(out->tree_cap, NULL, 2, yaml, cap));
    PACE_TRY(read_list(out->tree_ll128_share, NULL, 2, yaml, pace_yaml_get(line, "tree_ll128_share")));
    for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++)
        PACE_TRY(read_list(out->correction[p], &out->corrections, PACE_NCCL_CORRECTIONS, yaml,
                           pace_yaml_get(pace_yaml_get(line, "tree_correction"), pace_nccl_protocol_names[p])));
    return PACE_OK;
}

/* The last entry whose generation is not younger. */
static pace_status pick_generation(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *list,
                                   int generation) {
    *out = NULL;
    PACE_YAML_EACH (one, list) {
        double from;
        const pace_yaml_node *entry = one, *node = pace_yaml_get(entry, "from");
        if (!node) return pace_yaml_fail(yaml, entry, "expected \"from\"");
        PACE_TRY(pace_yaml_number(&from, yaml, node));
        if (generation >= from) *out = entry;
    }
    if (*out) return PACE_OK;
    return pace_yaml_fail(yaml, list, "no entry for generation %d", generation);
}

static pace_status read_generation(pace_nccl *out, const pace_yaml *yaml, const pace_yaml_node *line, int generation) {
    const pace_yaml_node *entry;
    PACE_TRY(pick_generation(&entry, yaml, pace_yaml_get(line, "generations"), generation));
    for (size_t i = 0; i < PACE_COUNT(tiers); i++) {
        const pace_yaml_node *list = pace_yaml_get(entry, tiers[i].key);
        double *field = number_at(out, tiers[i].offset);
        for (int k = 0; k < PACE_NCCL_TIERS; k++) field[k] = tiers[i].otherwise;
        if (list) PACE_TRY(read_list(field, NULL, PACE_NCCL_TIERS, yaml, list));
    }
    const pace_yaml_node *efficiency = pace_yaml_get(entry, "nvls_efficiency"), *sends,
                         *search = pace_yaml_get(pace_yaml_root(yaml), "search");
    if (efficiency) PACE_TRY(pace_yaml_number(&out->nvls_efficiency, yaml, efficiency));
    sends = pace_yaml_get(pace_yaml_root(yaml), "sends");
    PACE_TRY(pick_generation(&entry, yaml, pace_yaml_get(sends, "generations"), generation));
    PACE_TRY(pace_nccl_sends_read(&out->sends, yaml, sends, entry));
    PACE_TRY(pace_yaml_number(&out->net_share, yaml, pace_yaml_get(search, "net_share")));
    PACE_TRY(pace_yaml_number(&out->least_filled, yaml, pace_yaml_get(search, "least_filled")));
    PACE_TRY(pick_generation(&entry, yaml, pace_yaml_get(pace_yaml_root(yaml), "links"), generation));
    PACE_TRY(pace_yaml_number(&out->link_share, yaml, pace_yaml_get(entry, "share")));
    return read_list(out->speeds, &out->speed_count, PACE_NCCL_SPEEDS, yaml, pace_yaml_get(entry, "speeds"));
}

static const char *const reached_names[PACE_REACHED_KINDS] = {"ll",           "ll128",         "simple",
                                                              "pcie",         "switch",        "sends",
                                                              "direct",       "across",        "across_ll",
                                                              "across_ll128", "across_switch", "across_xgmi"};
static const char *const stack_names[PACE_STACKS] = {"current",     "unsaid",    "older",
                                                     "one_process", "framework", "belief"};

static pace_status read_host(pace_nccl_host *out, const pace_yaml *yaml, const pace_yaml_node *map) {
    const struct {
        const char *key;
        double *field, unit;
    } all[] = {{"call_us", &out->call_s, 1e-6},
               {"device_us", &out->device_s, 1e-6},
               {"send_us", &out->send_s, 1e-6},
               {"channels_us", &out->channels_s, 1e-6},
               {"spread", &out->spread, 1}};
    for (size_t i = 0; i < PACE_COUNT(all); i++) {
        const pace_yaml_node *node = pace_yaml_get(map, all[i].key);
        if (!node) continue;
        PACE_TRY(pace_yaml_number(all[i].field, yaml, node));
        *all[i].field *= all[i].unit;
    }
    return PACE_OK;
}

/* What is not said of the stack: on devices as young as the current library, and on AMD's, nothing else runs. */
static pace_status read_reached(pace_nccl_reached *out, const pace_yaml *yaml, int generation) {
    const pace_yaml_node *root = pace_yaml_get(pace_yaml_root(yaml), "reached"), *hosts = pace_yaml_get(root, "hosts");
    const struct {
        const char *key;
        double *list;
    } lists[] = {{"wait", out->wait}, {"least", out->least}, {"fill", out->fill}, {"bytes", out->bytes}};
    const pace_yaml_node *entry;
    PACE_TRY(pick_generation(&entry, yaml, pace_yaml_get(root, "generations"), generation));
    PACE_TRY(pace_yaml_number(&out->launch, yaml, pace_yaml_get(entry, "launch")));
    PACE_TRY(pace_yaml_number(&out->hop, yaml, pace_yaml_get(entry, "hop")));
    PACE_TRY(pace_yaml_number(&out->foreign, yaml, pace_yaml_get(entry, "spread")));
    PACE_TRY(pace_yaml_number(&out->own_part, yaml, pace_yaml_get(root, "own_part")));
    PACE_TRY(pace_yaml_number(&out->own_copy, yaml, pace_yaml_get(root, "own_copy")));
    PACE_TRY(pace_yaml_number(&out->full_channels_bytes, yaml, pace_yaml_get(root, "full_channels_bytes")));
    for (size_t i = 0; i < PACE_COUNT(lists); i++)
        for (int k = 0; k < PACE_REACHED_KINDS; k++) {
            bool across = k >= PACE_REACHED_ACROSS;
            const pace_yaml_node *map = pace_yaml_get(root, across ? reached_names[k] : lists[i].key);
            const pace_yaml_node *node = pace_yaml_get(map, across ? lists[i].key : reached_names[k]);
            if (!node)
                return pace_fail(PACE_E_INPUT, "nccl.yaml: reached: expected %s of %s", lists[i].key, reached_names[k]);
            PACE_TRY(pace_yaml_number(&lists[i].list[k], yaml, node));
        }
    for (int s = 0; s < PACE_STACKS; s++)
        PACE_TRY(read_host(&out->host[s], yaml, pace_yaml_get(hosts, stack_names[s])));
    if (generation > 80 || generation == 0) {
        out->host[PACE_STACK_UNSAID] = out->host[PACE_STACK_CURRENT];
        out->host[PACE_STACK_ONE_PROCESS].channels_s = 0;
    }
    return PACE_OK;
}

/* The number behind "2."; -1 = no such version. */
static int minor_of(const char *version) {
    return version && strncmp(version, "2.", 2) == 0 && pace_is_digit(version[2]) ? atoi(version + 2) : -1;
}

/* The line of that name; else the newest that is not newer than the version, or the oldest: lines are listed from old
 * to new. */
static const pace_yaml_node *find_line(const pace_yaml *yaml, const char *version) {
    const pace_yaml_node *lines = pace_yaml_get(pace_yaml_root(yaml), "lines"), *found = NULL;
    int minor = minor_of(version);
    PACE_YAML_EACH (one, lines) {
        const char *name = pace_yaml_text_of(one, "name");
        int of_line = minor_of(name);
        if (name && version && strcmp(name, version) == 0) return one;
        if (minor < 0) continue;
        if (!found || (of_line >= 0 && of_line <= minor)) found = one;
    }
    return found;
}

static pace_status read_line(pace_nccl *out, const pace_yaml *yaml, const char *name, int generation) {
    const pace_yaml_node *line = find_line(yaml, name);
    if (!line) return pace_fail(PACE_E_MISSING, "NCCL %.20s: expected a version such as 2.7 or 2.30, or rccl", name);
    snprintf(out->line, sizeof out->line, "%.7s", pace_yaml_text_of(line, "name"));
    PACE_TRY(read_words(out->algorithms, yaml, pace_yaml_get(line, "algorithms"), pace_nccl_algorithm_names,
                        PACE_NCCL_ALGORITHMS));
    PACE_TRY(read_words(out->protocols, yaml, pace_yaml_get(line, "protocols"), pace_nccl_protocol_names,
                        PACE_NCCL_PROTOCOLS));
    const char *like = pace_yaml_text_of(line, "like");
    if (like) line = find_line(yaml, like);
    if (!line) return pace_fail(PACE_E_INPUT, "nccl.yaml: line %s is like one that is not there", name);
    PACE_TRY(read_constants(out, yaml, line));
    PACE_TRY(read_reached(&out->reached, yaml, generation));
    return read_generation(out, yaml, line, generation);
}

pace_status pace_nccl_check_age(pace_catalog *catalog, const pace_machine *machine, const char *version) {
    const pace_yaml *yaml;
    const pace_yaml_node *entry;
    if (minor_of(version) < 0 || machine->generation <= 0) return PACE_OK;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "nccl.yaml"));
    PACE_TRY(pick_generation(&entry, yaml, pace_yaml_get(pace_yaml_root(yaml), "devices"), machine->generation));
    const char *since = pace_yaml_text_of(entry, "since");
    if (!since || minor_of(version) >= minor_of(since)) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "NCCL %.10s does not know the devices of %.60s: expected %s or newer", version,
                     machine->name, since);
}

/* FNV-1a: two that are alike in it are alike in every constant. */
static uint64_t fingerprint(const pace_nccl *nccl) {
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)nccl;
    for (size_t i = 0; i < sizeof *nccl; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

pace_status pace_nccl_load(pace_nccl *out, pace_catalog *catalog, const char *line, int generation) {
    const pace_yaml *yaml;
    pace_nccl nccl = {0};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "nccl.yaml"));
    pace_status status = read_line(&nccl, yaml, line, generation);
    if (status != PACE_OK) return status;
    nccl.fingerprint = fingerprint(&nccl);
    *out = nccl;
    return PACE_OK;
}
