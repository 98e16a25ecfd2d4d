/*
 * A timeline of a page: groups (ranks) of lanes (threads, streams) of slices. It is drawn when a page is written, not
 * when a report is built, for no other format has it: a builder gives a function that fills it (pace_node_timeline).
 * Slices are packed as they come (docs/page.md has the format), so that a page holds some hundred thousand of them.
 */
#pragma once

#include "base/json_writer.h"
#include "report/report_node.h"

typedef enum {
    PACE_SLICE_OPERATOR, /* the first ones are those of pace_task_kind, in its order */
    PACE_SLICE_ANNOTATION,
    PACE_SLICE_PYTHON,
    PACE_SLICE_CALL,
    PACE_SLICE_KERNEL,
    PACE_SLICE_COPY,
    PACE_SLICE_MEMSET,
    PACE_SLICE_SYNC,
    PACE_SLICE_OTHER,
    PACE_SLICE_STEP,
    PACE_SLICE_STAGE,
    PACE_SLICE_RESOURCE,
    PACE_SLICE_PATH,
    PACE_SLICE_WORK, /* of a rank as a whole: a pass of a pipeline, a send */
    PACE_SLICE_KINDS
} pace_slice_kind;

/* In the order in which a group shows them. */
typedef enum { PACE_LANE_SUMMARY, PACE_LANE_STREAM, PACE_LANE_THREAD } pace_timeline_lane_kind;

/* What a slice computes, moves or exchanges. NULL and 0 = unknown. */
typedef struct {
    const char *shapes; /* as traces write them: dimensions, types, values, a line each */
    const char *launch; /* grid, block, occupancy in percent, blocks per multiprocessor, a line each */
    const char *module; /* of work of the backward pass: the module that it differentiates */
    const char *collective, *dtype, *group;
    int64_t group_size;
    double flop, bytes;
} pace_slice_detail;

typedef struct {
    int64_t start_ns, end_ns;
    const char *name;
    pace_class color;
    pace_slice_kind kind;
    const char *stage; /* NULL = of none */
    size_t count;      /* tasks it stands for; 0 = one */
    size_t cause;      /* the number of the slice that launched it, or of the forward operator; 0 = none */
    const pace_slice_detail *detail; /* NULL = nothing more is known */
} pace_timeline_slice;

/** Begins a group; one that is `open` shows its lanes at first. */
void pace_timeline_group(pace_timeline *timeline, const char *name, bool open);

/** Begins a lane of the last group. */
void pace_timeline_lane(pace_timeline *timeline, const char *name, pace_timeline_lane_kind kind);

/** Adds a slice to the last lane and returns its number, from 1 over the whole timeline. Starts should ascend,
 * enclosing slices before enclosed ones. */
size_t pace_timeline_put(pace_timeline *timeline, const pace_timeline_slice *slice);

/** What the timeline leaves out or merges, for people. */
void pace_timeline_note(pace_timeline *timeline, const char *format, ...) PACE_PRINTF(2, 3);

/** Writes the `number`-th timeline of a page: a picture that needs no script, notes, and the data for the script. */
pace_status pace_render_timeline(pace_sink *sink, const pace_held_timeline *held, unsigned number) PACE_MUST_CHECK;
