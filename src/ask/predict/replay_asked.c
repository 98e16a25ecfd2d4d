#include "ask/predict/replay_asked.h"
#include "ask/predict/exchange_words.h"
#include "base/print.h"
#include "cost/cost.h"
#include "exchange/exchange.h"
#include "machine/device.h"
#include "schedule/graph_program.h"
#include "source/traces/trace_formats.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>

/* --- which files are ranks of one run ----------------------------------------------------------------------------- */

/* Which trace files may be ranks of one run, told by their names: NAME.RANK.et of one NAME, or names that differ in a
 * number ("rank0.et.json.gz", "host_3.et"). Whether they are, their contents say (replay_asked.c). */

#define PACE_RUN_NUMBER '\1' /* where the name of a run leaves a number out */

typedef struct {
    const char *path; /* borrowed */
    char *run;        /* owned: files of one run have the same */
    bool told;        /* NAME.RANK.et: the name says it */
} run_file;

typedef PACE_VEC(run_file) run_files;

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* NAME.RANK.et: the length of NAME; 0 = it is no such name. */
static size_t named_length(const char *path) {
    const char *base = base_of(path), *end = strstr(base, ".et"), *digit = end;
    while (end && digit > base && pace_is_digit(digit[-1])) digit--;
    return end && digit != end && digit != base && digit[-1] == '.' ? (size_t)(digit - 1 - path) : 0;
}

/* The path with its name's numbers left out. */
static void leave_numbers_out(char *out, const char *path) {
    const char *base = base_of(path);
    memcpy(out, path, (size_t)(base - path));
    out += base - path;
    for (const char *at = base; *at; at++) {
        if (!pace_is_digit(*at)) *out++ = *at;
        else if (at == base || !pace_is_digit(at[-1])) *out++ = PACE_RUN_NUMBER;
    }
    *out = '\0';
}

static pace_status describe(run_file *out, const char *path) {
    size_t length = named_length(path);
    *out = (run_file){.path = path, .told = length > 0};
    if (!PACE_MAKE(out->run, strlen(path) + 1)) return PACE_E_MEMORY;
    if (length) memcpy(out->run, path, length);
    else leave_numbers_out(out->run, path);
    return PACE_OK;
}

/* As people count: a number comes after a smaller one, however many digits either has. */
static int by_numbers(const char *a, const char *b) {
    while (*a && *b) {
        if (pace_is_digit(*a) && pace_is_digit(*b)) {
            char *end_a, *end_b;
            unsigned long long left = strtoull(a, &end_a, 10), right = strtoull(b, &end_b, 10);
            if (left != right) return left < right ? -1 : 1;
            a = end_a, b = end_b;
            continue;
        }
        if (*a != *b) return *a < *b ? -1 : 1;
        a++, b++;
    }
    return (*a != '\0') - (*b != '\0');
}

static int by_run(const void *left, const void *right) {
    const run_file *a = left, *b = right;
    int order = strcmp(a->run, b->run);
    if (!order) order = by_numbers(a->path, b->path);
    return order ? order : strcmp(a->path, b->path);
}

static void run_files_free(run_files *files) {
    for (size_t i = 0; i < files->count; i++) pace_free(files->items[i].run);
    PACE_VEC_FREE(files);
}

/* Sorted by run, those of a run by their numbers. */
static pace_status run_files_sort(run_files *out, const char *const *paths, size_t count) {
    run_files files = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; i < count && status == PACE_OK; i++) {
        run_file file;
        status = describe(&file, paths[i]);
        if (status == PACE_OK) status = PACE_PUSH(&files, file);
        if (status != PACE_OK) pace_free(file.run);
    }
    if (status == PACE_OK && count) qsort(files.items, count, sizeof *files.items, by_run);
    return PACE_GIVE(out, files, status, run_files_free(&files));
}

/* The places of a name's numbers at which two names differ, one bit each. */
static unsigned differing(const char *a, const char *b) {
    unsigned places = 0, place = 1;
    a = base_of(a), b = base_of(b);
    while (*a && *b) {
        if (!pace_is_digit(*a) || !pace_is_digit(*b)) {
            a++, b++;
            continue;
        }
        char *end_a, *end_b;
        if (strtoull(a, &end_a, 10) != strtoull(b, &end_b, 10)) places |= place;
        place = place << 1 ? place << 1 : place;
        a = end_a, b = end_b;
    }
    return places;
}

