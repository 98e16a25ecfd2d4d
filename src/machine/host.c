#include "machine/host.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 512 };
static const double MOST_S = 3600, MOST_BYTES = 1e18;

/* --- reading ------------------------------------------------------------------------------------------------------ */

static pace_status read_threads(pace_host *host, const pace_yaml *yaml, const pace_yaml_node *node) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, yaml, node, "threads"));
    host->thread_count = pace_yaml_count(list);
    if (host->thread_count > PACE_HOST_THREADS)
        return pace_yaml_fail(yaml, list, "expected at most 16 numbers of threads");
    for (size_t i = 0; i < host->thread_count; i++) {
        PACE_TRY(pace_yaml_number(&host->threads[i], yaml, pace_yaml_item(list, i)));
        double least = i ? host->threads[i - 1] + 1 : 1;
        if (!(host->threads[i] >= least && host->threads[i] <= 4096) || (i == 0 && host->threads[0] != 1))
            return pace_yaml_fail(yaml, list, "expected numbers of threads that ascend from 1");
    }
    return PACE_OK;
}

static pace_status read_times(double *out, size_t count, const pace_yaml *yaml, const pace_yaml_node *node,
                              const char *key) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, yaml, node, key));
    if (pace_yaml_count(list) != count) return pace_yaml_fail(yaml, list, "expected a time for each number of threads");
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(pace_yaml_number(&out[i], yaml, pace_yaml_item(list, i)));
        if (!(out[i] > 0 && out[i] < MOST_S)) return pace_yaml_fail(yaml, list, "expected times above 0");
    }
    return PACE_OK;
}

static pace_status read_sizes(pace_host *host, const pace_yaml *yaml, const pace_yaml_node *node) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, yaml, node, "weights"));
    host->size_count = pace_yaml_count(list);
    if (host->size_count > PACE_HOST_SIZES) return pace_yaml_fail(yaml, list, "expected at most 12 sizes");
    for (size_t i = 0; i < host->size_count; i++) {
        const pace_yaml_node *item = pace_yaml_item(list, i);
        pace_host_size *size = &host->sizes[i];
        PACE_TRY(pace_yaml_positive(&size->bytes, yaml, item, "bytes", MOST_BYTES));
        if (i > 0 && size->bytes <= size[-1].bytes) return pace_yaml_fail(yaml, item, "expected sizes that ascend");
        PACE_TRY(read_times(size->multiply_add_s, host->thread_count, yaml, item, "multiply_add_s"));
        PACE_TRY(read_times(size->update_s, host->thread_count, yaml, item, "update_s"));
        for (size_t t = 0; i > 0 && t < host->thread_count; t++) { /* more weights are never faster: that is noise */
            size->multiply_add_s[t] = fmax(size->multiply_add_s[t], size[-1].multiply_add_s[t]);
            size->update_s[t] = fmax(size->update_s[t], size[-1].update_s[t]);
        }
    }
    return PACE_OK;
}

static pace_status read_host(pace_host *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    pace_host host = {0};
    PACE_TRY(pace_yaml_copy(host.name, sizeof host.name, yaml, node, "name"));
    PACE_TRY(pace_yaml_real(&host.cores, yaml, node, "cores", 1, 4096));
    PACE_TRY(pace_yaml_positive(&host.memory_bytes, yaml, node, "memory_bytes", MOST_BYTES));
    PACE_TRY(read_threads(&host, yaml, node));
    PACE_TRY(read_sizes(&host, yaml, node));
    PACE_TRY(pace_yaml_positive(&host.activation_s, yaml, node, "activation_s", MOST_S));
    PACE_TRY(pace_yaml_positive(&host.message_s, yaml, node, "message_s", MOST_S));
    PACE_TRY(pace_yaml_positive(&host.message_bytes_per_s, yaml, node, "message_bytes_per_s", MOST_BYTES));
    PACE_TRY(pace_yaml_copy(host.source, sizeof host.source, yaml, node, "source"));
    PACE_TRY(pace_yaml_copy(host.confidence, sizeof host.confidence, yaml, node, "confidence"));
    *out = host;
    return PACE_OK;
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

/* "NAME*16 net=10Gb/s" in its parts. */
typedef struct {
    char name[MOST_TEXT];
    int machines;
    const char *options; /* behind the blank, or "" */
    bool is_file;
} host_words;

static bool split(host_words *out, const char *text) {
    size_t length = strcspn(text, " ,");
    char extra;
    *out = (host_words){.machines = 1, .options = text + length + strspn(text + length, " ,")};
    if (length == 0 || length >= sizeof out->name) return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)length, text);
    char *star = strrchr(out->name, '*');
    if (star && (sscanf(star + 1, "%7d%c", &out->machines, &extra) != 1 || out->machines < 1)) return false;
    if (star) *star = '\0';
    out->is_file = pace_ends(out->name, ".yaml") || pace_ends(out->name, ".yml");
    return true;
}

static const pace_yaml_node *find(const pace_yaml *yaml, const char *name) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "hosts");
    PACE_YAML_EACH (one, list) {
        const char *text = pace_yaml_text_of(one, "name");
        if (!name || (text && strcmp(text, name) == 0)) return one;
    }
    return NULL;
}

