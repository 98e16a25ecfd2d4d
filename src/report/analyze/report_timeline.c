/* The timeline of analyzed traces: steps, critical path, stages and resources of each rank, its streams and threads. */
#include "insight/timeline/thread_name.h"
#include "insight/timeline/timeline_cut.h"
#include "insight/timeline/timeline_zones.h"
#include "report/analyze/analyze_parts.h"
#include "report/analyze/compare_parts.h"
#include "report/show.h"
#include "report/timeline.h"
#include "step/call_names.h"

#include <inttypes.h>
#include <string.h>

/* Some ten bytes of a page are a slice: a page stays below 10 MB. */
enum { WHOLE_SLICES = 400000, MERGED_SLICES = 60000 };

/* What is drawn: arrays of the analysis, which may move, and a copy of the path. */
typedef struct {
    pace_rank *const *traces, *const *ranks;
    size_t trace_count, rank_count;
    const pace_rank *rank, *home;
    size_t mark;
    bool made;         /* the ranks were predicted */
    const char *side;  /* "A", "B" of a comparison; NULL = there is but one */
    int64_t offset_ns; /* of a comparison: to be added to every time, so that both sides' steps begin together */
    PACE_VEC(pace_path_piece) path;
    int64_t path_from_ns, path_to_ns; /* on the home's clock */
} drawing;

/* One trace as it is drawn. */
typedef struct {
    const drawing *of;
    pace_timeline *out;
    const pace_rank *trace;
    const pace_trace_zones *zones;
    uint32_t *numbers; /* task -> slice, 0 = none so far */
    uint8_t *classes;  /* device task -> pace_work_class + 1, 0 = unknown */
    pace_op_cache *amounts;
    pace_drawn_slices drawn;
} trace_drawing;

/* --- colours and words -------------------------------------------------------------------------------------------- */

static const pace_class stage_colors[PACE_STAGES] = {PACE_CLASS_INPUT,    PACE_CLASS_FORWARD, PACE_CLASS_FORWARD,
                                                     PACE_CLASS_BACKWARD, PACE_CLASS_UPDATE,  PACE_CLASS_FORWARD,
                                                     PACE_CLASS_BACKWARD, PACE_CLASS_OTHER};

static pace_class device_color(const trace_drawing *d, uint32_t task) {
    static const pace_class colors[] = {PACE_CLASS_OTHER, PACE_CLASS_COMPUTE, PACE_CLASS_MEMORY,
                                        PACE_CLASS_COMMUNICATION, PACE_CLASS_COPY};
    return d->trace->step.kind[task] == PACE_TASK_SYNC ? PACE_CLASS_IDLE : colors[d->classes[task]];
}

static pace_class host_color(const pace_step *step, uint32_t task) {
    switch (step->kind[task]) {
    case PACE_TASK_OP:
        if (!pace_task_is_operator(step, task)) return PACE_CLASS_OTHER;
        return step->stage[task] < PACE_STAGES ? stage_colors[step->stage[task]] : PACE_CLASS_OTHER;
    case PACE_TASK_CALL: return pace_call_synchronises(pace_step_name(step, task)) ? PACE_CLASS_WAIT : PACE_CLASS_HOST;
    default: return PACE_CLASS_OTHER;
    }
}