/* Whether the names of files of one run differ in more than one number, so that they may be several runs. */
static bool run_files_ambiguous(const run_file *files, size_t count) {
    unsigned places = 0;
    for (size_t i = 1; i < count && !files->told; i++) places |= differing(files->path, files[i].path);
    return (places & (places - 1)) != 0;
}

/* --- traces as ranks ---------------------------------------------------------------------------------------------- */

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
    size_t guessed; /* pieces of work that a recording gives neither a time nor an amount */
    size_t apart;   /* exchanges that take their recorded time, for not all their ranks are here */
    bool recorded;  /* the rank that is read gives times */
} workload;

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool has_amount(const pace_op *op) { return op->flop > 0 || op->read_bytes > 0 || op->write_bytes > 0; }

/* As measured; else what the machine's device takes for it. A recording that gives work no time found it too short: it
 * takes what kernels usually do. Exchanges are as long as they were, or it is not known. */
static pace_status price(double *out_ns, workload *w, const replayer *r, const pace_graph *graph,
                         const pace_launch *launch) {
    pace_estimate s;
    *out_ns = launch->duration_ns >= 0 ? (double)launch->duration_ns : NAN;
    if (launch->exchange || launch->duration_ns >= 0) return PACE_OK;
    const char *name = pace_names_text(&graph->names, launch->name);
    if (launch->op == PACE_NO_OP)
        return pace_fail(PACE_E_INPUT, "kernel \"%.60s\" has neither a duration nor an amount of work", name);
    if (!r->device)
        return pace_fail(PACE_E_USAGE, "kernel \"%.60s\" has no duration, and %s does not name its devices", name,
                         r->machine->name);
    const pace_op *op = &graph->ops.items[launch->op];
    bool guessed = w->recorded && !has_amount(op);
    w->guessed += guessed;
    if (guessed) s = pace_cost_guess_op(r->cost, r->device, op);
    else PACE_TRY(pace_cost_op_under(&s, r->cost, r->device, op, PACE_SUSTAINED));
    *out_ns = s.median * 1e9;
    return PACE_OK;
}

static bool gives_times(const pace_graph *graph) {
    for (size_t i = 0; i < graph->launches.count; i++)
        if (graph->launches.items[i].duration_ns >= 0) return true;
    return false;
}

