/*
 * Where the steps of a trace begin and end.
 */
#pragma once

#include "insight/steps/stage_words.h"

typedef struct {
    pace_name label;
    int64_t start_ns, end_ns; /* the host window of its annotation */
    int64_t from_ns, to_ns;   /* the device interval (DESIGN: end of the last compute kernel of the step before, to
                                 the end of this step's last); set by pace_marks_set_intervals() */
    bool left_out;            /* a step of the same family that the expression does not match, or a broken one */
    bool broken;              /* the file breaks off in it, or before it */
} pace_mark;

typedef enum { PACE_MARKS_NONE, PACE_MARKS_ANNOTATED, PACE_MARKS_PERIODIC } pace_marks_origin;

typedef struct {
    PACE_VEC(pace_mark) items; /* by start */
    pace_marks_origin origin;
    double certainty; /* 1 when annotated; for periodic ones the share of occurrences that fit the period */
    pace_name
        basis; /* the name that repeats; of annotated steps the first that was found by its recurrence, 0 where the
                          profiler or an expression says which annotations are steps */
    int64_t since_ns; /* what the host issued earlier is no step's; before the first mark where steps were cut off */
    int64_t until_ns; /* what the host issues later is no step's: the trace runs on without annotations */
    PACE_VEC(uint32_t) lanes; /* host threads with a step's annotation, the first few, by number */
} pace_marks;

/** Finds steps: outermost annotations matching `regex`, or when NULL the steps a slice was cut for, ProfilerStep#, else
 * annotations that recur as steps do, else the operator that repeats most regularly. No steps is no error. PACE_E_USAGE
 * for a bad expression. Steps that the expression leaves out of a family it matches (names equal but for their numbers)
 * are found too, so that a choice of steps changes no step's interval: pace_marks_choose() drops them once the
 * intervals are set. */
pace_status pace_marks_find(pace_marks *out, pace_step *step, const pace_stage_words *words,
                            const char *regex) PACE_MUST_CHECK;

/** Drops the steps that are left out. */
void pace_marks_choose(pace_marks *marks);
void pace_marks_free(pace_marks *marks);

/** Whether a name may mark a step when no expression says which do. */
bool pace_name_may_mark_step(const pace_stage_words *words, const char *name);

/** The number of a step: the digits its label ends with ("ProfilerStep#1009", "step 3") where all labels have them in
 * ascending order, else its place, from 1. */
int64_t pace_mark_number(const pace_marks *marks, const pace_names *names, size_t mark);

/** The numbers of all steps: room for as many as there are marks. */
void pace_mark_numbers(int64_t *out, const pace_marks *marks, const pace_names *names);

/** The step a host instant belongs to (its annotation or the gap behind it), or -1 before the first. */
ptrdiff_t pace_marks_at(const pace_marks *marks, int64_t host_ns);
