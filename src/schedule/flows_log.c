#include "schedule/flows_log.h"

static size_t operations_of(const pace_flow_state *s, uint32_t unit) {
    size_t count = 0;
    for (uint32_t l = s->unit_lane[unit]; l < s->unit_lane[unit + 1]; l++)
        count += s->lanes[l].last - s->lanes[l].cursor;
    return count;
}

static size_t lanes_of(const pace_flow_state *s, uint32_t unit) { return s->unit_lane[unit + 1] - s->unit_lane[unit]; }

pace_status pace_flow_log_begin(pace_flow_state *s) {
    pace_flow_log *log = s->question->log;
    size_t used = 0;
    if (!log) return PACE_OK;
    log->entries.count = log->ranks.count = 0;
    for (uint32_t unit = 0; unit < s->fold.count; unit++) {
        size_t count = operations_of(s, unit);
        used += count;
        if (used > log->limit && unit > 0) break;
        if (unit == 0) log->per_lane = count > log->limit ? log->limit / lanes_of(s, unit) : SIZE_MAX;
        const pace_flow_logged_rank rank = {s->fold.first[unit], s->fold.members[unit]};
        PACE_TRY(PACE_PUSH(&log->ranks, rank));
    }
    log->ranks_left_out = s->fold.count - log->ranks.count;
    return PACE_OK;
}

pace_status pace_flow_log_add(pace_flow_state *s, const pace_flow_lane *lane, double start_ns, double end_ns) {
    const pace_operation *o = &s->program->operations.items[lane->cursor];
    const pace_flow_log *log = s->question->log;
    if (lane->unit >= log->ranks.count) return PACE_OK;
    if (lane->cursor - s->program->lanes.items[lane->program_lane].first >= log->per_lane) return PACE_OK;
    pace_flow_entry entry = {.start_ns = start_ns, .end_ns = end_ns, .amount = o->amount, .kind = o->kind};
    entry.rank = pace_flow_rank(s, lane);
    entry.lane = (uint32_t)(lane - s->lanes) - s->unit_lane[lane->unit];
    if (o->kind == PACE_OPERATION_SEND || o->kind == PACE_OPERATION_RECEIVE)
        entry.peer = pace_peer_rank(&s->program->peers.items[o->peer], entry.rank);
    return PACE_PUSH(&s->question->log->entries, entry);
}