static pace_status price_rank(workload *w, const replayer *r, size_t rank) {
    const pace_graph *graph = &w->graphs[rank];
    double sum = 0;
    if (!PACE_MAKE(w->launch_ns[rank], graph->launches.count + 1)) return PACE_E_MEMORY;
    w->recorded = gives_times(graph);
    for (size_t i = 0; i < graph->launches.count; i++) {
        PACE_TRY(price(&w->launch_ns[rank][i], w, r, graph, &graph->launches.items[i]));
        if (!graph->launches.items[i].exchange) sum += w->launch_ns[rank][i];
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
    PACE_FREE(w->graphs, w->ranks, w->launch_ns);
}

static pace_status read_workload(workload *w, const replayer *r, const run_file *files, size_t count) {
    if (!PACE_MAKE(w->graphs, count) || !PACE_MAKE(w->ranks, count) || !PACE_MAKE(w->launch_ns, count))
        return PACE_E_MEMORY;
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

/* What files of one run have in common of their names, a star for numbers; a file alone is called as it is. */
static void name_workload(char out[256], const run_file *file, size_t ranks) {
    const char *whole = ranks > 1 || file->told ? file->run : file->path, *slash = strrchr(whole, '/');
    pace_snprintf(out, 256, "%.255s", slash ? slash + 1 : whole);
    for (char *at = out; *at; at++)
        if (*at == PACE_RUN_NUMBER) *at = '*';
}

static pace_status keep(pace_replay_asked *out, const run_file *file, const workload *w, const replayer *r,
                        const pace_flows_result *flows, const char *bottleneck) {
    pace_replayed_workload row = {.ranks = w->count,
                                  .nodes_read = w->nodes,
                                  .work_s = w->work_ns * 1e-9,
                                  .busiest_share = flows->busiest_share,
                                  .messages = flows->messages,
                                  .guessed = w->guessed,
                                  .apart = w->apart,
                                  .sent_bytes = flows->bytes};
    row.time_s = (pace_estimate){flows->end_ns * 1e-9,
                                 pace_exchange_textbook_spread(pace_cost_doubts(r->cost), r->machine->nodes),
                                 PACE_RUNG_FORMULA, 0};
    name_workload(row.name, file, w->count);
    if (flows->busiest_share > 0) memcpy(row.bottleneck, bottleneck, sizeof row.bottleneck);
    return PACE_PUSH(&out->workloads, row);
}

/* The ranks from `first` on, of the files that were read. */
static pace_status replay_ranks(pace_replay_asked *out, workload *w, const replayer *r, const run_file *files,
                                size_t first, size_t count) {
    pace_program program;
    pace_flows_result flows;
    char bottleneck[PACE_FABRIC_NAME] = "";
    int64_t devices = (int64_t)r->machine->devices * r->machine->nodes;
    if ((int64_t)count > devices)
        return pace_fail(PACE_E_USAGE, "%s: %zu ranks, but %s has %lld devices", files->path, count, r->machine->name,
                         (long long)devices);
    pace_status status =
        pace_program_of_graphs(&program, &w->apart, w->ranks + first, count, &r->choice, r->choice.algorithm != NULL);
    if (status == PACE_OK) {
        status = run_on(&flows, bottleneck, &program, r);
        pace_program_free(&program);
    }
    if (status != PACE_OK) return pace_fail_in(status, files->path);
    return keep(out, files, w, r, &flows, bottleneck);
}

static const char *launch_exchanges(const pace_graph *graph, size_t launch) {
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, (uint32_t)launch);
    return exchange ? pace_names_text(&graph->names, exchange->collective) : NULL;
}

/* Ranks of one run exchange: the same collectives in the same order, or messages. */
static bool exchange_alike(const pace_graph *a, const pace_graph *b) {
    size_t i = 0, j = 0, met = 0;
    for (;; i++, j++, met++) {
        const char *left = NULL, *right = NULL;
        while (i < a->launches.count && !(left = launch_exchanges(a, i))) i++;
        while (j < b->launches.count && !(right = launch_exchanges(b, j))) j++;
        if (!left || !right) return met > 0 && !left && !right;
        bool message = strcmp(left, "send") == 0 || strcmp(left, "recv") == 0;
        if (message || strcmp(right, "send") == 0 || strcmp(right, "recv") == 0) return true;
        if (strcmp(left, right) != 0) return false;
    }
}

static bool are_one_run(const workload *w, const run_file *files) {
    bool one = true;
    for (size_t i = 1; i < w->count && one && !files->told; i++) one = exchange_alike(&w->graphs[0], &w->graphs[i]);
    return one;
}

static pace_status replay(pace_replay_asked *out, workload *w, const replayer *r, const run_file *files, size_t count) {
    PACE_TRY(read_workload(w, r, files, count));
    if (are_one_run(w, files)) {
        if (run_files_ambiguous(files, count))
            return pace_fail(PACE_E_INPUT,
                             "%s and %zu more differ in several numbers of their names: one run or several? Expected "
                             "names NAME.RANK.et",
                             files->path, count - 1);
        return replay_ranks(out, w, r, files, 0, count);
    }
    for (size_t i = 0; i < count; i++) PACE_TRY(replay_ranks(out, w, r, files + i, i, 1));
    return PACE_OK;
}

static pace_status replay_runs(pace_replay_asked *out, const replayer *r, const run_files *files) {
    for (size_t i = 0, end; i < files->count; i = end) {
        workload w = {0};
        for (end = i + 1; end < files->count && strcmp(files->items[i].run, files->items[end].run) == 0;) end++;
        pace_status status = replay(out, &w, r, files->items + i, end - i);
        free_workload(&w);
        PACE_TRY(status);
    }
    return PACE_OK;
}

static pace_status replay_all(pace_replay_asked *out, const replayer *r) {
    run_files files;
    PACE_TRY(run_files_sort(&files, (const char *const *)out->paths.items, out->paths.count));
    pace_status status = replay_runs(out, r, &files);
    run_files_free(&files);
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
    pace_texts_free(&asked->paths);
    PACE_VEC_FREE(&asked->workloads);
}