/* "Stream 7", or of several devices "Device 1, stream 7". */
static void name_stream(char *out, size_t size, const pace_step *step, const pace_lane *lane, bool several) {
    const char *key = pace_names_text(&step->names, lane->key), *stream = strstr(key, "stream ");
    if (!stream) pace_snprintf(out, size, "%s", key);
    else if (several) pace_snprintf(out, size, "Device %" PRIu32 ", %s", lane->device_id, stream);
    else pace_snprintf(out, size, "Stream %s", stream + strlen("stream "));
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static const char *text_or_null(const pace_step *step, pace_name name) {
    return name ? pace_names_text(&step->names, name) : NULL;
}

static const char *launch_of(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_KERNEL ? text_or_null(step, pace_step_launch(step, task)) : NULL;
}

/* Backward work is enclosed by no module: that of its forward operator is named. */
static const char *backward_module(const pace_step *step, uint32_t task) {
    bool works = step->kind[task] == PACE_TASK_OP || pace_task_on_device(step->kind[task]);
    uint32_t module = works && step->stage[task] == PACE_STAGE_BACKWARD ? pace_module_of(step, task) : PACE_NO_TASK;
    return module == PACE_NO_TASK ? NULL : pace_step_name(step, module);
}

/* The slice that launched device work, or that of the forward operator of a backward one; 0 = none. */
static size_t cause_of(const trace_drawing *d, uint32_t task, bool device) {
    const pace_gradient *gradient = device ? NULL : pace_step_gradient(&d->trace->step, task);
    uint32_t cause = device ? pace_task_cause(&d->trace->step, task) : gradient ? gradient->forward : PACE_NO_TASK;
    return cause == PACE_NO_TASK ? 0 : d->numbers[cause];
}

/* Whether anything is known of a task besides its times. */
static bool detail_of(pace_slice_detail *out, const trace_drawing *d, uint32_t task) {
    const pace_step *step = &d->trace->step;
    const pace_exchange_info *info = pace_step_exchange(step, task);
    pace_op_amount amount;
    *out = (pace_slice_detail){.launch = launch_of(step, task), .module = backward_module(step, task)};
    if (step->kind[task] == PACE_TASK_OP && step->detail[task]) {
        out->shapes = pace_names_text(&step->names, step->detail[task]);
        if (pace_op_cache_amount(&amount, d->amounts, step, task)) out->flop = amount.flop, out->bytes = amount.bytes;
    }
    if ((step->kind[task] == PACE_TASK_COPY || step->kind[task] == PACE_TASK_MEMSET) && step->detail[task])
        out->bytes = (double)step->bytes.items[step->detail[task] - 1];
    if (info) {
        out->collective = text_or_null(step, info->collective);
        out->dtype = text_or_null(step, info->dtype);
        out->group = text_or_null(step, info->group);
        out->group_size = info->group_size;
        if (pace_exchange_bytes(step, info) > 0) out->bytes = (double)pace_exchange_bytes(step, info);
    }
    return out->shapes || out->launch || out->module || info || out->bytes > 0;
}

static void put_drawn(trace_drawing *d, const pace_drawn *drawn, bool device) {
    const pace_step *step = &d->trace->step;
    uint32_t task = drawn->longest;
    uint8_t stage = step->stage[task], kind = step->kind[task];
    pace_slice_detail detail;
    if (kind == PACE_TASK_OP && !pace_task_is_operator(step, task)) kind = PACE_TASK_ANNOTATION;
    bool known = drawn->count == 1 && detail_of(&detail, d, task);
    size_t number =
        pace_timeline_put(d->out,
                          &(pace_timeline_slice){.start_ns = drawn->start_ns + d->trace->shift_ns + d->of->offset_ns,
                                                 .end_ns = drawn->end_ns + d->trace->shift_ns + d->of->offset_ns,
                                                 .name = pace_step_name(step, task),
                                                 .color = device ? device_color(d, task) : host_color(step, task),
                                                 .kind = (pace_slice_kind)kind,
                                                 .stage = stage < PACE_STAGES ? pace_stage_names[stage] : NULL,
                                                 .count = drawn->count,
                                                 .cause = drawn->count == 1 || device ? cause_of(d, task, device) : 0,
                                                 .detail = known ? &detail : NULL});
    for (uint32_t i = 0; i < drawn->count; i++) d->numbers[drawn->first + i] = (uint32_t)number;
}

static pace_status draw_lane(trace_drawing *d, size_t number, const char *name, pace_timeline_lane_kind kind) {
    const pace_step *step = &d->trace->step;
    pace_timeline_lane(d->out, name, kind);
    PACE_TRY(pace_lane_cut(&d->drawn, step, &step->lanes.items[number], &d->zones->lanes[number]));
    for (size_t i = 0; i < d->drawn.count; i++) put_drawn(d, &d->drawn.items[i], kind == PACE_LANE_STREAM);
    return PACE_OK;
}

static pace_status draw_streams(trace_drawing *d, bool several) {
    const pace_step *step = &d->trace->step;
    char name[128];
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        if (!lane->device || lane->count == 0) continue;
        name_stream(name, sizeof name, step, lane, several);
        PACE_TRY(draw_lane(d, i, name, PACE_LANE_STREAM));
    }
    return PACE_OK;
}

