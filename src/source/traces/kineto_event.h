/* One trace event as read, before it becomes a task; and the tables that name its parts. Private to source/. */
#pragma once

#include "base/json_habit.h"
#include "source/traces/kineto_texts.h"
#include "step/step.h"

enum { PACE_ID_TEXT = 64 };

/* How a kernel was launched: the lines of pace_step_launch(). */
enum { PACE_SHAPE_DIMS_PART, PACE_SHAPE_TYPES_PART, PACE_SHAPE_CONCRETE_PART, PACE_SHAPE_PARTS };
enum { PACE_LAUNCH_GRID, PACE_LAUNCH_BLOCK, PACE_LAUNCH_OCCUPANCY, PACE_LAUNCH_BLOCKS_PER_SM, PACE_LAUNCH_PARTS };

/* A category as it is written, and what it says. */
typedef struct {
    char text[32];
    size_t length; /* 0 = none, or too long to be kept */
    pace_task_kind kind;
    bool known, autograd, counts;
    bool passed; /* the profiler's own, which becomes no task */
} pace_kineto_category;

enum { PACE_KINETO_CATEGORIES = 16 };

typedef struct {
    char phase; /* 0 = none */
    pace_task_kind kind;
    bool known_category;
    bool autograd; /* a flow from a forward operator to its backward operator */
    bool has_category;
    bool counts;       /* a range of hardware counters */
    bool reads_arrows; /* across events: arrows that no reader of steps needs are read whole too */
    pace_name name;
    char pid[PACE_ID_TEXT], tid[PACE_ID_TEXT];
    bool has_start;
    int64_t start_ns, duration_ns;
    /* args */
    int64_t device, stream; /* -1 = not given */
    uint64_t correlation, external, id;
    int64_t wait_stream;             /* -1 = not given */
    uint64_t record_correlation;     /* 0 = not given */
    int64_t sequence;                /* -1 = not given */
    int64_t forward_thread;          /* 0 = none */
    int64_t bytes;                   /* -1 = not given */
    pace_memory_event memory;        /* of an instant named "[memory]"; its totals -1 = not given */
    PACE_VEC(pace_counter) counters; /* of a range; only names and values */
    bool has_shapes, has_exchange;
    pace_exchange_info exchange;
    pace_name shapes[PACE_SHAPE_PARTS];  /* in `texts`; 0 = not given */
    pace_name launch[PACE_LAUNCH_PARTS]; /* the same */
    pace_kineto_texts texts;             /* across events */
    /* the categories seen, across events: the last one's place, how many are kept; the last place is for all others */
    size_t category, category_count;
    pace_kineto_category categories[PACE_KINETO_CATEGORIES];
    /* how this file writes events, and the arguments of each kind of task */
    pace_json_habit members, args[PACE_TASK_KINDS];
} pace_kineto_event;

/** Resets everything but what is kept across events. */
void pace_kineto_event_clear(pace_kineto_event *event);
void pace_kineto_event_free(pace_kineto_event *event);

/** Reads the members of one event object whose '{' was the last token. Returns OBJECT_END, ERROR or TRUNCATED. */
pace_json_token pace_kineto_event_read(pace_kineto_event *event, pace_json *json, pace_names *names,
                                       pace_status *status);

/** The scalar at hand as interned text, escapes decoded. */
pace_status pace_kineto_intern(pace_name *out, pace_json *json, pace_names *names) PACE_MUST_CHECK;
