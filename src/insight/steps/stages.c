#include "insight/steps/stages.h"
#include "base/order.h"
#include "base/sort.h"

#include <string.h>

/* --- what autograd's links say ------------------------------------------------------------------------------------ */

/* Times in which linked operators of one stage follow one another within a step, by start. */
typedef struct {
    int64_t from_ns, to_ns;
    ptrdiff_t mark; /* the step, as pace_marks_at() */
    uint8_t stage;
} stage_run;

typedef PACE_VEC(stage_run) stage_runs;

static bool inside_backward(const pace_step *step, uint32_t task) {
    for (uint32_t at = pace_task_parent(step, task); at != PACE_NO_TASK; at = pace_task_parent(step, at))
        if (pace_step_gradient(step, at)) return true;
    return false;
}

/* Sets the stage of linked operators: backward, forward, and recompute for a forward operator that a linked backward
 * operator encloses. */
static void stages_mark_linked(pace_step *step) {
    for (size_t i = 0; i < step->gradients.count; i++) {
        uint32_t forward = step->gradients.items[i].forward;
        if (forward != PACE_NO_TASK && !pace_stage_is_given(step, forward))
            step->stage[forward] =
                (uint8_t)(inside_backward(step, forward) ? PACE_STAGE_RECOMPUTE : PACE_STAGE_FORWARD);
    }
    for (size_t i = 0; i < step->gradients.count; i++) {
        uint32_t task = step->gradients.items[i].task;
        if (!pace_stage_is_given(step, task)) step->stage[task] = PACE_STAGE_BACKWARD;
    }
}

PACE_ORDER(by_start, stage_run, PACE_UP(from_ns) PACE_UP(to_ns))

static pace_status add_operator(stage_runs *runs, const pace_step *step, const pace_marks *marks, uint32_t task) {
    int64_t start = step->start_ns[task];
    stage_run run = {start, pace_step_end_ns(step, task), pace_marks_at(marks, start), step->stage[task]};
    return PACE_PUSH(runs, run);
}

static void join(stage_runs *runs) {
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        stage_run *last = kept ? &runs->items[kept - 1] : NULL, *own = &runs->items[i];
        if (last && last->stage == own->stage && last->mark == own->mark) {
            if (own->to_ns > last->to_ns) last->to_ns = own->to_ns;
        } else {
            runs->items[kept++] = *own;
        }
    }
    runs->count = kept;
}

static void put(uint64_t *set, uint32_t task) { set[task / 64] |= (uint64_t)1 << task % 64; }

/* Thread by thread, in order of start on each. `linked` has a bit a task. */
static pace_status list_operators(stage_runs *runs, const pace_step *step, const pace_marks *marks, uint64_t *linked) {
    PACE_ITEMS (const pace_gradient, own, &step->gradients) {
        put(linked, own->task);
        if (own->forward != PACE_NO_TASK && step->stage[own->forward] == PACE_STAGE_FORWARD) put(linked, own->forward);
    }
    for (uint32_t task = 0; task < step->count; task++) {
        if (linked[task / 64] == 0) task |= 63; /* none of these */
        else if (linked[task / 64] >> task % 64 & 1) PACE_TRY(add_operator(runs, step, marks, task));
    }
    return PACE_OK;
}

static pace_status order(stage_runs *runs) {
    stage_run *scratch = pace_alloc(runs->count + 1, sizeof *scratch);
    if (!scratch) return PACE_E_MEMORY;
    pace_sort_runs(runs->items, scratch, runs->count, sizeof *scratch, by_start);
    pace_free(scratch);
    return PACE_OK;
}

/* The runs of the linked operators, once their stages are set. Empty without links. */
static pace_status stage_runs_find(stage_runs *out, const pace_step *step, const pace_marks *marks) {
    stage_runs runs = {0};
    uint64_t *linked = pace_alloc(step->count / 64 + 1, sizeof *linked);
    pace_status status = linked ? list_operators(&runs, step, marks, linked) : PACE_E_MEMORY;
    if (status == PACE_OK) status = order(&runs);
    if (status == PACE_OK) join(&runs);
    pace_free(linked);
    return PACE_GIVE(out, runs, status, PACE_VEC_FREE(&runs));
}

/* The last run that begins by an instant; runs->count when none does. */
static size_t run_at(const stage_runs *runs, int64_t host_ns) {
    size_t low = 0;
    PACE_SEARCH(low, runs->count, middle, runs->items[middle].from_ns <= host_ns);
    return low ? low - 1 : runs->count;
}

