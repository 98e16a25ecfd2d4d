/* Messages between two ranks: pipeline bubbles, who waits for whom. */
#include "report/analyze_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t steps_of(const pace_rank *rank) {
    int64_t count = 0;
    for (size_t i = 0; i < rank->marks.items.count; i++)
        count += rank->marks.items.items[i].to_ns > rank->marks.items.items[i].from_ns;
    return count;
}

/* --- bubbles: a device that waits for a peer and has nothing else to do ------------------------------------------- */

typedef struct {
    int64_t wait_ns[PACE_STAGES], all_ns, transfer_ns, span_ns, steps;
} bubble;

/* Over the steps, or the whole trace where there are none. */
static bubble bubble_of(const pace_rank *rank) {
    bubble b = {.steps = steps_of(rank)};
    const pace_marks *marks = &rank->marks;
    int64_t from = rank->work.window.first_ns, to = rank->work.window.last_ns;
    if (b.steps) {
        from = marks->items.items[0].from_ns;
        to = marks->items.items[marks->items.count - 1].to_ns;
    } else {
        b.steps = 1;
    }
    b.span_ns = to - from;
    for (size_t i = 0; i < rank->tiles.count; i++) {
        const pace_tile *t = &rank->tiles.items[i];
        if (t->end_ns <= from || t->start_ns >= to || t->item == PACE_NO_TASK) continue;
        if (!rank->work.items.items[t->item].message) continue;
        int64_t took = (t->end_ns < to ? t->end_ns : to) - (t->start_ns > from ? t->start_ns : from);
        if (t->resource == PACE_IDLE_RANK) {
            b.wait_ns[t->stage] += took;
            b.all_ns += took;
        } else if (t->resource == PACE_EXPOSED_COMMUNICATION) {
            b.transfer_ns += took;
        }
    }
    return b;
}

static void put_rank(pace_node *table, int64_t number) {
    if (number == PACE_NO_RANK) pace_table_none(table);
    else pace_table_int(table, number);
}

static void put_bubbles(pace_node *root, const pace_analysis *analysis) {
    static const pace_column columns[] = {{"device_id", "device", PACE_SHOW_INT}, /* only where a trace has several */
                                          {"rank", "rank", PACE_SHOW_INT},
                                          {"forward_ns", "waiting in forward", PACE_SHOW_NS},
                                          {"backward_ns", "in backward", PACE_SHOW_NS},
                                          {"other_ns", "elsewhere", PACE_SHOW_NS},
                                          {"waiting_ns", "all a step", PACE_SHOW_NS},
                                          {"share", "of the step", PACE_SHOW_SHARE},
                                          {"exposed_ns", "transfer exposed", PACE_SHOW_NS}};
    bool any = analysis->messages.items.count > 0, devices = pace_analysis_has_devices(analysis);
    pace_node *table = pace_node_table(root, "bubbles", any ? "Pipeline bubbles: idle while a peer is late" : NULL,
                                       any ? PACE_FOR_ALL : PACE_FOR_JSON, columns + !devices, 7 + devices, 16);
    double worst = 0, worst_ms = 0;
    int64_t worst_rank = PACE_NO_RANK;
    for (size_t r = 0; any && r < analysis->ranks.count; r++) {
        const pace_rank *rank = analysis->ranks.items[r];
        bubble b = bubble_of(rank);
        int64_t forward = b.wait_ns[PACE_STAGE_FORWARD], backward = b.wait_ns[PACE_STAGE_BACKWARD];
        double share = b.span_ns > 0 ? (double)b.all_ns / (double)b.span_ns : 0;
        pace_table_row(table);
        if (devices) pace_table_int(table, rank->device_id);
        put_rank(table, rank->step.rank);
        pace_table_int(table, forward / b.steps);
        pace_table_int(table, backward / b.steps);
        pace_table_int(table, (b.all_ns - forward - backward) / b.steps);
        pace_table_int(table, b.all_ns / b.steps);
        pace_table_real(table, share);
        pace_table_int(table, b.transfer_ns / b.steps);
        if (share <= worst) continue;
        worst = share;
        worst_ms = (double)(b.all_ns / b.steps) / 1e6;
        worst_rank = rank->step.rank;
    }
    if (worst > 0)
        pace_node_sentence(root, false,
                           "Pipeline bubbles: rank %" PRId64
                           " waits longest for its peers, %.3f ms a step (%.1f %% of it).",
                           worst_rank, worst_ms, 100 * worst);
}

