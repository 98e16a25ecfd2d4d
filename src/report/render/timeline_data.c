/* Packs slices as they come. */
#include "report/render/timeline_data.h"

#include <string.h>

static bool keep(pace_timeline *timeline, pace_status status) {
    if (status != PACE_OK && timeline->status == PACE_OK) timeline->status = status;
    return timeline->status == PACE_OK;
}

/* Seven bits a byte, the lowest first; the high bit says that more follow. */
static pace_status pack(pace_packed *column, uint64_t value) {
    for (; value >= 0x80; value >>= 7) PACE_TRY(PACE_PUSH(column, (unsigned char)(value | 0x80)));
    return PACE_PUSH(column, (unsigned char)value);
}

/* Small numbers of either sign stay small. */
static uint64_t zigzag(int64_t value) { return value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1; }

static pace_packed_group *last_group(pace_timeline *timeline) {
    return timeline->groups.count ? &timeline->groups.items[timeline->groups.count - 1] : NULL;
}

static pace_packed_lane *last_lane(pace_timeline *timeline) {
    pace_packed_group *group = last_group(timeline);
    return group && group->lanes.count ? &group->lanes.items[group->lanes.count - 1] : NULL;
}

static char *copy(pace_timeline *timeline, const char *text) {
    char *own = timeline->status == PACE_OK ? pace_copy_text(text, strlen(text)) : NULL;
    return keep(timeline, own ? PACE_OK : PACE_E_MEMORY) ? own : NULL;
}

void pace_timeline_group(pace_timeline *timeline, const char *name, bool open) {
    pace_packed_group group = {.name = copy(timeline, name), .open = open};
    if (group.name) keep(timeline, PACE_KEEP(&timeline->groups, group, (pace_free(group.name), 0)));
}

void pace_timeline_lane(pace_timeline *timeline, const char *name, pace_timeline_lane_kind kind) {
    pace_packed_group *group = last_group(timeline);
    pace_packed_lane lane = {.kind = kind, .last_start_ns = timeline->from_ns, .last_end_ns = INT64_MIN};
    if (!group || !(lane.name = copy(timeline, name))) return;
    bool pictured = group->open || timeline->groups.count == 1;
    if (pictured) lane.overview_ns = pace_alloc(PACE_OVERVIEW_PARTS * PACE_CLASS_COUNT, sizeof *lane.overview_ns);
    if (keep(timeline, pictured && !lane.overview_ns ? PACE_E_MEMORY : PACE_OK) &&
        keep(timeline, PACE_PUSH(&group->lanes, lane)))
        return;
    PACE_FREE(lane.name, lane.overview_ns);
}

static pace_status intern(pace_name *out, pace_names *names, const char *text) {
    *out = 0;
    return text ? pace_names_add(out, names, text, strlen(text)) : PACE_OK;
}

static pace_status label_of(pace_name *out, pace_timeline *timeline, const pace_timeline_slice *slice) {
    pace_slice_label label = {.color = slice->color, .kind = slice->kind};
    PACE_TRY(intern(&label.name, &timeline->names, slice->name));
    PACE_TRY(intern(&label.stage, &timeline->names, slice->stage));
    return pace_names_add(out, &timeline->labels, (const char *)&label, sizeof label);
}

static pace_status detail_of(pace_name *out, pace_timeline *timeline, const pace_slice_detail *detail) {
    *out = 0;
    if (!detail) return PACE_OK;
    pace_packed_detail packed = {.group_size = detail->group_size, .flop = detail->flop, .bytes = detail->bytes};
    PACE_TRY(intern(&packed.shapes, &timeline->names, detail->shapes));
    PACE_TRY(intern(&packed.launch, &timeline->names, detail->launch));
    PACE_TRY(intern(&packed.module, &timeline->names, detail->module));
    PACE_TRY(intern(&packed.collective, &timeline->names, detail->collective));
    PACE_TRY(intern(&packed.dtype, &timeline->names, detail->dtype));
    PACE_TRY(intern(&packed.group, &timeline->names, detail->group));
    return pace_names_add(out, &timeline->details, (const char *)&packed, sizeof packed);
}

