#include "source/pairing.h"

#include <string.h>

enum {
    RUN = 4,     /* names in a row that tell a place */
    PLACES = 64, /* at most so many places of one run count */
    NEAR = 32,   /* how far apart the lists may go on after a difference, and how far neighbours may be swapped */
    NO_NAME = -1,
};

/* A thread of the graph or a lane of the step: what it did, in order. */
typedef struct {
    PACE_VEC(uint32_t) items; /* node or task */
    PACE_VEC(int64_t) names;  /* of the step; NO_NAME when the step has no such name */
} sequence;

typedef struct {
    pace_graph *graph;
    const pace_step *step;
    sequence *threads, *lanes;
    bool *taken; /* per task */
    size_t matched;
} pairer;

static void free_sequences(sequence *all, size_t count) {
    for (size_t i = 0; all && i < count; i++) {
        PACE_VEC_FREE(&all[i].items);
        PACE_VEC_FREE(&all[i].names);
    }
    pace_free(all);
}

static pace_status add(sequence *to, uint32_t item, int64_t name) {
    PACE_TRY(PACE_PUSH(&to->items, item));
    return PACE_PUSH(&to->names, name);
}

static pace_status list_threads(pairer *p) {
    for (uint32_t i = 0; i < p->graph->nodes.count; i++) {
        pace_graph_node *node = &p->graph->nodes.items[i];
        const char *text = pace_names_text(&p->graph->names, node->name);
        pace_name name;
        bool known = pace_names_find(&name, &p->step->names, text, strlen(text));
        node->task = PACE_NO_TASK;
        PACE_TRY(add(&p->threads[node->thread], i, known ? (int64_t)name : NO_NAME));
    }
    return PACE_OK;
}

static pace_status list_lanes(pairer *p) {
    const pace_step *step = p->step;
    for (uint32_t task = 0; task < step->count; task++)
        if (step->kind[task] == PACE_TASK_OP || step->kind[task] == PACE_TASK_ANNOTATION)
            PACE_TRY(add(&p->lanes[step->lane[task]], task, step->name[task]));
    return PACE_OK;
}

/* --- which lane, and where on it ------------------------------------------------------------------------- */

static uint64_t run_hash(const sequence *s, size_t at, size_t run) {
    return pace_hash(&s->names.items[at], run * sizeof *s->names.items);
}

typedef struct {
    uint32_t *slots; /* place + 1, by hash of the run that starts there */
    uint32_t *next;  /* place -> the next place of the same slot, + 1 */
    size_t mask;
} run_index;

static pace_status index_runs(run_index *index, const sequence *s, size_t run) {
    size_t slots = 64, places = s->names.count - run + 1;
    while (slots < places * 2) slots *= 2;
    *index = (run_index){pace_alloc(slots, sizeof *index->slots), pace_alloc(places, sizeof *index->next), slots - 1};
    if (!index->slots || !index->next) return PACE_E_MEMORY;
    for (size_t at = places; at-- > 0;) { /* the earliest comes first */
        uint32_t *slot = &index->slots[run_hash(s, at, run) & index->mask];
        index->next[at] = *slot;
        *slot = (uint32_t)at + 1;
    }
    return PACE_OK;
}

static bool same_run(const sequence *a, size_t i, const sequence *b, size_t j, size_t run) {
    return memcmp(&a->names.items[i], &b->names.items[j], run * sizeof *a->names.items) == 0;
}

/* By how much the lane is shifted against the thread, and how many runs agree with that. */
typedef struct {
    ptrdiff_t shift;
    uint32_t votes;
} overlay;

static void count_votes(overlay *best, const sequence *a, const sequence *b, const run_index *index, size_t run,
                        uint32_t *votes) {
    for (size_t i = 0; i + run <= a->names.count; i++) {
        uint32_t place = index->slots[run_hash(a, i, run) & index->mask];
        for (unsigned tries = 0; place && tries < PLACES; place = index->next[place - 1], tries++) {
            size_t j = place - 1;
            if (!same_run(a, i, b, j, run)) continue;
            uint32_t *vote = &votes[j + a->names.count - i];
            if (++*vote > best->votes) *best = (overlay){(ptrdiff_t)j - (ptrdiff_t)i, *vote};
        }
    }
}

static pace_status find_overlay(overlay *out, const sequence *a, const sequence *b) {
    size_t shorter = a->names.count < b->names.count ? a->names.count : b->names.count;
    size_t run = shorter < RUN ? shorter : RUN;
    *out = (overlay){0};
    if (run == 0) return PACE_OK;
    run_index index = {0};
    uint32_t *votes = pace_alloc(a->names.count + b->names.count + 1, sizeof *votes);
    pace_status status = votes ? index_runs(&index, b, run) : PACE_E_MEMORY;
    if (status == PACE_OK) count_votes(out, a, b, &index, run, votes);
    pace_free(index.slots);
    pace_free(index.next);
    pace_free(votes);
    return status;
}

/* --- side by side ------------------------------------------------------------------------------------------------- */

static bool agree(const sequence *a, size_t i, const sequence *b, size_t j) {
    return i < a->names.count && j < b->names.count && a->names.items[i] != NO_NAME &&
           a->names.items[i] == b->names.items[j];
}