/* Whether a thread runs backward operators of forward ones on other threads. */
static void find_backward(bool *backward, const pace_step *step) {
    PACE_ITEMS (const pace_gradient, g, &step->gradients)
        if (g->forward != PACE_NO_TASK && pace_task_lane(step, g->forward) != pace_task_lane(step, g->task))
            backward[pace_task_lane(step, g->task)] = true;
}

/* Those that only run backward operators last: these name their forward operators. */
static pace_status draw_threads(trace_drawing *d) {
    const pace_step *step = &d->trace->step;
    bool *backward = pace_alloc(step->lanes.count + 1, sizeof *backward);
    pace_status status = backward ? PACE_OK : PACE_E_MEMORY;
    char name[PACE_THREAD_NAME];
    if (backward) find_backward(backward, step);
    for (int late = 0; late < 2; late++)
        for (size_t i = 0; status == PACE_OK && i < step->lanes.count; i++) {
            const pace_lane *lane = &step->lanes.items[i];
            if (lane->device || lane->count == 0 || backward[i] != late) continue;
            pace_thread_name(name, step, lane);
            status = draw_lane(d, i, name, PACE_LANE_THREAD);
        }
    pace_free(backward);
    return status;
}

/* --- summaries ---------------------------------------------------------------------------------------------------- */

/* `what` of a rank, or of one of a trace's devices. */
static void begin_summary(trace_drawing *d, const pace_rank *rank, const char *what) {
    char name[80];
    if (rank->trace) pace_snprintf(name, sizeof name, "%s, device %" PRIu32, what, rank->device_id);
    else pace_snprintf(name, sizeof name, "%s", what);
    pace_timeline_lane(d->out, name, PACE_LANE_SUMMARY);
}

static void draw_steps(trace_drawing *d, const pace_rank *rank) {
    if (rank->marks.items.count == 0) return;
    begin_summary(d, rank, "Steps");
    for (size_t k = 0; k < rank->marks.items.count; k++) {
        const pace_mark *mark = &rank->marks.items.items[k];
        if (mark->to_ns <= mark->from_ns) continue;
        pace_timeline_put(d->out, &(pace_timeline_slice){.start_ns = mark->from_ns + rank->shift_ns + d->of->offset_ns,
                                                         .end_ns = mark->to_ns + rank->shift_ns + d->of->offset_ns,
                                                         .name = pace_names_text(&rank->step.names, mark->label),
                                                         .color = k % 2 ? PACE_CLASS_IDLE : PACE_CLASS_OTHER,
                                                         .kind = PACE_SLICE_STEP});
    }
}

static pace_span piece_at(const void *context, size_t index) {
    const pace_path_piece *piece = &((const drawing *)context)->path.items[index];
    return (pace_span){piece->start_ns, pace_piece_end(piece), (uint32_t)index};
}

static void put_piece(trace_drawing *d, const pace_rank *rank, const pace_drawn_span *drawn) {
    const drawing *of = d->of;
    const pace_path_piece *piece = &of->path.items[drawn->longest];
    const pace_rank *own = of->ranks[piece->rank];
    const char *name = piece->task == PACE_NO_TASK ? "nothing recorded" : pace_step_name(&own->step, piece->task);
    bool linked = own == rank && piece->task != PACE_NO_TASK && drawn->count == 1;
    char text[512], which[PACE_RANK_NAME];
    pace_snprintf(text, sizeof text, "%s%.400s%s%s", piece->waiting ? "gap before " : "", name, own == rank ? "" : ", ",
                  own == rank ? "" : pace_rank_name(which, own));
    pace_timeline_put(d->out, &(pace_timeline_slice){.start_ns = drawn->start_ns + of->home->shift_ns,
                                                     .end_ns = drawn->end_ns + of->home->shift_ns,
                                                     .name = text,
                                                     .color = piece->waiting ? PACE_CLASS_IDLE : PACE_CLASS_PATH,
                                                     .kind = PACE_SLICE_PATH,
                                                     .stage = pace_advice_names[piece->resource],
                                                     .count = drawn->count,
                                                     .cause = linked ? d->numbers[piece->task] : 0});
}

