#include "exchange/approaches.h"
#include "base/decimal.h"
#include "base/numbers.h"
#include "base/text.h"
#include "exchange/algorithms.h"
#include "base/print.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

const char *const pace_approach_family_names[PACE_APPROACH_FAMILIES] = {
    [PACE_APPROACH_ALLREDUCE] = "allreduce", [PACE_APPROACH_SERVER] = "server", [PACE_APPROACH_DEVICE] = "device",
    [PACE_APPROACH_BYTEPS] = "byteps",       [PACE_APPROACH_PEARL] = "pearl",
};

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* The families that a figure counts in. */
enum {
    ALLREDUCE = 1 << PACE_APPROACH_ALLREDUCE,
    SERVER = 1 << PACE_APPROACH_SERVER,
    DEVICE = 1 << PACE_APPROACH_DEVICE,
    BYTEPS = 1 << PACE_APPROACH_BYTEPS,
    BUFFERS = ALLREDUCE | BYTEPS | 1 << PACE_APPROACH_PEARL,
    ALL = BUFFERS | SERVER | DEVICE,
    MPI = 1 << PACE_APPROACH_FAMILIES | ALLREDUCE /* not where NCCL reduces */
};

#define FIGURE(name) #name, offsetof(pace_approach, name)
#define MPI_FIGURE(name) #name, offsetof(pace_approach, mpi.name)

static const struct {
    const char *key;
    size_t offset;
    unsigned families;
} figures[] = {
    {FIGURE(copies), BUFFERS | SERVER},
    {FIGURE(control_s), ALL},
    {FIGURE(encode_s_per_byte), SERVER},
    {FIGURE(fresh_s_per_byte), SERVER},
    {FIGURE(fresh_bytes), SERVER},
    {FIGURE(skew), ALL},
    {FIGURE(skew_inside), ALL},
    {FIGURE(host_bytes_per_s), ALL},
    {FIGURE(negotiate_s), BUFFERS},
    {FIGURE(fuses_bytes), BUFFERS},
    {FIGURE(cycle_s), BUFFERS},
    {MPI_FIGURE(entry_queries), MPI},
    {MPI_FIGURE(message_queries), MPI},
    {MPI_FIGURE(query_s), MPI},
    {MPI_FIGURE(device_add_s), MPI},
    {MPI_FIGURE(host_add_s_per_byte), MPI},
    {MPI_FIGURE(stage_s), MPI},
    {FIGURE(streams), SERVER},
    {FIGURE(serial), SERVER},
    {FIGURE(splits), SERVER},
    {FIGURE(waits), BUFFERS},
    {FIGURE(copy_s), DEVICE},
    {FIGURE(copy_threads), DEVICE},
    {FIGURE(groups), BUFFERS},
    {FIGURE(rooted), ALLREDUCE},
    {FIGURE(servers), SERVER},
    {FIGURE(spare), BYTEPS},
    {FIGURE(local_first), SERVER},
    {FIGURE(on_device), SERVER},
    {FIGURE(slows), BUFFERS | SERVER},
};

static double *figure_of(pace_approach *approach, size_t i) {
    return (double *)(void *)((char *)approach + figures[i].offset);
}

/* NAME: as the library chooses; a textbook algorithm by name. */
static pace_status read_algorithm(pace_approach *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *node = pace_yaml_get(entry, "algorithm");
    out->mpi.algorithm = PACE_ANY;
    if (!node) return PACE_OK;
    out->mpi.algorithm = pace_exchange_algorithm_find(pace_yaml_text(node) ? pace_yaml_text(node) : "");
    if (out->mpi.algorithm >= 0 && !out->nccl) return PACE_OK;
    return pace_yaml_fail(yaml, node, "expected an algorithm of the textbook");
}

static bool set_place(pace_approach *approach, const char *word) {
    for (int place = 0; word && place < PACE_ADDS_PLACES; place++) {
        if (strcmp(word, pace_adds_place_names[place]) != 0) continue;
        approach->mpi.adds = place;
        return true;
    }
    return false;
}

static pace_status read_place(pace_approach *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *node = pace_yaml_get(entry, "reduce");
    if (!node || set_place(out, pace_yaml_text(node))) return PACE_OK;
    return pace_yaml_fail(yaml, node, "expected reduce: host, device or auto");
}

