/* What a trace itself says waits for what, and which operator a backward operator differentiates: on small traces whose
 * answers are known, from the text to the replay, the stages and the modules. */

#include "cmocka_of_tests.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "insight/critical.h"
#include "insight/idle_causes.h"
#include "insight/tables/operators.h"
#include "insight/segments.h"
#include "source/traces/kineto.h"
#include "stage_words_of_tests.h"

#define EVENT(cat, name, pid, tid, ts, dur, args)                                                           \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{" args "}},\n"
#define CALL(name, correlation, ts, dur) EVENT("cuda_runtime", name, 9, 9, ts, dur, "\"correlation\":" #correlation)
#define WORK(cat, name, stream, correlation, ts, dur) \
    EVENT(cat, name, 0, stream, ts, dur, "\"device\":0,\"stream\":" #stream ",\"correlation\":" #correlation)
#define SYNC(name, stream, correlation, ts, more) \
    EVENT("cuda_sync", name, 0, stream, ts, 1, "\"device\":0,\"stream\":" #stream ",\"correlation\":" #correlation more)
#define ON(stream, record) \
    ",\"wait_on_stream\":" #stream ",\"wait_on_cuda_event_record_corr_id\":" #record ",\"wait_on_cuda_event_id\":1"

static pace_kernel_classes *classes;
static pace_rank rank;
static pace_rank *ranks[] = {&rank};
static const pace_analysis alone = {.ranks = {ranks, 1, 1}};

static void read_trace(const char *events) {
    size_t length = strlen(events);
    char *text = malloc(length + 32);
    pace_input *input;
    pace_read_notes notes;
    assert_non_null(text);
    text[0] = '[';
    memcpy(text + 1, events, length - 2); /* but the last comma */
    text[length - 1] = ']';
    rank = (pace_rank){0};
    assert_int_equal(pace_input_open_memory(&input, "here", (const uint8_t *)text, length), PACE_OK);
    assert_int_equal(pace_kineto_read(&rank.step, input, &notes, (pace_progress){0}), PACE_OK);
    pace_input_free(input);
    free(text);
    assert_int_equal(pace_step_check(&rank.step), PACE_OK);
    assert_int_equal(pace_rank_understand(&rank, classes, test_stage_words(), NULL), PACE_OK);
    assert_int_equal(pace_rank_tile(&rank), PACE_OK);
}

static uint32_t find(const char *name) {
    for (uint32_t task = 0; task < rank.step.count; task++)
        if (strcmp(pace_step_name(&rank.step, task), name) == 0) return task;
    fail_msg("no task %s", name);
    return PACE_NO_TASK;
}

/* --- waits -------------------------------------------------------------------------------------------------- */

#define LAUNCHES                              \
    CALL("cudaLaunchKernel", 1, 0, 5)         \
    CALL("cudaEventRecord", 2, 6, 1)          \
    CALL("cudaLaunchKernel", 3, 8, 3)         \
    CALL("cudaStreamWaitEvent", 4, 12, 1)     \
    CALL("cudaLaunchKernel", 5, 14, 3)        \
    CALL("cudaLaunchKernel", 6, 18, 3)        \
    CALL("cudaEventQuery", 7, 25, 1)          \
    CALL("cudaStreamSynchronize", 8, 30, 145) \
    CALL("cudaEventSynchronize", 9, 176, 1)   \
    WORK("kernel", "a", 7, 1, 10, 100)        \
    WORK("kernel", "b", 7, 3, 110, 200)       \
    WORK("kernel", "c", 20, 5, 112, 50)       \
    WORK("kernel", "d", 20, 6, 162, 10)

/* A stream waits for an event recorded between a and b, the host for a stream, for the event and for the device. */
static const char recorded[] = LAUNCHES CALL("cudaDeviceSynchronize", 10, 180, 135) CALL("cudaMemcpy", 11, 320, 30)
    WORK("gpu_memcpy", "e", 7, 11, 325, 20) SYNC("Stream Wait Event", 20, 4, 12, ON(7, 2))
        SYNC("Event Sync", -1, 7, 25, ON(7, 2)) SYNC("Stream Sync", 20, 8, 30, "")
            SYNC("Event Sync", -1, 9, 176, ON(7, 2));

static void waits_for(const char *task, const char *first, const char *second) {
    size_t count;
    const pace_wait *waits = pace_step_waits(&count, &rank.step, find(task));
    size_t expected = first ? second ? 2 : 1 : 0;
    if (count != expected) fail_msg("%s has %zu waits, not %zu", task, count, expected);
    if (first && waits[0].on != find(first)) fail_msg("%s does not wait for %s", task, first);
    if (second && waits[1].on != find(second)) fail_msg("%s does not wait for %s", task, second);
}

TEST(test_waits) {
    read_trace(recorded);
    waits_for("c", "a", NULL); /* not b: it was launched after the record */
    waits_for("d", NULL, NULL);
    waits_for("cudaEventQuery", NULL, NULL);
    waits_for("cudaStreamSynchronize", "d", NULL);
    waits_for("cudaEventSynchronize", "a", NULL);
    waits_for("cudaDeviceSynchronize", "b", "d");
    waits_for("cudaMemcpy", "e", NULL);
    assert_int_equal(rank.step.waits.count, 6);
    pace_rank_free(&rank);
}

/* Without the record's number the event stands for all before the wait, here b: the times say no. */
TEST(test_contradicted) {
    read_trace(LAUNCHES SYNC("Stream Wait Event", 20, 4, 12, ",\"wait_on_stream\":7"));
    assert_int_equal(rank.step.waits.count, 0);
    pace_rank_free(&rank);
    read_trace(LAUNCHES SYNC("Stream Wait Event", 20, 4, 12, ON(-1, -1)) SYNC("Event Sync", -1, 9, 176, ON(8, 2))
                   SYNC("Stream Wait Event", 21, 4, 12, ON(7, 2)) SYNC("of a new kind", 20, 4, 12, ON(7, 2)));
    assert_int_equal(rank.step.waits.count, 0);
    pace_rank_free(&rank);
}

/* The last segment of a task. */
static uint32_t segment_of(const pace_replay *replay, const char *name) {
    for (uint32_t i = (uint32_t)replay->segments.count; i-- > 0;)
        if (replay->segments.items[i].task == find(name)) return i;
    fail_msg("no segment of %s", name);
    return 0;
}

static void run(const pace_replay *replay, int64_t *start) {
    double unit[PACE_REPLAY_RESOURCES];
    for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) unit[i] = 1;
    assert_int_equal(pace_replay_run(replay, unit, start, NULL), PACE_OK);
}

/* Unchanged, the replay gives back every start; with a longer kernel all that waits for it moves, and nothing else. */
TEST(test_replay) {
    int64_t start[64];
    pace_replay replay;
    read_trace(recorded);
    assert_int_equal(pace_segments_build(&replay, &rank, 0, 400000), PACE_OK);
    assert_true(replay.segments.count < 64);
    run(&replay, start);
    for (size_t i = 0; i < replay.segments.count; i++) assert_int_equal(start[i], replay.segments.items[i].start_ns);
    uint32_t a = segment_of(&replay, "a"), c = segment_of(&replay, "c"),
             sync = segment_of(&replay, "cudaStreamSynchronize");
    assert_int_equal(replay.segments.items[sync].start_ns, 172000); /* cut where d had ended */
    replay.segments.items[a].duration_ns += 50000;
    run(&replay, start);
    assert_int_equal(start[c], 162000);
    assert_int_equal(start[segment_of(&replay, "d")], 212000);
    assert_int_equal(start[sync], 222000);
    assert_int_equal(start[segment_of(&replay, "b")], 160000);
    pace_replay_free(&replay);
    pace_rank_free(&rank);
}

/* The host comes to the call long after what it waits for is done: it ends no sooner than that, and is not held up. */
TEST(test_late_call) {
    int64_t start[64];
    pace_replay replay;
    read_trace(CALL("cudaLaunchKernel", 1, 0, 5) WORK("kernel", "a", 7, 1, 10, 30)
                   CALL("cudaDeviceSynchronize", 2, 60, 10) CALL("cudaMalloc", 3, 80, 5));
    waits_for("cudaDeviceSynchronize", "a", NULL);
    assert_int_equal(pace_segments_build(&replay, &rank, 0, 400000), PACE_OK);
    uint32_t a = segment_of(&replay, "a"), sync = segment_of(&replay, "cudaDeviceSynchronize");
    int64_t longer[] = {0, 20000, 30000, 31000, 90000}, later[] = {0, 0, 0, 1000, 60000};
    for (size_t i = 0; i < 5; i++) {
        replay.segments.items[a].duration_ns = 30000 + longer[i];
        run(&replay, start);
        assert_int_equal(start[sync], 60000 + later[i]);
        assert_int_equal(start[segment_of(&replay, "cudaMalloc")], 80000 + later[i]);
    }
    pace_replay_free(&replay);
    pace_rank_free(&rank);
}

static pace_critical path_of(const char *events) {
    pace_critical critical;
    read_trace(events);
    assert_int_equal(pace_critical_find_across(&critical, &alone, &rank), PACE_OK);
    assert_int_equal(critical.worst_error_ns, 0);
    pace_critical_free(&critical);
    pace_rank_free(&rank);
    return critical;
}

TEST(test_share) {
    pace_critical all = path_of(recorded), none = path_of(LAUNCHES CALL("cudaMalloc", 10, 340, 5));
    assert_int_equal(all.handovers, 4); /* c, and three of the calls: the event had passed when it was asked for */
    assert_int_equal(all.recorded_handovers, 4);
    assert_true(none.handovers > 0);
    assert_int_equal(none.recorded_handovers, 0);
}

/* A copy that runs inside the call that launched it still depends on that call: the operator before the call holds up
 * everything, however late the copy ends. */
TEST(test_copy_inside_its_call) {
    static const char *const copies[] = {
        WORK("gpu_memcpy", "copy", 7, 1, 100050, 900), /* inside the call */
        WORK("gpu_memcpy", "copy", 7, 1, 100050, 1050) /* 100 us longer than the call */
    };
    for (int i = 0; i < 2; i++) {
        char events[2048];
        snprintf(events, sizeof events, "%s%s",
                 EVENT("cpu_op", "slow", 9, 9, 0, 100000, "") CALL("cudaMemcpyAsync", 1, 100000, 1000)
                     CALL("cudaLaunchKernel", 2, 101105, 5) WORK("kernel", "a", 7, 2, 101112, 10000),
                 copies[i]);
        read_trace(events);
        pace_critical critical;
        int64_t all = 111112000;
        rank.work.window.first_ns = 0; /* the whole trace from the host's first work */
        assert_int_equal(pace_critical_find_across(&critical, &alone, &rank), PACE_OK);
        assert_int_equal(critical.worst_error_ns, 0);
        assert_int_equal(critical.to_ns - critical.from_ns, all);
        assert_in_range(critical.by_resource_ns[PACE_ADVICE_HOST], all * 90 / 100, all * 92 / 100);
        assert_in_range(critical.without_ns[PACE_ADVICE_HOST], all * 9 / 100, all * 10 / 100);
        assert_int_equal(critical.unexplained_ns, 0);
        pace_critical_free(&critical);
        pace_rank_free(&rank);
    }
}

/* Four gaps: the device runs dry in a synchronising call; the host is late; a stream waits for another; a launch. */
TEST(test_idle_causes) {
    read_trace(
        CALL("cudaLaunchKernel", 1, 0, 5) CALL("cudaStreamSynchronize", 2, 6, 36) CALL("cudaLaunchKernel", 3, 50, 5)
            CALL("cudaLaunchKernel", 4, 90, 5) CALL("cudaEventRecord", 5, 96, 1) CALL("cudaStreamWaitEvent", 6, 97, 1)
                CALL("cudaLaunchKernel", 7, 98, 2) CALL("cudaLaunchKernel", 8, 101, 2) WORK("kernel", "a", 7, 1, 10, 30)
                    WORK("kernel", "b", 7, 3, 60, 20) WORK("kernel", "c", 7, 4, 100, 20)
                        WORK("kernel", "d", 20, 7, 125, 5) WORK("kernel", "e", 20, 8, 133, 7)
                            SYNC("Stream Sync", 7, 2, 7, "") SYNC("Stream Wait Event", 20, 6, 97, ON(7, 5)));
    const int64_t expected[PACE_IDLE_CAUSES] = {0, 20000, 20000, 5000, 3000};
    pace_idle_sums sums = pace_idle_causes(&rank, 10000, 140000);
    for (int c = 0; c < PACE_IDLE_CAUSES; c++) {
        assert_int_equal(sums.time_ns[c], expected[c]);
        assert_int_equal(sums.gaps[c], expected[c] > 0);
    }
    sums = pace_idle_causes(&rank, 50000, 90000); /* clipped: a gap keeps its cause */
    assert_int_equal(sums.time_ns[PACE_IDLE_BY_SYNCHRONISATION], 10000);
    assert_int_equal(sums.time_ns[PACE_IDLE_BY_HOST], 10000);
    pace_rank_free(&rank);
}

/* --- autograd ----------------------------------------------------------------------------------------------- */

#define OP(name, tid, ts, dur, args) EVENT("cpu_op", name, 9, tid, ts, dur, args)
#define NOTE(sequence, thread) "\"Sequence number\":" #sequence ",\"Fwd thread id\":" #thread
#define ARROW(phase, id, tid, ts)                                                                         \
    "{\"ph\":\"" phase "\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":" #id ",\"pid\":9,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"bp\":\"e\"},\n"

static void differentiates(const char *task, const char *forward) {
    const pace_gradient *gradient = pace_step_gradient(&rank.step, find(task));
    if (!gradient) fail_msg("%s is not known to be backward", task);
    uint32_t expected = forward ? find(forward) : PACE_NO_TASK;
    if (gradient && gradient->forward != expected)
        fail_msg("%s does not come from %s", task, forward ? forward : "nothing");
}

/* Two threads number their nodes alike; an arrow says which is which. Operators without a node share the number of the
 * next that makes one. */
TEST(test_gradients) {
    read_trace(
        OP("aten::linear", 9, 0, 30, NOTE(5, 0)) OP("aten::t", 9, 2, 5, NOTE(5, 0))
            OP("aten::addmm", 9, 10, 15, NOTE(6, 0)) OP("aten::detach", 9, 32, 2, NOTE(7, 0))
                OP("aten::relu", 9, 36, 5, NOTE(7, 0)) OP("aten::mul", 10, 1, 5, NOTE(5, 0))
                    OP("aten::add", 10, 8, 5, NOTE(6, 0)) OP("plain", 9, 50, 5, "")
                        OP("MulBackward0", 8, 100, 5, NOTE(5, 2)) OP("AddBackward0", 8, 106, 3, NOTE(6, 2))
                            OP("ReluBackward0", 8, 110, 5, NOTE(7, 1)) OP("AddmmBackward0", 8, 120, 5, NOTE(6, 1))
                                OP("TBackward0", 8, 130, 5, NOTE(5, 1)) OP("LostBackward0", 8, 140, 5, NOTE(99, 1))
                                    OP("plain back", 8, 150, 5, "") ARROW("f", 3, 8, 100) ARROW("s", 3, 10, 1)
                                        ARROW("s", 4, 9, 50) ARROW("f", 4, 8, 150) ARROW("s", 5, 9, 50));
    differentiates("MulBackward0", "aten::mul");
    differentiates("AddBackward0", "aten::add");
    differentiates("ReluBackward0", "aten::relu");
    differentiates("AddmmBackward0", "aten::addmm");
    differentiates("TBackward0", "aten::t");
    differentiates("LostBackward0", NULL);
    differentiates("plain back", "plain");
    assert_int_equal(rank.step.gradients.count, 7);
    assert_null(pace_step_gradient(&rank.step, find("aten::mul")));
    pace_rank_free(&rank);
}

/* Backward of a checkpoint: what it encloses differentiates operators that no module holds, or that are not known. Work
 * within belongs to the checkpoint's forward operator; that of a node of its own to that node's. */
TEST(test_gradient_around) {
    read_trace(OP("checkpoint", 9, 0, 30, NOTE(5, 0)) OP("aten::mm", 9, 40, 5, NOTE(6, 0))
                   OP("CheckpointBackward", 8, 100, 50, NOTE(5, 1)) OP("LostBackward0", 8, 110, 20, NOTE(99, 1))
                       OP("in lost", 8, 115, 5, "") OP("MmBackward0", 8, 135, 10, NOTE(6, 1)) OP("in mm", 8, 137, 5, "")
                           OP("alone", 8, 160, 20, NOTE(98, 1)));
    static const char *const around[][2] = {{"in lost", "CheckpointBackward"},
                                            {"LostBackward0", "CheckpointBackward"},
                                            {"in mm", "MmBackward0"},
                                            {"CheckpointBackward", "CheckpointBackward"}};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        const pace_gradient *gradient = pace_step_gradient_around(&rank.step, find(around[i][0]));
        assert_true(gradient && gradient->task == find(around[i][1]));
    }
    assert_null(pace_step_gradient_around(&rank.step, find("alone")));
    assert_null(pace_step_gradient_around(&rank.step, find("aten::mm")));
    assert_null(pace_step_gradient_around(&rank.step, PACE_NO_TASK));
    pace_rank_free(&rank);
}