static pace_status draw_path(trace_drawing *d, const pace_rank *rank) {
    const drawing *of = d->of;
    pace_drawn_spans drawn = {0};
    if (rank != of->rank || of->path.count == 0) return PACE_OK;
    begin_summary(d, rank, "Critical path");
    pace_status status = pace_spans_cut(&drawn, piece_at, of, of->path.count, &d->zones->summary);
    for (size_t i = 0; status == PACE_OK && i < drawn.count; i++) put_piece(d, rank, &drawn.items[i]);
    PACE_VEC_FREE(&drawn);
    return status;
}

static pace_span stage_at(const void *tiles, size_t index) {
    const pace_tile *tile = &((const pace_tiles *)tiles)->items[index];
    return (pace_span){tile->start_ns, pace_tile_end(tile), tile->stage};
}

static pace_span resource_at(const void *tiles, size_t index) {
    const pace_tile *tile = &((const pace_tiles *)tiles)->items[index];
    return (pace_span){tile->start_ns, pace_tile_end(tile), tile->resource};
}

static void put_tile(trace_drawing *d, const pace_rank *rank, const pace_drawn_span *drawn, bool stages) {
    const pace_tile *tile = &rank->tiles.items[drawn->longest];
    pace_timeline_put(d->out,
                      &(pace_timeline_slice){.start_ns = drawn->start_ns + rank->shift_ns + d->of->offset_ns,
                                             .end_ns = drawn->end_ns + rank->shift_ns + d->of->offset_ns,
                                             .name = stages ? pace_stage_names[tile->stage]
                                                            : pace_resource_words((pace_resource)tile->resource),
                                             .color = stages ? stage_colors[tile->stage]
                                                             : pace_resource_colors[tile->resource],
                                             .kind = stages ? PACE_SLICE_STAGE : PACE_SLICE_RESOURCE,
                                             .count = drawn->count});
}

static pace_status draw_tiles(trace_drawing *d, const pace_rank *rank, bool stages) {
    pace_drawn_spans drawn = {0};
    if (rank->tiles.count == 0) return PACE_OK;
    begin_summary(d, rank, stages ? "Stage" : "Device time");
    pace_status status =
        pace_spans_cut(&drawn, stages ? stage_at : resource_at, &rank->tiles, rank->tiles.count, &d->zones->summary);
    for (size_t i = 0; status == PACE_OK && i < drawn.count; i++) put_tile(d, rank, &drawn.items[i], stages);
    PACE_VEC_FREE(&drawn);
    return status;
}

static pace_status draw_summaries(trace_drawing *d) {
    for (size_t r = 0; r < d->of->rank_count; r++) {
        const pace_rank *rank = d->of->ranks[r];
        if (pace_rank_trace(rank) != d->trace) continue;
        draw_steps(d, rank);
        PACE_TRY(draw_path(d, rank));
        PACE_TRY(draw_tiles(d, rank, true));
        PACE_TRY(draw_tiles(d, rank, false));
    }
    return PACE_OK;
}

/* --- a trace ------------------------------------------------------------------------------------------------------ */

/* The class of each device task; returns how many devices the trace has. */
static size_t classify(trace_drawing *d) {
    size_t devices = 0;
    for (size_t r = 0; r < d->of->rank_count; r++) {
        const pace_rank *rank = d->of->ranks[r];
        if (pace_rank_trace(rank) != d->trace) continue;
        devices++;
        for (size_t i = 0; i < rank->work.items.count; i++)
            d->classes[rank->work.items.items[i].task] = (uint8_t)(rank->work.items.items[i].class + 1);
    }
    return devices;
}

/* Streams after threads, for they name what launched them; summaries last, for the path names tasks of both. A page
 * shows them in the order of their kinds. */
static pace_status draw_parts(trace_drawing *d) {
    bool several = classify(d) > 1;
    PACE_TRY(draw_threads(d));
    PACE_TRY(draw_streams(d, several));
    return draw_summaries(d);
}

