/* All ranks as one replay: random ranks that meet in collectives and messages, against the longest of all paths, found
 * by walking every one of them. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "insight/critical.h"
#include "insight/ranks/joint.h"
#include "stage_words_of_tests.h"

enum { MOST_RANKS = 4, MOST_OPS = 9, MOST_MEETINGS = 8 };

typedef enum { COMPUTE, COLLECTIVE, MESSAGE } sort;

typedef struct {
    sort sort;
    int meeting; /* of those that are not compute */
    int64_t gap_ns, duration_ns;
    int64_t start_ns, end_ns; /* as measured */
} op;

/* The model: each rank does its ops in order; a meeting's transfer begins when the last of its ranks has come. */
static struct {
    int ranks, meetings;
    int count[MOST_RANKS];
    op ops[MOST_RANKS][MOST_OPS];
    int64_t offset_ns[MOST_RANKS];     /* its clock against the first rank's */
    int at[MOST_MEETINGS][MOST_RANKS]; /* which op of each rank; -1 = takes no part */
} model;

static pace_kernel_classes *classes;
static uint32_t seed;
static double compute_factor;

static int64_t pick(uint32_t bound) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

static int64_t took(const op *o) {
    return o->sort == COMPUTE ? (int64_t)((double)o->duration_ns * compute_factor + 0.5) : o->duration_ns;
}

static int64_t end_of(int rank, int index);

/* The end of the op before, and the gap. */
static int64_t come(int rank, int index) {
    return (index ? end_of(rank, index - 1) : 0) + model.ops[rank][index].gap_ns;
}

/* The longest path to the end of an op: every path is walked, none remembered. */
static int64_t end_of(int rank, int index) {
    const op *o = &model.ops[rank][index];
    int64_t longest = come(rank, index);
    if (o->sort != COMPUTE)
        for (int r = 0; r < model.ranks; r++)
            if (model.at[o->meeting][r] >= 0 && come(r, model.at[o->meeting][r]) > longest)
                longest = come(r, model.at[o->meeting][r]);
    return longest + took(o);
}

static void add_op(int rank, sort kind, int meeting, int64_t gap, int64_t duration) {
    model.ops[rank][model.count[rank]++] = (op){kind, meeting, gap, duration, 0, 0};
}

static void add_meeting(sort kind, int64_t duration) {
    int meeting = model.meetings++;
    for (int r = 0; r < MOST_RANKS; r++) model.at[meeting][r] = -1;
    int first = (int)pick((uint32_t)model.ranks),
        second = (first + 1 + (int)pick((uint32_t)model.ranks - 1)) % model.ranks;
    for (int r = 0; r < model.ranks; r++) {
        if (kind == MESSAGE && r != first && r != second) continue;
        model.at[meeting][r] = model.count[r];
        add_op(r, kind, meeting, pick(3) * 100, duration);
    }
    if (kind == MESSAGE) model.at[meeting][MOST_RANKS - 1] = first; /* the sender; see add_message() */
}

static void make_model(void) {
    memset(&model, 0, sizeof model);
    model.ranks = 2 + (int)pick(2);
    for (int r = 0; r < model.ranks; r++) {
        model.offset_ns[r] = r ? pick(2000000) - 1000000 : 0;
        add_op(r, COMPUTE, 0, r ? 500 + pick(500) : 0, 300 + pick(2000));
    }
    add_meeting(COLLECTIVE, 100 + pick(500)); /* what the clocks are aligned on */
    while (model.meetings < 4) {
        for (int r = 0; r < model.ranks; r++)
            if (pick(3)) add_op(r, COMPUTE, 0, pick(3) * 70, 1 + pick(2500));
        if (model.meetings < 3) add_meeting(pick(2) ? COLLECTIVE : MESSAGE, 50 + pick(400));
        else break;
    }
    add_op(0, COMPUTE, 0, 40, 1000); /* the step ends here */
    compute_factor = 1;
    for (int r = 0; r < model.ranks; r++)
        for (int i = 0; i < model.count[r]; i++) {
            model.ops[r][i].start_ns = come(r, i);
            model.ops[r][i].end_ns = end_of(r, i);
        }
}

static pace_name name(pace_step *step, const char *text) {
    pace_name out;
    assert_int_equal(pace_names_add(&out, &step->names, text, strlen(text)), PACE_OK);
    return out;
}

static void add_exchange(pace_step *step, int rank, const op *o) {
    pace_exchange_info info = {.source = PACE_NO_RANK, .destination = PACE_NO_RANK};
    if (o->sort == MESSAGE) {
        int sender = model.at[o->meeting][MOST_RANKS - 1], peer = 0;
        while (peer == rank || model.at[o->meeting][peer] < 0) peer++;
        info.collective = name(step, rank == sender ? "send" : "recv");
        *(rank == sender ? &info.destination : &info.source) = peer;
    } else {
        info.collective = name(step, "allreduce");
    }
    assert_int_equal(pace_step_give_exchange(step, &info), PACE_OK);
}

static pace_rank *make_rank(int number) {
    static const char *const names[] = {"ampere_sgemm_128x64_nn", "ncclDevKernel_AllReduce_Sum_f32",
                                        "ncclDevKernel_SendRecv"};
    pace_rank *rank = pace_alloc(1, sizeof *rank);
    uint32_t lane;
    assert_int_equal(pace_step_init(&rank->step), PACE_OK);
    rank->step.rank = number;
    rank->path = pace_copy_text("made", 4);
    assert_int_equal(pace_step_lane(&lane, &rank->step, "device 0 stream 7", 17, true, 0), PACE_OK);
    for (int i = 0; i < model.count[number]; i++) {
        const op *o = &model.ops[number][i];
        int64_t start = o->start_ns + model.offset_ns[number];
        assert_int_equal(pace_step_add_task(&rank->step, lane, PACE_TASK_KERNEL, name(&rank->step, names[o->sort]),
                                            start, o->end_ns - o->start_ns),
                         PACE_OK);
        if (o->sort != COMPUTE) add_exchange(&rank->step, number, o);
    }
    assert_int_equal(pace_step_finish(&rank->step), PACE_OK);
    assert_int_equal(pace_rank_understand(rank, classes, test_stage_words(), NULL), PACE_OK);
    return rank;
}