static void match(pairer *p, const sequence *a, size_t i, const sequence *b, size_t j) {
    p->graph->nodes.items[a->items.items[i]].task = b->items.items[j];
    p->taken[b->items.items[j]] = true;
    p->matched++;
}

static bool go_on_at(const sequence *a, size_t i, const sequence *b, size_t j) {
    bool last = i + 1 == a->names.count || j + 1 == b->names.count;
    return agree(a, i, b, j) && (last || agree(a, i + 1, b, j + 1));
}

/* After a difference: the nearest place where two names in a row agree again, rather as far on in both: swapped
 * neighbours are more common than missing events. */
static bool go_on(const sequence *a, size_t *i, const sequence *b, size_t *j) {
    for (size_t apart = 1; apart <= NEAR; apart++)
        for (size_t k = 0; k <= apart; k++) {
            size_t half = apart / 2, off = (k + 1) / 2, left = k & 1 ? half + off : half - off;
            if (left > apart || !go_on_at(a, *i + left, b, *j + apart - left)) continue;
            *i += left;
            *j += apart - left;
            return true;
        }
    return false;
}

/* Where each node without a partner would stand on the lane is kept in `around`. */
static void lay_beside(pairer *p, const sequence *a, const sequence *b, ptrdiff_t shift, size_t *around) {
    size_t i = shift < 0 ? (size_t)-shift : 0, j = shift > 0 ? (size_t)shift : 0;
    for (size_t k = 0; k < a->names.count; k++) around[k] = k < i ? 0 : j + (k - i);
    while (i < a->names.count && j < b->names.count) {
        if (agree(a, i, b, j)) {
            around[i] = j;
            match(p, a, i++, b, j++);
            continue;
        }
        size_t from = i, at = j;
        if (!go_on(a, &i, b, &j)) i++, j++;
        for (size_t k = from; k < i; k++) around[k] = at;
    }
}

/* Neighbours that are swapped: the nearest task of the name that has no partner yet. */
static void match_left_over(pairer *p, const sequence *a, const sequence *b, const size_t *around) {
    for (size_t i = 0; i < a->names.count; i++) {
        if (p->graph->nodes.items[a->items.items[i]].task != PACE_NO_TASK) continue;
        for (size_t apart = 0; apart <= 2 * NEAR; apart++) {
            size_t j = apart & 1 ? around[i] - (apart + 1) / 2 : around[i] + apart / 2;
            if (!agree(a, i, b, j) || p->taken[b->items.items[j]]) continue; /* before the first wraps to far away */
            match(p, a, i, b, j);
            break;
        }
    }
}

static pace_status pair_thread(pairer *p, uint32_t thread, bool *lane_taken) {
    const sequence *a = &p->threads[thread];
    overlay best = {0};
    uint32_t lane = UINT32_MAX;
    for (uint32_t l = 0; l < p->step->lanes.count; l++) {
        overlay here;
        if (lane_taken[l]) continue;
        PACE_TRY(find_overlay(&here, a, &p->lanes[l]));
        if (here.votes <= best.votes) continue;
        best = here;
        lane = l;
    }
    if (lane == UINT32_MAX) return PACE_OK;
    size_t *around = pace_alloc(a->names.count + 1, sizeof *around);
    if (!around) return PACE_E_MEMORY;
    lane_taken[lane] = true;
    lay_beside(p, a, &p->lanes[lane], best.shift, around);
    match_left_over(p, a, &p->lanes[lane], around);
    pace_free(around);
    return PACE_OK;
}

/* The threads with most to do choose first. */
static pace_status pair_threads(pairer *p) {
    uint32_t threads = p->graph->thread_count;
    bool *done = pace_alloc(threads + p->step->lanes.count + 1, sizeof *done);
    if (!done) return PACE_E_MEMORY;
    bool *lane_taken = done + threads;
    pace_status status = PACE_OK;
    for (uint32_t round = 0; status == PACE_OK && round < threads; round++) {
        uint32_t next = UINT32_MAX;
        for (uint32_t t = 0; t < threads; t++)
            if (!done[t] && (next == UINT32_MAX || p->threads[t].items.count > p->threads[next].items.count)) next = t;
        done[next] = true;
        status = pair_thread(p, next, lane_taken);
    }
    pace_free(done);
    return status;
}

static pace_status pair_all(pairer *p) {
    if (!p->threads || !p->lanes || !p->taken) return PACE_E_MEMORY;
    PACE_TRY(list_threads(p));
    PACE_TRY(list_lanes(p));
    return pair_threads(p);
}

pace_status pace_pair(pace_pairing *out, pace_graph *graph, const pace_step *step) {
    pairer p = {.graph = graph, .step = step};
    p.threads = pace_alloc(graph->thread_count + 1, sizeof *p.threads);
    p.lanes = pace_alloc(step->lanes.count + 1, sizeof *p.lanes);
    p.taken = pace_alloc(step->count + 1, sizeof *p.taken);
    pace_status status = pair_all(&p);
    if (status == PACE_OK) {
        *out = (pace_pairing){.nodes = graph->nodes.count, .matched = p.matched};
        out->tasks = step->kind_count[PACE_TASK_OP] + step->kind_count[PACE_TASK_ANNOTATION];
    }
    free_sequences(p.threads, graph->thread_count);
    free_sequences(p.lanes, step->lanes.count);
    pace_free(p.taken);
    return status;
}
