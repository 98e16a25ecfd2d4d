#include "report/predict/predict_parts.h"
#include "base/order.h"
#include "report/timeline.h"

#include <inttypes.h>
#include <math.h>

enum { NAME = 64, OPEN_RANKS = 16 };

typedef struct {
    pace_flow_log log;
    uint32_t ranks_of_job, numbered_of_job;
} exchange;

static const char *rank_name(char name[NAME], const exchange *e, uint32_t number) {
    uint32_t job = number / e->numbered_of_job, rank = number % e->numbered_of_job;
    if (rank == e->ranks_of_job) pace_snprintf(name, NAME, "switch");
    else pace_snprintf(name, NAME, "rank %" PRIu32, job * e->ranks_of_job + rank);
    return name;
}

PACE_ORDER(by_lane, pace_flow_entry, PACE_UP(rank) PACE_UP(lane) PACE_UP(start_ns) PACE_UP(end_ns))

static void put_entry(pace_timeline *timeline, const exchange *e, const pace_flow_entry *entry) {
    static const pace_class colors[PACE_OPERATION_KINDS] = {PACE_CLASS_COPY,    PACE_CLASS_COMMUNICATION,
                                                            PACE_CLASS_COMPUTE, PACE_CLASS_MEMORY,
                                                            PACE_CLASS_COMPUTE, PACE_CLASS_WAIT};
    bool timed = entry->kind == PACE_OPERATION_WORK || entry->kind == PACE_OPERATION_WAIT;
    const pace_slice_detail detail = {.bytes = timed ? 0 : entry->amount};
    char text[NAME + 40], peer[NAME];
    if (entry->kind == PACE_OPERATION_SEND) pace_snprintf(text, sizeof text, "to %s", rank_name(peer, e, entry->peer));
    else if (entry->kind == PACE_OPERATION_RECEIVE)
        pace_snprintf(text, sizeof text, "from %s", rank_name(peer, e, entry->peer));
    else pace_snprintf(text, sizeof text, "%s", pace_operation_names[entry->kind]);
    pace_timeline_put(timeline, &(pace_timeline_slice){.start_ns = llround(entry->start_ns),
                                                       .end_ns = llround(entry->end_ns),
                                                       .name = text,
                                                       .color = colors[entry->kind],
                                                       .kind = PACE_SLICE_WORK,
                                                       .detail = timed ? NULL : &detail});
}

/* One lane stands beside the name of its rank; several are unfolded where ranks are few. */
static void begin_rank(pace_timeline *timeline, const exchange *e, const pace_flow_logged_rank *rank, bool several) {
    char name[NAME], text[NAME + 40];
    if (rank->alike > 1)
        pace_snprintf(text, sizeof text, "%s, alike: %" PRIu32, rank_name(name, e, rank->rank), rank->alike);
    else pace_snprintf(text, sizeof text, "%s", rank_name(name, e, rank->rank));
    bool alone = e->log.ranks.count == 1;
    pace_timeline_group(timeline, text, alone || (several && e->log.ranks.count <= OPEN_RANKS));
}

/* A rank's entries, which are sorted, from `at` on; returns where the next rank's begin. */
static size_t draw_rank(pace_timeline *timeline, const exchange *e, const pace_flow_logged_rank *rank, size_t at) {
    const pace_flow_entry *items = e->log.entries.items;
    size_t end = at;
    while (end < e->log.entries.count && items[end].rank == rank->rank) end++;
    begin_rank(timeline, e, rank, end > at && items[end - 1].lane != items[at].lane);
    for (size_t first = at; at < end; at++) {
        char lane[NAME];
        pace_snprintf(lane, sizeof lane, "Lane %" PRIu32, items[at].lane);
        if (at == first || items[at].lane != items[at - 1].lane) pace_timeline_lane(timeline, lane, PACE_LANE_STREAM);
        put_entry(timeline, e, &items[at]);
    }
    return at;
}

PACE_ORDER(by_rank, pace_flow_logged_rank, PACE_UP(rank))

static pace_status draw(void *context, pace_timeline *timeline) {
    exchange *e = context;
    PACE_SORT(&e->log.entries, by_lane);
    PACE_SORT(&e->log.ranks, by_rank);
    for (size_t r = 0, at = 0; r < e->log.ranks.count; r++) at = draw_rank(timeline, e, &e->log.ranks.items[r], at);
    pace_timeline_note(timeline,
                       "Operations of each rank in order. A receive lasts from when its lane is free until the message "
                       "is there; a send takes no time of the lane, its message is on its way while the lane goes on. "
                       "Ranks that are alike are drawn once.");
    if (e->log.per_lane < SIZE_MAX)
        pace_timeline_note(timeline, "Only the first %zu operations of each lane are drawn.", e->log.per_lane);
    if (e->log.ranks_left_out)
        pace_timeline_note(timeline, "Ranks that differ from these and are not drawn: %zu.", e->log.ranks_left_out);
    return PACE_OK;
}

static void free_exchange(void *context) {
    pace_flow_log_free(&((exchange *)context)->log);
    pace_free(context);
}

static int64_t last_end_ns(const pace_flow_log *log) {
    double last = 0;
    for (size_t i = 0; i < log->entries.count; i++) last = fmax(last, log->entries.items[i].end_ns);
    return llround(last);
}

pace_status pace_put_exchange_timeline(pace_node *root, pace_flow_log *log, uint32_t ranks_of_job,
                                       uint32_t numbered_of_job) {
    exchange *e = pace_alloc(1, sizeof *e);
    if (!e) {
        pace_flow_log_free(log);
        return PACE_E_MEMORY;
    }
    *e = (exchange){*log, ranks_of_job, numbered_of_job};
    pace_node_timeline(root, "Timeline of the last size", 0, last_end_ns(log), draw, e, free_exchange);
    return PACE_OK;
}
