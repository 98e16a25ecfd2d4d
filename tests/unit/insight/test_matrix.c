/* Tiles and matrix against a painter that decides every nanosecond anew. */

#include "cmocka_of_tests.h"
#include <stdio.h>
#include <string.h>

#include "insight/matrix.h"
#include "insight/steps/stages.h"
#include "stage_words_of_tests.h"

enum { MOST = 64 };

typedef enum { GEMM, ADD, REDUCE, TO_HOST, TO_PEER, CLEAR, SORTS } sort;

static const struct {
    const char *name;
    pace_task_kind kind;
    int rank; /* what hides what */
    pace_resource resource;
} sorts[SORTS] = {
    {"ampere_sgemm_128x64_nn", PACE_TASK_KERNEL, 0, PACE_COMPUTE_BOUND},
    {"vectorized_elementwise_kernel", PACE_TASK_KERNEL, 0, PACE_MEMORY_BOUND},
    {"ncclDevKernel_AllReduce_Sum_f32", PACE_TASK_KERNEL, 1, PACE_EXPOSED_COMMUNICATION},
    {"Memcpy DtoH (Device -> Pageable)", PACE_TASK_COPY, 2, PACE_COPY},
    {"Memcpy PtoP (Device -> Device)", PACE_TASK_COPY, 1, PACE_EXPOSED_COMMUNICATION},
    {"Memset (Device)", PACE_TASK_MEMSET, 2, PACE_COPY},
};

static pace_kernel_classes *classes;
static pace_step step;
static pace_marks marks;
static pace_work work;
static pace_tiles tiles;
static int64_t wait_until[MOST]; /* by task */
static uint32_t seed;

static int64_t pick(uint32_t bound) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

static void add(const char *key, pace_task_kind kind, const char *name, int64_t start, int64_t duration, uint32_t id) {
    uint32_t lane;
    pace_name text;
    assert_int_equal(pace_step_lane(&lane, &step, key, strlen(key), key[0] == 'd', 0), PACE_OK);
    assert_int_equal(pace_names_add(&text, &step.names, name, strlen(name)), PACE_OK);
    assert_int_equal(pace_step_add_task(&step, lane, kind, text, start, duration), PACE_OK);
    step.correlation[step.count - 1] = id;
}

static int sort_of(uint32_t task) {
    for (int i = 0; i < SORTS; i++)
        if (strcmp(pace_step_name(&step, task), sorts[i].name) == 0) return i;
    return -1;
}

static void make(void) {
    assert_int_equal(pace_step_init(&step), PACE_OK);
    int64_t mark = pick(60);
    for (int64_t i = pick(4); i > 0; i--, mark += 250) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", 9 - (int)i);
        add("host 1", PACE_TASK_ANNOTATION, name, mark, 200, 0);
    }
    for (int64_t at = pick(200); at < 800; at += 200 + pick(300)) {
        int64_t took = pick(120);
        add("host 2", PACE_TASK_OP, "enumerate(DataLoader)#_Iter.__next__", at, took, 0);
        if (took && pick(2)) /* nested, and rounded past the end of what holds it */
            add("host 2", PACE_TASK_OP, "enumerate(DataLoader)#inner", at + pick((uint32_t)took), pick(120), 0);
    }
    if (pick(2)) add("host 3", PACE_TASK_OP, "autograd::engine::evaluate_function: MmBackward0", 300, 200, 0);
    for (int64_t i = pick(20) + 1; i > 0; i--) {
        const char *const streams[] = {"device 0 stream 7", "device 0 stream 8", "device 0 stream 9"};
        int kind = (int)pick(SORTS);
        int64_t start = pick(800), early = pick(120);
        if (pick(5)) add("host 1", PACE_TASK_CALL, "cudaLaunchKernel", start - early, pick(60), (uint32_t)i);
        add(streams[pick(3)], sorts[kind].kind, sorts[kind].name, start, pick(90), (uint32_t)i);
    }
    assert_int_equal(pace_step_finish(&step), PACE_OK);
    assert_int_equal(pace_step_check(&step), PACE_OK);
    assert_true(step.count < MOST);
    assert_int_equal(pace_marks_find(&marks, &step, test_stage_words(), NULL), PACE_OK);
    assert_int_equal(pace_stages_attribute(&step, &marks, test_stage_words()), PACE_OK);
    assert_int_equal(pace_work_build(&work, &step, classes, NULL), PACE_OK);
    for (size_t i = 0; i < work.items.count; i++) {
        pace_work_item *item = &work.items.items[i];
        if (sort_of(item->task) == REDUCE && pick(2)) item->wait_until_ns = item->start_ns + pick(100);
        wait_until[item->task] = item->wait_until_ns;
    }
    assert_int_equal(pace_tiles_build(&tiles, &work, &marks), PACE_OK);
    assert_int_equal(pace_marks_set_intervals(&marks, &work), PACE_OK);
}

