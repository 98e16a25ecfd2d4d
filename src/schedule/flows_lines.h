/* When lanes go on and ports are free. Most of these times are an instant's plus one of few latencies, so they are
 * appended to one of a few lines, each in order of time; the others go into a heap. An entry stays as it is until it is
 * taken. Inside of flows*.c. */
#pragma once

#include "base/memory.h"

#include <math.h>

enum { PACE_LINES = 4 };

typedef struct {
    double at_ns;
    uint32_t number;
} pace_due;

typedef struct {
    PACE_VEC(pace_due) due;
    size_t first;
} pace_line;

typedef struct {
    pace_line lines[PACE_LINES];
    PACE_VEC(pace_due) heap;
    double first_ns[PACE_LINES + 1]; /* of every line, and of the heap; INFINITY = it is empty */
    double last_ns[PACE_LINES];      /* of every line; -INFINITY = it is empty */
    double next_ns;                  /* of the first of all */
    int next_line;                   /* its line; PACE_LINES = the heap */
} pace_lines;

void pace_lines_init(pace_lines *lines);
void pace_lines_free(pace_lines *lines);

/** This number is due then, though no line that is not empty ends before. */
pace_status pace_lines_add_elsewhere(pace_lines *lines, uint32_t number, double at_ns) PACE_MUST_CHECK;
/** Takes the first out of the heap. */
uint32_t pace_lines_take_of_heap(pace_lines *lines);
/** A line moves up over what has been taken from it. */
void pace_line_move_up(pace_line *line);

/* The line whose last comes next before it: so a line keeps to one latency. PACE_LINES = none. */
static inline int pace_lines_line_for(const pace_lines *l, double at_ns) {
    int best = PACE_LINES;
    double latest = -INFINITY;
    for (int i = 0; i < PACE_LINES; i++) {
        bool nearer = l->last_ns[i] <= at_ns && l->last_ns[i] > latest;
        latest = nearer ? l->last_ns[i] : latest;
        best = nearer ? i : best;
    }
    return best;
}

/** This number is due then. */
static inline PACE_MUST_CHECK pace_status pace_lines_add(pace_lines *l, uint32_t number, double at_ns) {
    int line = pace_lines_line_for(l, at_ns);
    if (line == PACE_LINES) return pace_lines_add_elsewhere(l, number, at_ns);
    l->last_ns[line] = at_ns;
    return PACE_PUSH(&l->lines[line].due, ((pace_due){at_ns, number}));
}

static inline void pace_lines_find_next(pace_lines *l) {
    double next_ns = l->first_ns[PACE_LINES];
    int next = PACE_LINES;
    for (int i = 0; i < PACE_LINES; i++) {
        bool sooner = l->first_ns[i] < next_ns;
        next_ns = sooner ? l->first_ns[i] : next_ns;
        next = sooner ? i : next;
    }
    l->next_ns = next_ns;
    l->next_line = next;
}

/* A line that has run empty begins anew; one that never does moves up when more than half of it has been taken. */
static inline uint32_t pace_lines_take_of_line(pace_lines *l, int number) {
    pace_line *line = &l->lines[number];
    uint32_t taken = line->due.items[line->first++].number;
    if (line->first == line->due.count) {
        line->first = line->due.count = 0;
        l->first_ns[number] = INFINITY;
        l->last_ns[number] = -INFINITY;
        return taken;
    }
    l->first_ns[number] = line->due.items[line->first].at_ns;
    if (line->first == line->due.capacity / 2 + 1) pace_line_move_up(line);
    return taken;
}

/** Takes out the first; there is one. */
static inline uint32_t pace_lines_take(pace_lines *l) {
    uint32_t number = l->next_line < PACE_LINES ? pace_lines_take_of_line(l, l->next_line) : pace_lines_take_of_heap(l);
    pace_lines_find_next(l);
    return number;
}

/** The number that is taken `ahead` after the one just taken, if none comes between; UINT32_MAX = not known. */
static inline uint32_t pace_lines_ahead(const pace_lines *lines, size_t ahead) {
    if (lines->next_line == PACE_LINES) return UINT32_MAX;
    const pace_line *line = &lines->lines[lines->next_line];
    return line->first + ahead < line->due.count ? line->due.items[line->first + ahead].number : UINT32_MAX;
}