static pace_status draw_trace(const drawing *of, pace_timeline *out, size_t t, const pace_trace_zones *zones) {
    const pace_rank *trace = of->traces[t];
    char name[PACE_RANK_NAME], group[PACE_RANK_NAME + 8];
    pace_op_cache amounts;
    pace_snprintf(group, sizeof group, "%s%s%s", of->side ? of->side : "", of->side ? ": " : "",
                  pace_rank_name(name, trace));
    pace_timeline_group(out, group, trace == pace_rank_trace(of->rank));
    pace_op_cache_init(&amounts, &trace->step);
    trace_drawing d = {.of = of, .out = out, .trace = trace, .zones = zones, .amounts = &amounts};
    pace_status status = PACE_MAKE(d.numbers, trace->step.count + 1) && PACE_MAKE(d.classes, trace->step.count + 1)
                             ? draw_parts(&d)
                             : PACE_E_MEMORY;
    pace_op_cache_free(&amounts);
    PACE_FREE(d.numbers, d.classes);
    PACE_VEC_FREE(&d.drawn);
    return status;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* The longest slice that may be merged outside, or of the reported trace inside, of the stretches that were chosen. */
static int64_t longest_merged_ns(const drawing *of, const pace_trace_zones *zones, bool inside) {
    int64_t most = 0;
    for (size_t t = 0; t < of->trace_count; t++)
        for (size_t l = 0; l < zones[t].lane_count; l++)
            PACE_ITEMS (const pace_zone, zone, &zones[t].lanes[l]) {
                bool chosen = zone->from_ns > INT64_MIN && zone->to_ns < INT64_MAX;
                bool is_large = chosen && zone->from_ns <= of->path_from_ns && zone->to_ns >= of->path_to_ns;
                if (inside && (!is_large || of->traces[t] != pace_rank_trace(of->rank))) continue;
                if (zone->thin_ns > most) most = zone->thin_ns;
            }
    return most;
}

static void put_note(const drawing *of, pace_timeline *out, const pace_trace_zones *zones) {
    int64_t most_ns = longest_merged_ns(of, zones, false), own_ns = longest_merged_ns(of, zones, true);
    if (most_ns == 0) {
        pace_timeline_note(out, "Every %stask is in this timeline, to the nanosecond.", of->made ? "" : "recorded ");
        return;
    }
    pace_timeline_note(
        out,
        "There are more tasks than a page holds. Outside the steps that are shown task by task, neighbours "
        "of up to %s are merged; a merged slice says how many tasks it stands for.%s",
        pace_show_ns(most_ns).text, of->made ? "" : " --rank and --steps choose which steps come first.");
    if (own_ns)
        pace_timeline_note(out, "Even the reported step has more tasks than that: neighbours of up to %s are merged.",
                           pace_show_ns(own_ns).text);
}

static pace_status draw(void *context, pace_timeline *out) {
    const drawing *of = context;
    const pace_zone_limits limits = {WHOLE_SLICES, MERGED_SLICES};
    pace_trace_zones *zones;
    PACE_TRY(pace_zones_plan(&zones, of->traces, of->trace_count, of->rank, of->mark, &limits));
    pace_status status = PACE_OK;
    for (size_t t = 0; status == PACE_OK && t < of->trace_count; t++) status = draw_trace(of, out, t, &zones[t]);
    if (status == PACE_OK) put_note(of, out, zones);
    pace_zones_free(zones, of->trace_count);
    return status;
}

static void free_drawing(void *context) {
    drawing *of = context;
    PACE_VEC_FREE(&of->path);
    pace_free(of);
}

/* Its arrays are borrowed from the analysis. */
static pace_status open_drawing(drawing *of, const pace_analysis *analysis, const pace_rank *rank,
                                const pace_critical *critical) {
    *of = (drawing){.traces = analysis->traces.items,
                    .ranks = analysis->ranks.items,
                    .trace_count = analysis->traces.count,
                    .rank_count = analysis->ranks.count,
                    .rank = rank,
                    .home = analysis->ranks.items[critical->home],
                    .mark = critical->mark,
                    .made = analysis->made,
                    .path_from_ns = critical->from_ns,
                    .path_to_ns = critical->to_ns};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && critical->pieces.count && i <= critical->pieces.count; i++)
        status = PACE_PUSH(&of->path, critical->pieces.items[i]);
    if (of->path.count) of->path.count--; /* behind the last stands where it ends */
    if (status != PACE_OK) PACE_VEC_FREE(&of->path);
    return status;
}