static pace_status read_networks(pace_approach *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *list = pace_yaml_get(entry, "networks");
    out->networks = list ? 0 : UINT_MAX;
    PACE_YAML_EACH (one, list) {
        const char *word = pace_yaml_text(one);
        pace_link_kind kind = word ? pace_link_kind_find(word) : PACE_LINK_NONE;
        if (kind == PACE_LINK_NONE) return pace_yaml_fail(yaml, one, "expected a kind of link");
        out->networks |= 1U << kind;
    }
    return PACE_OK;
}

static pace_status read_library(pace_approach *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *node = pace_yaml_get(entry, "library");
    const char *text = pace_yaml_text(node);
    out->nccl = node != NULL;
    if (!node) return PACE_OK;
    if (text && strcmp(text, "nccl") == 0) return PACE_OK;
    if (!text || strncmp(text, "nccl-", 5) != 0 || strlen(text + 5) >= sizeof out->line)
        return pace_yaml_fail(yaml, node, "expected nccl or nccl-LINE");
    memcpy(out->line, text + 5, strlen(text + 5) + 1);
    return PACE_OK;
}

static int family_of(const char *word) {
    return pace_word_number(pace_approach_family_names, PACE_APPROACH_FAMILIES, word);
}

/* What is said of steps is of all workers, and of whole steps. */
static void say_skew(pace_approach *approach, double share) {
    approach->skew = share;
    approach->skew_inside = 1;
    approach->skew_anew = 0;
}

static pace_status read_row(pace_approach *out, const pace_yaml *yaml, const pace_yaml_node *entry,
                            const pace_approach *usual) {
    const char *name = pace_yaml_text_of(entry, "name");
    *out = *usual;
    out->family = family_of(pace_yaml_text_of(entry, "family"));
    if (!name || strlen(name) >= sizeof out->name || out->family < 0)
        return pace_yaml_fail(yaml, entry, "expected a name, and family: allreduce, server, device, byteps or pearl");
    memcpy(out->name, name, strlen(name) + 1);
    PACE_TRY(read_library(out, yaml, entry));
    PACE_TRY(read_algorithm(out, yaml, entry));
    PACE_TRY(read_place(out, yaml, entry));
    PACE_TRY(read_networks(out, yaml, entry));
    for (size_t i = 0; i < PACE_COUNT(figures); i++) {
        const pace_yaml_node *node = pace_yaml_get(entry, figures[i].key);
        if (node) PACE_TRY(pace_yaml_number(figure_of(out, i), yaml, node));
        if (node && figure_of(out, i) == &out->skew) say_skew(out, out->skew);
        if (!(*figure_of(out, i) >= 0)) return pace_yaml_fail(yaml, node, "expected 0 or more");
    }
    return PACE_OK;
}

static pace_status read_rows(pace_approaches *out, const pace_yaml *yaml) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "approaches");
    pace_approach usual = {.skew_inside = 1};
    const struct {
        const char *key;
        double *into;
    } shares[] = {{"jitter", &usual.skew}, {"jitter_inside", &usual.skew_inside}, {"jitter_anew", &usual.skew_anew}};
    for (size_t i = 0; i < PACE_COUNT(shares); i++) {
        const pace_yaml_node *node = pace_yaml_get(pace_yaml_root(yaml), shares[i].key);
        if (node) PACE_TRY(pace_yaml_number(shares[i].into, yaml, node));
        if (!(*shares[i].into >= 0 && *shares[i].into <= 1))
            return pace_yaml_fail(yaml, node, "expected a share from 0 to 1");
    }
    PACE_YAML_EACH (one, list) {
        pace_approach row;
        PACE_TRY(read_row(&row, yaml, one, &usual));
        PACE_TRY(PACE_PUSH(&out->rows, row));
    }
    return PACE_OK;
}

static pace_status add_spelling(pace_approaches *out, const pace_approach *approach, const char *text) {
    pace_approach_spelling spelling = {.approach = *approach};
    pace_squeeze(spelling.text, sizeof spelling.text, text, "+");
    return PACE_PUSH(&out->spellings, spelling);
}

/* By its name, and by the words that the catalogue lists for "NAME" or "NAME:KEY=NUMBER". */
static pace_status read_spellings(pace_approaches *out, const pace_yaml *yaml) {
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(yaml), "spellings");
    for (size_t r = 0; r < out->rows.count; r++)
        PACE_TRY(add_spelling(out, &out->rows.items[r], out->rows.items[r].name));
    PACE_YAML_EACH (list, all) {
        pace_approach approach;
        PACE_TRY(pace_approach_parse(&approach, out, pace_yaml_key_of(list)));
        PACE_YAML_EACH (one, list) {
            const char *text = pace_yaml_text(one);
            if (text) PACE_TRY(add_spelling(out, &approach, text));
        }
    }
    return PACE_OK;
}

