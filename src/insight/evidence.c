#include "insight/evidence.h"

#include "base/print.h"

#include <string.h>

const char *const pace_evidence_names[] = {"whole", "no_kernels", "few_kernels", "graphs", "groups", "unexplained"};

/* Kernels of one graph launch follow one another within a few microseconds; a longer pause hides others. */
enum { GRAPH_PAUSE_NS = 20000 };

static bool is_launch(const pace_step *step, uint32_t task) {
    if (step->kind[task] != PACE_TASK_CALL) return false;
    const char *name = pace_step_name(step, task);
    return strstr(name, "Launch") && !strstr(name, "HostFunc");
}

static bool on_rank(const pace_rank *rank, uint32_t task) {
    const pace_step *step = &rank->step;
    return !rank->trace || step->lanes.items[pace_task_lane(step, task)].device_id == rank->device_id;
}

/* Whose device a call without work was meant for is not known: all calls before `end_ns` count. What a step behind
 * it launched may lack its work because the recording ended before the device did. */
static pace_status count_launches(pace_evidence *out, const pace_step *step, int64_t end_ns) {
    uint8_t *worked = pace_alloc(step->count / 8 + 1, 1); /* a bit a task */
    if (!worked) return PACE_E_MEMORY;
    for (uint32_t task = 0; task < step->count; task++)
        if (pace_task_on_device(step->kind[task]) && pace_task_cause(step, task) != PACE_NO_TASK)
            worked[pace_task_cause(step, task) / 8] |= (uint8_t)(1u << pace_task_cause(step, task) % 8);
    for (uint32_t task = 0; task < step->count; task++) {
        bool launch = step->start_ns[task] < end_ns && is_launch(step, task);
        out->launches += launch;
        out->without_work += launch && !(worked[task / 8] >> task % 8 & 1);
    }
    pace_free(worked);
    return PACE_OK;
}

static int64_t pause_between(const pace_rank *rank, uint32_t before, uint32_t task, int64_t start_ns, int64_t end_ns) {
    const pace_step *step = &rank->step;
    uint32_t call = pace_task_cause(step, task);
    if (call == PACE_NO_TASK || pace_task_cause(step, before) != call ||
        !strstr(pace_step_name(step, call), "GraphLaunch"))
        return 0;
    int64_t from = pace_step_end_ns(step, before), to = step->start_ns[task];
    if (to - from <= GRAPH_PAUSE_NS || from < start_ns || to > end_ns) return 0;
    return to - from - pace_work_busy_within(&rank->work, from, to);
}

static int64_t graph_pauses(const pace_rank *rank, int64_t start_ns, int64_t end_ns) {
    const pace_step *step = &rank->step;
    int64_t sum_ns = 0;
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        for (uint32_t task = lane->first + 1; lane->device && task < lane->first + lane->count; task++)
            if (on_rank(rank, task)) sum_ns += pause_between(rank, task - 1, task, start_ns, end_ns);
    }
    return sum_ns;
}

/* There was a device, whatever was recorded of it. */
static const char *name_of_device(const pace_kernel_classes *classes, const pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++)
        if (step->kind[task] <= PACE_TASK_ANNOTATION && pace_names_a_device(classes, pace_step_name(step, task)))
            return pace_step_name(step, task);
    return NULL;
}

/* From the first host task to the end of the last. */
static int64_t host_span(const pace_step *step) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t task = 0; task < step->count; task++) {
        if (step->kind[task] > PACE_TASK_CALL) continue;
        if (step->start_ns[task] < first) first = step->start_ns[task];
        if (pace_step_end_ns(step, task) > last) last = pace_step_end_ns(step, task);
    }
    return last > first ? last - first : 0;
}

/* What a host that is the device worked, called or fetched: the trace says what it did then. Exchanges between ranks
 * count where operators were recorded beside them. */
static int64_t told_ns(const pace_rank *rank, int64_t span_ns) {
    const pace_window *window = &rank->work.window;
    int64_t ns = pace_intervals_within(&rank->work.calls, window->first_ns, window->last_ns) + window->compute_ns;
    for (size_t i = 0; i < rank->tiles.count; i++)
        if (rank->tiles.items[i].resource == PACE_IDLE_INPUT)
            ns += pace_tile_end(&rank->tiles.items[i]) - rank->tiles.items[i].start_ns;
    return ns * 100 < span_ns ? ns : ns + window->exposed_ns;
}

