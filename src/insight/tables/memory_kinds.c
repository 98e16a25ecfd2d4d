#include "insight/tables/memory_kinds.h"

#include "base/text.h"
#include "insight/tables/memory_lives.h"

const char *const pace_memory_kind_names[PACE_HELD_KINDS] = {
    "before the recording", "parameters", "optimizer state", "gradients", "activations", "input", "temporary", "other"};

enum { STRETCHES = 400 };

typedef struct {
    const pace_rank *rank;
    const pace_step *step;
    uint32_t *partner;  /* memory_lives.h */
    uint8_t *kind;      /* event -> pace_memory_kind: what it takes, or gives back */
    int64_t forward_ns; /* where the first forward operator begins */
} finder;

/* --- what an allocation is for ------------------------------------------------------------------------------------ */

enum { LOOKED_BACK = 64 };

/* The stage of the operator around an event, else of the last one before it on its thread. */
static uint8_t stage_at(const finder *f, const pace_memory_event *event) {
    const pace_step *step = f->step;
    const pace_lane *lane = &step->lanes.items[event->lane];
    uint32_t task = pace_lane_begun_by(step, lane, event->at_ns);
    for (int tries = 0; task != PACE_NO_TASK && tries < LOOKED_BACK; tries++) {
        if (pace_task_is_operator(step, task)) return step->stage[task];
        task = task > lane->first ? task - 1 : PACE_NO_TASK;
    }
    return PACE_STAGE_OTHER;
}

/* Where the outermost ATen operator around an event ends; before the event where there is none. */
static int64_t operator_ends(const finder *f, const pace_memory_event *event) {
    int64_t end_ns = INT64_MIN;
    for (uint32_t at = pace_memory_task(f->step, event); at != PACE_NO_TASK; at = pace_task_parent(f->step, at))
        if (pace_task_is_operator(f->step, at) && pace_starts(pace_step_name(f->step, at), "aten::"))
            end_ns = pace_step_end_ns(f->step, at);
    return end_ns;
}

/* How many steps lie between two instants; those of the last step reach to the end. */
static ptrdiff_t steps_between(const finder *f, int64_t from_ns, int64_t to_ns) {
    return pace_marks_at(&f->rank->marks, to_ns) - pace_marks_at(&f->rank->marks, from_ns);
}

static pace_memory_kind kept_by_forward(const finder *f, const pace_memory_event *took, bool given_back) {
    ptrdiff_t last = (ptrdiff_t)f->rank->marks.items.count - 1;
    bool may_end = last < 1 || pace_marks_at(&f->rank->marks, took->at_ns) >= last;
    return given_back || may_end ? PACE_HELD_ACTIVATIONS : PACE_HELD_OTHER;
}

/* `back`: NULL = held to the end. */
static pace_memory_kind kind_of(const finder *f, const pace_memory_event *took, const pace_memory_event *back) {
    uint8_t stage = stage_at(f, took);
    if (back && back->at_ns <= operator_ends(f, took)) return PACE_HELD_TEMPORARY;
    switch (stage) {
    case PACE_STAGE_INPUT: return PACE_HELD_INPUT;
    case PACE_STAGE_FORWARD:
    case PACE_STAGE_RECOMPUTE:
    case PACE_STAGE_PREFILL:
    case PACE_STAGE_DECODE: return kept_by_forward(f, took, back);
    case PACE_STAGE_BACKWARD:
        return back && stage_at(f, back) == PACE_STAGE_BACKWARD && steps_between(f, took->at_ns, back->at_ns) == 0
                   ? PACE_HELD_TEMPORARY
                   : PACE_HELD_GRADIENTS;
    case PACE_STAGE_UPDATE:
        return back && steps_between(f, took->at_ns, back->at_ns) <= 1 ? PACE_HELD_TEMPORARY : PACE_HELD_OPTIMIZER;
    default: return !back && took->at_ns < f->forward_ns ? PACE_HELD_PARAMETERS : PACE_HELD_OTHER;
    }
}

static void find_forward(finder *f) {
    f->forward_ns = INT64_MAX;
    for (uint32_t task = 0; task < f->step->count; task++)
        if (f->step->kind[task] == PACE_TASK_OP && f->step->stage[task] == PACE_STAGE_FORWARD &&
            f->step->start_ns[task] < f->forward_ns)
            f->forward_ns = f->step->start_ns[task];
}

static void find_kinds(finder *f) {
    const pace_memory_event *events = f->step->memory.items;
    for (uint32_t i = 0; i < f->step->memory.count; i++) {
        uint32_t other = f->partner[i];
        if (events[i].bytes > 0)
            f->kind[i] = (uint8_t)kind_of(f, &events[i], other == PACE_NO_EVENT ? NULL : &events[other]);
        else f->kind[i] = other == PACE_NO_EVENT ? PACE_HELD_BEFORE : f->kind[other];
    }
}