/* Finds the host; `own` is the caller's to free where a file was read. `node` NULL: it is none. */
static pace_status look_up(const pace_yaml_node **node, const pace_yaml **yaml, pace_yaml **own, pace_catalog *catalog,
                           const host_words *words) {
    *own = NULL;
    *node = NULL;
    if (words->is_file) PACE_TRY(pace_yaml_load(own, words->name));
    else PACE_TRY(pace_catalog_document(yaml, catalog, "hosts.yaml"));
    if (words->is_file) *yaml = *own;
    *node = find(*yaml, words->is_file ? NULL : words->name);
    return PACE_OK;
}

pace_status pace_hosts_named(bool *out, pace_catalog *catalog, const char *text) {
    const pace_yaml_node *node;
    const pace_yaml *yaml;
    pace_yaml *own;
    host_words words;
    *out = false;
    if (!split(&words, text)) return PACE_OK;
    pace_status status = look_up(&node, &yaml, &own, catalog, &words);
    *out = status == PACE_OK && node != NULL;
    if (status == PACE_OK) pace_yaml_free(own);
    return words.is_file && status != PACE_E_MEMORY ? PACE_OK : status; /* who opens the file says what is wrong */
}

static pace_status find_host(pace_host *out, pace_catalog *catalog, const host_words *words) {
    const pace_yaml_node *node;
    const pace_yaml *yaml;
    pace_yaml *own;
    PACE_TRY(look_up(&node, &yaml, &own, catalog, words));
    pace_status status =
        node ? read_host(out, yaml, node) : pace_fail(PACE_E_MISSING, "%s: no host of catalog/hosts.yaml", words->name);
    pace_yaml_free(own);
    return status;
}

/* The network is worded as that of machines, so a machine of as many nodes reads it. */
static pace_status read_network(pace_hosts *out, pace_catalog *catalog, const host_words *words) {
    char text[MOST_TEXT];
    pace_machine machine;
    out->message_s = out->host.message_s;
    out->bytes_per_s = out->host.message_bytes_per_s;
    out->joined = *words->options != '\0';
    if (!out->joined && out->machines > 1)
        return pace_fail(PACE_E_USAGE, "on: %s: nothing joins the machines: expected a network such as net=10Gb/s",
                         out->name);
    if (!out->joined) return PACE_OK;
    snprintf(text, sizeof text, "cpu*1 nodes=%d %.400s", words->machines, words->options);
    PACE_TRY(pace_machine_parse(&machine, catalog, text));
    if (machine.nodes != words->machines || machine.devices != 1)
        return pace_fail(PACE_E_USAGE, "on: %s: expected how many machines behind the name, as in %s*4", words->name,
                         words->name);
    if (machine.between.kind == PACE_LINK_NONE)
        return pace_fail(PACE_E_USAGE, "on: %s: expected a network such as net=10Gb/s, found \"%.80s\"", words->name,
                         words->options);
    out->message_s += machine.between.latency_s;
    out->bytes_per_s = fmin(out->bytes_per_s, pace_machine_node_rate(&machine));
    return PACE_OK;
}

pace_status pace_hosts_asked(pace_hosts *out, pace_catalog *catalog, const char *text) {
    pace_hosts hosts = {0};
    host_words words;
    if (!split(&words, text)) return pace_fail(PACE_E_USAGE, "on: expected NAME*COUNT, found \"%.80s\"", text);
    PACE_TRY(find_host(&hosts.host, catalog, &words));
    hosts.machines = words.machines;
    snprintf(hosts.name, sizeof hosts.name, "%s*%d", hosts.host.name, words.machines);
    PACE_TRY(read_network(&hosts, catalog, &words));
    *out = hosts;
    return PACE_OK;
}

pace_status pace_host_doubts_load(pace_host_doubts *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "hosts.yaml"));
    const pace_yaml_node *root = pace_yaml_root(yaml);
    PACE_TRY(pace_yaml_positive(&out->spread, yaml, root, "spread", 10));
    return pace_yaml_real(&out->jitter, yaml, root, "jitter", 0, 1);
}

/* --- times -------------------------------------------------------------------------------------------------------- */

/* Of 2, 4 threads measured, 3 lies between; 8 on the line through 1 and 4. Never less than the most measured. */
static double by_threads(const pace_host *host, const double *times, double threads) {
    size_t last = host->thread_count - 1, at = 0;
    if (last == 0) return times[0];
    if (threads >= host->threads[last]) {
        double slope = fmax(0, (times[last] - times[0]) / (host->threads[last] - 1));
        return times[last] + slope * (threads - host->threads[last]);
    }
    while (host->threads[at + 1] < threads) at++;
    double share = (threads - host->threads[at]) / (host->threads[at + 1] - host->threads[at]);
    return times[at] + share * (times[at + 1] - times[at]);
}

static const pace_host_size *size_of(const pace_host *host, double bytes) {
    size_t at = 0;
    while (at + 1 < host->size_count && host->sizes[at].bytes < bytes) at++;
    return &host->sizes[at];
}

double pace_host_multiply_add_s(const pace_host *host, double threads, double bytes) {
    return by_threads(host, size_of(host, bytes)->multiply_add_s, threads);
}

double pace_host_update_s(const pace_host *host, double threads, double bytes) {
    return by_threads(host, size_of(host, bytes)->update_s, threads);
}

double pace_host_measured_threads(const pace_host *host) { return host->threads[host->thread_count - 1]; }
