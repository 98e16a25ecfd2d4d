/* The report of `paceline predict --simulate TRACE...`: execution traces of many ranks replayed on a machine's links,
 * their collectives message by message. Files NAME.RANK.et of one NAME are one workload. */
#include "cost/cost.h"
#include "report/engines.h"
#include "ask/context.h"
#include "exchange/exchange.h"
#include "exchange/machine_fabric.h"
#include "machine/device.h"
#include "report/machine_note.h"
#include "ask/exchange_words.h"
#include "report/table.h"
#include "schedule/flows.h"
#include "schedule/graph_program.h"
#include "source/inputs.h"
#include "source/trace_formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char workload[256];
    size_t ranks, nodes_read;
    double time_us, work_us, low_us, high_us, utilisation, sent_bytes;
    const char *bottleneck;
    uint64_t messages;
} workload_row;

static const pace_table workloads = {
    "workloads", "Replayed on the machine's links", PACE_FOR_ALL, 0,
    PACE_CELLS({"workload", "workload", PACE_SHOW_TEXT, PACE_OF(workload_row, workload)},
               {"ranks", "ranks", PACE_SHOW_INT, PACE_OF(workload_row, ranks)},
               {"nodes_read", "nodes", PACE_SHOW_INT, PACE_OF(workload_row, nodes_read)},
               {"time_us", "time us", PACE_SHOW_REAL, PACE_OF(workload_row, time_us)},
               {"work_us", "work us", PACE_SHOW_REAL, PACE_OF(workload_row, work_us)},
               {"low_us", "low us", PACE_SHOW_REAL, PACE_OF(workload_row, low_us)},
               {"high_us", "high us", PACE_SHOW_REAL, PACE_OF(workload_row, high_us)},
               {"bottleneck", "busiest link", PACE_SHOW_TEXT, PACE_OF(workload_row, bottleneck)},
               {"utilisation_share", "used", PACE_SHOW_SHARE, PACE_OF(workload_row, utilisation)},
               {"messages", "messages", PACE_SHOW_INT, PACE_OF(workload_row, messages)},
               {"sent_bytes", "sent", PACE_SHOW_BYTES, PACE_OF(workload_row, sent_bytes)})};

/* A file: its workload's name is what stands before ".RANK.et". */
typedef struct {
    const char *path;
    size_t name_length;
    long rank;
} trace_file;

typedef struct {
    pace_paths paths;
    pace_machine machine;
    pace_device_catalog devices;
    const pace_device *device; /* NULL = the machine does not say */
    pace_cost *cost;
    pace_collective_choice choice; /* algorithm NULL = as usual */
    bool unfolded;
} replayer;

/* One workload. */
typedef struct {
    pace_graph *graphs;
    pace_walk_rank *ranks;
    double **launch_ns;
    size_t count, nodes;
    double work_ns; /* of the rank that has most */
} workload;

/* --- reading ------------------------------------------------------------------------------------------------------ */

static trace_file file_of(const char *path) {
    trace_file file = {path, strlen(path), 0};
    const char *slash = strrchr(path, '/'), *end = strstr(slash ? slash : path, ".et");
    const char *digit = end;
    while (end && digit > path && digit[-1] >= '0' && digit[-1] <= '9') digit--;
    if (!end || digit == end || digit == path || digit[-1] != '.') return file;
    file.rank = strtol(digit, NULL, 10);
    file.name_length = (size_t)(digit - 1 - path);
    return file;
}

