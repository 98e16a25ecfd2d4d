/* Answers over time: what was stored of each, and whether the last ones differ from those before. */
#pragma once

#include "ask/engine_options.h"
#include "base/texts.h"
#include "base/warning.h"
#include "insight/compare/step_change.h"
#include "source/results_store.h"

/* Options of pace_history(). Zero-initialise for defaults. */
typedef struct {
    const char *series; /* NULL = all */
    const char *value;  /* the path of a value; NULL = the step time of the series' verb */
    size_t last;        /* so many of the last runs are held against those before; 0 = 3 */
    size_t window;      /* of so many runs, the last of the series; 0 = 50 */
    bool has_limit;     /* whether their median may be worse by the share `limit` at most */
    double limit;
    size_t rows_shown;
} pace_history_options;

/* Where the runs of the window last came to another level, by more than chance (one series of a hundred). The last
 * changes count as one as long as they go the same way: `at` is the largest of them. */
typedef struct {
    bool found;
    size_t at;            /* the first value of the level that lasts to now */
    double before, after; /* medians: of the level before, of the one that lasts */
    double more;          /* by what share it is more; from nothing infinitely */
    double p;
} pace_level_change;

/* One value over the runs of a series that have it. */
typedef struct {
    const char *path; /* borrowed from the results */
    PACE_VEC(size_t) runs;
    PACE_VEC(double) values;
    size_t before, last; /* how many values are held against each other */
    size_t enough;       /* how many must come before those asked for to tell a change */
    size_t asked;        /* how many of the last ones were to be; with no more values than these it is the last alone */
    double before_median, last_median;
    double more;             /* by what share the last median is more than that before; from nothing infinitely */
    double ratio, low, high; /* of the last median to that before; NAN = not known, or that before is not above 0 */
    double p;
    pace_change_verdict verdict;
    pace_level_change level; /* of pace_value_history_find() alone */
    bool more_is_better;     /* a rate, or a share of the peak that is reached */
} pace_value_history;

typedef struct {
    const char *series; /* borrowed */
    pace_value_history value;
} pace_series_history;

/* One of all values of the series that is shown whole. */
typedef struct {
    const char *path;    /* borrowed */
    double before, last; /* medians */
    double change, p;    /* change: a share; NAN = from zero */
    bool among_all;      /* it counts as a change also among so many values */
} pace_value_change;

typedef struct {
    pace_texts files;
    pace_warnings warnings;
    pace_results results;
    PACE_VEC(pace_series_history) series;
    size_t shown;                        /* of these, the one that became worst */
    size_t left_out;                     /* series of which no run has the value */
    PACE_VEC(pace_value_change) changes; /* no chance alone; the largest first */
} pace_history_asked;

/** Errors: those of reading the files; PACE_E_USAGE for options without a meaning, and where no series has the value.
 * Free `out`, which begins as zeros, after a failure too. */
pace_status pace_history_ask(pace_history_asked *out, const char *const *paths, size_t count,
                             const pace_history_options *options) PACE_MUST_CHECK;
void pace_history_asked_free(pace_history_asked *asked);

/** Whether the last values, or the level they came to, are worse by more than a share, and not by chance. */
bool pace_history_is_worse(const pace_value_history *history, double limit);

/** How much worse `more` is, as a share: 0.05 = 5 % longer, or 5 % less of a rate. */
double pace_history_worse_by(const pace_value_history *history, double more);

/** By what share `now` is more than `before`; from nothing infinitely. */
double pace_share_more(double before, double now);
