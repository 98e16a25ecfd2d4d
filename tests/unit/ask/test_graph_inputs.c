/* Every model of the catalogue under several configurations, and the bundled trace, written as Chakra and read back:
 * operators, launches, what they wait for, amounts, groups and times are the same. */

#include "cmocka_of_tests.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/predict/graph_inputs.h"
#include "ask/engine_options.h"
#include "catalog_of_tests.h"
#include "model/model_catalog.h"
#include "source/traces/chakra.h"

typedef struct {
    unsigned char *bytes;
    size_t count, room;
} memory;

static memory written;

static int write_memory(void *context, const void *bytes, size_t length) {
    memory *to = context;
    while (to->count + length > to->room) {
        to->room = to->room * 2 + 65536;
        to->bytes = realloc(to->bytes, to->room);
        assert_non_null(to->bytes);
    }
    memcpy(to->bytes + to->count, bytes, length);
    to->count += length;
    return 0;
}

static void read_back(pace_graph *out, const pace_graph *graph) {
    pace_input *input;
    pace_read_notes notes = {0};
    written.count = 0;
    assert_int_equal(pace_chakra_write(graph, write_memory, &written), PACE_OK);
    assert_int_equal(pace_input_open_memory(&input, "memory", written.bytes, written.count), PACE_OK);
    assert_int_equal(pace_chakra_read(out, &notes, input), PACE_OK);
    assert_string_equal(notes.warning, "");
    pace_input_free(input);
}

static const char *text(const pace_graph *graph, pace_name name) { return pace_names_text(&graph->names, name); }

/* Threads and streams may be numbered anew, one to one. */
static void same_number(uint32_t *map, uint32_t *back_map, uint32_t a, uint32_t b) {
    assert_in_range(a, 0, 4095);
    assert_in_range(b, 0, 4095);
    if (map[a] == UINT32_MAX && back_map[b] == UINT32_MAX) map[a] = b, back_map[b] = a;
    assert_int_equal(map[a], b);
    assert_int_equal(back_map[b], a);
}

typedef struct {
    const pace_graph *graph, *back;
    uint32_t *node_of; /* node of `graph` -> of `back`, where a call stands for each wait */
    uint32_t threads[4096], back_threads[4096], streams[4096], back_streams[4096];
} pair;

/* Operators in their order, on their threads, behind the operators of other threads that they wait for. */
static void same_nodes(pair *p) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->graph->nodes.count; i++, k++) {
        const pace_graph_node *a = &p->graph->nodes.items[i];
        bool gathered = a->after == PACE_NO_NODE;
        for (; k < p->back->nodes.count && p->back->nodes.items[k].kind == PACE_TASK_CALL; k++)
            gathered = gathered || p->back->nodes.items[k].after == p->node_of[a->after];
        assert_in_range(k, 0, p->back->nodes.count - 1);
        const pace_graph_node *b = &p->back->nodes.items[k];
        assert_string_equal(text(p->graph, a->name), text(p->back, b->name));
        same_number(p->threads, p->back_threads, a->thread, b->thread);
        p->node_of[i] = k;
        assert_true(gathered || b->after == p->node_of[a->after]);
    }
}

static bool waits_on(const pace_launch *launch, uint32_t other) {
    return launch->waits[0] == other || launch->waits[1] == other;
}

static void same_amounts(const pair *p, const pace_launch *a, const pace_launch *b) {
    const pace_graph_exchange *x = a->exchange ? &p->graph->exchanges.items[a->exchange - 1] : NULL;
    if (x) {
        const pace_graph_exchange *y = &p->back->exchanges.items[b->exchange - 1];
        assert_string_equal(text(p->graph, x->collective), text(p->back, y->collective));
        assert_string_equal(text(p->graph, x->group), text(p->back, y->group));
        assert_int_equal(x->group_size, y->group_size);
        assert_int_equal(x->group_stride, y->group_stride);
        assert_true(y->bytes == rint(x->bytes) || fabs(y->bytes - x->bytes) <= 0.5);
        assert_int_equal(x->peer, y->peer);
    } else if (a->op != PACE_NO_OP) {
        const pace_op *v = &p->graph->ops.items[a->op], *w = &p->back->ops.items[b->op];
        assert_true(fabs(v->flop - w->flop) <= 0.5);
        assert_true(fabs(v->read_bytes - w->read_bytes) <= 0.5 && fabs(v->write_bytes - w->write_bytes) <= 0.5);
    }
}

