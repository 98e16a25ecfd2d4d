/*
 * Which operator a backward operator differentiates.
 *
 * PyTorch numbers the nodes of a thread's autograd graph. A forward operator notes the number that the next node of its
 * thread will get; a backward operator notes its node's number and autograd's own number of the thread that made it.
 * Operators that make no node share the number with the next one that does, so the node belongs to the last operator
 * that noted its number. Which lane a thread number means is not written down: arrows (Kineto's fwdbwd flows) say it,
 * else the lane that noted most of the numbers does.
 */
#include "base/order.h"
#include "base/sort.h"
#include "step/step_links.h"

typedef struct {
    int64_t sequence;
    uint32_t task;
} made;

typedef struct {
    int64_t thread;
    uint32_t lane;
} thread_lane;

typedef struct {
    pace_step *step;
    made *forward;   /* forward operators with a note, lane by lane, in order of start: their numbers ascend */
    uint32_t *first; /* lane -> its first in `forward`; one more at the end */
    PACE_VEC(thread_lane) threads;
} linker;

static const pace_autograd_note *note_of(const pace_step *step, uint32_t task) {
    bool noted = step->kind[task] == PACE_TASK_OP && step->correlation[task] &&
                 step->correlation[task] <= step->autograd_notes.count;
    return noted ? &step->autograd_notes.items[step->correlation[task] - 1] : NULL;
}

static pace_status list_forward(linker *l) {
    const pace_step *step = l->step;
    size_t count = 0;
    for (size_t i = 0; i < step->autograd_notes.count; i++) count += step->autograd_notes.items[i].thread == 0;
    if (!PACE_MAKE(l->forward, count) || !PACE_MAKE(l->first, step->lanes.count + 1)) return PACE_E_MEMORY;
    uint32_t kept = 0;
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
            const pace_autograd_note *note = note_of(step, task);
            if (!note || note->thread != 0 || kept == count) continue;
            l->forward[kept++] = (made){note->sequence, task};
            if (step->stage[task] == PACE_STAGE_NONE) l->step->stage[task] = PACE_STAGE_NOTED;
        }
        l->first[i + 1] = kept;
    }
    return PACE_OK;
}

/* The last forward operator of a lane with this number, begun before `task`; or PACE_NO_TASK. */
static uint32_t maker(const linker *l, uint32_t lane, int64_t sequence, uint32_t task) {
    uint32_t low = l->first[lane], first = low;
    PACE_SEARCH(low, l->first[lane + 1], middle, l->forward[middle].sequence <= sequence);
    if (low == first || l->forward[low - 1].sequence != sequence) return PACE_NO_TASK;
    uint32_t found = l->forward[low - 1].task;
    return l->step->start_ns[found] < l->step->start_ns[task] ? found : PACE_NO_TASK;
}

/* The operator that begins where an arrow ends: the innermost with a note, else the innermost. */
static uint32_t operator_at(const pace_step *step, const pace_autograd_arrow *arrow) {
    const pace_lane *lane = &step->lanes.items[arrow->lane];
    uint32_t low = lane->first, found = PACE_NO_TASK;
    PACE_SEARCH(low, lane->first + lane->count, middle, step->start_ns[middle] < arrow->at_ns);
    for (; low < lane->first + lane->count && step->start_ns[low] == arrow->at_ns; low++)
        if (step->kind[low] == PACE_TASK_OP && (note_of(step, low) || found == PACE_NO_TASK || !note_of(step, found)))
            found = low;
    return found;
}

PACE_ORDER(by_id, pace_autograd_arrow, PACE_UP(id) PACE_UP(ends))

static thread_lane *thread_of(linker *l, int64_t thread) {
    for (size_t i = 0; i < l->threads.count; i++)
        if (l->threads.items[i].thread == thread) return &l->threads.items[i];
    return NULL;
}

/* An arrow to an operator with a note says which lane its thread is; to one without, which operator it comes from. */
static pace_status follow_arrow(linker *l, uint32_t from, uint32_t to) {
    pace_step *step = l->step;
    if (from == PACE_NO_TASK || to == PACE_NO_TASK || step->start_ns[from] >= step->start_ns[to]) return PACE_OK;
    const pace_autograd_note *note = note_of(step, to);
    if (note) {
        if (note->thread == 0 || thread_of(l, note->thread)) return PACE_OK;
        return PACE_PUSH(&l->threads, ((thread_lane){note->thread, pace_task_lane(step, from)}));
    }
    return PACE_PUSH(&step->gradients, ((pace_gradient){to, from}));
}

static pace_status follow_arrows(linker *l) {
    pace_step *step = l->step;
    size_t count = step->autograd_arrows.count;
    pace_autograd_arrow *arrows = step->autograd_arrows.items;
    pace_sort_if_unsorted(arrows, count, sizeof *arrows, by_id);
    for (size_t i = 0; i + 1 < count; i++)
        if (arrows[i].id == arrows[i + 1].id && !arrows[i].ends && arrows[i + 1].ends)
            PACE_TRY(follow_arrow(l, operator_at(step, &arrows[i]), operator_at(step, &arrows[i + 1])));
    return PACE_OK;
}

