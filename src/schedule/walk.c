#include "schedule/walk.h"

#include "base/parallel.h"
#include "schedule/meetings.h"
#include "schedule/walk_host.h"

typedef struct {
    const pace_walk_rank *ranks;
    size_t rank_count;
    const pace_walk_options *options;
    pace_meetings meetings;
    pace_walk_part *parts; /* of the ranks; behind them that of meetings */
    pace_replay replay;
    pace_walk_place *places; /* one per segment */
} compiler;

/* --- streams --------------------------------------------------------------------------------------------------- */

/* Once its launch has reached the device; that counts from the start of the call, which ends the host's segment.
 * Threads are compiled before streams. */
static pace_status wait_for_issue(pace_walk_part *part, uint32_t issue, double lag) {
    return pace_walk_wait_next(part, 0, issue, pace_round(lag) - part->places[issue].call_ns);
}

/* For the launch to have run, in one of the last segment's slots. */
static pace_status wait_for_run(pace_walk_part *part, uint8_t slot, uint32_t repeat, uint32_t launch) {
    uint32_t run = part->instances[repeat].launch_run[launch];
    if (run == PACE_NO_SEGMENT) /* of a stream behind */
        return pace_walk_link(part, slot, PACE_LINK_LAUNCH_END, repeat, launch);
    return pace_walk_wait_next(part, slot, run, 0);
}

/* A launch that meets others arrives first, then runs once all have (compile_meeting() makes it wait). */
static pace_status compile_launch(pace_walk_part *part, uint32_t repeat, uint32_t number) {
    const pace_launch *launch = &part->of->graph->launches.items[number];
    pace_step_instance *here = &part->instances[repeat];
    pace_walk_place place = {.rank = part->rank, .repeat = repeat, .node = PACE_NO_NODE, .launch = number};
    bool meets = pace_walk_meets(part, number), several = pace_launch_of_several(part->of->graph, number);
    double duration = part->of->launch_ns[number];
    int64_t holds_ns = part->options->one_launch ? launch->holds_ns : 0;
    PACE_TRY(pace_walk_add_segment(part, holds_ns, meets ? 0 : duration, place));
    int64_t between_ns = pace_round(part->of->between_ns + (launch->same_call ? part->of->graph_between_ns : 0));
    if (between_ns != 0) PACE_TRY(pace_walk_wait_next(part, PACE_WAIT_OVERLAP, PACE_NO_SEGMENT, between_ns));
    PACE_TRY(wait_for_issue(part, here->launch_issue[number],
                            part->of->launch_lag_ns + (several ? part->of->graph_lag_ns : 0)));
    for (uint8_t k = 0; k < 2; k++)
        if (launch->waits[k] != PACE_NO_LAUNCH)
            PACE_TRY(wait_for_run(part, (uint8_t)(k + 1), repeat, launch->waits[k]));
    if (meets) PACE_TRY(pace_walk_add_segment(part, 0, duration, place));
    here->launch_run[number] = pace_walk_last(part);
    return PACE_OK;
}

static pace_status compile_stream(pace_walk_part *part, uint32_t stream) {
    const pace_lane_lists *kernels = &part->lanes.kernels;
    PACE_TRY(pace_walk_open_lane(part));
    for (uint32_t repeat = 0; repeat < part->options->repeats; repeat++)
        for (uint32_t i = kernels->first[stream]; i < kernels->first[stream + 1]; i++)
            PACE_TRY(compile_launch(part, repeat, kernels->items[i]));
    return PACE_OK;
}

/* --- links ------------------------------------------------------------------------------------------------------- */

/* What a segment that launches does before its call. */
static int64_t before_call_ns(const pace_walk_part *part, uint32_t segment) {
    const pace_segment *s = &part->replay.segments.items[segment];
    return s->delay_ns + s->duration_ns - part->places[segment].call_ns;
}

/* Dependencies count from the end of a segment. The call alone waits for room in a queue, not what comes before it. */
static pace_status resolve(pace_walk_part *part) {
    PACE_ITEMS (const pace_lane_link, link, &part->links) {
        const pace_step_instance *at = &part->instances[link->repeat];
        uint32_t on = link->kind == PACE_LINK_NODE_END ? at->node_end[link->target] : at->launch_run[link->target];
        int64_t lag_ns = link->kind == PACE_LINK_ROOM ? -before_call_ns(part, link->segment) : 0;
        PACE_TRY(pace_walk_wait(part, link->segment, link->slot, on, lag_ns));
    }
    PACE_VEC_FREE(&part->links);
    return PACE_OK;
}

