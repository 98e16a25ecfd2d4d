#include "neurons.h"

#include "base/beside.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/yaml_member.h"
#include "host_facts.h"
#include "machine/host.h"
#include "message_probe.h"
#include "neuron_loops.h"
#include "paceline/calibrate.h"
#include "rows_file.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { FAMILIES = PACE_NEURON_KINDS + 1, MESSAGES = PACE_NEURON_KINDS };

typedef struct {
    const pace_calibrate_options *options;
    pace_device_facts facts;
    pace_measure_limits limits;
    double message_bytes[2]; /* a small one, and a large one */
    double message_s[2];
    pace_host host;
    pace_calibrated_family families[FAMILIES];
    size_t done, points;
    bool stopped;
    char how[256];
} neurons;

/* --- what is measured --------------------------------------------------------------------------------------------- */

static pace_status read_numbers(double *out, size_t *count, size_t most, const pace_yaml *yaml,
                                const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, yaml, map, key));
    *count = 0;
    for (size_t i = 0; i < pace_yaml_count(list) && i < most; i++) {
        PACE_TRY(pace_yaml_number(&out[i], yaml, pace_yaml_item(list, i)));
        if (!(out[i] >= 1 && out[i] < 1e12) || (i > 0 && out[i] <= out[i - 1]))
            return pace_fail(PACE_E_INPUT, "%s: expected numbers that ascend from 1", pace_yaml_place(yaml, list));
        *count = i + 1;
    }
    return PACE_OK;
}

static pace_status read_budget(neurons *n, const pace_yaml *yaml, const pace_yaml_node *root) {
    static const char *const levels[] = {"quick", "default", "full"};
    const pace_yaml_node *budget;
    double batches;
    PACE_TRY(pace_yaml_member(&budget, yaml, pace_yaml_get(root, "budgets"), levels[n->options->effort]));
    PACE_TRY(pace_yaml_positive(&n->limits.point_s, yaml, budget, "point_s", 3600));
    PACE_TRY(pace_yaml_positive(&n->limits.tolerance, yaml, budget, "tolerance", 1));
    PACE_TRY(pace_yaml_real(&batches, yaml, budget, "batches", 3, 1000));
    n->limits.batches = (unsigned)batches;
    n->limits.batch_s = n->limits.point_s / 60;
    n->limits.timer_s = pace_timer_resolution();
    return PACE_OK;
}

static pace_status read_plan(neurons *n, pace_catalog *catalog) {
    const pace_yaml *yaml;
    const pace_yaml_node *node;
    double bytes[PACE_HOST_SIZES];
    double cores = n->options->threads > 0 ? n->options->threads : pace_host_cores();
    size_t messages;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "sweeps.yaml"));
    PACE_TRY(pace_yaml_member(&node, yaml, pace_yaml_root(yaml), "neurons"));
    PACE_TRY(read_budget(n, yaml, pace_yaml_root(yaml)));
    PACE_TRY(read_numbers(n->host.threads, &n->host.thread_count, PACE_HOST_THREADS, yaml, node, "threads"));
    PACE_TRY(read_numbers(bytes, &n->host.size_count, PACE_HOST_SIZES, yaml, node, "bytes"));
    PACE_TRY(read_numbers(n->message_bytes, &messages, 2, yaml, node, "messages"));
    for (size_t i = 0; i < n->host.size_count; i++) n->host.sizes[i].bytes = bytes[i];
    while (n->host.thread_count > 1 && n->host.threads[n->host.thread_count - 1] > cores) n->host.thread_count--;
    n->host.cores = cores;
    n->host.memory_bytes = n->facts.memory_bytes;
    n->points = 2 * n->host.size_count * n->host.thread_count + 1 + messages;
    return PACE_OK;
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static pace_status fail_probe(const char *message) {
    return pace_fail(PACE_E_MISSING, "neurons: %s", *message ? message : "not enough memory");
}

static bool is_stopped(neurons *n, const char *family) {
    n->stopped |= pace_question_stopped(n->options->question);
    pace_question_progress(n->options->question, family, n->done++, n->points);
    return n->stopped;
}

static pace_status measure(double *out, neurons *n, size_t family, pace_time_runs_fn time_runs, void *probe,
                           bool fastest) {
    char message[PACE_BACKEND_MESSAGE] = "";
    pace_point_time measured;
    double start = pace_clock_s();
    if (pace_measure(&measured, &n->limits, time_runs, probe, message) != PACE_PROBE_OK) return fail_probe(message);
    pace_calibrated_family *f = &n->families[family];
    f->measured++;
    f->seconds += pace_clock_s() - start;
    f->median_spread = fmax(f->median_spread, measured.spread);
    *out = fastest ? measured.best_s : measured.median_s;
    return PACE_OK;
}