/* Whether another forward run lies between a backward operator and the run of what it differentiates: micro-batches
 * take turns, as in a pipeline. With gradient accumulation each is followed by its own backward pass. */
static bool stage_runs_cross(const stage_runs *runs, const pace_step *step, const pace_gradient *gradient) {
    if (gradient->forward == PACE_NO_TASK || step->stage[gradient->forward] != PACE_STAGE_FORWARD) return false;
    size_t made = run_at(runs, step->start_ns[gradient->forward]), at = run_at(runs, step->start_ns[gradient->task]);
    if (made == runs->count || at == runs->count) return false;
    while (at > made && runs->items[at].stage != PACE_STAGE_FORWARD) at--;
    return at > made && runs->items[at].mark == runs->items[made].mark;
}

/* The stage at a host instant, from the runs around it, or PACE_STAGE_NONE when they do not tell. Inside a run it is
 * the run's. In a step, what stands before a forward or backward run belongs to the forward pass, what stands behind
 * the last backward run is update; where runs are interleaved, nothing is said between them. */
static uint8_t stage_between(const stage_runs *runs, const pace_marks *marks, int64_t host_ns, bool interleaved) {
    size_t at = run_at(runs, host_ns), next = at == runs->count ? 0 : at + 1;
    const stage_run *before = at < runs->count ? &runs->items[at] : NULL;
    const stage_run *after = next < runs->count ? &runs->items[next] : NULL;
    if (before && host_ns < before->to_ns) return before->stage;
    ptrdiff_t mark = pace_marks_at(marks, host_ns);
    if (before && before->mark != mark) before = NULL;
    if (after && after->mark != mark) after = NULL;
    bool ended = before && before->stage == PACE_STAGE_BACKWARD;
    if (ended && (!after || marks->items.count == 0)) return PACE_STAGE_UPDATE;
    if (before && after && interleaved) return PACE_STAGE_NONE;
    return after && (before || after->stage == PACE_STAGE_FORWARD) ? PACE_STAGE_FORWARD : PACE_STAGE_NONE;
}

/* --- the stage of every task -------------------------------------------------------------------------------------- */

/* What a name says, looked up once: name -> stage + 2, 1 = nothing, 0 = not looked up; apart for annotations. */
typedef struct {
    const pace_stage_words *words;
    uint8_t *of_operator, *of_annotation;
} name_stages;

static bool is_annotation(const pace_step *step, uint32_t task) {
    return step->kind[task] != PACE_TASK_OP || pace_name_is_label(pace_step_name(step, task));
}

static uint8_t stage_of_name(name_stages *names, const pace_step *step, uint32_t task) {
    if (step->kind[task] == PACE_TASK_CALL) return PACE_STAGE_NONE;
    bool annotation = is_annotation(step, task);
    uint8_t *known = &(annotation ? names->of_annotation : names->of_operator)[step->name[task]];
    if (*known == 0) {
        uint8_t stage = pace_stage_word(names->words, pace_step_name(step, task), annotation);
        *known = stage == PACE_STAGE_NONE ? 1 : (uint8_t)(stage + 2);
    }
    return *known == 1 ? (uint8_t)PACE_STAGE_NONE : (uint8_t)(*known - 2);
}

/* Whether a backward operator, not only an annotation, encloses a task of the backward stage. */
static bool inside_backward_operator(const pace_step *step, uint32_t task) {
    for (uint32_t at = pace_task_parent(step, task); at != PACE_NO_TASK && step->stage[at] == PACE_STAGE_BACKWARD;
         at = pace_task_parent(step, at))
        if (!is_annotation(step, at)) return true;
    return false;
}

/* What autograd noted as forward is that, unless something around it is known to be of another stage; inside a backward
 * operator it is computed again. */
static uint8_t stage_of_noted(const pace_step *step, uint32_t task, uint8_t around) {
    if (around == PACE_STAGE_NONE) return PACE_STAGE_FORWARD;
    if (around != PACE_STAGE_BACKWARD) return around;
    return inside_backward_operator(step, task) ? PACE_STAGE_RECOMPUTE : PACE_STAGE_FORWARD;
}