/* --- a rank ------------------------------------------------------------------------------------------------------ */

/* The last lane ends where the part's room does, with nobody's segments of no time. */
static pace_status fill_room(pace_walk_part *part) {
    while (part->replay.segments.count < part->replay.segments.capacity)
        PACE_TRY(pace_walk_add_segment(part, 0, 0, (pace_walk_place){.rank = PACE_NOBODY}));
    return PACE_OK;
}

static pace_status compile_rank(pace_walk_part *part, uint32_t *open) {
    const pace_graph *graph = part->of->graph;
    for (uint32_t thread = 0; thread < graph->thread_count; thread++)
        PACE_TRY(pace_walk_compile_thread(part, thread, open));
    for (uint32_t stream = 0; stream < graph->stream_count; stream++) PACE_TRY(compile_stream(part, stream));
    PACE_TRY(resolve(part));
    return fill_room(part);
}

static pace_status compile_one(void *context, size_t worker, size_t rank) {
    pace_walk_part *part = &((pace_walk_part *)context)[rank];
    uint32_t *open = pace_alloc(part->of->graph->nodes.count + 1, sizeof *open);
    pace_status status = open ? compile_rank(part, open) : PACE_E_MEMORY;
    (void)worker;
    pace_free(open);
    return status;
}

static pace_status open_one(void *context, size_t worker, size_t rank) {
    (void)worker;
    return pace_walk_part_open(&((pace_walk_part *)context)[rank]);
}

/* --- what ranks share --------------------------------------------------------------------------------------------- */

static uint32_t run_of(const compiler *c, const pace_meeting_member *member, uint32_t repeat) {
    return c->parts[member->rank].instances[repeat].launch_run[member->launch];
}

/* A lane on which every member arrives in turn: the last segment ends when the last one has. */
static pace_status compile_meeting(compiler *c, const pace_meeting *meeting, uint32_t repeat) {
    pace_walk_part *part = &c->parts[c->rank_count];
    const pace_meeting_member *members = &c->meetings.members.items[meeting->first];
    PACE_TRY(pace_walk_open_lane(part));
    for (uint32_t i = 0; i < meeting->count; i++) {
        PACE_TRY(pace_walk_add_segment(part, 0, 0, (pace_walk_place){.rank = PACE_NOBODY}));
        PACE_TRY(pace_walk_wait_next(part, 0, run_of(c, &members[i], repeat) - 1, 0));
    }
    for (uint32_t i = 0; i < meeting->count; i++)
        PACE_TRY(pace_walk_wait(part, run_of(c, &members[i], repeat), 0, pace_walk_last(part), 0));
    return PACE_OK;
}

static pace_status compile_meetings(compiler *c) {
    PACE_ITEMS (const pace_meeting, meeting, &c->meetings.items)
        for (uint32_t repeat = 0; meeting->count > 1 && repeat < c->options->repeats; repeat++)
            PACE_TRY(compile_meeting(c, meeting, repeat));
    return pace_walk_open_lane(&c->parts[c->rank_count]); /* the end of the last lane */
}