/* --- over time ---------------------------------------------------------------------------------------------------- */

/* A walk over the events of one device. */
typedef struct {
    pace_memory_kinds *out;
    pace_memory_state now;
    int64_t from_ns, span_ns, stretch;
} walk;

/* What the allocator counts without an event of its own is held for nothing that is known. */
static void add(walk *w, const pace_memory_event *event, uint8_t kind) {
    int64_t sum_bytes = w->now.total_bytes + event->bytes;
    w->now.at_ns = event->at_ns;
    w->now.total_bytes = pace_memory_held(event, sum_bytes);
    w->now.bytes[kind] += event->bytes;
    w->now.bytes[PACE_HELD_OTHER] += w->now.total_bytes - sum_bytes;
    if (w->now.bytes[PACE_HELD_OTHER] > w->out->most_bytes[PACE_HELD_OTHER])
        w->out->most_bytes[PACE_HELD_OTHER] = w->now.bytes[PACE_HELD_OTHER];
    if (event->bytes > 0) w->out->count[kind]++;
    if (w->now.bytes[kind] > w->out->most_bytes[kind]) w->out->most_bytes[kind] = w->now.bytes[kind];
    if (w->now.total_bytes > w->out->peak.total_bytes) w->out->peak = w->now;
}

static pace_status keep_state(walk *w) {
    int64_t stretch = (w->now.at_ns - w->from_ns) / (w->span_ns / STRETCHES + 1);
    if (w->out->states.count == 0 || stretch != w->stretch) {
        w->stretch = stretch;
        return PACE_PUSH(&w->out->states, w->now);
    }
    pace_memory_state *last = &w->out->states.items[w->out->states.count - 1];
    if (w->now.total_bytes > last->total_bytes) *last = w->now;
    return PACE_OK;
}

/* Of what was there before, as much as the gradients ever were is the parameters they are of. */
static void tell_parameters(pace_memory_kinds *kinds) {
    int64_t of_gradients = kinds->most_bytes[PACE_HELD_GRADIENTS];
    if (kinds->count[PACE_HELD_PARAMETERS] || of_gradients == 0) return;
    for (size_t i = 0; i <= kinds->states.count; i++) {
        pace_memory_state *state = i < kinds->states.count ? &kinds->states.items[i] : &kinds->peak;
        int64_t before = state->bytes[PACE_HELD_BEFORE], told = before < of_gradients ? before : of_gradients;
        if (told <= 0) continue;
        state->bytes[PACE_HELD_BEFORE] -= told;
        state->bytes[PACE_HELD_PARAMETERS] += told;
        if (told > kinds->most_bytes[PACE_HELD_PARAMETERS]) kinds->most_bytes[PACE_HELD_PARAMETERS] = told;
    }
    kinds->most_bytes[PACE_HELD_BEFORE] -= kinds->most_bytes[PACE_HELD_PARAMETERS];
}

static pace_status walk_device(pace_memory_kinds *out, const finder *f, const pace_memory_device *device) {
    size_t count = f->step->memory.count;
    const pace_memory_event *events = f->step->memory.items;
    walk w = {.out = out, .from_ns = events[0].at_ns, .span_ns = events[count - 1].at_ns - events[0].at_ns};
    w.now.total_bytes = w.now.bytes[PACE_HELD_BEFORE] = device->first_bytes;
    out->most_bytes[PACE_HELD_BEFORE] = device->first_bytes;
    for (size_t i = 0; i < count; i++) {
        if (events[i].device_id != device->device_id || events[i].device_type != device->device_type) continue;
        out->known |= events[i].address != 0;
        add(&w, &events[i], f->kind[i]);
        PACE_TRY(keep_state(&w));
    }
    tell_parameters(out);
    return PACE_OK;
}

pace_status pace_memory_kinds_find(pace_memory_kinds **out, const pace_rank *rank, const pace_memory_use *use) {
    finder f = {.rank = rank, .step = &rank->step, .kind = pace_alloc(rank->step.memory.count, sizeof *f.kind)};
    pace_memory_kinds *kinds = pace_alloc(use->devices.count, sizeof *kinds);
    pace_status status = f.kind && kinds ? pace_memory_lives(&f.partner, f.step) : PACE_E_MEMORY;
    if (status == PACE_OK) {
        find_forward(&f);
        find_kinds(&f);
    }
    for (size_t d = 0; status == PACE_OK && d < use->devices.count; d++)
        if (use->devices.items[d].totals) status = walk_device(&kinds[d], &f, &use->devices.items[d]);
    PACE_FREE(f.kind, f.partner);
    return PACE_GIVE(out, kinds, status, pace_memory_kinds_free(kinds, use->devices.count));
}

void pace_memory_kinds_free(pace_memory_kinds *kinds, size_t devices) {
    for (size_t d = 0; kinds && d < devices; d++) PACE_VEC_FREE(&kinds[d].states);
    pace_free(kinds);
}