pace_status pace_approaches_load(pace_approaches *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_approaches rows = {0};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "approaches.yaml"));
    pace_status status = read_rows(&rows, yaml);
    if (status == PACE_OK) status = read_spellings(&rows, yaml);
    return PACE_GIVE(out, rows, status, pace_approaches_free(&rows));
}

void pace_approaches_free(pace_approaches *approaches) { PACE_VEC_FREE(&approaches->rows, &approaches->spellings); }

/* The longest spelling that a longer text holds: "gRPC parameter server (TF 1.1.0)". Short ones are parts of other
 * words. */
static const pace_approach *spelling_within(const pace_approaches *approaches, const char *squeezed) {
    enum { SHORTEST = 6 };
    const pace_approach *found = NULL;
    size_t longest = SHORTEST - 1;
    PACE_ITEMS (const pace_approach_spelling, one, &approaches->spellings) {
        if (strlen(one->text) <= longest || !strstr(squeezed, one->text)) continue;
        longest = strlen(one->text);
        found = &one->approach;
    }
    return found;
}

const pace_approach *pace_approach_spelled(const pace_approaches *approaches, const char *text) {
    char squeezed[48];
    pace_squeeze(squeezed, sizeof squeezed, text, "+");
    for (size_t i = 0; i < approaches->spellings.count; i++)
        if (strcmp(approaches->spellings.items[i].text, squeezed) == 0) return &approaches->spellings.items[i].approach;
    return spelling_within(approaches, squeezed);
}

const pace_approach *pace_approach_find(const pace_approaches *approaches, const char *name) {
    for (size_t i = 0; i < approaches->rows.count; i++)
        if (pace_same_word(approaches->rows.items[i].name, name)) return &approaches->rows.items[i];
    return NULL;
}

/* --- as --approach says ------------------------------------------------------------------------------------------- */

static pace_status unknown_name(const pace_approaches *approaches, const char *name) {
    char list[512] = "";
    const char *best = "";
    for (size_t i = 0; i < approaches->rows.count; i++) {
        const char *own = approaches->rows.items[i].name;
        pace_list(list, sizeof list, ", ", "%s", own);
        best = pace_word_nearer(name, best, own);
    }
    return pace_fail(PACE_E_USAGE, "unknown approach \"%.40s\": the closest name is \"%s\"; expected one of %s", name,
                     best, list);
}

static pace_status unknown_key(const char *name, const char *key) {
    char list[512] = "cache, reduce";
    for (size_t i = 0; i < PACE_COUNT(figures); i++) pace_list(list, sizeof list, ", ", "%s", figures[i].key);
    return pace_fail(PACE_E_USAGE, "%s: unknown key \"%.40s\": expected one of %s", name, key, list);
}

static pace_status set_reduce(pace_approach *approach, const char *value) {
    if (set_place(approach, value)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected reduce=host, device or auto, found \"%.40s\"", approach->name, value);
}

static pace_status check_counts(const pace_approach *approach, size_t i) {
    unsigned families = figures[i].families;
    bool reduced_by_nccl = families >= MPI && approach->nccl;
    if (families >> approach->family & 1 && !reduced_by_nccl) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: %s has no effect on an approach of the family %s%s", approach->name,
                     figures[i].key, pace_approach_family_names[approach->family],
                     reduced_by_nccl ? " that NCCL reduces for" : "");
}

static pace_status set_figure(pace_approach *approach, char *word) {
    char *value = strchr(word, '=');
    double number;
    if (!value) return pace_fail(PACE_E_USAGE, "%s: expected KEY=NUMBER, found \"%.40s\"", approach->name, word);
    *value++ = '\0';
    if (strcmp(word, "reduce") == 0) return set_reduce(approach, value);
    if (!pace_number_parse(&number, value) || !(number >= 0))
        return pace_fail(PACE_E_USAGE, "%s: %.40s: expected a number of 0 or more, found \"%.40s\"", approach->name,
                         word, value);
    if (strcmp(word, "cache") == 0) {
        if (number > 0) approach->mpi.query_s = 0;
        return PACE_OK;
    }
    for (size_t i = 0; i < PACE_COUNT(figures); i++) {
        if (strcmp(word, figures[i].key) != 0) continue;
        PACE_TRY(check_counts(approach, i));
        *figure_of(approach, i) = number;
        if (figure_of(approach, i) == &approach->skew) say_skew(approach, number);
        return PACE_OK;
    }
    return unknown_key(approach->name, word);
}

