/* Answers over time: what was stored of each, and whether the last ones differ from those before. */
#pragma once

#include "ask/engine_options.h"
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
    size_t asked;        /* how many of the last ones were to be; with no more values than these it is the last alone */
    double before_median, last_median;
    double more;             /* by what share the last median is more than that before; from nothing infinitely */
    double ratio, low, high; /* of the last median to that before; NAN = not known, or that before is not above 0 */
    double p;
    pace_change_verdict verdict;
    pace_level_change level; /* of pace_value_history_find() alone */
    bool more_is_better;     /* a rate, or a share of the peak that is reached */
} pace_value_history;

/** Its place in the series; PACE_E_USAGE when no run of the series has it, naming the closest. */
pace_status pace_value_history_find(pace_value_history *out, const pace_results *results, const char *series,
                                    const char *path, const pace_history_options *options) PACE_MUST_CHECK;
/** The same of figures that are of one path and one series, by run. */
pace_status pace_value_history_of(pace_value_history *out, const pace_stored_figure *const *figures, size_t count,
                                  const pace_history_options *options) PACE_MUST_CHECK;
void pace_value_history_free(pace_value_history *history);

typedef PACE_VEC(const char *) pace_series_list; /* borrowed from the results; free with PACE_VEC_FREE */

/** The series that are asked about, in the order of their first runs: PACE_E_USAGE lists those that there are. */
pace_status pace_history_series(pace_series_list *out, const pace_results *results, const char *asked) PACE_MUST_CHECK;

/** Whether the last values, or the level they came to, are worse by more than a share, and not by chance. */
bool pace_history_is_worse(const pace_value_history *history, double limit);

/** The path of the value that answers of a verb are about, in the order of preference: the `number`-th, from 0; NULL =
 * there are no more. */
const char *pace_history_value_of(const char *verb, size_t number);

/** How much worse `more` is, as a share: 0.05 = 5 % longer, or 5 % less of a rate. */
double pace_history_worse_by(const pace_value_history *history, double more);

/** By what share `now` is more than `before`; from nothing infinitely. */
double pace_share_more(double before, double now);