static void stage_is(const char *task, pace_stage stage) {
    uint8_t found = rank.step.stage[find(task)];
    if (found != stage) fail_msg("%s is %s", task, found < PACE_STAGES ? pace_stage_names[found] : "nothing");
}

/* Two micro-batches: the second forward pass lies between two backward passes. Names are against the links. */
static const char accumulation[] = EVENT("user_annotation", "ProfilerStep#1", 9, 9, 0, 1000, "")
    EVENT("user_annotation", "Optimizer.step#LBFGS", 9, 9, 8, 900, "") OP("transform", 9, 2, 3, "")
        OP("mm 1", 9, 10, 20, NOTE(1, 0)) OP("loss", 9, 32, 5, "") OP("back 1", 8, 100, 50, NOTE(1, 1))
            OP("inside", 8, 110, 5, "") OP("again", 8, 120, 5, NOTE(7, 0)) OP("scale", 10, 200, 10, "")
                OP("_backward mm 2", 9, 220, 20, NOTE(2, 0)) OP("back 2", 8, 300, 50, NOTE(2, 1))
                    OP("back again", 8, 310, 5, NOTE(7, 1)) OP("clip", 10, 930, 10, "")
                        EVENT("user_annotation", "ProfilerStep#2", 9, 9, 1000, 1000, "")
                            OP("transform 2", 9, 1010, 3, "") OP("mm 3", 9, 1020, 20, NOTE(3, 0))
                                OP("back 3", 8, 1100, 50, NOTE(3, 1));