/* The lane that noted most of the numbers this thread's backward operators ask for; the first of equals. */
static pace_status find_thread(linker *l, int64_t thread) {
    const pace_step *step = l->step;
    size_t most = 0;
    thread_lane found = {thread, PACE_NO_LANE};
    for (uint32_t lane = 0; lane < step->lanes.count; lane++) {
        size_t count = 0;
        if (l->first[lane] == l->first[lane + 1]) continue;
        for (uint32_t task = 0; task < step->count; task++) {
            const pace_autograd_note *note = note_of(step, task);
            count += note && note->thread == thread && maker(l, lane, note->sequence, task) != PACE_NO_TASK;
        }
        if (count > most) {
            most = count;
            found.lane = lane;
        }
    }
    return PACE_PUSH(&l->threads, found);
}

enum { MOST_THREADS = 64 }; /* more are damage, and each costs a pass */

/* Autograd's engine notes a node twice, around it and in it: the outer one stands for both. */
static bool noted_around(const pace_step *step, uint32_t task, const pace_autograd_note *note) {
    uint32_t parent = pace_task_parent(step, task);
    const pace_autograd_note *around = parent == PACE_NO_TASK ? NULL : note_of(step, parent);
    return around && around->thread == note->thread && around->sequence == note->sequence;
}

static pace_status link_notes(linker *l) {
    pace_step *step = l->step;
    for (uint32_t task = 0; task < step->count; task++) {
        const pace_autograd_note *note = note_of(step, task);
        if (!note || note->thread == 0 || noted_around(step, task, note)) continue;
        if (!thread_of(l, note->thread) && l->threads.count < MOST_THREADS) PACE_TRY(find_thread(l, note->thread));
        const thread_lane *known = thread_of(l, note->thread);
        uint32_t forward =
            known && known->lane != PACE_NO_LANE ? maker(l, known->lane, note->sequence, task) : PACE_NO_TASK;
        PACE_TRY(PACE_PUSH(&step->gradients, ((pace_gradient){task, forward})));
    }
    return PACE_OK;
}

PACE_ORDER(by_task, pace_gradient, PACE_UP(task) PACE_UP(forward))

static pace_status mark_gradients(pace_step *step) {
    size_t words = step->count / 64 + 1;
    uint64_t *marks = pace_alloc(words, sizeof *marks);
    if (!marks) return PACE_E_MEMORY;
    for (size_t i = 0; i < step->gradients.count; i++)
        marks[step->gradients.items[i].task / 64] |= (uint64_t)1 << step->gradients.items[i].task % 64;
    pace_free(step->has_gradient);
    step->has_gradient = marks;
    step->has_gradient_words = words;
    return PACE_OK;
}

static pace_status order_gradients(pace_step *step) {
    if (step->gradients.count == 0) return PACE_OK;
    pace_sort_if_unsorted(step->gradients.items, step->gradients.count, sizeof *step->gradients.items, by_task);
    size_t kept = 1;
    for (size_t i = 1; i < step->gradients.count; i++)
        if (step->gradients.items[i].task != step->gradients.items[kept - 1].task)
            step->gradients.items[kept++] = step->gradients.items[i];
    step->gradients.count = kept;
    return mark_gradients(step);
}

pace_status pace_step_link_gradients(pace_step *step) {
    linker l = {.step = step};
    pace_status status = PACE_OK;
    if (step->autograd_notes.count || step->autograd_arrows.count) status = list_forward(&l);
    if (status == PACE_OK) status = follow_arrows(&l);
    if (status == PACE_OK && step->autograd_notes.count) status = link_notes(&l);
    if (status == PACE_OK) status = order_gradients(step);
    PACE_FREE(l.forward, l.first);
    PACE_VEC_FREE(&l.threads, &step->autograd_notes, &step->autograd_arrows);
    return status;
}

const pace_gradient *pace_step_gradient(const pace_step *step, uint32_t task) {
    size_t low = 0;
    if (!step->has_gradient || !(step->has_gradient[task / 64] >> task % 64 & 1)) return NULL;
    PACE_SEARCH(low, step->gradients.count, middle, step->gradients.items[middle].task < task);
    return &step->gradients.items[low];
}

const pace_gradient *pace_step_gradient_around(const pace_step *step, uint32_t task) {
    for (uint32_t at = task; at != PACE_NO_TASK && step->gradients.count; at = pace_task_parent(step, at)) {
        const pace_gradient *gradient = pace_step_gradient(step, at);
        if (gradient && gradient->forward != PACE_NO_TASK) return gradient;
    }
    return NULL;
}
