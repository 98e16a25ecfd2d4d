/* The perfetto format of analyze where the trace itself cannot be copied (trace_original.h): the reported rank's tasks,
 * with its stages and resources as tracks above them. The events carry Kineto's categories and arguments, so that
 * analyze reads the file back to the same figures. */
#include "base/order.h"
#include "report/analyze/analyze_parts.h"
#include "base/trace_event.h"

#include <stdlib.h>
#include <string.h>

static const char *const categories[PACE_TASK_KINDS] = {"cpu_op",       "user_annotation", "python_function",
                                                        "cuda_runtime", "kernel",          "gpu_memcpy",
                                                        "gpu_memset",   "cuda_sync",       "other"};

static const char *const shape_keys[] = {"Input Dims", "Input type", "Concrete Inputs"};
static const char *const launch_keys[] = {"grid", "block", "est. achieved occupancy %", "blocks per SM"};

/* The lines of an operator's shape text, or of a kernel's launch, are the values of these arguments, as the trace had
 * them. */
static void put_lines(pace_jsonw *json, const char *const *keys, int count, const char *text) {
    for (int i = 0; i < count && *text; i++) {
        size_t length = strcspn(text, "\n");
        if (length) {
            pace_jsonw_key(json, keys[i]);
            pace_jsonw_raw(json, text, length);
        }
        text += length + (text[length] == '\n');
    }
}

/* New numbers, so that the trace reads back to the same links. A call's correlation is even and ascends with its start,
 * so that odd numbers are left for event records in between; a forward operator's is its node's. 0 = none. */
typedef struct {
    const pace_step *step;
    uint32_t *of; /* task -> number */
} numbers;

typedef struct {
    int64_t start_ns;
    uint32_t task;
} call_start;

PACE_ORDER(by_start, call_start, PACE_UP(start_ns) PACE_UP(task))

static pace_status number_tasks(numbers *out, const pace_step *step) {
    uint32_t *of = pace_alloc(step->count, sizeof *of);
    call_start *calls = pace_alloc(step->kind_count[PACE_TASK_CALL], sizeof *calls);
    if (!of || !calls) {
        PACE_FREE(of, calls);
        return PACE_E_MEMORY;
    }
    size_t count = 0;
    for (uint32_t task = 0; task < step->count; task++)
        if (step->kind[task] == PACE_TASK_CALL) calls[count++] = (call_start){step->start_ns[task], task};
    if (count) qsort(calls, count, sizeof *calls, by_start);
    for (size_t i = 0; i < count; i++) of[calls[i].task] = (uint32_t)(2 * i + 2);
    for (size_t i = 0; i < step->gradients.count; i++)
        if (step->gradients.items[i].forward != PACE_NO_TASK)
            of[step->gradients.items[i].forward] = step->gradients.items[i].forward + 1;
    pace_free(calls);
    *out = (numbers){step, of};
    return PACE_OK;
}

/* What launched what. */
static void put_link(pace_jsonw *json, const numbers *n, uint32_t task) {
    const pace_step *step = n->step;
    uint32_t cause = pace_task_cause(step, task);
    if (step->kind[task] == PACE_TASK_CALL) pace_jsonw_key_int(json, "correlation", n->of[task]);
    else if (step->kind[task] == PACE_TASK_OP) pace_jsonw_key_int(json, "External id", (int64_t)task + 1);
    else if (cause != PACE_NO_TASK && step->kind[cause] == PACE_TASK_CALL)
        pace_jsonw_key_int(json, "correlation", n->of[cause]);
    else if (cause != PACE_NO_TASK) pace_jsonw_key_int(json, "External id", (int64_t)cause + 1);
}

