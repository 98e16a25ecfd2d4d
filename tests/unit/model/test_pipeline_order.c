/* Orders of pipelines: against lists written down from the published schedules, and their bubbles against the published
 * formulas, by walking the turns with unit times and free messages. */
#include "model/pipeline_order.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { STAGES_MOST = 8, CHUNKS_MOST = 4, BATCHES_MOST = 32 };

static pace_turns order(const pace_pipeline *p, uint32_t stage) {
    pace_turns turns;
    assert_int_equal(pace_pipeline_order(&turns, p, stage), PACE_OK);
    return turns;
}

/* "F0 B1.2": forward of micro-batch 0, backward of micro-batch 1 over chunk 2. */
static void expect(const pace_pipeline *p, uint32_t stage, const char *expected) {
    char text[1024] = "";
    pace_turns turns = order(p, stage);
    for (size_t i = 0; i < turns.count; i++) {
        const pace_turn *t = &turns.items[i];
        size_t used = strlen(text);
        int wrote =
            snprintf(text + used, sizeof text - used, "%s%c%u", i ? " " : "", "FBIW"[t->pass], t -> micro_batch);
        if (p->chunks > 1) snprintf(text + used + wrote, sizeof text - used - (size_t)wrote, ".%u", t->chunk);
    }
    assert_string_equal(text, expected);
    PACE_VEC_FREE(&turns);
}

