/* A timeline as it is packed. Private to the files that pack and write it. */
#pragma once

#include "report/timeline.h"

enum { PACE_OVERVIEW_PARTS = 240 }; /* of a lane, in the picture that needs no script */

typedef PACE_VEC(unsigned char) pace_packed;

typedef struct {
    char *name;
    pace_timeline_lane_kind kind;
    size_t count;
    int64_t last_start_ns, last_end_ns;
    size_t last_cause;
    bool merged, caused, detailed; /* whether the columns hold anything */
    /* columns of variable-length numbers; docs/page.md */
    pace_packed starts, durations, labels, counts, causes, details;
    int64_t *overview_ns; /* of open groups and the first: time by part and class */
} pace_packed_lane;

typedef struct {
    char *name;
    bool open;
    PACE_VEC(pace_packed_lane) lanes;
} pace_packed_group;

struct pace_timeline {
    pace_status status; /* the first failure */
    int64_t from_ns, to_ns;
    size_t slices;
    pace_names names;   /* all texts */
    pace_names labels;  /* pace_slice_label, as bytes */
    pace_names details; /* pace_packed_detail, as bytes */
    pace_texts notes;
    PACE_VEC(pace_packed_group) groups;
};

/* Without padding: equal bytes are equal labels. */
typedef struct {
    uint32_t name, stage; /* pace_name */
    uint32_t color, kind;
} pace_slice_label;

/* The same of a pace_slice_detail. */
typedef struct {
    uint32_t shapes, launch, module, collective, dtype, group; /* pace_name */
    int64_t group_size;
    double flop, bytes;
} pace_packed_detail;

pace_status pace_timeline_open(pace_timeline *timeline, int64_t from_ns, int64_t to_ns) PACE_MUST_CHECK;
void pace_timeline_close(pace_timeline *timeline);