TEST(test_stages) {
    read_trace(accumulation);
    static const char *const forward[] = {"transform", "mm 1", "scale", "_backward mm 2", "transform 2", "mm 3"};
    static const char *const backward[] = {"back 1", "inside", "back 2", "back again", "back 3"};
    for (size_t i = 0; i < sizeof forward / sizeof *forward; i++) stage_is(forward[i], PACE_STAGE_FORWARD);
    for (size_t i = 0; i < sizeof backward / sizeof *backward; i++) stage_is(backward[i], PACE_STAGE_BACKWARD);
    stage_is("again", PACE_STAGE_RECOMPUTE);
    stage_is("clip", PACE_STAGE_UPDATE);
    stage_is("loss", PACE_STAGE_UPDATE); /* no link: the name around it decides */
    pace_rank_free(&rank);
}

/* One forward, one backward in turn, in one thread, as in a pipeline: what neither a link, a note nor an annotation
 * claims between them belongs to nobody. */
TEST(test_pipeline_in_one_thread) {
    read_trace(EVENT("user_annotation", "ProfilerStep#1", 9, 9, 0, 1000,
                     "") OP("first", 9, 2, 3, "") OP("mm 1", 9, 10, 20, NOTE(1, 0)) OP("mm 2", 9, 40, 20, NOTE(2, 0))
                   OP("send", 9, 65, 5, "") OP("back 1", 9, 100, 50, NOTE(1, 1)) OP("receive", 9, 160, 5, "")
                       OP("mm 3", 9, 220, 20, NOTE(3, 0)) OP("lost", 9, 260, 20, NOTE(77, 0))
                           OP("back 2", 9, 300, 50, NOTE(2, 1)) OP("again", 9, 310, 10, NOTE(9, 0))
                               EVENT("user_annotation", "mb 3 (F) attn", 9, 9, 360, 30, "") OP("add", 9, 365, 10, "")
                                   EVENT("user_annotation", "(B) mlp", 9, 9, 392, 30, "") OP("sub", 9, 395, 10, "")
                                       OP("back 3", 9, 500, 50, NOTE(3, 1)) OP("clip", 9, 930, 10, ""));
    static const char *const forward[] = {"first", "mm 1", "mm 2", "send", "mm 3", "lost", "add"};
    static const char *const backward[] = {"back 1", "back 2", "back 3", "sub"};
    for (size_t i = 0; i < sizeof forward / sizeof *forward; i++) stage_is(forward[i], PACE_STAGE_FORWARD);
    for (size_t i = 0; i < sizeof backward / sizeof *backward; i++) stage_is(backward[i], PACE_STAGE_BACKWARD);
    stage_is("again", PACE_STAGE_RECOMPUTE);
    stage_is("receive", PACE_STAGE_OTHER);
    stage_is("clip", PACE_STAGE_UPDATE);
    pace_rank_free(&rank);
}

