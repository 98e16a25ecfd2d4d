/* Grids: counts that the DLRM performance model's benchmark states, bounds, levels, draws, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "sweep.h"
#include "catalog_of_tests.h"

static pace_sweep expand(const char *target, const char *families, pace_effort effort, double memory_bytes) {
    pace_sweep sweep;
    pace_sweep_choice choice = {target, families, false, effort, memory_bytes};
    if (pace_sweep_load(&sweep, test_catalog(), &choice) != PACE_OK) fail_msg("%s", pace_message());
    return sweep;
}

/* Points of one family whose size lies within [least, most], forward. */
static size_t count(const pace_sweep *sweep, pace_point_size size, double least, double most) {
    size_t sum = 0;
    for (size_t i = 0; i < sweep->points.count; i++) {
        const pace_point *p = &sweep->points.items[i].point;
        sum += p->pass == PACE_POINT_FORWARD && p->size[size] >= least && p->size[size] <= most;
    }
    return sum;
}

/* Lin et al. 2022, benchmark parameters: points of embeddings with 32 tables and more that fit a card of 16 GB. Level
 * default has small grids of its own, all with fewer than 128 samples or 8 tables or few rows; those with 32 tables are
 * told apart by a batch of 2048 with at most 32 lookups, so the published grids are counted by their own tables. */
TEST(test_published_counts) {
    pace_sweep sweep = expand("cuda", "tril", PACE_EFFORT_FULL, 16e9);
    size_t ours = 0;
    for (size_t i = 0; i < sweep.points.count; i++) ours += sweep.points.items[i].point.size[PACE_SIZE_M] >= 5;
    assert_int_equal(ours, 576);
    pace_sweep_free(&sweep);

    /* Their count keeps inputs up to 16 GB; ours counts input and output. */
    sweep = expand("cuda", "transpose", PACE_EFFORT_FULL, 32e9);
    assert_int_equal(sweep.points.count, 1817);
    pace_sweep_free(&sweep);

    sweep = expand("cuda", "embedding", PACE_EFFORT_FULL, 16e9);
    size_t small = 0, large = 0;
    for (size_t i = 0; i < sweep.points.count; i++) {
        const double *s = sweep.points.items[i].point.size;
        if (sweep.points.items[i].point.pass != PACE_POINT_FORWARD || s[PACE_SIZE_TABLES] < 32 ||
            s[PACE_SIZE_LOOKUPS] < 8)
            continue;
        small += s[PACE_SIZE_B] <= 512;
        large += s[PACE_SIZE_B] >= 1024;
    }
    assert_int_equal(small, 3078);
    assert_int_equal(large, 3078);
    pace_sweep_free(&sweep);
}

/* Each level holds the one before, and no point twice. */
TEST(test_levels) {
    static const char *const targets[] = {"cpu", "cuda"};
    for (int t = 0; t < 2; t++) {
        pace_sweep small = expand(targets[t], NULL, PACE_EFFORT_QUICK, 0);
        pace_sweep large = expand(targets[t], NULL, PACE_EFFORT_DEFAULT, 0);
        assert_true(small.points.count > 20 && large.points.count > 2 * small.points.count);
        for (size_t i = 0; i < small.points.count; i++) {
            size_t met = 0;
            for (size_t k = 0; k < large.points.count; k++)
                met += memcmp(&small.points.items[i].point, &large.points.items[k].point, sizeof(pace_point)) == 0 &&
                       (small.points.items[i].by == large.points.items[k].by ||
                        !small.points.items[i].by == !large.points.items[k].by);
            assert_true(met >= 1);
        }
        pace_sweep_free(&small);
        pace_sweep_free(&large);
    }
}

TEST(test_families) {
    pace_sweep sweep = expand("cpu", "gemm,transpose", PACE_EFFORT_DEFAULT, 0);
    for (size_t i = 0; i < sweep.points.count; i++)
        assert_true(strcmp(sweep.points.items[i].family, "gemm") == 0 ||
                    strcmp(sweep.points.items[i].family, "transpose") == 0);
    assert_true(count(&sweep, PACE_SIZE_K, 1, 1e9) > 0);
    pace_sweep_free(&sweep);
    pace_sweep_choice choice = {"cpu", "gemm,gem", false, PACE_EFFORT_QUICK, 0};
    assert_int_equal(pace_sweep_load(&sweep, test_catalog(), &choice), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "\"gem\""));
    assert_non_null(strstr(pace_message(), "embedding"));
    assert_null(strstr(pace_message(), "transfer")); /* only CUDA has that */
}

/* What does not fit is counted. */
TEST(test_memory) {
    pace_sweep all = expand("cuda", "concat", PACE_EFFORT_FULL, 0),
               some = expand("cuda", "concat", PACE_EFFORT_FULL, 1e9);
    assert_int_equal(all.too_large, 0);
    assert_true(some.too_large > 0);
    assert_int_equal(some.points.count + some.too_large, all.points.count);
    for (size_t i = 0; i < some.points.count; i++)
        assert_true(pace_point_footprint(&some.points.items[i].point) <= 1e9);
    pace_sweep_free(&all);
    pace_sweep_free(&some);
}

