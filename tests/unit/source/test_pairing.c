/* One run recorded twice: every operator of the published pairs finds its partner, and threads do not mix. */
#include "source/execution_trace.h"
#include "source/graph_from_step.h"
#include "source/kineto.h"
#include "source/pairing.h"
#include "catalog_of_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    pace_graph graph;
    pace_step step;
    pace_pairing pairing;
} pair;

static bool read_pair(pair *out, const char *trace, const char *kineto) {
    const char *shared = getenv("PACELINE_SHARED");
    char path[2][512];
    pace_input *input;
    pace_read_notes notes;
    if (!shared) return false;
    snprintf(path[0], sizeof path[0], "%s/chakra/%s", shared, trace);
    snprintf(path[1], sizeof path[1], "%s/chakra/%s", shared, kineto);
    if (pace_input_open(&input, path[0]) != PACE_OK) return false;
    assert_int_equal(pace_execution_trace_read(&out->graph, NULL, input), PACE_OK);
    pace_input_free(input);
    assert_int_equal(pace_input_open(&input, path[1]), PACE_OK);
    assert_int_equal(pace_kineto_read(&out->step, input, &notes, NULL, NULL), PACE_OK);
    pace_input_free(input);
    assert_int_equal(pace_pair(&out->pairing, &out->graph, &out->step), PACE_OK);
    return true;
}

/* Within the other's times, but for the rounding of a trace in whole microseconds. */
static bool within(const pace_step *step, uint32_t task, uint32_t above) {
    const int64_t rounding_ns = 2000;
    return step->lane[task] == step->lane[above] && step->start_ns[task] >= step->start_ns[above] - rounding_ns &&
           pace_step_end_ns(step, task) <= pace_step_end_ns(step, above) + rounding_ns;
}

/* Partners have the same name and are each other's only ones; what hangs under a node runs within its partner. */
static void check_partners(const pair *p) {
    bool *taken = calloc(p->step.count, sizeof *taken);
    size_t matched = 0;
    for (uint32_t i = 0; i < p->graph.nodes.count; i++) {
        const pace_graph_node *node = &p->graph.nodes.items[i];
        if (node->task == PACE_NO_TASK) continue;
        matched++;
        assert_false(taken[node->task]);
        taken[node->task] = true;
        assert_string_equal(pace_names_text(&p->graph.names, node->name), pace_step_name(&p->step, node->task));
        uint32_t above = node->parent == PACE_NO_NODE ? PACE_NO_TASK : p->graph.nodes.items[node->parent].task;
        if (above != PACE_NO_TASK && !within(&p->step, node->task, above)) fail_msg("node %u is misplaced", i);
    }
    assert_int_equal(matched, p->pairing.matched);
    free(taken);
}

static void free_pair(pair *p) {
    pace_graph_free(&p->graph);
    pace_step_free(&p->step);
}

static double arithmetic(const pace_graph *graph, pace_op_family family) {
    double flop = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        uint32_t op = graph->launches.items[i].op;
        if (op != PACE_NO_OP && graph->ops.items[op].family == family) flop += graph->ops.items[op].flop;
    }
    return flop;
}

/* Both recordings make the same arithmetic, one from operators alone, the other from kernels. */
static void check_arithmetic(const pair *p) {
    pace_graph measured;
    assert_int_equal(pace_graph_from_step(&measured, test_catalog(), &p->step, INT64_MIN, INT64_MAX), PACE_OK);
    assert_true(arithmetic(&measured, PACE_OP_CONVOLUTION) == arithmetic(&p->graph, PACE_OP_CONVOLUTION));
    assert_true(arithmetic(&measured, PACE_OP_GEMM) == arithmetic(&p->graph, PACE_OP_GEMM));
    assert_true(arithmetic(&measured, PACE_OP_GEMM) > 0);
    pace_graph_free(&measured);
}