static pace_status measure_kind(double *out, neurons *n, pace_neuron_kind kind, double bytes, double threads) {
    double seconds;
    pace_neuron_probe *probe = pace_neuron_probe_make(kind, (size_t)bytes, (int)threads);
    if (!probe) return fail_probe("");
    pace_status status = measure(&seconds, n, kind, pace_neuron_probe_time, probe, false);
    if (status == PACE_OK) *out = seconds / pace_neuron_probe_count(probe);
    pace_neuron_probe_free(probe);
    return status;
}

static pace_status measure_weights(neurons *n) {
    pace_host *h = &n->host;
    for (size_t i = 0; i < h->size_count; i++)
        for (size_t t = 0; t < h->thread_count; t++) {
            pace_host_size *size = &h->sizes[i];
            if (is_stopped(n, "multiply_add")) return PACE_OK;
            PACE_TRY(measure_kind(&size->multiply_add_s[t], n, PACE_NEURON_MULTIPLY_ADD, size->bytes, h->threads[t]));
            if (is_stopped(n, "update")) return PACE_OK;
            PACE_TRY(measure_kind(&size->update_s[t], n, PACE_NEURON_UPDATE, size->bytes, h->threads[t]));
        }
    return PACE_OK;
}

/* The fastest batch: others' time slices delay a message, nothing hastens it. */
static pace_status measure_messages(neurons *n) {
    for (size_t i = 0; i < 2; i++) {
        char message[PACE_BACKEND_MESSAGE] = "";
        if (is_stopped(n, "message")) return PACE_OK;
        pace_message_probe *probe = pace_message_probe_make((size_t)n->message_bytes[i], message);
        if (!probe) return fail_probe(message);
        pace_status status = measure(&n->message_s[i], n, MESSAGES, pace_message_probe_time, probe, true);
        pace_message_probe_free(probe);
        PACE_TRY(status);
    }
    n->host.message_s = n->message_s[0] / 2; /* there and back */
    n->host.message_bytes_per_s = n->message_bytes[1] / n->message_s[1];
    return PACE_OK;
}

