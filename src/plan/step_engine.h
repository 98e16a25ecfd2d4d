/*
 * The one road to the time of a model's step. Whoever asks (a verb's options, a row of a table, a number of workers)
 * words a pace_step_case. A step that is lowered whole is walked (forecast/forecast.h); its closed form (step_time.h)
 * checks the walk and says what parts and memory it has. Of many micro-batches that are alike few are walked
 * (forecast/micro_batch_fold.h). What no walk lowers yet (other frameworks than PyTorch) is answered by the closed
 * form.
 */
#pragma once

#include "forecast/forecast.h"
#include "plan/step_case.h"

/* The last outline of a screened case. */
typedef struct {
    const pace_model *model; /* NULL = none */
    pace_step_plan plan;
} pace_step_outlined;

/* What pricing keeps between cases. For one thread. */
typedef struct {
    pace_catalog *catalog; /* borrowed */
    pace_cost *cost;
    pace_price_cache prices;
    pace_slot_cache *slots;
    pace_step_hosts hosts;
    pace_step_outlined outlined;
} pace_step_pricer;

pace_status pace_step_pricer_open(pace_step_pricer *out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_step_pricer_close(pace_step_pricer *pricer);

/* Memory is known to a quarter or so (catalog/doubts.yaml, memory): between fitting and not, nobody can say. */
typedef enum { PACE_FITS, PACE_MAY_FIT, PACE_TOO_LARGE } pace_step_fitting;
/** Whether a need fits into what a device has; has 0 = unknown, it fits. */
pace_step_fitting pace_step_fits(double need_bytes, double has_bytes, const pace_doubts *doubts);
/** Whether it fits even if it needs as much more as memory is not known. */
bool pace_step_surely_fits(double need_bytes, double has_bytes, const pace_doubts *doubts);
extern const char *const pace_step_fitting_names[]; /* "yes", "maybe", "no" */

/* What a plan needs of a memory, and what there is; 0 = unknown. */
typedef struct {
    double need_bytes, has_bytes;
    bool of_host; /* of a node; else of a device */
} pace_step_room;
/** Of the host where it has less than the ranks of a node keep there, else of a device, which needs `more_bytes`
 * beside the plan's own. */
pace_step_room pace_step_tightest(const pace_step_plan *plan, double more_bytes);

typedef struct {
    pace_estimate time_s;
    bool walked;
    pace_step_plan plan;       /* its slots are borrowed until the pricer's next case */
    pace_estimate closed_s;    /* the closed form's; with what the slowest rank takes longer, as time_s */
    double closed_skew_s;      /* of that: waiting for the slowest rank */
    pace_step_fitting fitting; /* into the tightest memory */
    bool recomputed;           /* all activations are, unasked: else the step does not fit into memory */
    uint32_t folded;           /* walked: rounds of micro-batches that were left out, since they are alike */
    double forward_backward_s; /* walked: without what nothing hides of exchanges */
    pace_forecast_exchange exchange;
    pace_doubts_used used; /* what time_s rests on; of the closed form what is not the form itself */
} pace_step_solution;

/** Why a case is not walked but answered in closed form, as half a sentence; static; NULL = it is walked. */
const char *pace_step_why_closed(const pace_step_case *asked);
bool pace_step_is_walked(const pace_step_case *asked);

/** Whether pace_step_forecast() lowers the case, of whatever framework: training on accelerators, not too large. */
bool pace_step_has_operators(const pace_step_case *asked);

/** How PyTorch's ranks exchange gradients unless given: "ddp" of catalog/approaches.yaml. */
pace_status pace_step_usual_approach(pace_approach *out, pace_catalog *catalog) PACE_MUST_CHECK;

/** A forecast of a case that has operators, for what-ifs beside its answer. `name` is borrowed. */
pace_status pace_step_forecast(pace_forecast *out, pace_catalog *catalog, const pace_step_case *asked,
                               const char *name) PACE_MUST_CHECK;

/** Walks a settled case with fewer micro-batches, which say all that the whole step does: `out` is that of the forecast
 * under the scenario, and both are the caller's. *folded = false where the case has no rounds that are alike: neither
 * is made. `name` is borrowed. Operators that are left out take no time, but nothing is named after them. */
pace_status pace_step_walk_folded(pace_forecast *forecast, pace_forecast_result *out, bool *folded,
                                  pace_catalog *catalog, const pace_step_case *asked, const pace_step_plan *plan,
                                  const pace_scenario *scenario, const char *name,
                                  pace_operators operators) PACE_MUST_CHECK;

/** The closed form of a case, which may become one with all activations recomputed: of `out` everything but what a walk
 * finds; time_s is the closed form's. Errors: those of pace_step_plan_make(), and PACE_E_USAGE
 * for a precision that the device has no rate for. */
pace_status pace_step_settle(pace_step_solution *out, pace_step_pricer *pricer, pace_step_case *asked) PACE_MUST_CHECK;

/** The memory of a case, as pace_step_settle() would find it, and whether it fits: nothing is priced, and `out` holds
 * nothing else. Errors: those of pace_step_settle(), but for groups that no exchange is known for. */
pace_status pace_step_weigh(pace_step_solution *out, pace_step_pricer *pricer,
                            const pace_step_case *asked) PACE_MUST_CHECK;

/* Beyond which times of configurations are not asked for: of those that surely fit into memory, and of those that fit
 * closely. */
typedef struct {
    double sure_s, close_s;
} pace_step_limits;

/** pace_step_settle() for a search: memory, whether it fits, and where it does the closed form's time. Of a
 * configuration that does not fit, or surely takes longer than its limit, closed_s has the median INFINITY. `out` holds
 * nothing else. Fields of the configuration are sound by themselves. Errors: those of pace_step_settle(). */
pace_status pace_step_screen(pace_step_solution *out, pace_step_pricer *pricer, const pace_step_case *asked,
                             const pace_step_limits *limits) PACE_MUST_CHECK;

/** Widens the answer to a case that does not say how its attention runs, whose device is not NVIDIA's, whose optimizer
 * is on the host, or whose framework runs modules of many kinds; the second, of one that does not say where its tables
 * lie, or whose products are in 4 bits. `used` (may be NULL) then lists the doubt. pace_step_solve() does both. */
void pace_step_doubt_kernels(pace_estimate *time_s, pace_doubts_used *used, const pace_step_pricer *pricer,
                             const pace_step_case *asked);
void pace_step_doubt_assumed(pace_estimate *time_s, pace_doubts_used *used, const pace_step_pricer *pricer,
                             const pace_step_case *asked);

/** Answers a case. Errors: those of lowering and of exchanges; PACE_E_INTERNAL with both numbers where walk and closed
 * form contradict each other. */
pace_status pace_step_solve(pace_step_solution *out, pace_step_pricer *pricer,
                            const pace_step_case *asked) PACE_MUST_CHECK;

/** Whether the closed form stands for how the case exchanges: as NCCL does, in buckets. */
bool pace_step_closes(const pace_step_case *asked);

/** Fails with both numbers where the closed form of a settled case lies outside the interval of its walk and further
 * from it than the two are known to be (catalog/doubts.yaml, closed_form; closed_form_shared). Cases that no closed
 * form answers pass. */
pace_status pace_step_check_walk(const pace_step_solution *settled, const pace_step_pricer *pricer,
                                 const pace_step_case *asked, pace_estimate walked_s) PACE_MUST_CHECK;
