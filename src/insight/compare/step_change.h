/* Two ranks' steps against each other: how much longer one's are, and whether that is more than steps differ anyway.
 * Ranks of one run end their steps together: what they do themselves, without waiting for late ranks, is compared. */
#pragma once

#include "base/interval.h"
#include "base/rank_test.h"
#include "insight/compare/step_series.h"
#include "insight/steps/typical_step.h"

typedef enum {
    PACE_CHANGE_NONE,    /* a side has no step that did work, or none that the file holds to its end */
    PACE_CHANGE_UNKNOWN, /* one value each: nothing is known of how they differ */
    PACE_CHANGE_TOO_FEW, /* no difference between so few could be told from chance */
    PACE_CHANGE_CHANCE,  /* values of one kind differ as much in more than one case of twenty */
    PACE_CHANGE_REAL
} pace_change_verdict;

extern const char *const pace_change_verdict_names[];

/** Of samples of these sizes, by their test. */
pace_change_verdict pace_change_judge(size_t a_count, size_t b_count, const pace_rank_test *test);

/* The usual steps of a rank: warm-up and outliers are left out. */
typedef struct {
    const pace_rank *rank;
    pace_typical_step typical;
    PACE_VEC(int64_t)
    lengths_ns; /* in order; of a rank without steps the length of its trace; of its own time, if that is compared */
    int64_t waits_ns;       /* for late ranks, in the typical step; 0 unless own time is compared */
    double spread;          /* a robust standard deviation, relative */
    int64_t from_ns, to_ns; /* all its steps */
    pace_intervals usual;   /* the usual ones; all, if none is */
    size_t steps;           /* of these; 0 = the trace has no steps that did work */
    pace_step_shift shift;  /* of its own steps: from which on all take longer, or less */
    bool broken;            /* it has none because the file breaks off in them */
} pace_step_side;

typedef struct {
    pace_step_side a, b;
    bool own;         /* own time is compared: of two ranks of one run */
    double ratio;     /* of b's typical step, or its own time, to a's */
    double low, high; /* 90 % interval of it; NAN = too few steps */
    double p;
    double correlation; /* of neighbouring steps, on both sides */
    pace_change_verdict verdict;
} pace_step_change;

/** Both ranks must be tiled; they are borrowed. `one_run` = they were recorded together. */
pace_status pace_step_change_find(pace_step_change *out, const pace_rank *a, const pace_rank *b,
                                  bool one_run) PACE_MUST_CHECK;
void pace_step_change_free(pace_step_change *change);

/** The length of a side's typical step. */
static inline int64_t pace_typical_ns(const pace_step_side *side) {
    return side->typical.to_ns - side->typical.from_ns;
}

/** What is compared of it. */
static inline int64_t pace_compared_ns(const pace_step_side *side) { return pace_typical_ns(side) - side->waits_ns; }

/** The steps whose work is compared; NULL = all work of a trace without steps. */
static inline const pace_intervals *pace_compared_steps(const pace_step_side *side) {
    return side->steps ? &side->usual : NULL;
}

/** Per step, of what takes so long in all of a side's compared steps. */
double pace_per_step(const pace_step_side *side, int64_t time_ns);