pace_status pace_draw_timeline(pace_timeline *out, const pace_analysis *analysis, const pace_rank *rank,
                               const pace_critical *critical) {
    drawing of;
    PACE_TRY(open_drawing(&of, analysis, rank, critical));
    pace_status status = draw(&of, out);
    PACE_VEC_FREE(&of.path);
    return status;
}

pace_status pace_put_timeline(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                              const pace_critical *critical) {
    if (critical->to_ns <= critical->from_ns) return PACE_OK;
    drawing *of = pace_alloc(1, sizeof *of);
    if (!of) return PACE_E_MEMORY;
    pace_status status = open_drawing(of, analysis, rank, critical);
    if (status != PACE_OK) {
        pace_free(of);
        return status;
    }
    pace_node_timeline(root, "Timeline", critical->from_ns + of->home->shift_ns, critical->to_ns + of->home->shift_ns,
                       draw, of, free_drawing);
    return PACE_OK;
}

/* --- two sides ---------------------------------------------------------------------------------------------------- */

typedef struct {
    drawing sides[2];
    pace_analysis *analyses[2]; /* owned; the same twice where two ranks of one run are compared */
} comparison;

/* Half of a page each. */
static pace_status draw_comparison(void *context, pace_timeline *out) {
    const comparison *of = context;
    const pace_zone_limits limits = {WHOLE_SLICES / 2, MERGED_SLICES / 2};
    int64_t merged_ns = 0;
    pace_status status = PACE_OK;
    for (int i = 0; status == PACE_OK && i < 2; i++) {
        const drawing *side = &of->sides[i];
        pace_trace_zones *zones;
        PACE_TRY(pace_zones_plan(&zones, side->traces, 1, side->rank, side->mark, &limits));
        status = draw_trace(side, out, 0, &zones[0]);
        int64_t most_ns = longest_merged_ns(side, zones, false);
        if (most_ns > merged_ns) merged_ns = most_ns;
        pace_zones_free(zones, 1);
    }
    pace_timeline_note(out, "Both sides on one axis: their typical steps begin at 0.");
    if (merged_ns)
        pace_timeline_note(out, "There are more tasks than a page holds: neighbours of up to %s are merged.",
                           pace_show_ns(merged_ns).text);
    return status;
}

static void free_comparison(void *context) {
    comparison *of = context;
    if (of->analyses[1] != of->analyses[0]) pace_free_analysis(of->analyses[1]);
    pace_free_analysis(of->analyses[0]);
    pace_free(of);
}

/* The place of a trace among those of an analysis. */
static pace_rank *const *place_of(const pace_analysis *analysis, const pace_rank *trace) {
    size_t i = 0;
    while (i + 1 < analysis->traces.count && analysis->traces.items[i] != trace) i++;
    return &analysis->traces.items[i];
}

static drawing side_of(const pace_analysis *analysis, const pace_step_side *side, const char *name) {
    return (drawing){.traces = place_of(analysis, pace_rank_trace(side->rank)),
                     .ranks = analysis->ranks.items,
                     .trace_count = 1,
                     .rank_count = analysis->ranks.count,
                     .rank = side->rank,
                     .home = side->rank,
                     .mark = side->typical.mark,
                     .side = name,
                     .offset_ns = -(side->typical.from_ns + side->rank->shift_ns),
                     .path_from_ns = side->typical.from_ns,
                     .path_to_ns = side->typical.to_ns};
}

pace_status pace_put_compared_timeline(pace_node *root, const pace_step_change *change, pace_analysis *a,
                                       pace_analysis *b) {
    comparison *of = pace_alloc(1, sizeof *of);
    if (!of) return PACE_E_MEMORY;
    *of = (comparison){{side_of(a, &change->a, "A"), side_of(b, &change->b, "B")}, {a, b}};
    int64_t a_ns = pace_typical_ns(&change->a), b_ns = pace_typical_ns(&change->b);
    pace_node_timeline(root, "Timeline of both", 0, a_ns > b_ns ? a_ns : b_ns, draw_comparison, of, free_comparison);
    return PACE_OK;
}
