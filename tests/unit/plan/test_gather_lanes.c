/* Gathers and scatters of blocks on one lane beside work on another: what is left over, against sums by hand. */
#include "plan/gather_lanes.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { BLOCKS = 5 };

static const pace_turn_pass whole[] = {PACE_TURN_FORWARD, PACE_TURN_BACKWARD};
static const pace_turn_pass split[] = {PACE_TURN_FORWARD, PACE_TURN_INPUTS, PACE_TURN_WEIGHTS};

static void expect(double found, double expected) { assert_true(fabs(found - expected) < 1e-12); }

static void ask(double out_s[PACE_GATHERED_PASSES], const pace_gathered_block *block, size_t count,
                const pace_turn_pass *passes, int pass_count) {
    const pace_gathered_block *blocks[BLOCKS];
    double of_chunk[1][PACE_GATHERED_PASSES];
    for (size_t i = 0; i < count; i++) blocks[i] = block;
    const pace_gathered_chunk chunk = {blocks, count};
    pace_gathers_exposed(of_chunk, &chunk, 1, passes, pass_count);
    memcpy(out_s, of_chunk[0], sizeof of_chunk[0]);
}

/* The last block of backward is scattered behind it, and the first of forward gathered behind that: nothing hides
 * either. Backward waits for its first block alone where work is longer than what it hides. */
TEST(test_long_work) {
    double out_s[PACE_GATHERED_PASSES];
    const pace_gathered_block block = {.pass = {{0, 10, 10}, {0, 20, 20}, {0, 0, 0}, {0, 0, 0}},
                                       .gather_s = 1,
                                       .reduce_s = 2};
    for (size_t count = 1; count <= BLOCKS; count++) {
        ask(out_s, &block, count, whole, 2);
        expect(out_s[0], 2 + 1);
        expect(out_s[1], 1);
    }
    ask(out_s, &block, BLOCKS, whole, 1);
    expect(out_s[0], 1);
    expect(out_s[1], 0);
}

/* Where exchanges are longer than work, a pass is the exchanges before its last block's work: of backward all gathers,
 * and all scatters but the last two, which the next forward pass finds before its own gathers, but for that block's
 * work. */
TEST(test_long_gathers) {
    double out_s[PACE_GATHERED_PASSES], n = BLOCKS;
    const pace_gathered_block block = {.pass = {{0, 1, 1}, {0, 1, 1}, {0, 0, 0}, {0, 0, 0}},
                                       .gather_s = 10,
                                       .reduce_s = 20};
    ask(out_s, &block, BLOCKS, whole, 2);
    expect(out_s[0], 2 * 20 - 1 + 10 * n + 1 - n);
    expect(out_s[1], 10 * n + 20 * (n - 2) + 1 - n);
}

/* Gradients of weights that come in a pass of their own are scattered there, where nothing is gathered. */
TEST(test_put_off) {
    double out_s[PACE_GATHERED_PASSES];
    const pace_gathered_block block = {.pass = {{0, 10, 10}, {0, 20, 20}, {0, 10, 10}, {0, 10, 10}},
                                       .gather_s = 1,
                                       .reduce_s = 2};
    ask(out_s, &block, BLOCKS, split, 3);
    expect(out_s[0], 2 + 1);
    expect(out_s[PACE_TURN_INPUTS], 1);
    expect(out_s[PACE_TURN_WEIGHTS], 0);
}

/* What ranks hold whole is not waited for. */
TEST(test_nothing) {
    double out_s[PACE_GATHERED_PASSES];
    const pace_gathered_block block = {.pass = {{0, 1, 1}, {0, 1, 1}, {0, 0, 0}, {0, 0, 0}},
                                       .gather_s = 0,
                                       .reduce_s = 0};
    ask(out_s, &block, BLOCKS, whole, 2);
    expect(out_s[0] + out_s[1], 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