/* What a synchronisation waits for: an event recorded right after the launch of the last task waited for. */
static void put_sync(pace_jsonw *json, const numbers *n, uint32_t task) {
    const pace_sync *sync = &n->step->syncs.items[n->step->detail[task] - 1];
    if (sync->call != PACE_NO_TASK) pace_jsonw_key_int(json, "correlation", n->of[sync->call]);
    uint32_t launch = sync->on == PACE_NO_TASK ? PACE_NO_TASK : pace_task_cause(n->step, sync->on);
    if (launch == PACE_NO_TASK || n->step->kind[launch] != PACE_TASK_CALL) return;
    pace_jsonw_key_int(json, "wait_on_stream", pace_task_lane(n->step, sync->on));
    pace_jsonw_key_int(json, "wait_on_cuda_event_record_corr_id", (int64_t)n->of[launch] + 1);
}

/* A backward operator names its forward operator's number, on a thread named by its lane; one without names none. */
static void put_autograd(pace_jsonw *json, const numbers *n, uint32_t task) {
    const pace_step *step = n->step;
    const pace_gradient *gradient = pace_step_gradient(step, task);
    if (!gradient && n->of[task] == 0) return;
    bool known = gradient && gradient->forward != PACE_NO_TASK;
    pace_jsonw_key_int(json, "Sequence number", !gradient ? n->of[task] : known ? n->of[gradient->forward] : 0);
    pace_jsonw_key_int(json, "Fwd thread id",
                       !gradient ? 0
                                 : 1 + (int64_t)(known ? pace_task_lane(step, gradient->forward) : step->lanes.count));
}

/* What a host operator or a kernel exchanges, as the profiler names it. */
static void put_exchange(pace_jsonw *json, const pace_step *step, uint32_t task) {
    const pace_exchange_info *info = pace_step_exchange(step, task);
    if (!info) return;
    const struct {
        const char *key;
        pace_name text;
    } texts[] = {{"Collective name", info->collective},
                 {"dtype", info->dtype},
                 {"Process Group Name", info->group},
                 {"Process Group Ranks", info->group_ranks}};
    for (size_t i = 0; i < PACE_COUNT(texts); i++) {
        if (texts[i].text == 0) continue;
        pace_jsonw_key_text(json, texts[i].key, pace_names_text(&step->names, texts[i].text));
    }
    if (info->in_elements) pace_jsonw_key_int(json, "In msg nelems", info->in_elements);
    if (info->out_elements) pace_jsonw_key_int(json, "Out msg nelems", info->out_elements);
    if (info->group_size) pace_jsonw_key_int(json, "Group size", info->group_size);
    if (info->source != PACE_NO_RANK) pace_jsonw_key_int(json, "Src Rank", info->source);
    if (info->destination != PACE_NO_RANK) pace_jsonw_key_int(json, "Dst Rank", info->destination);
}

static void put_task(pace_jsonw *json, const numbers *n, uint32_t task) {
    const pace_step *step = n->step;
    uint32_t lane = pace_task_lane(step, task);
    bool device = step->lanes.items[lane].device;
    pace_trace_event_open(json, pace_step_name(step, task), categories[step->kind[task]], device ? 0 : 1, (int64_t)lane,
                          step->start_ns[task], pace_task_ns(step, task));
    pace_jsonw_key(json, "args");
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    if (device) pace_jsonw_key_int(json, "device", step->lanes.items[lane].device_id);
    if (device) pace_jsonw_key_int(json, "stream", (int64_t)lane);
    put_link(json, n, task);
    put_exchange(json, step, task);
    put_lines(json, launch_keys, 4, pace_names_text(&step->names, pace_step_launch(step, task)));
    if (step->kind[task] == PACE_TASK_SYNC && step->detail[task]) put_sync(json, n, task);
    if (step->kind[task] == PACE_TASK_OP) put_autograd(json, n, task);
    if ((step->kind[task] == PACE_TASK_COPY || step->kind[task] == PACE_TASK_MEMSET) && step->detail[task])
        pace_jsonw_key_int(json, "bytes", step->bytes.items[step->detail[task] - 1]);
    if (step->kind[task] == PACE_TASK_OP && step->detail[task])
        put_lines(json, shape_keys, 3, pace_names_text(&step->names, step->detail[task]));
    pace_jsonw_key_text(json, "stage", step->stage[task] < PACE_STAGES ? pace_stage_names[step->stage[task]] : "none");
    pace_jsonw_object_end(json);
    pace_jsonw_object_end(json);
}