static void make_analysis(pace_analysis *analysis) {
    *analysis = (pace_analysis){0};
    make_model();
    for (int r = 0; r < model.ranks; r++) {
        assert_int_equal(PACE_PUSH(&analysis->traces, make_rank(r)), PACE_OK);
        assert_int_equal(PACE_PUSH(&analysis->ranks, analysis->traces.items[r]), PACE_OK);
    }
    assert_int_equal(pace_analysis_join(analysis), PACE_OK);
    for (int r = 0; r < model.ranks; r++) assert_int_equal(analysis->ranks.items[r]->shift_ns, -model.offset_ns[r]);
}

/* Of each op: where the replay lets it end, by its last segment (an exchange is an arrival and a transfer). */
static void compare(const pace_joint *joint, const double *factor) {
    int64_t *start = pace_alloc(joint->replay.segments.count, sizeof *start);
    assert_int_equal(pace_replay_run(&joint->replay, factor, start, NULL), PACE_OK);
    int next[MOST_RANKS] = {0};
    for (uint32_t i = 0; i < joint->first_meeting; i++) {
        const pace_segment *s = &joint->replay.segments.items[i];
        uint32_t lane = pace_segment_lane(&joint->replay, i), rank = joint->lane_rank.items[lane];
        if (i + 1 < joint->replay.lane_first.items[lane + 1] && s[1].task == s->task) continue;
        int64_t end = start[i] + (s->resource == PACE_ADVICE_COMPUTE
                                      ? (int64_t)((double)s->duration_ns * factor[PACE_ADVICE_COMPUTE] + 0.5)
                                      : s->duration_ns);
        assert_int_equal(end, end_of((int)rank, next[rank]));
        next[rank]++;
    }
    for (int r = 0; r < model.ranks; r++) assert_int_equal(next[r], model.count[r]);
    pace_free(start);
}

TEST(test_random) {
    seed = 11;
    for (int round = 0; round < 1500; round++) {
        pace_analysis analysis;
        pace_joint joint;
        make_analysis(&analysis);
        const pace_window *window = &analysis.ranks.items[0]->work.window;
        assert_int_equal(pace_joint_build(&joint, &analysis, 0, window->first_ns, INT64_MAX / 4, 1000), PACE_OK);
        double factor[PACE_REPLAY_RESOURCES];
        for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) factor[i] = 1;
        static const double tries[] = {1, 0, 0.5, 3};
        for (int i = 0; i < 4; i++) {
            factor[PACE_ADVICE_COMPUTE] = compute_factor = tries[i];
            compare(&joint, factor);
        }
        pace_joint_free(&joint);
        pace_analysis_free(&analysis);
    }
}

TEST(test_path) {
    seed = 23;
    for (int round = 0; round < 1500; round++) {
        pace_analysis analysis;
        pace_critical critical;
        make_analysis(&analysis);
        assert_int_equal(pace_critical_find_across(&critical, &analysis, analysis.ranks.items[0]), PACE_OK);
        assert_int_equal(critical.scope, PACE_PATH_OF_ALL_RANKS);
        assert_int_equal(critical.worst_error_ns, 0);
        int64_t at = critical.from_ns, ranks = 0, resources = 0;
        for (size_t i = 0; i < critical.pieces.count; i++) {
            const pace_path_piece *p = &critical.pieces.items[i];
            assert_int_equal(p->start_ns, at);
            at = pace_piece_end(p);
            assert_true(p->resource !=
                        PACE_ADVICE_BALANCE); /* the late rank is followed, nothing is left to wait for */
        }
        assert_int_equal(at, critical.to_ns);
        for (size_t r = 0; r < critical.by_rank_ns.count; r++) ranks += critical.by_rank_ns.items[r];
        for (int r = 0; r < PACE_ADVICES; r++) resources += critical.by_resource_ns[r];
        assert_int_equal(ranks, critical.to_ns - critical.from_ns);
        assert_int_equal(resources, critical.to_ns - critical.from_ns);
        compute_factor = 0;
        assert_int_equal(critical.without_ns[PACE_ADVICE_COMPUTE], end_of(0, model.count[0] - 1) - critical.from_ns);
        int64_t alone = 0; /* nobody waits: the first rank's own ops and gaps */
        for (int i = 0; i < model.count[0]; i++) alone += model.ops[0][i].gap_ns + model.ops[0][i].duration_ns;
        assert_int_equal(critical.without_ns[PACE_ADVICE_BALANCE], alone);
        pace_critical_free(&critical);
        pace_analysis_free(&analysis);
    }
}

/* Past the limit nothing is joined, and the status says so. */
TEST(test_limit) {
    seed = 5;
    pace_analysis analysis;
    pace_joint joint;
    make_analysis(&analysis);
    assert_int_equal(pace_joint_build(&joint, &analysis, 0, 0, INT64_MAX / 4, 3), PACE_E_LIMIT);
    pace_analysis_free(&analysis);
}

static int load(void **state) {
    (void)state;
    return pace_kernel_classes_load(&classes, test_catalog()) == PACE_OK ? 0 : -1;
}

static int unload(void **state) {
    (void)state;
    pace_kernel_classes_free(classes);
    return 0;
}

int main(void) { return run_tests_of_file(load, unload); }