/* Of a group that is here with one rank alone nobody waits for anybody. */
static pace_walk_room room_of_meetings(const compiler *c) {
    size_t members = 0, lanes = 0;
    PACE_ITEMS (const pace_meeting, meeting, &c->meetings.items)
        if (meeting->count > 1) members += meeting->count, lanes++;
    members *= c->options->repeats;
    return (pace_walk_room){.segments = members, .waits = 2 * members, .lanes = lanes * c->options->repeats + 1};
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

static pace_status open_parts(compiler *c) {
    PACE_TRY(pace_meetings_match(&c->meetings, c->ranks, c->rank_count));
    if (!PACE_MAKE(c->parts, c->rank_count + 1)) return PACE_E_MEMORY;
    for (uint32_t rank = 0; rank < c->rank_count; rank++)
        c->parts[rank] =
            (pace_walk_part){.of = &c->ranks[rank], .options = c->options, .rank = rank, .meetings = &c->meetings};
    PACE_TRY(pace_for_each(c->rank_count, open_one, c->parts));
    c->parts[c->rank_count].room = room_of_meetings(c);
    return PACE_OK;
}

static pace_status place_parts(compiler *c) {
    pace_walk_room room = {0};
    for (size_t i = 0; i <= c->rank_count; i++) {
        room.segments += c->parts[i].room.segments;
        room.waits += c->parts[i].room.waits;
        room.lanes += c->parts[i].room.lanes;
    }
    pace_replay *replay = &c->replay;
    PACE_TRY(pace_grow(&replay->segments.items, &replay->segments.capacity, room.segments, sizeof(pace_segment)));
    PACE_TRY(pace_grow(&replay->waits.items, &replay->waits.capacity, room.waits, sizeof(pace_segment_wait)));
    PACE_TRY(pace_grow(&replay->lane_first.items, &replay->lane_first.capacity, room.lanes, sizeof(uint32_t)));
    c->places = pace_resize(NULL, room.segments + 1, sizeof *c->places); /* all are written */
    if (!c->places) return PACE_E_MEMORY;
    for (size_t i = 0; i <= c->rank_count; i++) pace_walk_part_place(&c->parts[i], replay, c->places);
    return PACE_OK;
}

static pace_status check_length(const compiler *c) {
    double work_ns = 0;
    for (size_t i = 0; i < c->rank_count; i++) work_ns += c->parts[i].work_ns;
    return work_ns < PACE_LONGEST_WALK_NS ? PACE_OK : pace_walk_is_too_long();
}

static void free_parts(compiler *c) {
    for (size_t i = 0; c->parts && i < c->rank_count; i++) pace_walk_part_free(&c->parts[i]);
    pace_free(c->parts);
    c->parts = NULL;
}

static void free_compiler(compiler *c) {
    free_parts(c);
    pace_replay_free(&c->replay);
    pace_meetings_free(&c->meetings);
    pace_free(c->places);
}

static pace_status compile(compiler *c) {
    PACE_TRY(open_parts(c));
    PACE_TRY(place_parts(c));
    PACE_TRY(pace_for_each(c->rank_count, compile_one, c->parts));
    PACE_TRY(compile_meetings(c));
    PACE_TRY(check_length(c));
    free_parts(c);
    return PACE_OK;
}

/* When each segment starts; the caller's to free. */
static pace_status run(int64_t **start_ns, const compiler *c) {
    static const double unchanged[PACE_REPLAY_RESOURCES] = {1};
    int64_t *starts = pace_resize(NULL, c->replay.segments.count + 1, sizeof *starts); /* all are written */
    if (!starts) return PACE_E_MEMORY;
    pace_status status = pace_replay_run(&c->replay, unchanged, starts, NULL);
    return PACE_GIVE(start_ns, starts, status, pace_free(starts));
}

pace_status pace_walk(pace_step *out, const pace_walk_rank *ranks, size_t count, const pace_walk_options *options) {
    compiler c = {.ranks = ranks, .rank_count = count, .options = options};
    int64_t *start_ns = NULL;
    pace_walk_extents *extents = NULL;
    pace_status status = compile(&c);
    if (status == PACE_OK) status = run(&start_ns, &c);
    if (status == PACE_OK)
        status = pace_walk_extents_of(&extents, ranks, count, options->repeats, &c.replay, c.places, start_ns);
    pace_free(start_ns);
    free_compiler(&c); /* most of the memory of a walk: the steps take its place */
    if (status == PACE_OK) status = pace_walk_steps(out, extents);
    pace_walk_extents_free(extents);
    return status;
}

static bool exchanges_gradients(const pace_graph *graph, uint32_t launch) {
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, launch);
    return exchange && exchange->role == PACE_ROLE_GRADIENT;
}

static pace_walk_ends ends_of(const compiler *c, const int64_t *start_ns) {
    pace_walk_ends ends = {0};
    for (size_t i = 0; i < c->replay.segments.count; i++) {
        const pace_walk_place *place = &c->places[i];
        int64_t end_ns = start_ns[i] + c->replay.segments.items[i].duration_ns;
        bool device = place->node == PACE_NO_NODE;
        int64_t *last = device ? &ends.device_ns : &ends.host_ns;
        if (place->rank == PACE_NOBODY) continue;
        if (end_ns > *last) *last = end_ns;
        if (device && start_ns[i] > ends.gradients_ns && exchanges_gradients(c->ranks->graph, place->launch))
            ends.gradients_ns = start_ns[i];
    }
    return ends;
}

pace_status pace_walk_ends_of(pace_walk_ends *out, const pace_walk_rank *rank, const pace_walk_options *options) {
    compiler c = {.ranks = rank, .rank_count = 1, .options = options};
    int64_t *start_ns = NULL;
    pace_status status = compile(&c);
    if (status == PACE_OK) status = run(&start_ns, &c);
    if (status == PACE_OK) *out = ends_of(&c, start_ns);
    pace_free(start_ns);
    free_compiler(&c);
    return status;
}
