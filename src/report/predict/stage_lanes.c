#include "report/predict/predict_parts.h"
#include "base/print.h"
#include "report/timeline.h"

#include <math.h>

typedef struct {
    int64_t start_ns, end_ns;
    uint32_t rank;
    uint8_t stage;
    bool works;
} slice;

typedef struct {
    PACE_VEC(slice) slices; /* by rank, then time */
    size_t ranks;
} lanes;

static bool is_work(uint8_t resource) {
    return resource == PACE_COMPUTE_BOUND || resource == PACE_MEMORY_BOUND || resource == PACE_COPY ||
           resource == PACE_EXPOSED_COMMUNICATION;
}

/* Neighbours of the same stage, and waits between them, are one slice each. */
static pace_status take(lanes *to, uint32_t rank, const pace_tile *tile, const pace_mark *mark) {
    slice one = {tile->start_ns, pace_tile_end(tile), rank, tile->stage, is_work(tile->resource)};
    slice *last = to->slices.count ? &to->slices.items[to->slices.count - 1] : NULL;
    if (tile->start_ns < mark->from_ns || pace_tile_end(tile) > mark->to_ns || pace_tile_end(tile) <= tile->start_ns)
        return PACE_OK;
    if (last && last->rank == rank && last->works == one.works && last->end_ns == one.start_ns &&
        (!one.works || last->stage == one.stage)) {
        last->end_ns = one.end_ns;
        return PACE_OK;
    }
    return PACE_PUSH(&to->slices, one);
}

static pace_status take_rank(lanes *to, uint32_t number, const pace_rank *rank) {
    if (rank->marks.items.count == 0) return PACE_OK;
    const pace_mark *mark = &rank->marks.items.items[rank->marks.items.count - 1];
    for (size_t i = 0; i < rank->tiles.count; i++) PACE_TRY(take(to, number, &rank->tiles.items[i], mark));
    return PACE_OK;
}

static pace_status draw(void *context, pace_timeline *timeline) {
    static const pace_class colors[PACE_STAGES] = {[PACE_STAGE_INPUT] = PACE_CLASS_INPUT,
                                                   [PACE_STAGE_FORWARD] = PACE_CLASS_FORWARD,
                                                   [PACE_STAGE_BACKWARD] = PACE_CLASS_BACKWARD,
                                                   [PACE_STAGE_UPDATE] = PACE_CLASS_UPDATE,
                                                   [PACE_STAGE_OTHER] = PACE_CLASS_OTHER};
    const lanes *of = context;
    pace_timeline_group(timeline, "Stages", true);
    for (size_t i = 0; i < of->slices.count; i++) {
        const slice *one = &of->slices.items[i];
        char name[32];
        pace_snprintf(name, sizeof name, "stage %u", one->rank);
        if (i == 0 || of->slices.items[i - 1].rank != one->rank) pace_timeline_lane(timeline, name, PACE_LANE_STREAM);
        if (one->works)
            pace_timeline_put(timeline, &(pace_timeline_slice){.start_ns = one->start_ns,
                                                               .end_ns = one->end_ns,
                                                               .name = pace_stage_names[one->stage],
                                                               .color = colors[one->stage],
                                                               .kind = PACE_SLICE_WORK,
                                                               .stage = pace_stage_names[one->stage]});
    }
    pace_timeline_note(timeline, "One step of each stage as the closed form has it. Gaps are waits for other stages.");
    return PACE_OK;
}

static void free_lanes(void *context) {
    lanes *of = context;
    PACE_VEC_FREE(&of->slices);
    pace_free(of);
}

pace_status pace_put_stage_lanes(pace_node *root, const char *title, const pace_analysis *drawn) {
    lanes *of = pace_alloc(1, sizeof *of);
    if (!of) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (size_t r = 0; status == PACE_OK && r < drawn->ranks.count; r++)
        status = take_rank(of, (uint32_t)r, drawn->ranks.items[r]);
    if (status != PACE_OK || of->slices.count == 0) {
        free_lanes(of);
        return status;
    }
    int64_t from_ns = of->slices.items[0].start_ns, to_ns = 0;
    for (size_t i = 0; i < of->slices.count; i++) {
        if (of->slices.items[i].start_ns < from_ns) from_ns = of->slices.items[i].start_ns;
        if (of->slices.items[i].end_ns > to_ns) to_ns = of->slices.items[i].end_ns;
    }
    pace_node_timeline(root, title, from_ns, to_ns, draw, of, free_lanes);
    return PACE_OK;
}

void pace_note_stretch(pace_node *root, double stretch) {
    double percent = 100 * (stretch - 1);
    if (fabs(percent) >= 1)
        pace_node_note(root, "All turns are drawn %.0f %% %s, so that the drawn step takes as long as the answer says.",
                       fabs(percent), percent > 0 ? "longer" : "shorter");
}