#define BUDGETS "budgets: {quick: {point_s: 0.1, batches: 9, tolerance: 0.01}}\n"

static pace_yaml *yaml; /* of the last text */

static pace_status expand_text(pace_sweep *out, const char *sweeps) {
    char text[1024];
    pace_yaml_free(yaml);
    yaml = NULL;
    snprintf(text, sizeof text, BUDGETS "sweeps:\n%s", sweeps);
    assert_int_equal(pace_yaml_parse(&yaml, "test", text, strlen(text)), PACE_OK);
    pace_sweep_choice choice = {"cpu", NULL, false, PACE_EFFORT_QUICK, 0};
    return pace_sweep_of_yaml(out, yaml, &choice);
}

/* Each draw brings its two gradients: the three products of one linear layer are permutations of the same sizes. */
TEST(test_draws) {
    pace_sweep sweep, again;
    const char *text =
        "  - {family: gemm, on: cpu, level: quick, op: [gemm], draw: {count: 40, seed: 5, gradients: true},\n"
        "     sizes: {m: [2, 3, 5, 7, 11], n: [13, 17, 19, 23, 29], k: [31, 37, 41, 43, 47]}}\n";
    assert_int_equal(expand_text(&sweep, text), PACE_OK);
    assert_int_equal(expand_text(&again, text), PACE_OK);
    assert_int_equal(sweep.points.count, again.points.count);
    assert_memory_equal(&sweep.points.items[0].point, &again.points.items[0].point, sizeof(pace_point));
    assert_true(sweep.points.count % 3 == 0 && sweep.points.count > 60 && sweep.points.count <= 120);
    for (size_t i = 0; i < sweep.points.count; i += 3) {
        double product = pace_point_flop(&sweep.points.items[i].point);
        assert_true(pace_point_flop(&sweep.points.items[i + 1].point) == product);
        assert_true(pace_point_flop(&sweep.points.items[i + 2].point) == product);
        assert_true(pace_point_footprint(&sweep.points.items[i + 1].point) ==
                    pace_point_footprint(&sweep.points.items[i].point));
    }
    pace_sweep_free(&sweep);
    pace_sweep_free(&again);
}

TEST(test_bounds) {
    pace_sweep sweep;
    assert_int_equal(expand_text(&sweep,
                                 "  - {family: t, on: cpu, level: quick, op: [transpose],\n"
                                 "     sizes: {m: [1, 2, 3, 4, 5, 6], n: [1, 2, 3, 4, 5, 6]},\n"
                                 "     keep: [{product: [m], over: [n], least: 1, most: 1}]}\n"
                                 "  - {family: u, on: cpu, level: quick, op: [transpose],\n"
                                 "     sizes: {m: [1, 2, 3], n: [1, 2, 3, 3]}, keep: [{product: [m, n], least: 6}]}\n"),
                     PACE_OK);
    assert_int_equal(sweep.points.count, 6 + 2); /* 2x3 and 3x2; 3x3 was met */
    pace_sweep_free(&sweep);
}

TEST(test_refused) {
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"  - {family: a, on: cpu, level: quick, op: [gemn], sizes: {m: [1]}}\n", "unknown op \"gemn\""},
        {"  - {family: a, on: cpu, level: quick, op: [gemm], sizes: {m: [1], n: [1]}}\n", "needs the size \"k\""},
        {"  - {family: a, on: cpu, level: quick, op: [gemm], sizes: {m: [0], n: [1], k: [1]}}\n",
         "needs the size \"m\""},
        {"  - {family: a, on: cpu, level: quick, op: [gemm], sizes: {m: [1.5], n: [1], k: [1]}}\n", "\"m\""},
        {"  - {family: a, on: cpu, level: quick, op: [gemm], sizes: {q: [1]}}\n", "unknown size"},
        {"  - {family: a, on: cpu, level: quick, op: [gemm], sizes: {m: []}}\n", "1 to 64"},
        {"  - {family: a, on: cpu, level: soon, op: [gemm], sizes: {m: [1]}}\n", "unknown level"},
        {"  - {on: cpu, level: quick, op: [gemm], sizes: {m: [1]}}\n", "\"family\""},
        {"  - {family: a, on: cpu, level: quick, op: [relu], draw: {count: -1}, sizes: {elements: [1]}}\n", "count"},
        {"  - {family: a, on: cpu, level: quick, op: [relu], draw: {count: 1, gradients: true}, sizes: {elements: [1]}}\n",
         "gradients"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_sweep sweep;
        assert_int_equal(expand_text(&sweep, cases[i].text), PACE_E_INPUT);
        if (!strstr(pace_message(), cases[i].word)) fail_msg("expected \"%s\" in: %s", cases[i].word, pace_message());
        assert_non_null(strstr(pace_message(), "test:"));
    }
    pace_yaml_free(yaml);
    yaml = NULL;
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
