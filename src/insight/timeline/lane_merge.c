#include "insight/timeline/lane_merge.h"

static int64_t time_of(const pace_lane_merge *m, uint32_t segment) {
    const pace_segment *s = &m->replay->segments.items[segment];
    return m->order == PACE_MERGE_BY_START ? s->start_ns : pace_segment_end(s);
}

static bool comes_before(const pace_lane_merge *m, uint32_t lane, uint32_t other) {
    if (m->at_ns[lane] != m->at_ns[other]) return m->at_ns[lane] < m->at_ns[other];
    return lane > other;
}

static void sift_down(pace_lane_merge *m, size_t at) {
    for (size_t child; (child = 2 * at + 1) < m->count; at = child) {
        if (child + 1 < m->count && comes_before(m, m->heap[child + 1], m->heap[child])) child++;
        if (!comes_before(m, m->heap[child], m->heap[at])) return;
        uint32_t lane = m->heap[at];
        m->heap[at] = m->heap[child];
        m->heap[child] = lane;
    }
}

static void fill(pace_lane_merge *m, const bool *on_device, bool device) {
    const uint32_t *first = m->replay->lane_first.items;
    for (uint32_t lane = 0; lane + 1 < m->replay->lane_first.count; lane++) {
        if (on_device[lane] != device || first[lane] == first[lane + 1]) continue;
        m->next[lane] = first[lane];
        m->at_ns[lane] = time_of(m, first[lane]);
        m->heap[m->count++] = lane;
    }
    for (size_t i = m->count / 2; i-- > 0;) sift_down(m, i);
}

pace_status pace_lane_merge_open(pace_lane_merge *out, const pace_replay *replay, const bool *on_device, bool device,
                                 pace_merge_order order) {
    size_t lanes = replay->lane_first.count;
    pace_lane_merge merge = {.replay = replay, .order = order};
    if (!PACE_MAKE(merge.heap, lanes) || !PACE_MAKE(merge.next, lanes) || !PACE_MAKE(merge.at_ns, lanes)) {
        pace_lane_merge_free(&merge);
        return PACE_E_MEMORY;
    }
    fill(&merge, on_device, device);
    *out = merge;
    return PACE_OK;
}

void pace_lane_merge_free(pace_lane_merge *merge) { PACE_FREE(merge->heap, merge->next, merge->at_ns); }

uint32_t pace_lane_merge_next(int64_t *at_ns, pace_lane_merge *m) {
    if (m->count == 0) return PACE_NO_SEGMENT;
    uint32_t lane = m->heap[0], segment = m->next[lane]++;
    *at_ns = m->at_ns[lane];
    m->lane = lane;
    if (m->next[lane] == m->replay->lane_first.items[lane + 1]) m->heap[0] = m->heap[--m->count];
    else if (time_of(m, m->next[lane]) > *at_ns) m->at_ns[lane] = time_of(m, m->next[lane]);
    sift_down(m, 0);
    return segment;
}
