/* The devices of a trace of several, each as a rank of its own. */
#include "insight/rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static pace_status add_id(pace_device_ids *ids, uint32_t id) {
    size_t at = ids->count;
    while (at > 0 && ids->items[at - 1] > id) at--;
    if (at > 0 && ids->items[at - 1] == id) return PACE_OK;
    PACE_TRY(PACE_PUSH(ids, id));
    for (size_t i = ids->count - 1; i > at; i--) ids->items[i] = ids->items[i - 1];
    ids->items[at] = id;
    return PACE_OK;
}

pace_status pace_rank_device_ids(pace_device_ids *out, const pace_step *step) {
    pace_device_ids ids = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        if (pace_lane_works(step, lane)) status = add_id(&ids, lane->device_id);
    }
    return PACE_GIVE(out, ids, status, PACE_VEC_FREE(&ids));
}

static pace_status copy_marks(pace_marks *out, const pace_marks *marks) {
    *out = *marks;
    memset(&out->items, 0, sizeof out->items);
    memset(&out->lanes, 0, sizeof out->lanes);
    PACE_ITEMS (const pace_mark, mark, &marks->items) PACE_TRY(PACE_PUSH(&out->items, *mark));
    PACE_ITEMS (const uint32_t, lane, &marks->lanes) PACE_TRY(PACE_PUSH(&out->lanes, *lane));
    return PACE_OK;
}

pace_status pace_rank_of_device(pace_rank **out, const pace_rank *trace, uint32_t device_id,
                                const pace_kernel_classes *classes, const pace_device *device) {
    pace_rank *rank = pace_alloc(1, sizeof *rank);
    if (!rank) return PACE_E_MEMORY;
    *rank = (pace_rank){.path = trace->path,
                        .bytes = trace->bytes,
                        .step = trace->step,
                        .device = device,
                        .device_id = device_id,
                        .trace = trace};
    pace_status status = copy_marks(&rank->marks, &trace->marks);
    if (status == PACE_OK) status = pace_work_build_device(&rank->work, &rank->step, classes, device, device_id);
    if (status == PACE_OK) status = pace_marks_set_intervals(&rank->marks, &rank->work);
    return PACE_GIVE(out, rank, status, (pace_rank_free(rank), pace_free(rank)));
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *pace_rank_name(char name[PACE_RANK_NAME], const pace_rank *rank) {
    char device[24] = "";
    if (rank->trace) snprintf(device, sizeof device, "device %" PRIu32, rank->device_id);
    if (rank->step.rank >= 0)
        snprintf(name, PACE_RANK_NAME, "rank %" PRId64 "%s%s", rank->step.rank, rank->trace ? " " : "", device);
    else if (rank->trace) snprintf(name, PACE_RANK_NAME, "%s", device);
    else snprintf(name, PACE_RANK_NAME, "%.*s", PACE_RANK_NAME - 1, file_name(rank->path));
    return name;
}