/* Buckets are walked with the kernels beside them, whose times are known before. */
static pace_status check_slows(const pace_approach *approach) {
    if (approach->slows > 0 && pace_approach_has_buckets(approach))
        return pace_fail(PACE_E_USAGE, "%s: slows has no effect on buckets that wait until they are full",
                         approach->name);
    if (approach->slows < 1) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: slows: expected a share from 0 to below 1, found %g", approach->name,
                     approach->slows);
}

pace_status pace_approach_parse(pace_approach *out, const pace_approaches *approaches, const char *text) {
    char words[256], *rest = NULL;
    if (strlen(text) >= sizeof words) return pace_fail(PACE_E_USAGE, "approach: %.40s…: too long", text);
    memcpy(words, text, strlen(text) + 1);
    char *name = strtok_r(words, ":", &rest);
    const pace_approach *found = name ? pace_approach_find(approaches, name) : NULL;
    if (!found) return unknown_name(approaches, name ? name : "");
    pace_approach approach = *found;
    for (char *word = strtok_r(NULL, ":", &rest); word; word = strtok_r(NULL, ":", &rest))
        PACE_TRY(set_figure(&approach, word));
    PACE_TRY(check_slows(&approach));
    *out = approach;
    return PACE_OK;
}

/* "horovod-mpi:cache=1", not "gRPC: parameter servers". */
static bool begins_with_name(const pace_approaches *approaches, const char *text) {
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < approaches->rows.count; i++)
        if (strlen(approaches->rows.items[i].name) == length &&
            strncmp(approaches->rows.items[i].name, text, length) == 0)
            return true;
    return false;
}

pace_status pace_approach_of_cell(pace_approach *out, const pace_approaches *approaches, const char *text) {
    const pace_approach *spelled = begins_with_name(approaches, text) ? NULL : pace_approach_spelled(approaches, text);
    if (!spelled) return pace_approach_parse(out, approaches, text);
    *out = *spelled;
    return PACE_OK;
}

pace_status pace_approach_named(pace_approach *out, pace_catalog *catalog, const char *text) {
    pace_approaches approaches;
    PACE_TRY(pace_approaches_load(&approaches, catalog));
    pace_status status = pace_approach_parse(out, &approaches, text);
    pace_approaches_free(&approaches);
    return status;
}

pace_status pace_approach_set_jitter(pace_approach *approach, const char *text) {
    double share;
    if (!text) return PACE_OK;
    const char *end = pace_number_read(&share, text);
    if (end && *end == '%') share /= 100, end++;
    if (!end || *end || !(share >= 0 && share <= 1))
        return pace_fail(PACE_E_USAGE,
                         "jitter: expected a share of the step from 0 to 1, such as 0.05 or 5%%, found '%.40s'", text);
    say_skew(approach, share);
    return PACE_OK;
}

/* Verbs need InfiniBand or RoCE; NCCL of these years did not run over Aries. */
static pace_status check_network(const pace_approach *approach, const pace_machine *machine) {
    char list[96] = "";
    if (machine->nodes < 2 || approach->networks >> machine->between.kind & 1) return PACE_OK;
    for (int kind = 0; kind < PACE_LINK_KINDS; kind++)
        if (approach->networks >> kind & 1) pace_list(list, sizeof list, ", ", "%s", pace_link_kind_names[kind]);
    return pace_fail(PACE_E_USAGE, "%s cannot run on %s, whose nodes are joined by %s: it needs one of %s",
                     approach->name, machine->name, pace_link_kind_names[machine->between.kind], list);
}

/* Buffers of the host do not use the devices' links. */
pace_status pace_approach_open(pace_exchange *out, pace_catalog *catalog, const pace_approach *approach,
                               const pace_machine *machine) {
    pace_machine used = *machine;
    PACE_TRY(check_network(approach, machine));
    if (approach->host_bytes_per_s > 0 && used.devices > 1) {
        used.mesh_devices = 0;
        used.inside.bytes_per_s = approach->host_bytes_per_s;
        used.inside.efficiency = 1;
    }
    pace_exchange_library library = !approach->nccl ? PACE_LIBRARY_TEXTBOOK
                                    : *approach->line
                                        ? PACE_LIBRARY_NCCL
                                        : PACE_LIBRARY_AUTO; /* NCCL's own, or its likes on others' devices */
    PACE_TRY(pace_exchange_open(out, catalog, &used, library, *approach->line ? approach->line : NULL));
    out->prices = out->nccl; /* what approaches add was set beside the library of their time */
    out->in_step = true;     /* of MPI's blocking calls */
    return PACE_OK;
}