/* Linked operators keep what their link says; what they enclose follows them where no name says otherwise. */
static void attribute_host_by_name(pace_step *step, name_stages *names) {
    for (uint32_t task = 0; task < step->count; task++) {
        uint8_t *stage = &step->stage[task];
        if (step->kind[task] > PACE_TASK_CALL || *stage < PACE_STAGES) continue;
        uint8_t own = stage_of_name(names, step, task);
        uint8_t around = pace_task_parent(step, task) == PACE_NO_TASK ? (uint8_t)PACE_STAGE_NONE
                                                                      : step->stage[pace_task_parent(step, task)];
        if (own != PACE_STAGE_NONE) *stage = own;
        else *stage = *stage == PACE_STAGE_NOTED ? stage_of_noted(step, task, around) : around;
    }
}

/* Whether linked forward operators run on a lane: then it is no thread of the backward pass, whatever else it runs. */
static bool runs_forward(const pace_step *step, const pace_lane *lane) {
    for (size_t i = 0; i < step->gradients.count; i++) {
        uint32_t forward = step->gradients.items[i].forward;
        if (forward >= lane->first && forward < lane->first + lane->count && step->stage[forward] == PACE_STAGE_FORWARD)
            return true;
    }
    return false;
}

/* A thread most of whose outermost attributed operators are autograd's runs nothing but the backward pass. */
static void attribute_backward_threads(pace_step *step) {
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (lane->device) continue;
        size_t backward = 0, all = 0;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
            if (pace_task_parent(step, task) != PACE_NO_TASK || step->kind[task] != PACE_TASK_OP) continue;
            all++;
            backward += step->stage[task] == PACE_STAGE_BACKWARD;
        }
        if (backward * 2 <= all || runs_forward(step, lane)) continue;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
            if (step->kind[task] <= PACE_TASK_CALL && step->stage[task] == PACE_STAGE_NONE)
                step->stage[task] = PACE_STAGE_BACKWARD;
    }
}

typedef struct {
    int64_t first_ns, last_ns; /* from the first backward operator to the end of the last */
    bool interleaved;          /* micro-batches take turns in between: order says nothing there */
} reach;

static reach *reach_at(reach *rows, const pace_marks *marks, int64_t host_ns) {
    ptrdiff_t at = pace_marks_at(marks, host_ns);
    return &rows[at < 0 ? (ptrdiff_t)marks->items.count : at];
}

/* Where links tell, micro-batches must take turns; else it suffices that forward operators begin among backward
 * ones. */
static void find_interleaved(const pace_step *step, const pace_marks *marks, const stage_runs *runs, reach *backward) {
    PACE_ITEMS (const pace_gradient, gradient, &step->gradients)
        if (stage_runs_cross(runs, step, gradient))
            reach_at(backward, marks, step->start_ns[gradient->task])->interleaved = true;
    for (uint32_t task = 0; runs->count == 0 && task < step->count; task++) {
        if (step->kind[task] != PACE_TASK_OP || step->stage[task] != PACE_STAGE_FORWARD) continue;
        reach *row = reach_at(backward, marks, step->start_ns[task]);
        if (is_annotation(step, task)) continue;
        if (step->start_ns[task] > row->first_ns && step->start_ns[task] < row->last_ns) row->interleaved = true;
    }
}

/* When a step's backward pass begins and ends on the host; the last row is for work outside all steps. */
static void find_backward(const pace_step *step, const pace_marks *marks, reach *backward) {
    for (size_t i = 0; i <= marks->items.count; i++) backward[i] = (reach){INT64_MAX, INT64_MIN, false};
    for (uint32_t task = 0; task < step->count; task++) {
        if (step->kind[task] != PACE_TASK_OP || step->stage[task] != PACE_STAGE_BACKWARD) continue;
        reach *row = reach_at(backward, marks, step->start_ns[task]);
        if (step->start_ns[task] < row->first_ns) row->first_ns = step->start_ns[task];
        if (pace_step_end_ns(step, task) > row->last_ns) row->last_ns = pace_step_end_ns(step, task);
    }
}

static uint8_t stage_by_order(const reach *backward, int64_t issued_ns) {
    if (backward->first_ns == INT64_MAX || issued_ns < backward->first_ns) return PACE_STAGE_FORWARD;
    if (issued_ns >= backward->last_ns) return PACE_STAGE_UPDATE;
    return backward->interleaved ? PACE_STAGE_OTHER : PACE_STAGE_BACKWARD;
}

/* A predicted captured graph is one launch whose kernels are of all stages: each brings its own. */
static bool takes_stage_of_cause(const pace_step *step, uint32_t task) {
    return pace_task_cause(step, task) != PACE_NO_TASK && !pace_stage_is_given(step, task);
}

