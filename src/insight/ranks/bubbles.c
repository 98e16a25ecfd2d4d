#include "insight/ranks/bubbles.h"

#include <math.h>

static int64_t steps_of(const pace_rank *rank) {
    int64_t count = 0;
    for (size_t i = 0; i < rank->marks.items.count; i++)
        count += rank->marks.items.items[i].to_ns > rank->marks.items.items[i].from_ns;
    return count;
}

/* --- bubbles ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int64_t wait_ns[PACE_STAGES], all_ns, transfer_ns, span_ns, steps;
} waits;

/* Adds a stretch so many times. */
static void add_waits(waits *b, const pace_rank *rank, int64_t from, int64_t to, int64_t times) {
    b->span_ns += times * (to - from);
    PACE_ITEMS (const pace_tile, t, &rank->tiles) {
        if (pace_tile_end(t) <= from || t->start_ns >= to || t->item == PACE_NO_TASK) continue;
        if (!rank->work.items.items[t->item].message) continue;
        int64_t took = (pace_tile_end(t) < to ? pace_tile_end(t) : to) - (t->start_ns > from ? t->start_ns : from);
        if (t->resource == PACE_IDLE_RANK) {
            b->wait_ns[t->stage] += times * took;
            b->all_ns += times * took;
        } else if (t->resource == PACE_EXPOSED_COMMUNICATION) {
            b->transfer_ns += times * took;
        }
    }
}

/* Over the steps, or the whole trace where there are none. */
static waits waits_of(const pace_rank *rank) {
    waits b = {.steps = steps_of(rank)};
    const pace_marks *marks = &rank->marks;
    const pace_step_fold *fold = &rank->fold;
    int64_t from = rank->work.window.first_ns, to = rank->work.window.last_ns;
    if (b.steps) {
        from = marks->items.items[0].from_ns;
        to = marks->items.items[marks->items.count - 1].to_ns;
    } else {
        b.steps = 1;
    }
    add_waits(&b, rank, from, to, 1);
    for (unsigned i = 0; fold->times && i < fold->steps; i++)
        add_waits(&b, rank, fold->from_ns[i], fold->from_ns[i] + fold->period_ns, fold->times);
    return b;
}

pace_bubble pace_bubble_of(const pace_rank *rank) {
    waits w = waits_of(rank);
    int64_t forward = w.wait_ns[PACE_STAGE_FORWARD], backward = w.wait_ns[PACE_STAGE_BACKWARD];
    return (pace_bubble){.device = rank->device_id,
                         .rank = rank->step.rank == PACE_NO_RANK ? INT64_MIN : rank->step.rank,
                         .forward_ns = forward / w.steps,
                         .backward_ns = backward / w.steps,
                         .other_ns = (w.all_ns - forward - backward) / w.steps,
                         .waiting_ns = w.all_ns / w.steps,
                         .exposed_ns = w.transfer_ns / w.steps,
                         .share = w.span_ns > 0 ? (double)w.all_ns / (double)w.span_ns : 0};
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_p2p_message *first;
    size_t count, matched;
    int64_t wait_ns[2], transfer_ns, kernel_ns, bytes;
    int64_t cause_ns[PACE_RESOURCES];
} pair;

static void count_message(pair *p, const pace_analysis *analysis, const pace_p2p_message *m) {
    p->count++;
    p->matched += m->matched;
    p->transfer_ns += m->matched ? m->end_ns - m->last_start_ns : 0;
    p->bytes = m->bytes < 0 || p->bytes < 0 ? -1 : p->bytes + m->bytes;
    for (int s = 0; s < 2; s++) {
        p->wait_ns[s] += m->wait_ns[s];
        if (m->rank[s] == PACE_NO_INDEX) continue;
        const pace_work_item *item = &analysis->ranks.items[m->rank[s]]->work.items.items[m->item[s]];
        if (s == PACE_RECEIVES || m->rank[PACE_RECEIVES] == PACE_NO_INDEX)
            p->kernel_ns += item->end_ns - item->start_ns;
    }
    for (int k = 0; k < PACE_RESOURCES; k++)
        if (m->cause == pace_resource_names[k]) p->cause_ns[k] += m->wait_ns[0] + m->wait_ns[1];
}

static const char *main_cause(const pair *p) {
    int most = 0;
    for (int k = 1; k < PACE_RESOURCES; k++)
        if (p->cause_ns[k] > p->cause_ns[most]) most = k;
    return p->cause_ns[most] > 0 ? pace_resource_names[most] : "-";
}

static int64_t number_of(int64_t rank) { return rank == PACE_NO_RANK ? INT64_MIN : rank; }

static pace_message_pair row_of(const pair *p, const pace_analysis *analysis) {
    uint32_t any = p->first->rank[p->first->rank[0] == PACE_NO_INDEX];
    int64_t steps = steps_of(analysis->ranks.items[any]);
    if (steps == 0) steps = 1;
    pace_message_pair row = {.source = number_of(p->first->number[PACE_SENDS]),
                             .destination = number_of(p->first->number[PACE_RECEIVES]),
                             .group = p->first->group,
                             .messages = p->count,
                             .bytes = p->bytes >= 0 ? (double)p->bytes / (double)p->count : NAN,
                             .kernel_ns = p->kernel_ns / steps,
                             .transfer_ns = INT64_MIN,
                             .destination_wait_ns = INT64_MIN,
                             .source_wait_ns = INT64_MIN};
    if (p->matched == 0) return row;
    row.transfer_ns = p->transfer_ns / (int64_t)p->matched;
    row.destination_wait_ns = p->wait_ns[PACE_RECEIVES] / steps;
    row.source_wait_ns = p->wait_ns[PACE_SENDS] / steps;
    row.cause = main_cause(p);
    return row;
}

pace_status pace_message_pairs_of(pace_message_pairs *out, const pace_analysis *analysis) {
    const pace_messages *m = &analysis->messages;
    pace_message_pairs rows = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; i < m->items.count && status == PACE_OK;) {
        pair p = {.first = &m->items.items[i]};
        for (; i < m->items.count && pace_p2p_same_pair(p.first, &m->items.items[i]); i++)
            count_message(&p, analysis, &m->items.items[i]);
        status = PACE_PUSH(&rows, row_of(&p, analysis));
    }
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}