static void drop(void) {
    PACE_VEC_FREE(&tiles);
    pace_work_free(&work);
    pace_marks_free(&marks);
    pace_step_free(&step);
}

static uint8_t stage_of(uint32_t task) {
    return step.stage[task] == PACE_STAGE_NONE ? (uint8_t)PACE_STAGE_OTHER : step.stage[task];
}

/* What runs at an instant: the least hidden, then the first begun. */
static uint32_t running(int64_t at) {
    uint32_t best = PACE_NO_TASK;
    for (uint32_t task = 0; task < step.count; task++) {
        int kind = sort_of(task);
        if (kind < 0 || step.start_ns[task] > at || pace_step_end_ns(&step, task) <= at) continue;
        if (best == PACE_NO_TASK || sorts[kind].rank < sorts[sort_of(best)].rank ||
            (sorts[kind].rank == sorts[sort_of(best)].rank && step.start_ns[task] < step.start_ns[best]))
            best = task;
    }
    return best;
}

static bool fetches(uint32_t task) { return strncmp(pace_step_name(&step, task), "enumerate", 9) == 0; }

static bool covers(uint32_t task, int64_t at) {
    return step.start_ns[task] <= at && at < pace_step_end_ns(&step, task);
}

/* The end of the input without a pause that a thread is in at an instant; the instant itself when it is in none. */
static int64_t input_end(uint32_t lane, int64_t at) {
    int64_t end = at;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t task = 0; task < step.count; task++) {
            bool on = pace_task_lane(&step, task) == lane && fetches(task) && step.start_ns[task] <= end;
            bool joins = end > at || covers(task, at);
            if (!on || !joins || pace_step_end_ns(&step, task) <= end) continue;
            end = pace_step_end_ns(&step, task);
            more = true;
        }
    }
    return end;
}

static bool acts(uint32_t task, uint32_t lane) {
    return pace_task_lane(&step, task) == lane &&
           (step.kind[task] == PACE_TASK_CALL || step.kind[task] == PACE_TASK_OP);
}

/* Whether the thread fetches, or does nothing until after another has fetched and rests when this one goes on. */
static bool fetching(int64_t at, uint32_t lane) {
    int64_t goes_on = INT64_MAX;
    if (input_end(lane, at) > at) return true;
    for (uint32_t task = 0; task < step.count; task++) {
        if (!acts(task, lane)) continue;
        if (covers(task, at)) return false;
        if (step.start_ns[task] > at && step.start_ns[task] < goes_on) goes_on = step.start_ns[task];
    }
    for (uint32_t other = 0; other < step.lanes.count && goes_on < INT64_MAX; other++) {
        int64_t end = input_end(other, at);
        if (step.lanes.items[other].device || other == lane || end == at || end > goes_on) continue;
        bool rests = true;
        for (uint32_t task = 0; task < step.count; task++)
            if (acts(task, other) && step.start_ns[task] < goes_on && pace_step_end_ns(&step, task) > goes_on)
                rests = false;
        if (rests) return true;
    }
    return false;
}

static void paint(pace_matrix *matrix, int64_t at, int64_t begin) {
    uint32_t task = running(at);
    if (task != PACE_NO_TASK) {
        bool waits = sort_of(task) == REDUCE && at < wait_until[task];
        matrix->cell_ns[stage_of(task)][waits ? PACE_IDLE_RANK : sorts[sort_of(task)].resource]++;
        return;
    }
    int64_t since = begin; /* the gap: from the last event on the device to the next start */
    uint32_t next = PACE_NO_TASK;
    for (uint32_t i = 0; i < step.count; i++) {
        if (sort_of(i) < 0) continue;
        int64_t start = step.start_ns[i], end = pace_step_end_ns(&step, i);
        if (end <= at && end > since) since = end;
        if (start > at && (next == PACE_NO_TASK || start < step.start_ns[next])) next = i;
    }
    assert_true(next != PACE_NO_TASK);
    uint32_t cause = pace_task_cause(&step, next);
    if (cause == PACE_NO_TASK || pace_step_end_ns(&step, cause) <= since)
        matrix->cell_ns[stage_of(next)][PACE_IDLE_OTHER]++;
    else if (fetching(at, pace_task_lane(&step, cause))) matrix->cell_ns[PACE_STAGE_INPUT][PACE_IDLE_INPUT]++;
    else matrix->cell_ns[stage_of(next)][PACE_IDLE_HOST]++;
}

