#include "ask/replay_asked.h"

#include "ask/context.h"
#include "ask/exchange_words.h"
#include "cost/cost.h"
#include "exchange/exchange.h"
#include "machine/device.h"
#include "schedule/flows.h"
#include "schedule/graph_program.h"
#include "source/trace_formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file: its workload's name is what stands before ".RANK.et". */
typedef struct {
    const char *path;
    size_t name_length;
    long rank;
} trace_file;

typedef struct {
    const pace_machine *machine;
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
                         r->machine->name);
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
    pace_status status = pace_fabric_of_machine(&fabric, r->machine, false);
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

static pace_status keep(pace_replay_asked *out, const trace_file *file, const workload *w, const replayer *r,
                        const pace_flows_result *flows, const char *bottleneck) {
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    pace_replayed_workload row = {.ranks = w->count,
                                  .nodes_read = w->nodes,
                                  .work_s = w->work_ns * 1e-9,
                                  .busiest_share = flows->busiest_share,
                                  .messages = flows->messages,
                                  .sent_bytes = flows->bytes};
    row.time_s =
        (pace_estimate){flows->end_ns * 1e-9,
                        pace_exchange_textbook_spread(pace_cost_doubts(r->cost), r->machine->nodes), PACE_RUNG_FORMULA};
    size_t length = (size_t)(file->path + file->name_length - name);
    memcpy(row.name, name, length < sizeof row.name ? length : sizeof row.name - 1);
    if (flows->busiest_share > 0) memcpy(row.bottleneck, bottleneck, sizeof row.bottleneck);
    return PACE_PUSH(&out->workloads, row);
}

static pace_status replay_workload(pace_replay_asked *out, workload *w, const replayer *r, const trace_file *files,
                                   size_t count) {
    pace_program program;
    pace_flows_result flows;
    char bottleneck[PACE_FABRIC_NAME] = "";
    PACE_TRY(read_workload(w, r, files, count));
    pace_status status = pace_program_of_graphs(&program, w->ranks, count, &r->choice, r->choice.algorithm != NULL);
    if (status == PACE_OK) {
        status = run_on(&flows, bottleneck, &program, r);
        pace_program_free(&program);
    }
    if (status != PACE_OK) return pace_fail_in(status, files->path);
    return keep(out, files, w, r, &flows, bottleneck);
}

static pace_status replay(pace_replay_asked *out, const replayer *r, const trace_file *files, size_t count) {
    workload w = {0};
    int64_t devices = (int64_t)r->machine->devices * r->machine->nodes;
    if ((int64_t)count > devices)
        return pace_fail(PACE_E_USAGE, "%s: %zu ranks, but %s has %lld devices", files->path, count, r->machine->name,
                         (long long)devices);
    pace_status status = replay_workload(out, &w, r, files, count);
    free_workload(&w);
    return status;
}

static pace_status replay_all(pace_replay_asked *out, const replayer *r) {
    size_t count = out->paths.count;
    trace_file *files = pace_alloc(count + 1, sizeof *files);
    if (!files) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (size_t i = 0; i < count; i++) files[i] = file_of(out->paths.items[i]);
    qsort(files, count, sizeof *files, by_workload);
    for (size_t i = 0, end; i < count && status == PACE_OK; i = end) {
        for (end = i + 1; end < count && same_workload(&files[i], &files[end]);) end++;
        status = replay(out, r, files + i, end - i);
    }
    pace_free(files);
    return status;
}

/* --- asked -------------------------------------------------------------------------------------------------------- */

static pace_status open_replayer(replayer *r, pace_machine *machine, const pace_simulate_options *options) {
    pace_collective collective;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: " PACE_FIELD "on dgx-h100*2 (see docs/simulation.md)");
    PACE_TRY(pace_machine_asked(machine, options->context->catalog, options->on));
    PACE_TRY(pace_read_collective(&collective, options->collective));
    r->machine = machine;
    r->choice = (pace_collective_choice){pace_collective_rows[collective].name, options->algorithm};
    r->unfolded = options->unfolded;
    PACE_TRY(pace_device_catalog_load(&r->devices, options->context->catalog));
    r->device = pace_device_find(&r->devices, machine->device, 0);
    return pace_cost_create(&r->cost, options->context->catalog);
}

pace_status pace_replay_ask(pace_replay_asked *out, const char *const *paths, size_t count,
                            const pace_simulate_options *options) {
    replayer r = {0};
    pace_status status = open_replayer(&r, &out->machine, options);
    if (status == PACE_OK) status = pace_paths_expand(&out->paths, paths, count);
    if (status == PACE_OK) status = replay_all(out, &r);
    pace_cost_free(r.cost);
    pace_device_catalog_free(&r.devices);
    return status;
}

void pace_replay_asked_free(pace_replay_asked *asked) {
    pace_paths_free(&asked->paths);
    PACE_VEC_FREE(&asked->workloads);
}