/* Megatron-LM's forward_backward_pipelining_without_interleaving, four stages and five micro-batches. */
TEST(test_1f1b) {
    pace_pipeline p = {PACE_SCHEDULE_1F1B, 4, 1, 5, false};
    expect(&p, 0, "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
    expect(&p, 2, "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
    expect(&p, 3, "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
    p.micro_batches = 2; /* fewer than stages */
    expect(&p, 0, "F0 F1 B0 B1");
    p.stages = 1; /* accumulation */
    expect(&p, 0, "F0 B0 F1 B1");
    p.forward_only = true;
    expect(&p, 0, "F0 F1");
}

TEST(test_gpipe) {
    pace_pipeline p = {PACE_SCHEDULE_GPIPE, 3, 1, 3, false};
    for (uint32_t stage = 0; stage < 3; stage++) expect(&p, stage, "F0 F1 F2 B0 B1 B2");
}

/* Megatron-LM's forward_backward_pipelining_with_interleaving: warm-up of 2 (p - rank - 1) + (v - 1) p passes; what the
 * k-th pass is says get_model_chunk_id(). */
TEST(test_interleaved) {
    pace_pipeline p = {PACE_SCHEDULE_1F1B, 2, 2, 4, false};
    expect(&p, 0, "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
    expect(&p, 1, "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

/* Qi et al. 2023, figure 3 (ZB-H1): stage i works on gradients of weights i backward passes late. */
TEST(test_zero_bubble) {
    pace_pipeline p = {PACE_SCHEDULE_ZERO_BUBBLE, 3, 1, 4, false};
    expect(&p, 0, "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    expect(&p, 1, "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
    expect(&p, 2, "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
    p.stages = 1;
    expect(&p, 0, "F0 B0 F1 B1 F2 B2 F3 B3");
}

/* PyTorch's ScheduleZBVZeroBubble (Qi et al. 2023, section 6), two stages and four micro-batches; of fewer than fill
 * it, those that are not there are left out. */
TEST(test_zb_v) {
    pace_pipeline p = {PACE_SCHEDULE_ZB_V, 2, 2, 4, false};
    expect(&p, 0,
           "F0.0 F1.0 F2.0 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 F3.0 I0.0 W0.0 F2.1 I2.1 W2.1 I1.0 W1.0 F3.1 I3.1 W3.1 I2.0 "
           "W2.0 I3.0 W3.0");
    expect(&p, 1,
           "F0.0 F0.1 F1.0 F1.1 I0.1 W0.1 F2.0 I0.0 W0.0 F2.1 I1.1 W1.1 F3.0 I1.0 W1.0 F3.1 I2.1 W2.1 I2.0 I3.1 I3.0 "
           "W2.0 W3.1 W3.0");
    p.micro_batches = 2;
    expect(&p, 0, "F0.0 F1.0 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 I0.0 W0.0 I1.0 W1.0");
}

/* The eight steps of dualpipev.py (deepseek-ai/DualPipe), two stages and four micro-batches. */
TEST(test_dualpipe_v) {
    pace_pipeline p = {PACE_SCHEDULE_DUALPIPE_V, 2, 2, 4, false};
    expect(&p, 0, "F0.0 F1.0 F2.0 F0.1 I0.1 W0.1 F1.1 F3.0 B1.1 F2.1 B0.0 B2.1 F3.1 B1.0 B3.1 I2.0 W2.0 I3.0 W3.0");
    expect(&p, 1, "F0.0 F0.1 F1.0 F1.1 F2.0 B0.1 F2.1 B0.0 F3.0 B1.1 F3.1 B1.0 B2.1 B2.0 I3.1 I3.0 W3.1 W3.0");
}

/* --- bubbles ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int64_t end[2][STAGES_MOST][CHUNKS_MOST][BATCHES_MOST]; /* 0 = not yet */
} ends;

/* When what a turn needs has come; -1 = not yet. */
static int64_t ready(const ends *e, const pace_pipeline *p, uint32_t stage, const pace_turn *t) {
    bool back = t->pass == PACE_TURN_BACKWARD || t->pass == PACE_TURN_INPUTS;
    uint32_t part = pace_pipeline_part(p, stage, t->chunk), last = p->stages * p->chunks - 1;
    const int64_t *of;
    if (t->pass == PACE_TURN_WEIGHTS) of = &e->end[1][stage][t->chunk][t->micro_batch];
    else if (!back && part == 0) return 0;
    else if (back && part == last) of = &e->end[0][stage][t->chunk][t->micro_batch];
    else {
        part = back ? part + 1 : part - 1;
        of = &e->end[back][pace_pipeline_stage(p, part)][part / p->stages][t->micro_batch];
    }
    return *of ? *of : -1;
}

/* The time of a step whose stages take so long for each pass over a chunk. */
static int64_t walked_stages(const pace_pipeline *p, int64_t took[][4]) {
    static ends e;
    pace_turns turns[STAGES_MOST];
    size_t at[STAGES_MOST] = {0}, left = 0;
    int64_t now[STAGES_MOST] = {0}, end = 0;
    memset(&e, 0, sizeof e);
    for (uint32_t s = 0; s < p->stages; s++) left += (turns[s] = order(p, s)).count;
    while (left) {
        size_t before = left;
        for (uint32_t s = 0; s < p->stages; s++)
            for (; at[s] < turns[s].count; at[s]++, left--) {
                const pace_turn *t = &turns[s].items[at[s]];
                int64_t from = ready(&e, p, s, t);
                if (from < 0) break;
                now[s] = (from > now[s] ? from : now[s]) + took[s][t->pass];
                if (t->pass != PACE_TURN_WEIGHTS)
                    e.end[t->pass != PACE_TURN_FORWARD][s][t->chunk][t->micro_batch] = now[s];
                if (now[s] > end) end = now[s];
            }
        assert_true(left < before); /* no stage waits for ever */
    }
    for (uint32_t s = 0; s < p->stages; s++) PACE_VEC_FREE(&turns[s]);
    return end;
}

static int64_t walked(const pace_pipeline *p, const int64_t took[4]) {
    int64_t alike[STAGES_MOST][4];
    for (int s = 0; s < STAGES_MOST; s++) memcpy(alike[s], took, sizeof alike[s]);
    return walked_stages(p, alike);
}

/* Idle over work is (p - 1)/m, interleaved (p - 1)/(v m) (Narayanan et al. 2021, sections 2.2.1 and 2.2.2). */
TEST(test_bubbles) {
    for (uint32_t stages = 1; stages <= STAGES_MOST; stages++)
        for (uint32_t chunks = 1; chunks <= (stages > 1 ? (uint32_t)CHUNKS_MOST : 1); chunks++)
            for (uint32_t batches = stages; batches <= 3 * stages; batches += stages) {
                pace_pipeline p = {PACE_SCHEDULE_1F1B, stages, chunks, batches, false};
                int64_t took[4] = {1000, 2100, 0, 0}, each = 3100, work = each * chunks * batches;
                assert_int_equal(walked(&p, took), work + (stages - 1) * each);
                p.schedule = PACE_SCHEDULE_GPIPE;
                if (chunks == 1) assert_int_equal(walked(&p, took), work + (stages - 1) * each);
            }
}

/* ZB-H1: (p - 1)(T_F + T_B - T_W) idle, a third of 1F1B's where all three are equal (Qi et al. 2023, table 2). */
TEST(test_zero_bubble_bubbles) {
    for (uint32_t stages = 2; stages <= STAGES_MOST; stages++)
        for (uint32_t batches = 2 * stages; batches <= 4 * stages; batches += 3) {
            pace_pipeline p = {PACE_SCHEDULE_ZERO_BUBBLE, stages, 1, batches, false};
            int64_t took[4] = {1000, 0, 1000, 1000};
            assert_int_equal(walked(&p, took), 3000 * batches + (stages - 1) * 1000);
        }
}

/* On a V with passes of equal times no stage waits once it has begun (zb-v); dualpipe-v, whose pairs come one after the
 * other here, is idle for no longer than its README says, (p - 1)(F&B + B - 3W) of chunks with F&B = F + B, and for (p
 * - 1)(F + B - 2W) where that is all of it. */
TEST(test_v_bubbles) {
    for (uint32_t stages = 2; stages <= STAGES_MOST; stages++)
        for (uint32_t batches = 2 * stages; batches <= 4 * stages; batches += 3) {
            pace_pipeline p = {PACE_SCHEDULE_ZB_V, stages, 2, batches, false};
            int64_t equal[4] = {1000, 2000, 1000, 1000}, unlike[4] = {1000, 2000, 1100, 900};
            assert_int_equal(walked(&p, equal), 6000 * batches + (stages - 1) * 1000);
            p.schedule = PACE_SCHEDULE_DUALPIPE_V;
            assert_int_equal(walked(&p, equal), 6000 * batches + (stages - 1) * 1000);
            int64_t idle = walked(&p, unlike) - 6000 * batches;
            assert_true(idle >= (stages - 1) * (1000 + 2000 - 2 * 900));
            assert_true(idle <= (stages - 1) * (3000 + 2000 - 3 * 900));
        }
}

/* Eight devices, 64 layers, 16 micro-batches, 1F1B (AMD-AGI/Primus, tools/visualization/pp_vis): the means of each
 * stage's passes over iterations 3 to 20, in microseconds. Their median step took 3.247 s, of which the first stage
 * worked 63.6 %. */
TEST(test_measured) {
    pace_pipeline p = {PACE_SCHEDULE_1F1B, 8, 1, 16, false};
    int64_t took[STAGES_MOST][4] = {{58960, 71180}, {58840, 69690}, {59720, 71040}, {61800, 68800},
                                    {60670, 69930}, {61670, 70030}, {60010, 69150}, {66920, 75080}};
    double step_s = (double)walked_stages(&p, took) / 1e6, work_s = 16 * (double)(took[0][0] + took[0][1]) / 1e6;
    assert_true(step_s > 0.98 * 3.247 && step_s < 1.02 * 3.247);
    assert_true(work_s / step_s > 0.636 - 0.02 && work_s / step_s < 0.636 + 0.02);
}

/* --- what a stage holds, and what cannot be ----------------------------------------------------------------------- */

static uint32_t most_in_flight(const pace_pipeline *p, uint32_t stage) {
    pace_turns turns = order(p, stage);
    uint32_t held = 0, most = 0;
    for (size_t i = 0; i < turns.count; i++) {
        pace_turn_pass pass = turns.items[i].pass;
        held += pass == PACE_TURN_FORWARD;
        if (held > most) most = held;
        held -= pass == PACE_TURN_BACKWARD || pass == PACE_TURN_WEIGHTS;
    }
    PACE_VEC_FREE(&turns);
    assert_int_equal(held, 0);
    return most;
}

/* 1F1B: p - i micro-batches on stage i; ZB-H1: p on all; GPipe: all. Interleaved, the first: (v - 1) p + 2 (p - 1) + 1
 * chunks (Korthikanti et al. 2022, section 4.3). */
TEST(test_in_flight) {
    for (uint32_t stage = 0; stage < 4; stage++) {
        pace_pipeline p = {PACE_SCHEDULE_1F1B, 4, 1, 16, false};
        assert_int_equal(most_in_flight(&p, stage), 4 - stage);
        p.schedule = PACE_SCHEDULE_ZERO_BUBBLE;
        assert_int_equal(most_in_flight(&p, stage), 4);
        p.schedule = PACE_SCHEDULE_GPIPE;
        assert_int_equal(most_in_flight(&p, stage), 16);
    }
    pace_pipeline p = {PACE_SCHEDULE_1F1B, 4, 3, 16, false};
    assert_int_equal(most_in_flight(&p, 0), 2 * 4 + 2 * 3 + 1);
    for (uint32_t stage = 0; stage < 4; stage++) { /* both sides of a V: 2 p chunks, and one more of pairs */
        pace_pipeline v = {PACE_SCHEDULE_ZB_V, 4, 2, 16, false};
        assert_int_equal(most_in_flight(&v, stage), 2 * 4);
        v.schedule = PACE_SCHEDULE_DUALPIPE_V;
        assert_int_equal(most_in_flight(&v, stage), 2 * 4 + 1);
    }
}

TEST(test_refused) {
    pace_pipeline p = {PACE_SCHEDULE_1F1B, 4, 2, 10, false};
    assert_int_equal(pace_pipeline_check(&p), PACE_E_USAGE);
    p.micro_batches = 12;
    assert_int_equal(pace_pipeline_check(&p), PACE_OK);
    p.schedule = PACE_SCHEDULE_GPIPE;
    assert_int_equal(pace_pipeline_check(&p), PACE_E_USAGE);
    p.chunks = 1, p.micro_batches = 7;
    assert_int_equal(pace_pipeline_check(&p), PACE_OK);
    p.schedule = PACE_SCHEDULE_ZB_V;
    assert_int_equal(pace_pipeline_check(&p), PACE_E_USAGE);
    p.chunks = 2;
    assert_int_equal(pace_pipeline_check(&p), PACE_OK);
    p.schedule = PACE_SCHEDULE_DUALPIPE_V;
    assert_int_equal(pace_pipeline_check(&p), PACE_E_USAGE);
    p.micro_batches = 8;
    assert_int_equal(pace_pipeline_check(&p), PACE_OK);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
