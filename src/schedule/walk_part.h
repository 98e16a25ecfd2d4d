/*
 * The part of a walk that is one rank's, while it is compiled: lanes, their segments and what these wait for.
 *
 * Parts lie side by side in the arrays of the walk, each with room for all that its graph may become, so that ranks are
 * compiled at once. Segments have the walk's numbers from the first on.
 */
#pragma once

#include "base/numbers.h"
#include "schedule/meetings.h"
#include "schedule/walk_timeline.h"
#include "step/graph_lanes.h"

/* A link between lanes, resolved once every segment has its place. */
typedef enum {
    PACE_LINK_NODE_END,
    PACE_LINK_LAUNCH_END,
    PACE_LINK_ROOM /* a launch that has ended makes room for another's */
} pace_link_kind;

typedef struct {
    uint32_t segment, target, repeat; /* of the target */
    uint8_t kind, slot;
} pace_lane_link;

typedef struct {
    uint32_t *node_end;     /* per node: the thread's last segment when it ends, PACE_NO_SEGMENT = none yet */
    uint32_t *launch_issue; /* per launch: the host segment that issues it */
    uint32_t *launch_run;   /* per launch: its segment on the stream */
} pace_step_instance;

typedef struct {
    size_t segments, waits, lanes;
} pace_walk_room;

typedef struct {
    const pace_walk_rank *of; /* NULL: the part of what ranks share */
    const pace_walk_options *options;
    uint32_t rank;
    const pace_meetings *meetings;
    pace_walk_room room; /* at most so much is needed */
    pace_graph_lanes lanes;
    pace_step_instance *instances; /* by repeat */
    double *overheads;             /* kind * names + name -> ns, behind them plain launches; below 0 = not yet known */
    uint8_t *says;                 /* name -> what it says of a node, PACE_SAYS_… */
    double parameters;             /* of its optimizer; 0 = nothing is known by them */
    pace_replay replay;            /* the walk's arrays; they are full where the part's room is */
    pace_walk_place *places;       /* the walk's: one per segment */
    PACE_VEC(pace_lane_link) links;
    double work_ns; /* of all segments: no sum of times on any path is more */
} pace_walk_part;

/* Looked up once a name: steps have millions of nodes and hundreds of names. */
enum { PACE_SAYS_KNOWN = 1, PACE_SAYS_STEP = 2, PACE_SAYS_OPTIMIZER = 4 };

/* T5 of operators that make no call is kept apart, behind the types. */
enum { PACE_T5_OF_SILENT = PACE_OVERHEAD_TYPES, PACE_OVERHEAD_KINDS };

uint8_t pace_walk_look_at_name(const pace_walk_part *part, pace_name name);

static inline bool pace_walk_says(const pace_walk_part *part, pace_name name, unsigned what) {
    uint8_t known = part->says[name];
    return ((known ? known : pace_walk_look_at_name(part, name)) & what) != 0;
}

/** Whether a launch meets others: of a group that is here with one rank alone nobody waits for anybody. */
static inline bool pace_walk_meets(const pace_walk_part *part, uint32_t launch) {
    const uint32_t *of = part->meetings->of[part->rank];
    return of && of[launch] != PACE_NO_MEETING && part->meetings->items.items[of[launch]].count > 1;
}

/** Whether the host costs nothing. */
bool pace_walk_host_is_free(const pace_walk_options *options);

/** Lists the rank's lanes and finds how much room it needs; `part->of` and what is above it are set. Free it also after
 * a failure. */
pace_status pace_walk_part_open(pace_walk_part *part) PACE_MUST_CHECK;
void pace_walk_part_free(pace_walk_part *part);

/** Gives the part its room in the arrays of a walk, behind what they hold. */
void pace_walk_part_place(pace_walk_part *part, pace_replay *replay, pace_walk_place *places);

pace_status pace_walk_part_is_full(void) PACE_MUST_CHECK;
pace_status pace_walk_is_too_long(void) PACE_MUST_CHECK;

/* Past it times of kernels and operators are a slip in sizes or figures, and their sums would leave 64 bits. */
#define PACE_LONGEST_WALK_NS 1e18

static inline pace_status pace_walk_open_lane(pace_walk_part *part) {
    if (part->replay.lane_first.count == part->replay.lane_first.capacity) return pace_walk_part_is_full();
    part->replay.lane_first.items[part->replay.lane_first.count++] = (uint32_t)part->replay.segments.count;
    return PACE_OK;
}

static inline pace_status pace_walk_add_segment(pace_walk_part *part, int64_t delay_ns, double duration_ns,
                                                pace_walk_place place) {
    size_t at = part->replay.segments.count;
    part->work_ns += (double)delay_ns + duration_ns;
    if (!(part->work_ns < PACE_LONGEST_WALK_NS)) return pace_walk_is_too_long();
    if (at == part->replay.segments.capacity) return pace_walk_part_is_full();
    part->replay.segments.items[at] =
        (pace_segment){.duration_ns = pace_round(duration_ns), .delay_ns = delay_ns, .task = (uint32_t)at};
    part->places[at] = place;
    part->replay.segments.count++;
    return PACE_OK;
}

/** The segment added last. */
static inline uint32_t pace_walk_last(const pace_walk_part *part) { return (uint32_t)part->replay.segments.count - 1; }

/** The last segment waits for another one, in a slot behind those that it has; no other has had a wait since. */
static inline pace_status pace_walk_wait_next(pace_walk_part *part, unsigned slot, uint32_t on, int64_t lag_ns) {
    size_t at = part->replay.waits.count;
    pace_segment *segment = &part->replay.segments.items[pace_walk_last(part)];
    if (at == part->replay.waits.capacity) return pace_walk_part_is_full();
    part->replay.waits.items[at] = (pace_segment_wait){.lag_ns = lag_ns, .on = on, .slot = slot & 3};
    if (segment->wait) part->replay.waits.items[at - 1].next = (uint32_t)(at + 1) & PACE_WAITS_MOST;
    else segment->wait = (uint32_t)(at + 1);
    part->replay.waits.count++;
    return PACE_OK;
}

/** A segment waits for another one in one of its slots. */
pace_status pace_walk_wait(pace_walk_part *part, uint32_t segment, unsigned slot, uint32_t on,
                           int64_t lag_ns) PACE_MUST_CHECK;

/** The last segment waits for the target, in one of its slots. */
pace_status pace_walk_link(pace_walk_part *part, uint8_t slot, pace_link_kind kind, uint32_t repeat,
                           uint32_t target) PACE_MUST_CHECK;
