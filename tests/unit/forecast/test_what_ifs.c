/* What-ifs on small graphs whose answers follow from what was asked. */
#include "forecast/batch_size.h"
#include "forecast/self_check.h"
#include "forecast/what_ifs.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

static uint32_t node(pace_graph *graph, const char *name, const char *shapes, uint32_t parent) {
    uint32_t out;
    assert_int_equal(pace_graph_add_node(&out, graph, PACE_TASK_OP, name, parent, 0), PACE_OK);
    if (shapes)
        assert_int_equal(pace_names_add(&graph->nodes.items[out].shapes, &graph->names, shapes, strlen(shapes)),
                         PACE_OK);
    return out;
}

static uint32_t put(pace_graph *graph, uint32_t by, pace_op_family family, pace_pass pass, const double *sizes,
                    size_t bytes) {
    pace_op op = {.family = family, .pass = pass, .precision = PACE_FP32, .element_bytes = 4};
    uint32_t out;
    memcpy(op.size, sizes, bytes);
    assert_true(pace_op_complete(&op));
    assert_int_equal(pace_graph_add_launch(&out, graph, by, PACE_TASK_KERNEL, &op, 0), PACE_OK);
    return out;
}

#define PUT(graph, by, family, pass, ...) \
    put(graph, by, family, pass, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}))

static double flop_of(const pace_graph *graph) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) sum += graph->ops.items[graph->launches.items[i].op].flop;
    return sum;
}

static double bytes_of(const pace_graph *graph) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_op *op = &graph->ops.items[graph->launches.items[i].op];
        sum += op->read_bytes + op->write_bytes;
    }
    return sum;
}

/* A linear layer's step as PyTorch records it: batch 32, 784 to 512; its update is as large as its weight. */
enum { FORWARD, DATA_GRADIENT, WEIGHT_GRADIENT, ACCUMULATE, UPDATE, LAUNCHES };

static void add_linear(pace_graph *graph) {
    uint32_t top =
        node(graph, "aten::linear", "[[32,784],[512,784],[512]]\n[\"float\",\"float\",\"float\"]", PACE_NO_NODE);
    uint32_t addmm = node(graph, "aten::addmm", "[[512],[32,784],[784,512]]\n[\"float\",\"float\",\"float\"]", top);
    PUT(graph, addmm, PACE_OP_GEMM, PACE_PASS_FORWARD, 1, 32, 512, 784);
    uint32_t back = node(graph, "AddmmBackward0", NULL, PACE_NO_NODE);
    uint32_t data = node(graph, "aten::mm", "[[32,512],[512,784]]\n[\"float\",\"float\"]", back);
    PUT(graph, data, PACE_OP_GEMM, PACE_PASS_FORWARD, 1, 32, 784, 512);
    uint32_t weight = node(graph, "aten::mm", "[[512,32],[32,784]]\n[\"float\",\"float\"]", back);
    PUT(graph, weight, PACE_OP_GEMM, PACE_PASS_FORWARD, 1, 512, 784, 32);
    uint32_t sum = node(graph, "torch::autograd::AccumulateGrad", "[[512,784]]\n[\"float\"]", PACE_NO_NODE);
    PUT(graph, sum, PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 512 * 784, 2, 1);
    uint32_t update = node(graph, "aten::add_", "[[512,784],[512,784]]\n[\"float\",\"float\"]", PACE_NO_NODE);
    PUT(graph, update, PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 512 * 784, 2, 1);
}

static void build_linear(pace_graph *graph) {
    assert_int_equal(pace_graph_init(graph), PACE_OK);
    add_linear(graph);
}

static pace_doubts doubts;

static int load_doubts(void **state) {
    (void)state;
    return pace_doubts_load(&doubts, test_catalog()) != PACE_OK;
}

static const double *sizes(const pace_variant *v, uint32_t launch) { return pace_variant_op(v, launch)->size; }