static void put_wait_end(pace_jsonw *json, const pace_step *step, char phase, size_t id, uint32_t task, int64_t at_ns) {
    bool device = step->lanes.items[pace_task_lane(step, task)].device;
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "ph", phase == 's' ? "s" : "f");
    pace_jsonw_key_text(json, "cat", "paceline_wait");
    pace_jsonw_key_text(json, "name", "waits for");
    pace_jsonw_key_int(json, "id", (int64_t)id);
    pace_jsonw_key_int(json, "pid", device ? 0 : 1);
    pace_jsonw_key_int(json, "tid", (int64_t)pace_task_lane(step, task));
    pace_jsonw_key(json, "ts");
    pace_jsonw_ns_as_us(json, at_ns);
    if (phase == 'f') {
        pace_jsonw_key_text(json, "bp", "e");
    }
    pace_jsonw_object_end(json);
}

/* An arrow for each recorded wait: from the end of what is waited for to where the waiting task goes on. */
static void put_waits(pace_jsonw *json, const pace_step *step) {
    for (size_t i = 0; i < step->waits.count; i++) {
        uint32_t task = step->waits.items[i].task, on = step->waits.items[i].on;
        put_wait_end(json, step, 's', i, on, pace_step_end_ns(step, on));
        put_wait_end(json, step, 'f', i, task,
                     pace_task_on_device(step->kind[task]) ? step->start_ns[task] : pace_step_end_ns(step, task));
    }
}

enum { TRACK_PID = 1000000 };

/* What a rank does, and what holds it, on the clock of another. */
static void put_tracks(pace_jsonw *json, const pace_rank *rank, int64_t pid, const char *name, int64_t clock_ns) {
    pace_trace_event_name(json, "process_name", pid, 0, name);
    pace_trace_event_name(json, "thread_name", pid, 1, "stage");
    pace_trace_event_name(json, "thread_name", pid, 2, "resource");
    PACE_ITEMS (const pace_tile, tile, &rank->tiles) {
        int64_t start_ns = tile->start_ns + rank->shift_ns - clock_ns;
        pace_trace_event_open(json, pace_stage_names[tile->stage], "paceline_stage", pid, 1, start_ns,
                              pace_tile_end(tile) - tile->start_ns);
        pace_jsonw_object_end(json);
        pace_trace_event_open(json, pace_resource_names[tile->resource], "paceline_resource", pid, 2, start_ns,
                              pace_tile_end(tile) - tile->start_ns);
        pace_jsonw_object_end(json);
    }
}

/* The other ranks that were understood, as tracks beside the one whose trace it is. */
static void put_others(pace_jsonw *json, const pace_analysis *analysis, const pace_rank *rank) {
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        const pace_rank *other = analysis->ranks.items[i];
        char name[48];
        if (other == rank || other->step.rank < 0) continue;
        pace_snprintf(name, sizeof name, "rank %lld", (long long)other->step.rank);
        put_tracks(json, other, TRACK_PID + 1 + (int64_t)i, name, rank->shift_ns);
    }
}