/* The time of a backward kernel stands in the module of its forward operator. */
TEST(test_modules) {
    read_trace(EVENT("user_annotation", "encoder", 9, 9, 0, 50, "") EVENT("user_annotation", "head", 9, 9, 60, 50, "")
                   OP("aten::mm", 9, 5, 20, NOTE(1, 0)) OP("aten::mul", 9, 65, 20, NOTE(2, 0))
                       OP("engine: MulBackward0", 8, 100, 50, NOTE(2, 1)) OP("MulBackward0", 8, 110, 30, NOTE(2, 1))
                           OP("engine: MmBackward0", 8, 200, 50, NOTE(1, 1)) OP("aten::sum", 8, 260, 10, "")
                               CALL("cudaLaunchKernel", 1, 10, 5) CALL("cudaLaunchKernel", 2, 70, 5)
                                   EVENT("cuda_runtime", "cudaLaunchKernel", 9, 8, 120, 5, "\"correlation\":3")
                                       EVENT("cuda_runtime", "cudaLaunchKernel", 9, 8, 210, 5, "\"correlation\":4")
                                           EVENT("cuda_runtime", "cudaLaunchKernel", 9, 8, 262, 5, "\"correlation\":5")
                                               WORK("kernel", "k", 7, 1, 300, 1) WORK("kernel", "k", 7, 2, 310, 2)
                                                   WORK("kernel", "k", 7, 3, 320, 4) WORK("kernel", "k", 7, 4, 330, 8)
                                                       WORK("kernel", "k", 7, 5, 340, 16));
    pace_operator_rows rows;
    assert_int_equal(pace_operators_sum(&rows, &rank, PACE_BY_MODULE), PACE_OK);
    assert_int_equal(rows.count, 3);
    const struct {
        const char *name;
        int64_t time_ns;
    } expected[] = {{"", 16000}, {"encoder", 9000}, {"head", 6000}};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(pace_names_text(&rank.step.names, rows.items[i].name), expected[i].name);
        assert_int_equal(rows.items[i].time_ns, expected[i].time_ns);
    }
    PACE_VEC_FREE(&rows);
    pace_rank_free(&rank);
}

static int start_all(void **state) {
    (void)state;
    return pace_kernel_classes_load(&classes, test_catalog()) == PACE_OK ? 0 : -1;
}

static int end_all(void **state) {
    (void)state;
    pace_kernel_classes_free(classes);
    return 0;
}

int main(void) { return run_tests_of_file(start_all, end_all); }