TEST(each_product_grows_where_its_samples_are) {
    pace_graph graph;
    pace_variant v;
    pace_batch_size present;
    build_linear(&graph);
    assert_int_equal(pace_batch_size_infer(&present, &graph, 1), PACE_OK);
    assert_int_equal(present.samples, 32);
    assert_int_equal(pace_variant_init(&v, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_what_if_batch(&v, 32, 96), PACE_OK);
    assert_true(sizes(&v, FORWARD)[1] == 96 && sizes(&v, FORWARD)[2] == 512 && sizes(&v, FORWARD)[3] == 784);
    assert_true(sizes(&v, DATA_GRADIENT)[1] == 96 && sizes(&v, DATA_GRADIENT)[3] == 512);
    assert_true(sizes(&v, WEIGHT_GRADIENT)[1] == 512 && sizes(&v, WEIGHT_GRADIENT)[3] == 96);
    assert_true(sizes(&v, ACCUMULATE)[0] == 512 * 784 && sizes(&v, UPDATE)[0] == 512 * 784);
    for (uint32_t i = 0; i < LAUNCHES; i++) assert_true(v.launches[i].assumed == 0);
    assert_int_equal(pace_self_check_edits(&v, 1), PACE_OK);
    double still = 2 * 512 * 784; /* accumulation and update */
    assert_true(fabs(flop_of(&v.graph) - still - 3 * (flop_of(&graph) - still)) < 1);
    pace_variant_free(&v);
    pace_graph_free(&graph);
}

static size_t passes_of(const pace_graph *graph, size_t steps) {
    pace_batch_size present;
    assert_int_equal(pace_batch_size_infer(&present, graph, steps), PACE_OK);
    assert_int_equal(present.samples, 32);
    return present.passes;
}

TEST(micro_batches_are_passes_over_as_many_operators) {
    pace_graph graph;
    build_linear(&graph);
    for (int i = 1; i < 6; i++) add_linear(&graph);
    assert_int_equal(passes_of(&graph, 1), 6);
    assert_int_equal(passes_of(&graph, 3), 2);
    assert_int_equal(passes_of(&graph, 6), 1);
    assert_int_equal(passes_of(&graph, 4), 1); /* no step has a part of one */
    assert_int_equal(passes_of(&graph, 0), 1);
    node(&graph, "aten::linear", "[[32,784],[512,784],[512]]\n[\"float\",\"float\",\"float\"]", PACE_NO_NODE);
    assert_int_equal(passes_of(&graph, 1), 1); /* one goes forward over other operators */
    pace_graph_free(&graph);
}

TEST(the_present_batch_changes_nothing) {
    pace_graph graph;
    pace_variant v;
    size_t changes = 0;
    build_linear(&graph);
    assert_int_equal(pace_variant_init(&v, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_what_if_batch(&v, 32, 32), PACE_OK);
    assert_int_equal(pace_what_if_precision(&changes, &v, PACE_FP32), PACE_OK);
    assert_int_equal(changes, 0);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        assert_true(pace_op_equal(pace_variant_op(&v, i), pace_variant_part_op(&v, i)));
        assert_true(v.launches[i].more == 1 && v.launches[i].assumed == 0);
    }
    pace_variant_free(&v);
    pace_graph_free(&graph);
}

/* There and back, and in either order. */
TEST(batch_and_precision_commute) {
    pace_graph graph;
    pace_variant a, b;
    size_t changes = 0;
    build_linear(&graph);
    assert_int_equal(pace_variant_init(&a, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_variant_init(&b, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_what_if_batch(&a, 32, 64), PACE_OK);
    assert_int_equal(pace_what_if_precision(&changes, &a, PACE_BF16), PACE_OK);
    assert_int_equal(pace_what_if_precision(&changes, &b, PACE_BF16), PACE_OK);
    assert_int_equal(pace_what_if_batch(&b, 32, 64), PACE_OK);
    for (uint32_t i = 0; i < LAUNCHES; i++) assert_true(pace_op_equal(pace_variant_op(&a, i), pace_variant_op(&b, i)));
    assert_true(bytes_of(&a.graph) > 0 && bytes_of(&a.graph) < bytes_of(&graph) * 2);
    pace_variant_free(&a);
    pace_variant_free(&b);
    pace_graph_free(&graph);
}

/* Five maps of one size, one of another in between: two chains of two, and the odd one. */
TEST(chains_become_one_kernel) {
    static const double elements[] = {1024, 1024, 512, 1024, 1024, 1024};
    pace_graph graph;
    pace_variant v;
    regex_t names;
    size_t fused = 0;
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    for (int i = 0; i < 6; i++) {
        uint32_t by = node(&graph, i == 5 ? "aten::other" : "aten::mul", NULL, PACE_NO_NODE);
        PUT(&graph, by, PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, elements[i], 1, 1);
    }
    assert_int_equal(regcomp(&names, "mul", REG_EXTENDED | REG_NOSUB), 0);
    assert_int_equal(pace_variant_init(&v, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_what_if_fuse(&fused, &v, &names), PACE_OK);
    assert_int_equal(fused, 2);
    assert_int_equal(v.graph.launches.count, 4);
    assert_int_equal(v.graph.nodes.count, 4);                               /* the fused operators' host time is gone */
    assert_true(bytes_of(&v.graph) == bytes_of(&graph) - 2 * 2 * 1024 * 4); /* a write and a read for each */
    assert_true(flop_of(&v.graph) == flop_of(&graph));
    assert_int_equal(pace_self_check_edits(&v, 1), PACE_OK);
    pace_variant_free(&v);
    regfree(&names);
    pace_graph_free(&graph);
}

TEST(what_waits_is_not_fused) {
    pace_graph graph;
    pace_variant v;
    regex_t names;
    size_t fused = 0;
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    uint32_t a = node(&graph, "mul", NULL, PACE_NO_NODE), b = node(&graph, "mul", NULL, PACE_NO_NODE);
    uint32_t other;
    assert_int_equal(pace_graph_add_launch(&other, &graph, a, PACE_TASK_KERNEL, NULL, 1), PACE_OK);
    PUT(&graph, a, PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 64, 1, 1);
    uint32_t last = PUT(&graph, b, PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 64, 1, 1);
    graph.launches.items[last].waits[0] = other;
    assert_int_equal(regcomp(&names, ".", REG_EXTENDED | REG_NOSUB), 0);
    assert_int_equal(pace_variant_init(&v, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_what_if_fuse(&fused, &v, &names), PACE_OK);
    assert_int_equal(fused, 0);
    pace_variant_free(&v);
    regfree(&names);
    pace_graph_free(&graph);
}

/* Four tables forward, four backward, on one rank; another with two larger ones. */
static void build_tables(pace_graph *graph, unsigned tables, double lookups) {
    assert_int_equal(pace_graph_init(graph), PACE_OK);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < tables; i++) {
            uint32_t by = node(graph, pass ? "EmbeddingBagBackward0" : "aten::embedding_bag", NULL, PACE_NO_NODE);
            PUT(graph, by, PACE_OP_EMBEDDING, pass ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD, 2048, 1, 100000, lookups,
                64);
        }
    uint32_t by = node(graph, "all_to_all", NULL, PACE_NO_NODE), exchange;
    assert_int_equal(pace_graph_add_launch(&exchange, graph, by, PACE_TASK_KERNEL, NULL, 1), PACE_OK);
    pace_graph_exchange all_to_all = {.peer = -1, .bytes = 2048.0 * tables * 64 * 4};
    assert_int_equal(pace_names_add(&all_to_all.collective, &graph->names, "alltoall", 8), PACE_OK);
    assert_int_equal(PACE_PUSH(&graph->exchanges, all_to_all), PACE_OK);
    graph->launches.items[exchange].exchange = 1;
}

TEST(tables_are_looked_up_together) {
    pace_graph graph;
    pace_variant v;
    size_t fused = 0;
    build_tables(&graph, 4, 10);
    assert_int_equal(pace_variant_init(&v, &graph, &doubts), PACE_OK);
    assert_int_equal(pace_what_if_fuse_tables(&fused, &v), PACE_OK);
    assert_int_equal(fused, 6);
    assert_int_equal(v.graph.launches.count, 3);
    assert_true(sizes(&v, 0)[1] == 4 && sizes(&v, 0)[3] == 10 && sizes(&v, 1)[1] == 4);
    assert_int_equal(pace_self_check_edits(&v, 1), PACE_OK);
    pace_op whole = *pace_variant_op(&v, 0), again = whole; /* its amounts are those of one lookup in four tables */
    assert_true(pace_op_complete(&again));
    assert_true(again.flop == whole.flop && again.read_bytes == whole.read_bytes);
    pace_variant_free(&v);
    pace_graph_free(&graph);
}

/* 4 + 2 tables of equal cost over two ranks are best spread 3 and 3. */
TEST(tables_are_spread_evenly) {
    pace_graph graphs[2];
    pace_variant v[2];
    double costs[2][16] = {{0}};
    const double *cost[2] = {costs[0], costs[1]};
    for (int r = 0; r < 2; r++) {
        build_tables(&graphs[r], r ? 2 : 4, 10);
        assert_int_equal(pace_variant_init(&v[r], &graphs[r], &doubts), PACE_OK);
        for (size_t i = 0; i + 1 < graphs[r].launches.count; i++) costs[r][i] = 1;
    }
    double flop = 0;
    for (int r = 0; r < 2; r++)
        for (uint32_t i = 0; i + 1 < graphs[r].launches.count; i++) flop += pace_variant_op(&v[r], i)->flop;
    assert_int_equal(pace_what_if_balance_tables(v, cost, 2), PACE_OK);
    double after[2] = {0};
    for (int r = 0; r < 2; r++)
        for (uint32_t i = 0; i + 1 < graphs[r].launches.count; i++) after[r] += pace_variant_op(&v[r], i)->flop;
    assert_true(fabs(after[0] - after[1]) < 1 && fabs(after[0] + after[1] - flop) < 1);
    assert_true(fabs(v[0].graph.exchanges.items[0].bytes - 2048.0 * 3 * 64 * 4) < 1); /* the widest: 4 become 3 */
    assert_int_equal(pace_self_check_edits(v, 2), PACE_OK);
    assert_int_equal(pace_what_if_balance_tables(v, cost, 1), PACE_E_INPUT);
    for (int r = 0; r < 2; r++) {
        pace_variant_free(&v[r]);
        pace_graph_free(&graphs[r]);
    }
}

/* A prediction that lost work, did it twice or invented some is not given. */
TEST(the_self_check_finds_what_was_broken) {
    for (int fault = 0; fault < 4; fault++) {
        pace_graph graph;
        pace_variant v;
        build_linear(&graph);
        assert_int_equal(pace_variant_init(&v, &graph, &doubts), PACE_OK);
        pace_op more = *pace_variant_op(&v, FORWARD);
        more.flop *= 1.5;
        if (fault == 0) v.graph.launches.count--;
        if (fault == 1) v.launches[1].part = 0;
        if (fault == 2) assert_int_equal(pace_variant_set_op(&v, FORWARD, &more), PACE_OK);
        if (fault == 3) v.launches[FORWARD].more = 2;
        assert_int_equal(pace_self_check_edits(&v, 1), PACE_E_INTERNAL);
        assert_non_null(strstr(pace_message(), "self-check"));
        pace_variant_free(&v);
        pace_graph_free(&graph);
    }
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static char edits_made[8];

static pace_status own_fuse(pace_editing *editing, size_t *changed) {
    (void)editing;
    strcat(edits_made, "f");
    ++*changed;
    return PACE_OK;
}

static pace_status own_size(pace_editing *editing, size_t *changed) {
    (void)editing, (void)changed;
    strcat(edits_made, "s");
    return PACE_OK;
}

/* A row that the library does not have is parsed, asked for and applied in its turn. */
TEST(test_a_row_is_a_what_if) {
    const pace_what_if fuses = {.option = PACE_WHAT_IF_FLAG("own", "fuse"),
                                .turn = PACE_TURN_FUSE,
                                .apply = own_fuse,
                                .changed = offsetof(pace_forecast_edits, fused_kernels)};
    const pace_what_if sizes = {.option = PACE_WHAT_IF_VALUES("size", "REGEX", "change sizes", NULL, " step "),
                                .turn = PACE_TURN_SIZE,
                                .apply = own_size};
    const pace_what_if *const rows[] = {&fuses, &sizes};
    pace_forecast_edits edits = {0};
    pace_scenario scenario;
    pace_scenario_init(&scenario, "own");
    pace_editing editing = {.scenario = &scenario, .edits = &edits};
    *edits_made = '\0';
    assert_int_equal(pace_what_ifs_apply(&editing, rows, 2), PACE_OK);
    assert_string_equal(edits_made, "");
    assert_int_equal(pace_what_if_ask(&scenario, &sizes, "gemm["), PACE_E_USAGE);
    pace_scenario_free(&scenario);
    assert_int_equal(pace_what_if_ask(&scenario, &fuses, NULL), PACE_OK);
    assert_int_equal(pace_what_if_ask(&scenario, &sizes, "gemm"), PACE_OK);
    assert_int_equal(regexec(&pace_scenario_value_at(&scenario, "size", 0)->name, "a gemm", 0, NULL, 0), 0);
    assert_int_equal(pace_what_ifs_apply(&editing, rows, 2), PACE_OK);
    assert_string_equal(edits_made, "sf");
    assert_int_equal(edits.fused_kernels, 1);
    pace_scenario_free(&scenario);
}

/* Whoever lists options, labels or notes reads them from the rows. */
TEST(test_rows_are_whole) {
    for (size_t i = 0; i < pace_what_if_count; i++) {
        const pace_what_if *one = pace_what_ifs[i];
        pace_scenario scenario;
        pace_scenario_init(&scenario, "none");
        const pace_option *option = &one->option;
        assert_true(option->name && option->help && one->label);
        assert_false(pace_what_if_is_asked(&scenario, one));
        assert_int_equal(strstr(one->label, "%s") != NULL, option->argument != NULL);
        if (!option->argument) {
            assert_int_equal(pace_what_if_ask(&scenario, one, NULL), PACE_OK);
            assert_true(pace_what_if_is_asked(&scenario, one));
        }
        for (size_t k = 0; k < i; k++) assert_string_not_equal(option->name, pace_what_ifs[k]->option.name);
        pace_scenario_free(&scenario);
    }
}

int main(void) { return run_tests_of_file(load_doubts, NULL); }