/* Of a predicted step every stage is known by now: nothing is asked of `backward`, which is filled at the first. */
static void attribute_by_order(pace_step *step, const pace_marks *marks, reach *backward, const stage_runs *runs) {
    bool filled = false;
    for (uint32_t task = 0; task < step->count; task++) {
        uint8_t kind = step->kind[task];
        if (kind > PACE_TASK_MEMSET) continue;
        if (pace_task_on_device(kind)) {
            uint32_t cause = pace_task_cause(step, task);
            if (takes_stage_of_cause(step, task)) step->stage[task] = step->stage[cause];
            if (cause == PACE_NO_TASK && step->linked_kernels + (step->kind_count[PACE_TASK_OP] > 0) > 0) continue;
        }
        if (step->stage[task] != PACE_STAGE_NONE) continue;
        if (kind == PACE_TASK_ANNOTATION || kind == PACE_TASK_PYTHON) continue;
        if (!filled) {
            find_backward(step, marks, backward);
            find_interleaved(step, marks, runs, backward);
            filled = true;
        }
        int64_t issued = pace_task_issued_ns(step, task);
        const reach *row = reach_at(backward, marks, issued);
        step->stage[task] = stage_between(runs, marks, issued, row->interleaved);
        if (step->stage[task] == PACE_STAGE_NONE) step->stage[task] = stage_by_order(row, issued);
    }
}

/* Device tasks stand on lanes that may sort before their host's: their stage needs a second look. */
static void settle_device_tasks(pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++) {
        if (!takes_stage_of_cause(step, task)) continue;
        uint8_t stage = step->stage[pace_task_cause(step, task)];
        if (stage != PACE_STAGE_NONE) step->stage[task] = stage;
    }
}

/* Device work that nothing is known to have launched runs among work that is: it belongs to the stage of the task
 * before it on its stream, or else of the one after. */
static void attribute_by_neighbours(pace_step *step) {
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (!lane->device) continue;
        uint8_t stage = PACE_STAGE_NONE;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
            if (step->stage[task] == PACE_STAGE_NONE) step->stage[task] = stage;
            else stage = step->stage[task];
        }
        for (uint32_t task = lane->first + lane->count; task-- > lane->first;) {
            if (step->stage[task] == PACE_STAGE_NONE) step->stage[task] = stage;
            else stage = step->stage[task];
        }
    }
}

/* Without operators the kernels' own names are all there is. */
static void attribute_device_by_name(pace_step *step) {
    bool no_ops = step->kind_count[PACE_TASK_OP] == 0;
    for (uint32_t task = 0; task < step->count; task++) {
        if (!pace_task_on_device(step->kind[task]) || (pace_task_cause(step, task) != PACE_NO_TASK && !no_ops))
            continue;
        if (pace_stage_is_given(step, task)) continue;
        const char *name = pace_step_name(step, task);
        bool backward = strstr(name, "backward") || strstr(name, "Backward") || strstr(name, "dgrad") ||
                        strstr(name, "wgrad") || strstr(name, "bwd");
        bool update = strstr(name, "multi_tensor_apply") || strstr(name, "FusedOptimizer") || strstr(name, "adam");
        if (backward) step->stage[task] = PACE_STAGE_BACKWARD;
        else if (update) step->stage[task] = PACE_STAGE_UPDATE;
    }
}

pace_status pace_stages_attribute(pace_step *step, const pace_marks *marks, const pace_stage_words *words) {
    size_t count = pace_names_count(&step->names);
    name_stages names = {words, pace_alloc(count, 1), pace_alloc(count, 1)};
    reach *backward = pace_alloc(marks->items.count + 1, sizeof *backward);
    stage_runs runs = {0};
    stages_mark_linked(step);
    pace_status status =
        names.of_operator && names.of_annotation && backward ? stage_runs_find(&runs, step, marks) : PACE_E_MEMORY;
    if (status == PACE_OK) {
        attribute_host_by_name(step, &names);
        attribute_backward_threads(step);
        attribute_by_order(step, marks, backward, &runs);
        settle_device_tasks(step);
        attribute_device_by_name(step);
        attribute_by_neighbours(step);
    }
    PACE_FREE(names.of_operator, names.of_annotation, backward);
    PACE_VEC_FREE(&runs);
    return status;
}