static void compare(int64_t begin, int64_t start, int64_t end) {
    pace_matrix expected = {0}, got = pace_matrix_of(&tiles, start, end);
    for (int64_t at = start; at < end; at++) paint(&expected, at, begin);
    for (int stage = 0; stage < PACE_STAGES; stage++)
        for (int resource = 0; resource < PACE_RESOURCES; resource++)
            if (got.cell_ns[stage][resource] != expected.cell_ns[stage][resource])
                fail_msg("seed %u, [%d, %d): %s %s is %d, painted %d", seed, (int)start, (int)end,
                         pace_stage_names[stage], pace_resource_names[resource], (int)got.cell_ns[stage][resource],
                         (int)expected.cell_ns[stage][resource]);
    assert_int_equal(pace_matrix_total(&got), end - start);
}

TEST(test_painter) {
    seed = 3;
    for (int round = 0; round < 400; round++) {
        make();
        int64_t begin = work.items.items[0].start_ns, end = begin;
        if (marks.items.count && marks.items.items[0].start_ns < begin) begin = marks.items.items[0].start_ns;
        for (size_t i = 0; i < work.items.count; i++)
            if (work.items.items[i].end_ns > end) end = work.items.items[i].end_ns;
        compare(begin, begin, end);
        int64_t from = begin + pick((uint32_t)(end - begin) + 1);
        compare(begin, from, from + pick((uint32_t)(end - from) + 1));
        for (size_t i = 0; i < tiles.count; i++) assert_true(pace_tile_end(&tiles.items[i]) > tiles.items[i].start_ns);
        if (tiles.count) assert_int_equal(pace_tile_end(&tiles.items[tiles.count - 1]), end);
        drop();
    }
}

/* In line before the trace began: without a launch, and started before any task of its stream that has one. */
static bool in_line(uint32_t task) {
    int64_t first = INT64_MAX;
    for (uint32_t other = 0; other < step.count; other++)
        if (pace_task_lane(&step, other) == pace_task_lane(&step, task) &&
            pace_task_cause(&step, other) != PACE_NO_TASK && step.start_ns[other] < first)
            first = step.start_ns[other];
    return first < INT64_MAX && pace_task_cause(&step, task) == PACE_NO_TASK && step.start_ns[task] < first;
}

/* When the last compute kernel launched before an instant ends. */
static int64_t earlier_work(int64_t at) {
    int64_t end = at;
    for (uint32_t task = 0; task < step.count; task++) {
        int kind = sort_of(task);
        if (kind != GEMM && kind != ADD) continue;
        bool linked = pace_task_cause(&step, task) != PACE_NO_TASK;
        bool before = in_line(task) || step.start_ns[linked ? pace_task_cause(&step, task) : task] < at;
        if (before && pace_step_end_ns(&step, task) > end) end = pace_step_end_ns(&step, task);
    }
    return end;
}

/* From the end of the last compute kernel launched before the step to the end of its own last; a kernel belongs to the
 * step in which it was launched; what was launched after the last annotation belongs to none. */
TEST(test_intervals) {
    seed = 5;
    for (int round = 0; round < 400; round++) {
        make();
        int64_t bound = marks.items.count ? earlier_work(marks.items.items[0].start_ns) : 0;
        for (size_t i = 0; i < marks.items.count; i++) {
            const pace_mark *mark = &marks.items.items[i];
            int64_t until = i + 1 < marks.items.count ? mark[1].start_ns : INT64_MAX;
            assert_int_equal(mark->from_ns, bound);
            for (uint32_t task = 0; task < step.count; task++) {
                int kind = sort_of(task);
                if (kind != GEMM && kind != ADD) continue;
                bool linked = pace_task_cause(&step, task) != PACE_NO_TASK, last = i + 1 == marks.items.count;
                int64_t issued = step.start_ns[linked ? pace_task_cause(&step, task) : task];
                bool own = issued >= mark->start_ns && issued < until && !in_line(task);
                if (last && linked && issued > mark->end_ns) own = false;
                if (own && pace_step_end_ns(&step, task) > bound) bound = pace_step_end_ns(&step, task);
            }
            assert_int_equal(mark->to_ns, bound);
        }
        drop();
    }
}

static int load(void **state) {
    (void)state;
    return pace_kernel_classes_load(&classes, test_catalog());
}

static int unload(void **state) {
    (void)state;
    pace_kernel_classes_free(classes);
    return 0;
}

int main(void) { return run_tests_of_file(load, unload); }
