/* The report of `paceline convert`: which files were written, what they hold and what the format has no place for. */
#include "ask/predict/graph_inputs.h"
#include "report/engines.h"
#include "base/whole_file.h"
#include "report/table.h"
#include "source/traces/chakra.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *path;
    int64_t rank; /* PACE_NO_INT = not known */
    int64_t host_nodes, device_nodes, exchanges, timed_nodes;
} file_row;

PACE_TABLE(files, "files", "Files written", PACE_FOR_ALL, 20, {"path", "file", PACE_SHOW_TEXT, PACE_OF(file_row, path)},
           {"rank", "rank", PACE_SHOW_INT, PACE_OF(file_row, rank)},
           {"host_nodes", "host nodes", PACE_SHOW_INT, PACE_OF(file_row, host_nodes)},
           {"device_nodes", "device nodes", PACE_SHOW_INT, PACE_OF(file_row, device_nodes)},
           {"exchanges", "exchanges", PACE_SHOW_INT, PACE_OF(file_row, exchanges)},
           {"timed_nodes", "with a duration", PACE_SHOW_INT, PACE_OF(file_row, timed_nodes)});

static const char *const losses[] = {
    "the kind, shape and precision of an operation: its arithmetic and bytes stay, in whole numbers",
    "host operators inside host operators: each thread is one sequence",
    "modules, stages, input shapes, and the runtime calls that launch",
    "which launches are copies and memsets, and which belong to one device graph",
    "a wait that ends a thread: no later node can depend on it",
};

static pace_status fill(pace_sink *sink, void *graph) { return pace_chakra_write(graph, pace_sink_write, sink); }

/* One rank has the name itself; of several, rank 3 of "run.et" is "run.3.et", as readers of several ranks expect. */
static char *path_of(const char *output, int64_t rank, bool several) {
    size_t length = strlen(output), room = length + 24;
    char *path = pace_alloc(room, 1);
    if (path && several) snprintf(path, room, "%.*s.%" PRId64 ".et", (int)(length - 3), output, rank);
    else if (path) memcpy(path, output, length + 1);
    return path;
}

static void count(file_row *row, const pace_graph *graph) {
    row->rank = graph->rank >= 0 ? graph->rank : PACE_NO_INT;
    row->host_nodes = (int64_t)graph->nodes.count;
    row->device_nodes = (int64_t)graph->launches.count;
    for (size_t i = 0; i < graph->launches.count; i++) {
        row->exchanges += graph->launches.items[i].exchange != 0;
        row->timed_nodes += graph->launches.items[i].duration_ns >= 0;
    }
}

/* The number of the file that a rank has, which its readers know it by; the rank itself where it is not among them. */
static int64_t file_of(const pace_graph_inputs *inputs, int64_t rank) {
    for (size_t i = 0; i < inputs->items.count; i++)
        if (inputs->items.items[i].graph.rank == rank) return (int64_t)i;
    return rank;
}

static void number_peers(const pace_graph_inputs *inputs, pace_graph *graph) {
    for (size_t i = 0; inputs->items.count > 1 && i < graph->exchanges.count; i++) {
        int64_t *peer = &graph->exchanges.items[i].peer;
        if (*peer >= 0) *peer = file_of(inputs, *peer);
    }
}

static pace_status write_all(file_row *rows, pace_graph_inputs *inputs, const char *output) {
    bool several = inputs->items.count > 1;
    for (size_t i = 0; i < inputs->items.count; i++) {
        pace_graph *graph = &inputs->items.items[i].graph;
        rows[i].path = path_of(output, (int64_t)i, several);
        if (!rows[i].path) return PACE_E_MEMORY;
        number_peers(inputs, graph);
        PACE_TRY(pace_whole_file_write(rows[i].path, fill, graph));
        count(&rows[i], graph);
    }
    return PACE_OK;
}

static void describe(pace_report *report, const file_row *rows, const pace_graph_inputs *inputs) {
    pace_node *root = pace_report_root(report);
    int64_t host = 0, device = 0, timed = 0;
    size_t n = inputs->items.count;
    for (size_t i = 0; i < n; i++) {
        host += rows[i].host_nodes;
        device += rows[i].device_nodes;
        timed += rows[i].timed_nodes;
        if (inputs->items.items[i].bytes)
            pace_report_add_input(report, inputs->items.items[i].name, inputs->items.items[i].bytes);
    }
    pace_report_warn_all(report, &inputs->warnings);
    pace_node_sentence(root, true, "Wrote %" PRId64 " host and %" PRId64 " device nodes as Chakra to %s%s.", host,
                       device, rows[0].path, n > 1 ? " and one file for every further rank" : "");
    if (timed == 0) pace_node_note(root, "No node has a duration: models and execution traces record none.");
    pace_put_table(root, &files, rows, n, sizeof *rows);
    pace_node_note(root, "Chakra has no place for these, which are lost:");
    for (size_t i = 0; i < PACE_COUNT(losses); i++) pace_node_note(root, "%s.", losses[i]);
    if (inputs->steps > 1)
        pace_node_note(root, "where steps begin: all %zu of a rank follow each other in its file (--steps takes some).",
                       inputs->steps);
}

typedef struct {
    pace_graph_inputs inputs;
    const char *output;
} conversion;

static pace_status convert(pace_report *report, void *context) {
    conversion *c = context;
    pace_graph_inputs *inputs = &c->inputs;
    file_row *rows = pace_alloc(inputs->items.count, sizeof *rows);
    if (!rows) return PACE_E_MEMORY;
    pace_status status = write_all(rows, inputs, c->output);
    if (status == PACE_OK) describe(report, rows, inputs);
    for (size_t i = 0; i < inputs->items.count; i++) pace_free(rows[i].path);
    pace_free(rows);
    return status;
}

pace_status pace_convert(pace_report **out, const char *const *paths, size_t path_count,
                         const pace_convert_options *options) {
    conversion c = {.output = options->output};
    if (path_count == 0) return pace_fail(PACE_E_USAGE, "expected a trace or a model to convert");
    if (!options->output) return pace_fail(PACE_E_USAGE, "output: expected a name that ends with .et, found none");
    PACE_TRY(pace_graph_inputs_read(&c.inputs, paths, path_count, options));
    pace_status status = pace_report_build(out, "convert", "Converted", convert, &c);
    pace_graph_inputs_free(&c.inputs);
    return status;
}