static pace_evidence_gap judge(const pace_evidence *evidence, const pace_rank *rank, int64_t length_ns) {
    const pace_step *step = &rank->step;
    bool links = step->linked_kernels > 0 || step->kind_count[PACE_TASK_KERNEL] == 0;
    bool known = evidence->launches > 0 || evidence->broken_off || evidence->on_device;
    if (rank->work.host_is_device && known) return PACE_EVIDENCE_NO_KERNELS;
    int64_t span_ns = host_span(step);
    if (rank->work.host_is_device && told_ns(rank, span_ns) * 10 < span_ns) return PACE_EVIDENCE_UNEXPLAINED;
    if (links && evidence->without_work * 10 > evidence->launches) return PACE_EVIDENCE_FEW_KERNELS;
    return evidence->graph_pause_ns * 10 > length_ns ? PACE_EVIDENCE_GRAPHS : PACE_EVIDENCE_WHOLE;
}

pace_status pace_evidence_find(pace_evidence *out, const pace_kernel_classes *classes, const pace_rank *rank,
                               int64_t start_ns, int64_t end_ns) {
    pace_evidence evidence = {0};
    *out = evidence;
    if (pace_rank_is_predicted(rank)) return PACE_OK;
    PACE_TRY(count_launches(&evidence, &rank->step, end_ns));
    evidence.shared_calls = (size_t)rank->step.shared_calls;
    if (rank->work.host_is_device) evidence.on_device = name_of_device(classes, &rank->step);
    evidence.broken_off = rank->step.cut_ns != INT64_MAX && rank->step.devices.count > 0;
    evidence.graph_pause_ns = graph_pauses(rank, start_ns, end_ns);
    evidence.lacks = judge(&evidence, rank, end_ns - start_ns);
    *out = evidence;
    return PACE_OK;
}

void pace_evidence_say(char *out, size_t size, const pace_evidence *e, int64_t length_ns, const char *whole) {
    if (e->lacks == PACE_EVIDENCE_NO_KERNELS && e->launches)
        pace_snprintf(out, size, "the trace records %zu launches and no work of the device", e->launches);
    else if (e->lacks == PACE_EVIDENCE_NO_KERNELS && e->broken_off)
        pace_snprintf(out, size, "the trace breaks off before the work of the device that it names");
    else if (e->lacks == PACE_EVIDENCE_NO_KERNELS)
        pace_snprintf(out, size, "'%.80s' runs on a device, but the trace records none of its work", e->on_device);
    else if (e->lacks == PACE_EVIDENCE_FEW_KERNELS && e->shared_calls * 2 > e->without_work)
        pace_snprintf(out, size,
                      "the file holds several processes, whose launches cannot be told apart: %zu have the number "
                      "(correlation) of another process's; give the file of each rank",
                      e->shared_calls);
    else if (e->lacks == PACE_EVIDENCE_FEW_KERNELS)
        pace_snprintf(out, size, "%zu of %zu launches have no kernel in the trace", e->without_work, e->launches);
    else if (e->lacks == PACE_EVIDENCE_GRAPHS)
        pace_snprintf(out, size,
                      "kernels of CUDA graphs may be missing; the device pauses for %.0f %% of the %s inside launches "
                      "of graphs",
                      100.0 * (double)e->graph_pause_ns / (double)length_ns, whole);
    else if (e->lacks == PACE_EVIDENCE_GROUPS)
        pace_snprintf(
            out, size,
            "the traces do not say which ranks exchange with each other, and by their clocks too few exchanges "
            "end together: waiting for a rank cannot be told from exchanging");
    else if (e->broken_off)
        pace_snprintf(out, size,
                      "the file breaks off, and what is left does not say what more than half of the %s waited for",
                      whole);
    else if (e->queued_ns * 2 > length_ns)
        pace_snprintf(
            out, size,
            "for %.0f %% of the %s the device stood idle although work was queued on it, as when another process "
            "computes there (the trace records this one alone)",
            100.0 * (double)e->queued_ns / (double)length_ns, whole);
    else pace_snprintf(out, size, "the trace does not say what more than half of the %s waited for", whole);
}