static int by_workload(const void *a, const void *b) {
    const trace_file *left = a, *right = b;
    size_t least = left->name_length < right->name_length ? left->name_length : right->name_length;
    int order = memcmp(left->path, right->path, least);
    if (order) return order;
    if (left->name_length != right->name_length) return left->name_length < right->name_length ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static bool same_workload(const trace_file *a, const trace_file *b) {
    return a->name_length == b->name_length && memcmp(a->path, b->path, a->name_length) == 0;
}

/* As measured; else what the machine's device takes for it. */
static pace_status price(double *out_ns, const replayer *r, const pace_graph *graph, const pace_launch *launch) {
    pace_estimate s;
    *out_ns = 0;
    if (launch->exchange) return PACE_OK;
    *out_ns = (double)launch->duration_ns;
    if (launch->duration_ns >= 0) return PACE_OK;
    const char *name = pace_names_text(&graph->names, launch->name);
    if (launch->op == PACE_NO_OP)
        return pace_fail(PACE_E_INPUT, "kernel \"%.60s\" has neither a duration nor an amount of work", name);
    if (!r->device)
        return pace_fail(PACE_E_USAGE, "kernel \"%.60s\" has no duration, and %s does not name its devices", name,
                         r->machine.name);
    PACE_TRY(pace_cost_op_under(&s, r->cost, r->device, &graph->ops.items[launch->op], PACE_SUSTAINED));
    *out_ns = s.median * 1e9;
    return PACE_OK;
}

static pace_status price_rank(workload *w, const replayer *r, size_t rank) {
    const pace_graph *graph = &w->graphs[rank];
    double sum = 0;
    w->launch_ns[rank] = pace_alloc(graph->launches.count + 1, sizeof **w->launch_ns);
    if (!w->launch_ns[rank]) return PACE_E_MEMORY;
    for (size_t i = 0; i < graph->launches.count; i++) {
        PACE_TRY(price(&w->launch_ns[rank][i], r, graph, &graph->launches.items[i]));
        sum += w->launch_ns[rank][i];
    }
    w->work_ns = fmax(w->work_ns, sum);
    w->nodes += graph->nodes.count + graph->launches.count;
    w->ranks[rank] = (pace_walk_rank){.graph = graph, .launch_ns = w->launch_ns[rank]};
    return PACE_OK;
}

static pace_status read_rank(workload *w, const replayer *r, const char *path) {
    const pace_trace_format *format;
    pace_read_notes notes = {0};
    PACE_TRY(pace_trace_format_of(&format, path));
    if (format->holds == PACE_HOLDS_STEP)
        return pace_fail(PACE_E_INPUT, "%s: expected an execution trace (Chakra's, or PyTorch's)", path);
    PACE_TRY(pace_graph_read(&w->graphs[w->count], &notes, format, path));
    w->count++;
    pace_status status = price_rank(w, r, w->count - 1);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, path);
}

static void free_workload(workload *w) {
    for (size_t i = 0; i < w->count; i++) {
        pace_graph_free(&w->graphs[i]);
        pace_free(w->launch_ns[i]);
    }
    pace_free(w->graphs);
    pace_free(w->ranks);
    pace_free(w->launch_ns);
}

static pace_status read_workload(workload *w, const replayer *r, const trace_file *files, size_t count) {
    w->graphs = pace_alloc(count, sizeof *w->graphs);
    w->ranks = pace_alloc(count, sizeof *w->ranks);
    w->launch_ns = pace_alloc(count, sizeof *w->launch_ns);
    if (!w->graphs || !w->ranks || !w->launch_ns) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) PACE_TRY(read_rank(w, r, files[i].path));
    return PACE_OK;
}

/* --- replay ------------------------------------------------------------------------------------------------------- */

static pace_status run_on(pace_flows_result *out, char bottleneck[PACE_FABRIC_NAME], const pace_program *program,
                          const replayer *r) {
    static const pace_wire wire = {0};
    pace_fabric fabric;
    uint32_t *place = pace_alloc(program->rank_count, sizeof *place);
    if (!place) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < program->rank_count; i++) place[i] = i;
    pace_status status = pace_fabric_of_machine(&fabric, &r->machine, false);
    if (status == PACE_OK) {
        status = pace_fabric_put(&fabric, place, program->rank_count);
        const pace_flows_question q = {
            .program = program, .wires = &wire, .wire_count = 1, .fabric = &fabric, .unfolded = r->unfolded};
        if (status == PACE_OK) status = pace_flows_run(out, &q, NULL);
        if (status == PACE_OK) pace_fabric_describe(bottleneck, &fabric, out->busiest_link);
        pace_fabric_free(&fabric);
    }
    pace_free(place);
    return status;
}