/* The time of slices that no other encloses, part by part. */
static void add_to_overview(const pace_timeline *timeline, pace_packed_lane *lane, const pace_timeline_slice *slice) {
    int64_t start = slice->start_ns > lane->last_end_ns ? slice->start_ns : lane->last_end_ns, end = slice->end_ns;
    double part = (double)(timeline->to_ns - timeline->from_ns) / PACE_OVERVIEW_PARTS;
    if (end > lane->last_end_ns) lane->last_end_ns = end;
    if (start < timeline->from_ns) start = timeline->from_ns;
    if (end > timeline->to_ns) end = timeline->to_ns;
    if (!lane->overview_ns || end <= start) return;
    int first = (int)((double)(start - timeline->from_ns) / part),
        last = (int)((double)(end - timeline->from_ns) / part);
    for (int i = first; i <= last && i < PACE_OVERVIEW_PARTS; i++) {
        int64_t from = timeline->from_ns + (int64_t)(i * part), to = timeline->from_ns + (int64_t)((i + 1) * part);
        int64_t inside = (end < to ? end : to) - (start > from ? start : from);
        if (inside > 0) lane->overview_ns[i * PACE_CLASS_COUNT + (int)slice->color] += inside;
    }
}

static pace_status pack_slice(pace_timeline *timeline, pace_packed_lane *lane, const pace_timeline_slice *slice) {
    pace_name label, detail;
    int64_t length = slice->end_ns > slice->start_ns ? slice->end_ns - slice->start_ns : 0;
    PACE_TRY(label_of(&label, timeline, slice));
    PACE_TRY(detail_of(&detail, timeline, slice->detail));
    PACE_TRY(pack(&lane->starts, zigzag(slice->start_ns - lane->last_start_ns)));
    PACE_TRY(pack(&lane->durations, (uint64_t)length));
    PACE_TRY(pack(&lane->labels, label));
    PACE_TRY(pack(&lane->counts, slice->count > 1 ? slice->count - 1 : 0));
    PACE_TRY(pack(&lane->causes, slice->cause ? 1 + zigzag((int64_t)slice->cause - (int64_t)lane->last_cause) : 0));
    PACE_TRY(pack(&lane->details, detail));
    lane->merged = lane->merged || slice->count > 1;
    lane->caused = lane->caused || slice->cause;
    lane->detailed = lane->detailed || detail;
    lane->last_start_ns = slice->start_ns;
    if (slice->cause) lane->last_cause = slice->cause;
    return PACE_OK;
}

size_t pace_timeline_put(pace_timeline *timeline, const pace_timeline_slice *slice) {
    pace_packed_lane *lane = last_lane(timeline);
    if (!lane || timeline->status != PACE_OK) return 0;
    if (!keep(timeline, pack_slice(timeline, lane, slice))) return 0;
    add_to_overview(timeline, lane, slice);
    lane->count++;
    return ++timeline->slices;
}

void pace_timeline_note(pace_timeline *timeline, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pace_format_text(format, arguments);
    va_end(arguments);
    if (keep(timeline, text ? PACE_OK : PACE_E_MEMORY)) keep(timeline, pace_texts_add(&timeline->notes, text));
    pace_free(text);
}

pace_status pace_timeline_open(pace_timeline *timeline, int64_t from_ns, int64_t to_ns) {
    *timeline = (pace_timeline){.from_ns = from_ns, .to_ns = to_ns};
    pace_status status = pace_names_init(&timeline->names);
    if (status == PACE_OK) status = pace_names_init(&timeline->labels);
    if (status == PACE_OK) status = pace_names_init(&timeline->details);
    if (status != PACE_OK) pace_timeline_close(timeline);
    return status;
}

static void free_lane(pace_packed_lane *lane) {
    pace_packed *columns[] = {&lane->starts, &lane->durations, &lane->labels,
                              &lane->counts, &lane->causes,    &lane->details};
    for (size_t i = 0; i < PACE_COUNT(columns); i++) PACE_VEC_FREE(columns[i]);
    PACE_FREE(lane->name, lane->overview_ns);
}

void pace_timeline_close(pace_timeline *timeline) {
    PACE_ITEMS (pace_packed_group, group, &timeline->groups) {
        PACE_VEC_FREE_EACH(&group->lanes, free_lane);
        pace_free(group->name);
    }
    PACE_VEC_FREE(&timeline->groups);
    pace_texts_free(&timeline->notes);
    pace_names_free(&timeline->names);
    pace_names_free(&timeline->labels);
    pace_names_free(&timeline->details);
}