/* --- who waits for whom ------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_p2p_message *first;
    size_t count, matched;
    int64_t wait_ns[2], transfer_ns, kernel_ns, bytes;
    int64_t cause_ns[PACE_RESOURCES];
} pair;

static bool same_pair(const pace_p2p_message *a, const pace_p2p_message *b) {
    return a->number[0] == b->number[0] && a->number[1] == b->number[1] && strcmp(a->group, b->group) == 0;
}

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

static void put_pair(pace_node *table, const pace_analysis *analysis, const pair *p) {
    uint32_t any = p->first->rank[p->first->rank[0] == PACE_NO_INDEX];
    int64_t steps = steps_of(analysis->ranks.items[any]), count = (int64_t)p->count;
    if (steps == 0) steps = 1;
    pace_table_row(table);
    put_rank(table, p->first->number[PACE_SENDS]);
    put_rank(table, p->first->number[PACE_RECEIVES]);
    pace_table_text(table, p->first->group);
    pace_table_int(table, count);
    if (p->bytes >= 0) pace_table_real(table, (double)p->bytes / (double)count);
    else pace_table_none(table);
    pace_table_int(table, p->kernel_ns / steps);
    int most = 0;
    for (int k = 1; k < PACE_RESOURCES; k++)
        if (p->cause_ns[k] > p->cause_ns[most]) most = k;
    if (p->matched) {
        pace_table_int(table, p->transfer_ns / (int64_t)p->matched);
        pace_table_int(table, p->wait_ns[PACE_RECEIVES] / steps);
        pace_table_int(table, p->wait_ns[PACE_SENDS] / steps);
        pace_table_text(table, p->cause_ns[most] > 0 ? pace_resource_names[most] : "-");
    } else {
        for (int i = 0; i < 4; i++) pace_table_none(table);
    }
}

static void put_pairs(pace_node *root, const pace_analysis *analysis) {
    static const pace_column columns[] = {{"source", "from", PACE_SHOW_INT},
                                          {"destination", "to", PACE_SHOW_INT},
                                          {"group", "group", PACE_SHOW_TEXT},
                                          {"messages", "messages", PACE_SHOW_INT},
                                          {"bytes", "bytes", PACE_SHOW_BYTES},
                                          {"kernel_ns", "kernels", PACE_SHOW_NS},
                                          {"transfer_ns", "transfer", PACE_SHOW_NS},
                                          {"destination_wait_ns", "receiver waits", PACE_SHOW_NS},
                                          {"source_wait_ns", "sender waits", PACE_SHOW_NS},
                                          {"cause", "late in", PACE_SHOW_TEXT}};
    const pace_messages *m = &analysis->messages;
    pace_node *table =
        pace_node_table(root, "point_to_point", m->items.count ? "Messages: who waits for whom, a step" : NULL,
                        m->items.count ? PACE_FOR_ALL : PACE_FOR_JSON, columns, 10, 16);
    for (size_t i = 0; i < m->items.count;) {
        pair p = {.first = &m->items.items[i]};
        for (; i < m->items.count && same_pair(p.first, &m->items.items[i]); i++)
            count_message(&p, analysis, &m->items.items[i]);
        put_pair(table, analysis, &p);
    }
}

static void put_each(pace_node *root, const pace_analysis *analysis) {
    static const pace_column columns[] = {{"source", NULL, PACE_SHOW_INT},
                                          {"destination", NULL, PACE_SHOW_INT},
                                          {"last_start_ns", NULL, PACE_SHOW_INT},
                                          {"end_ns", NULL, PACE_SHOW_INT},
                                          {"source_wait_ns", NULL, PACE_SHOW_NS},
                                          {"destination_wait_ns", NULL, PACE_SHOW_NS},
                                          {"cause", NULL, PACE_SHOW_TEXT}};
    pace_node *table = pace_node_table(root, "messages", NULL, PACE_FOR_JSON, columns, 7, 0);
    for (size_t i = 0; i < analysis->messages.items.count; i++) {
        const pace_p2p_message *m = &analysis->messages.items.items[i];
        if (!m->matched) continue;
        pace_table_row(table);
        pace_table_int(table, m->number[PACE_SENDS]);
        pace_table_int(table, m->number[PACE_RECEIVES]);
        pace_table_int(table, m->last_start_ns);
        pace_table_int(table, m->end_ns);
        pace_table_int(table, m->wait_ns[PACE_SENDS]);
        pace_table_int(table, m->wait_ns[PACE_RECEIVES]);
        pace_table_text(table, m->cause ? m->cause : "-");
    }
}

void pace_put_messages(pace_node *root, const pace_analysis *analysis) {
    put_bubbles(root, analysis);
    put_pairs(root, analysis);
    put_each(root, analysis);
    if (analysis->messages.alone)
        pace_node_note(root,
                       "%zu sends and receives have peers whose traces are not here: their waiting cannot be told from "
                       "transfer, and all of it counts as exposed communication.",
                       analysis->messages.alone);
    if (analysis->messages.unmatched)
        pace_node_note(root, "%zu sends and receives have no counterpart in their peer's trace.",
                       analysis->messages.unmatched);
}