static pace_status put_path(pace_jsonw *json, const pace_analysis *analysis, const pace_rank *rank) {
    pace_critical critical;
    PACE_TRY(pace_critical_find_across(&critical, analysis, rank));
    pace_trace_event_name(json, "thread_name", TRACK_PID, 3, "critical path");
    PACE_ITEMS (const pace_path_piece, piece, &critical.pieces) {
        const pace_step *step = &analysis->ranks.items[piece->rank]->step;
        pace_trace_event_open(json, piece->task == PACE_NO_TASK ? "before" : pace_step_name(step, piece->task),
                              "paceline_critical_path", TRACK_PID, 3, piece->start_ns,
                              pace_piece_end(piece) - piece->start_ns);
        pace_jsonw_key(json, "args");
        pace_jsonw_compact(json);
        pace_jsonw_object(json);
        pace_jsonw_key_text(json, "resource", pace_advice_names[piece->resource]);
        if (step->rank >= 0) pace_jsonw_key_int(json, "rank", step->rank);
        pace_jsonw_key(json, "waiting");
        pace_jsonw_bool(json, piece->waiting);
        pace_jsonw_object_end(json);
        pace_jsonw_object_end(json);
    }
    pace_critical_free(&critical);
    return PACE_OK;
}

static void put_about(pace_jsonw *json, const pace_step *step) {
    pace_jsonw_key_int(json, "schemaVersion", 1);
    if (step->devices.count) {
        pace_jsonw_key_array(json, "deviceProperties");
        PACE_ITEMS (const pace_traced_device, device, &step->devices) {
            pace_jsonw_compact(json);
            pace_jsonw_object(json);
            pace_jsonw_key_int(json, "id", device->id);
            pace_jsonw_key_text(json, "name", pace_names_text(&step->names, device->name));
            pace_jsonw_key_int(json, "totalGlobalMem", (int64_t)device->memory_bytes);
            pace_jsonw_object_end(json);
        }
        pace_jsonw_array_end(json);
    }
    if (step->rank >= 0) {
        pace_jsonw_key_object(json, "distributedInfo");
        pace_jsonw_key_int(json, "rank", step->rank);
        if (step->world_size > 0) pace_jsonw_key_int(json, "world_size", step->world_size);
        pace_jsonw_object_end(json);
    }
    pace_jsonw_key_text(json, "displayTimeUnit", "ms");
    if (step->base_ns) pace_jsonw_key_int(json, "baseTimeNanoseconds", step->base_ns);
}

/* Of what cannot be read again (standard input, other formats, predictions): made of what was understood. */
static pace_status write_understood(void *context, const pace_report *report, pace_sink *sink) {
    const pace_rank *rank = pace_analysis_slowest(context);
    const pace_step *step = &rank->step;
    pace_jsonw json;
    pace_jsonw_init(&json, sink, 1);
    pace_jsonw_object(&json);
    put_about(&json, step);
    pace_jsonw_key(&json, PACE_WARNINGS_MEMBER);
    pace_write_warnings(&json, report);
    pace_jsonw_key_array(&json, "traceEvents");
    for (uint32_t i = 0; i < step->lanes.count; i++)
        pace_trace_event_name(&json, "thread_name", step->lanes.items[i].device ? 0 : 1, i,
                              pace_names_text(&step->names, step->lanes.items[i].key));
    put_tracks(&json, rank, TRACK_PID, "Paceline", rank->shift_ns);
    put_others(&json, context, rank);
    PACE_TRY(put_path(&json, context, rank));
    numbers n;
    PACE_TRY(number_tasks(&n, step));
    for (uint32_t task = 0; task < step->count; task++) put_task(&json, &n, task);
    pace_free(n.of);
    put_waits(&json, step);
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

pace_status pace_write_analysis_trace(void *context, const pace_report *report, pace_sink *sink) {
    const pace_analysis *analysis = context;
    const pace_traces_shown shown = {analysis, analysis->asked ? analysis->reported : NULL};
    if (analysis->cut)
        return pace_fail(PACE_E_USAGE, "perfetto draws all steps: " PACE_FIELD "steps and " PACE_FIELD
                                       "skip have no effect on it; 'paceline slice TRACE --steps 3:4' writes some");
    return pace_traces_can_be_copied(&shown) ? pace_write_original_trace(&shown, report, sink)
                                             : write_understood(context, report, sink);
}

void pace_free_analysis(void *context) {
    pace_analysis_free(context);
    pace_free(context);
}