static pace_status measure_all(neurons *n) {
    PACE_TRY(measure_weights(n));
    if (is_stopped(n, "activation")) return PACE_OK;
    PACE_TRY(measure_kind(&n->host.activation_s, n, PACE_NEURON_ACTIVATION, 0, 1));
    return measure_messages(n);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void put_list(FILE *file, const char *key, const double *values, size_t count) {
    char number[32];
    fprintf(file, "%s: [", key);
    for (size_t i = 0; i < count; i++) {
        pace_print_figure(number, values[i], 4);
        fprintf(file, "%s%s", i ? ", " : "", number);
    }
    fputc(']', file);
}

static void put_figure(FILE *file, const char *key, double value) {
    char number[32];
    pace_print_figure(number, value, 6);
    fprintf(file, "    %s: %s\n", key, number);
}

static void put_host(FILE *file, const pace_host *h, const char *how) {
    fprintf(file, "# A host as measured; the format is that of catalog/hosts.yaml, and --on takes this file.\n");
    fprintf(file, "hosts:\n  - name: %s\n", h->name);
    put_figure(file, "cores", h->cores);
    put_figure(file, "memory_bytes", h->memory_bytes);
    fprintf(file, "    ");
    put_list(file, "threads", h->threads, h->thread_count);
    fprintf(file, "\n    weights:\n");
    for (size_t i = 0; i < h->size_count; i++) {
        fprintf(file, "      - {bytes: %.0f, ", h->sizes[i].bytes);
        put_list(file, "multiply_add_s", h->sizes[i].multiply_add_s, h->thread_count);
        put_list(file, ", update_s", h->sizes[i].update_s, h->thread_count);
        fprintf(file, "}\n");
    }
    put_figure(file, "activation_s", h->activation_s);
    put_figure(file, "message_s", h->message_s);
    put_figure(file, "message_bytes_per_s", h->message_bytes_per_s);
    fprintf(file, "    source: \"%s\"\n    confidence: medium\n", how);
}

static pace_status write_file(const neurons *n, const char *path) {
    pace_beside beside;
    PACE_TRY(pace_beside_open(&beside, path));
    put_host(beside.file, &n->host, n->how);
    return pace_beside_close(&beside, PACE_OK);
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

/* "AMD EPYC 7742" with 2 cores: "amd-epyc-7742-2t". */
static void make_name(neurons *n) {
    char *name = n->host.name;
    size_t used = 0;
    for (const char *at = n->facts.name; *at && used < sizeof n->host.name - 8; at++) {
        if (pace_is_alnum(*at)) name[used++] = pace_lower(*at);
        else if (used && name[used - 1] != '-') name[used++] = '-';
    }
    while (used && name[used - 1] == '-') used--;
    snprintf(name + used, sizeof n->host.name - used, "-%.0ft", n->host.cores);
    if (n->options->name) snprintf(name, sizeof n->host.name, "%.47s", n->options->name);
}

static pace_status answer(pace_answer **out, neurons *n, double seconds) {
    const pace_host_size *most = &n->host.sizes[n->host.size_count - 1];
    size_t last = n->host.thread_count - 1;
    const pace_calibrated_figure figures[] = {{"multiply_add_s, least weights, one thread",
                                               n->host.sizes[0].multiply_add_s[0]},
                                              {"multiply_add_s, most weights, one thread", most->multiply_add_s[0]},
                                              {"multiply_add_s, most weights, most threads",
                                               most->multiply_add_s[last]},
                                              {"update_s, least weights, one thread", n->host.sizes[0].update_s[0]},
                                              {"update_s, most weights, one thread", most->update_s[0]},
                                              {"update_s, most weights, most threads", most->update_s[last]},
                                              {"activation_s", n->host.activation_s},
                                              {"message_s", n->host.message_s},
                                              {"message_bytes_per_s", n->host.message_bytes_per_s}};
    bool whole = !n->stopped && !n->options->list;
    const pace_calibration shown = {.size = sizeof shown,
                                    .command = n->options->command,
                                    .command_count = n->options->command_count,
                                    .device = n->host.name,
                                    .processor = n->facts.name,
                                    .software = "loops",
                                    .entry_path = n->options->entry_path,
                                    .list = n->options->list,
                                    .threads = (int)n->host.threads[last],
                                    .seconds = seconds,
                                    .families = n->families,
                                    .family_count = FAMILIES,
                                    .figures = figures,
                                    .figure_count = whole ? PACE_COUNT(figures) : 0,
                                    .stopped = n->stopped
                                                   ? "Stopped, without a file of hosts: the same command begins anew."
                                                   : NULL};
    return pace_calibration_answer(out, &shown);
}

static void plan_families(neurons *n) {
    for (size_t i = 0; i < FAMILIES; i++) {
        pace_calibrated_family *f = &n->families[i];
        size_t weights = n->host.size_count * n->host.thread_count;
        f->family = i < PACE_NEURON_KINDS ? pace_neuron_kind_names[i] : "message";
        f->source = "loops";
        f->points = i <= PACE_NEURON_UPDATE ? weights : i == PACE_NEURON_ACTIVATION ? 1 : 2;
        if (n->options->list) f->seconds = 1.3 * n->limits.point_s * (double)f->points;
    }
}

static pace_status check_options(const pace_calibrate_options *o) {
    const char *idle = o->families           ? "family"
                       : o->models.count     ? "model"
                       : o->rows_path        ? "output"
                       : o->memory_bytes > 0 ? "memory"
                                             : NULL;
    if (idle) return pace_fail(PACE_E_USAGE, "%s: has no effect on neurons: expected " PACE_FIELD "entry", idle);
    return PACE_OK;
}

static void say_how(neurons *n) {
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, sizeof date, "%Y-%m-%d", &parts);
    pace_snprintf(n->how, sizeof n->how, "measured by paceline calibrate neurons %s, %s, %.100s, %.0f cores",
                  pace_version(), date, n->facts.name, n->host.cores);
    pace_rows_clean(n->how);
}

static pace_status run(pace_answer **out, neurons *n, pace_catalog *catalog) {
    double start = pace_clock_s();
    pace_host_facts(&n->facts);
    PACE_TRY(read_plan(n, catalog));
    make_name(n);
    say_how(n);
    plan_families(n);
    if (!n->options->list) PACE_TRY(measure_all(n));
    if (n->options->entry_path && !n->options->list && !n->stopped) PACE_TRY(write_file(n, n->options->entry_path));
    return answer(out, n, pace_clock_s() - start);
}

pace_status pace_calibrate_neurons(pace_answer **out, const pace_calibrate_options *options) {
    pace_catalog *catalog;
    neurons n = {.options = options};
    PACE_TRY(check_options(options));
    PACE_TRY(pace_catalog_open(&catalog));
    pace_status status = run(out, &n, catalog);
    pace_catalog_free(catalog);
    return status;
}