static void put_row(pace_node *table, const trace_file *file, const workload *w, const replayer *r,
                    const pace_flows_result *flows, const char *bottleneck) {
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    pace_estimate time_us = {flows->end_ns / 1e3,
                             pace_exchange_textbook_spread(pace_cost_doubts(r->cost), r->machine.nodes),
                             PACE_RUNG_FORMULA};
    workload_row row = {.ranks = w->count,
                        .nodes_read = w->nodes,
                        .time_us = time_us.median,
                        .work_us = w->work_ns / 1e3,
                        .low_us = pace_estimate_low(time_us),
                        .high_us = pace_estimate_high(time_us),
                        .bottleneck = flows->busiest_share > 0 ? bottleneck : NULL,
                        .utilisation = flows->busiest_share,
                        .messages = flows->messages,
                        .sent_bytes = flows->bytes};
    size_t length = (size_t)(file->path + file->name_length - name);
    memcpy(row.workload, name, length < sizeof row.workload ? length : sizeof row.workload - 1);
    pace_table_put(table, &row);
}

static pace_status replay(pace_node *table, const replayer *r, const trace_file *files, size_t count) {
    workload w = {0};
    pace_program program;
    pace_flows_result flows;
    char bottleneck[PACE_FABRIC_NAME] = "";
    int64_t devices = (int64_t)r->machine.devices * r->machine.nodes;
    if ((int64_t)count > devices)
        return pace_fail(PACE_E_USAGE, "%s: %zu ranks, but %s has %lld devices", files->path, count, r->machine.name,
                         (long long)devices);
    pace_status status = read_workload(&w, r, files, count);
    if (status == PACE_OK) {
        status = pace_program_of_graphs(&program, w.ranks, count, &r->choice, r->choice.algorithm != NULL);
        if (status == PACE_OK) {
            status = run_on(&flows, bottleneck, &program, r);
            pace_program_free(&program);
        }
        if (status == PACE_OK) put_row(table, files, &w, r, &flows, bottleneck);
        else pace_fail_in(status, files->path);
    }
    free_workload(&w);
    return status;
}

static pace_status open_replayer(replayer *r, const pace_simulate_options *options) {
    pace_collective collective;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: " PACE_FIELD "on dgx-h100*2 (see docs/simulation.md)");
    PACE_TRY(pace_machine_asked(&r->machine, options->context->catalog, options->on));
    PACE_TRY(pace_read_collective(&collective, options->collective));
    r->choice = (pace_collective_choice){pace_collective_rows[collective].name, options->algorithm};
    r->unfolded = options->unfolded;
    PACE_TRY(pace_device_catalog_load(&r->devices, options->context->catalog));
    r->device = pace_device_find(&r->devices, r->machine.device, 0);
    return pace_cost_create(&r->cost, options->context->catalog);
}

static pace_status replay_all(pace_report *report, void *context) {
    const replayer *r = context;
    const pace_paths *paths = &r->paths;
    trace_file *files = pace_alloc(paths->count, sizeof *files);
    pace_node *root = pace_report_root(report);
    pace_status status = files ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; i < paths->count; i++) pace_report_add_input(report, paths->items[i], 0);
    pace_node_text(root, "machine", r->machine.name);
    pace_node *table = pace_open_table(root, &workloads, 0);
    for (size_t i = 0; i < paths->count && files; i++) files[i] = file_of(paths->items[i]);
    if (files) qsort(files, paths->count, sizeof *files, by_workload);
    for (size_t i = 0, end; i < paths->count && status == PACE_OK; i = end) {
        for (end = i + 1; end < paths->count && same_workload(&files[i], &files[end]);) end++;
        status = replay(table, r, files + i, end - i);
    }
    pace_free(files);
    pace_node_note(root,
                   "Unless --algorithm says otherwise, collectives run as a ring, broadcasts as a binomial tree and "
                   "all-to-alls pairwise. Work without a time is priced on the machine's device; the host is ignored.");
    pace_put_machine_note(root, &r->machine);
    return status;
}

pace_status pace_simulate_traces(pace_report **out, const char *const *paths, size_t count,
                                 const pace_simulate_options *options) {
    replayer r = {0};
    pace_status status = open_replayer(&r, options);
    if (status == PACE_OK) status = pace_paths_expand(&r.paths, paths, count);
    if (status == PACE_OK)
        status = pace_report_build(out, "replay", "Traces replayed, message by message", replay_all, &r);
    pace_paths_free(&r.paths);
    pace_cost_free(r.cost);
    pace_device_catalog_free(&r.devices);
    return status;
}
