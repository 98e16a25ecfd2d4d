/* What reading and understanding traces is asked with. */
#pragma once

#include "base/progress.h"
#include "insight/steps/step_choice.h"

/** Options of pace_analyze() and pace_compare(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *step_regex; /**< POSIX extended regular expression of step annotations; NULL = find them */
    pace_step_choice steps; /**< which of them */
    bool has_rank;          /**< `rank` is reported, instead of the one that is chosen */
    int64_t rank;
    const char *rank_field;     /**< the field that names it; NULL = "rank" */
    const char *filter;         /**< rows of operators, kernels and modules whose name matches; NULL = all */
    const char *stage;          /**< work of this stage in the same tables; NULL = of all */
    size_t rows_shown;          /**< so many rows of each table are shown to people; 0 = as many as each table shows */
    const char *overheads_path; /**< write the host-overhead samples to this file; NULL = do not */
    double profiler_event_us;   /**< profiler cost to take off per recorded host event, microseconds */
    bool profiler_guess;        /**< guess that cost from the trace instead */
    const char *device;         /**< the device, or the machine it is in, by name; NULL = from the trace */
    const char *device_field;   /**< the field that names it, which must agree with the trace; NULL = need not */
    double samples_per_step;    /**< samples (or tokens) a step trains on, for throughput; 0 = unknown */
    bool check;                 /**< run the invariant checker on everything that is built */
    const pace_processes *processes; /**< that share the reading; NULL = this one reads all */
    pace_progress progress;          /**< may be NULL */
} pace_analyze_options;
