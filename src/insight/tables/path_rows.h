/* A critical path summed up: by what it runs through, and by rank. */
#pragma once

#include "insight/critical.h"

/* All pieces of one name, advice and kind. */
typedef struct {
    const char *name; /* "" = nothing recorded; borrowed from a rank's step */
    uint32_t rank;
    pace_name number; /* of the name, in that rank's step */
    uint8_t resource; /* pace_advice */
    bool waiting;     /* the delay before the task, not the task itself */
    int64_t time_ns;
    size_t count;
} pace_path_row;

typedef struct {
    pace_path_row *items; /* the longest first */
    size_t count;
} pace_path_rows;

pace_status pace_path_rows_of(pace_path_rows *out, const pace_critical *critical,
                              const pace_analysis *analysis) PACE_MUST_CHECK;
void pace_path_rows_free(pace_path_rows *rows);

/** How often the path comes to a rank. */
int64_t pace_path_visits(const pace_critical *critical, uint32_t rank);