static void same_launches(pair *p) {
    assert_int_equal(p->graph->launches.count, p->back->launches.count);
    for (uint32_t i = 0; i < p->graph->launches.count; i++) {
        const pace_launch *a = &p->graph->launches.items[i], *b = &p->back->launches.items[i];
        if (a->name) assert_string_equal(text(p->graph, a->name), text(p->back, b->name));
        same_number(p->streams, p->back_streams, a->stream, b->stream);
        same_number(p->threads, p->back_threads, p->graph->nodes.items[a->node].thread,
                    p->back->nodes.items[b->node].thread);
        for (int k = 0; k < 2; k++) assert_true(a->waits[k] == PACE_NO_LAUNCH || waits_on(b, a->waits[k]));
        assert_int_equal(a->waits[0] == PACE_NO_LAUNCH && a->waits[1] == PACE_NO_LAUNCH,
                         b->waits[0] == PACE_NO_LAUNCH && b->waits[1] == PACE_NO_LAUNCH);
        assert_int_equal(a->duration_ns, b->duration_ns);
        assert_int_equal(!a->exchange, !b->exchange);
        same_amounts(p, a, b);
    }
}

/* The device work that hosts wait for, at the node itself or, where that holds others, behind them; but for a wait
 * behind which a thread does nothing. */
static void same_host_waits(const pair *p) {
    for (uint32_t i = 0; i < p->graph->nodes.count; i++) {
        const pace_graph_node *a = &p->graph->nodes.items[i];
        bool follows = false, found = a->waits_launch == PACE_NO_LAUNCH;
        for (uint32_t k = i + 1; !follows && !found && k < p->graph->nodes.count; k++) {
            const pace_graph_node *next = &p->graph->nodes.items[k];
            follows = next->thread == a->thread && (next->parent == a->parent || next->parent == PACE_NO_NODE);
        }
        for (uint32_t k = p->node_of[i]; follows && !found && k < p->back->nodes.count; k++)
            found = p->back->nodes.items[k].waits_launch == a->waits_launch;
        assert_true(found || !follows);
    }
}

static void survives(const pace_graph *graph) {
    static pair p;
    pace_graph back;
    memset(&p, 0xff, sizeof p);
    read_back(&back, graph);
    p.graph = graph;
    p.back = &back;
    p.node_of = calloc(graph->nodes.count + 1, sizeof *p.node_of);
    same_nodes(&p);
    same_launches(&p);
    same_host_waits(&p);
    free(p.node_of);
    pace_graph_free(&back);
}

enum { MOST = 512 };

/* Sanitizers see the same code at every model: they try one of four. */
#ifdef PACE_NO_CLONES
enum { STRIDE = 4 };
#else
enum { STRIDE = 1 };
#endif
static char *models[MOST];
static size_t model_count;

static pace_status keep_name(void *context, const pace_model *model) {
    (void)context;
    assert_in_range(model_count, 0, MOST - 1);
    models[model_count++] = strdup(pace_names_text(&model->names, model->name));
    return PACE_OK;
}

TEST(test_models) {
    static const char *const settings[][3] = {{"micro_batch=1", "", ""},
                                              {"dp=4", "", ""},
                                              {"tp=2", "dp=2", ""},
                                              {"execution=compiled", "precision=bf16", "dp=8"}};
    size_t lowered = 0, refused = 0;
    assert_int_equal(pace_model_each(test_catalog(), keep_name, NULL), PACE_OK);
    for (size_t m = 0; m < model_count; m += STRIDE) {
        for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
            pace_graph_inputs inputs;
            pace_convert_options options = {.context = test_context(), .set = {settings[s], 0}};
            const char *name = models[m];
            while (options.set.count < 3 && *settings[s][options.set.count]) options.set.count++;
            if (pace_graph_inputs_read(&inputs, &name, 1, &options) != PACE_OK) {
                refused++; /* tensor parallelism of models that have none, heads that do not divide */
                continue;
            }
            survives(&inputs.items.items[0].graph);
            pace_graph_inputs_free(&inputs);
            lowered++;
        }
    }
    for (size_t m = 0; m < model_count; m++) free(models[m]);
    print_message("%zu configurations of %zu models, %zu refused\n", lowered, model_count, refused);
    assert_true(lowered * STRIDE >= (STRIDE == 1 ? 3 : 2) * model_count);
}

TEST(test_trace) {
    char path[512];
    const char *source = getenv("PACELINE_SOURCE"), *name = path;
    snprintf(path, sizeof path, "%s/tests/data/demo.json.gz", source ? source : ".");
    pace_graph_inputs inputs;
    pace_convert_options options = {.context = test_context()};
    assert_int_equal(pace_graph_inputs_read(&inputs, &name, 1, &options), PACE_OK);
    assert_true(inputs.items.items[0].graph.launches.count > 1000);
    survives(&inputs.items.items[0].graph);
    pace_graph_inputs_free(&inputs);
}

int main(void) {
    int failed = run_tests_of_file(NULL, NULL);
    free(written.bytes);
    return failed;
}