static void vgg13(void **state) {
    (void)state;
    pair p;
    if (!read_pair(&p, "pair_vgg13_1xH100.et.json.gz", "pair_vgg13_1xH100.kineto.json.gz")) skip();
    assert_int_equal(p.pairing.tasks, 900);
    assert_int_equal(p.pairing.matched, 900);
    check_partners(&p);
    check_arithmetic(&p);
    free_pair(&p);
}

static void simple_add(void **state) {
    (void)state;
    pair p;
    if (!read_pair(&p, "pair_simple_add_A100.et.json.gz", "pair_simple_add_A100.kineto.json.gz")) skip();
    assert_int_equal(p.pairing.matched, 36);
    check_partners(&p);
    free_pair(&p);
}

/* The one event without a partner is the profiler's own mark. */
static void dlrm_ranks(void **state) {
    (void)state;
    for (int rank = 0; rank < 8; rank++) {
        pair p;
        char names[2][64];
        snprintf(names[0], sizeof names[0], "dlrm_8xV100_et/rank%d.et.json.gz", rank);
        snprintf(names[1], sizeof names[1], "dlrm_8xV100_kineto/rank%d.kineto.json.gz", rank);
        if (!read_pair(&p, names[0], names[1])) skip();
        if (p.pairing.tasks != 1673 || p.pairing.matched != 1672)
            fail_msg("rank %d: %zu of %zu", rank, p.pairing.matched, p.pairing.tasks);
        check_partners(&p);
        free_pair(&p);
    }
}

/* Two iterations in the trace of times, the second of which the graph shows; the graph lacks an event and has one more.
 * Two threads take turns, so that no number common to both tells them apart. */
static void made_by_hand(void **state) {
    (void)state;
    static const char *const first[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "only"};
    static const char *const second[] = {"p", "q", "r", "a", "b", "s", "t", "u", "v", "w"};
    pace_step step;
    pace_graph graph;
    pace_pairing pairing;
    assert_int_equal(pace_step_init(&step), PACE_OK);
    uint32_t lanes[2], number;
    for (int t = 0; t < 2; t++) {
        char key[16];
        snprintf(key, sizeof key, "host %d", t);
        assert_int_equal(pace_step_lane(&lanes[t], &step, key, strlen(key), false, 0), PACE_OK);
    }
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 13; i++) {
            for (int t = 0; t < 2; t++) {
                pace_name name;
                const char *text = t ? second[i % 10] : first[i];
                if (t && i >= 10) continue;
                assert_int_equal(pace_names_add(&name, &step.names, text, strlen(text)), PACE_OK);
                assert_int_equal(pace_step_add_task(&step, lanes[t], PACE_TASK_OP, name, turn * 1000 + i * 10 + t * 5,
                                                    4),
                                 PACE_OK);
            }
        }
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    for (int i = 0; i < 12; i++) {
        if (i == 4)
            assert_int_equal(pace_graph_add_node(&number, &graph, PACE_TASK_OP, "more", PACE_NO_NODE, 0), PACE_OK);
        if (i != 7)
            assert_int_equal(pace_graph_add_node(&number, &graph, PACE_TASK_OP, first[i], PACE_NO_NODE, 0), PACE_OK);
        if (i < 10)
            assert_int_equal(pace_graph_add_node(&number, &graph, PACE_TASK_OP, second[i], PACE_NO_NODE, 1), PACE_OK);
    }
    assert_int_equal(pace_pair(&pairing, &graph, &step), PACE_OK);
    assert_int_equal(pairing.matched, 11 + 10);
    for (uint32_t i = 0; i < graph.nodes.count; i++) {
        const pace_graph_node *node = &graph.nodes.items[i];
        const char *name = pace_names_text(&graph.names, node->name);
        if (strcmp(name, "more") == 0) assert_int_equal(node->task, PACE_NO_TASK);
        else assert_int_equal(step.lane[node->task], lanes[node->thread]);
    }
    pace_graph_free(&graph);
    pace_step_free(&step);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vgg13),
        cmocka_unit_test(simple_add),
        cmocka_unit_test(dlrm_ranks),
        cmocka_unit_test(made_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
