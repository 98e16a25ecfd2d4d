/* When lanes go on and ports are free. Most of these times are an instant's plus one of few latencies, so they are
 * appended to one of a few lines, each in order of time; the others go into a heap. An entry stays as it is until it is
 * taken. Inside of flows*.c. */
#pragma once

#include "schedule/flows_due.h"

enum { PACE_LINES = 4 };

typedef struct {
    PACE_VEC(pace_due) due;
    size_t first;
} pace_line;

typedef struct {
    pace_line lines[PACE_LINES];
    PACE_VEC(pace_due) heap;
    double next_ns; /* of the first of all */
    int next_line;  /* its line; PACE_LINES = the heap */
} pace_lines;

void pace_lines_init(pace_lines *lines);
void pace_lines_free(pace_lines *lines);

/** This number is due then. */
pace_status pace_lines_add(pace_lines *lines, uint32_t number, double at_ns) PACE_MUST_CHECK;

/** Takes out the first; there is one. */
uint32_t pace_lines_take(pace_lines *lines);

/** The number that is taken `ahead` after the one just taken, if none comes between; UINT32_MAX = not known. */
static inline uint32_t pace_lines_ahead(const pace_lines *lines, size_t ahead) {
    if (lines->next_line == PACE_LINES) return UINT32_MAX;
    const pace_line *line = &lines->lines[lines->next_line];
    return line->first + ahead < line->due.count ? line->due.items[line->first + ahead].number : UINT32_MAX;
}
