#include "ask/predict/closed_step.h"
#include "ask/predict/scenarios.h"
#include "forecast/forecast_estimate.h"

static pace_status check_options(const pace_predict_options *options, const pace_step_case *asked) {
    bool at_odds;
    if (options->on.count != 1)
        return pace_fail(PACE_E_USAGE,
                         "a step of many ranks: expected one machine, " PACE_FIELD "on dgx-h100*4, found %zu",
                         options->on.count);
    if (pace_what_ifs_asked(&at_odds, options) || options->overheads.count || options->calibrate.count)
        return pace_fail(PACE_E_USAGE,
                         "this step is answered in closed form, since %s: expected " PACE_FIELD "on, " PACE_FIELD
                         "set and " PACE_FIELD "fit%s",
                         pace_step_why_closed(asked),
                         pace_step_has_operators(asked) ? ", or what-ifs without host costs of files" : " alone");
    return PACE_OK;
}

/* A pipeline that no order takes has a figure, but no picture. */
static pace_status draw(pace_closed_step *a, pace_catalog *catalog) {
    const char *name = pace_names_text(&a->step->model.names, a->step->model.name);
    if (!pace_step_is_drawn(&a->step->asked)) return PACE_OK;
    if (!PACE_MAKE(a->picture, 1)) return PACE_E_MEMORY;
    pace_status status = pace_step_draw(a->picture, &a->memory, &a->stretch, catalog, &a->step->settled,
                                        &a->step->asked, name, a->answer.time_s.median);
    if (status != PACE_OK) {
        PACE_FREE(a->picture);
        a->picture = NULL;
        return status;
    }
    a->drawn_s = pace_analysis_step_ns(a->picture, PACE_DRAWN_STEPS - 1) / 1e9;
    return PACE_OK;
}

static void take_doubts(pace_closed_step *a) {
    bool fitted = a->fits->step_path;
    double spread = a->answer.time_s.spread;
    a->used = fitted ? (pace_doubts_used){{0}, false} : a->step->settled.used;
    if (fitted) a->used.added[PACE_DOUBT_STEP_FIT] = spread;
    else pace_doubts_used_rest(&a->used, PACE_DOUBT_STEP_FORM, spread);
}

pace_status pace_closed_step_ask(pace_closed_step *out, pace_step_asked *step, const pace_predict_fits *fits,
                                 const pace_predict_options *options) {
    pace_closed_step a = {.step = step, .fits = fits};
    const pace_step_fit *fit = fits->step_path ? &fits->step : NULL;
    PACE_TRY(check_options(options, &step->asked));
    PACE_TRY(pace_step_solve_settled(&step->settled, &step->pricer, &step->asked));
    pace_step_factors factors = fit ? fit->factors : pace_step_factors_none();
    pace_step_answer_of(&a.answer, &step->settled, &factors, fit, &step->asked);
    pace_step_savings(a.savings, &step->settled.plan, factors);
    take_doubts(&a);
    PACE_TRY(draw(&a, options->context->catalog));
    *out = a;
    return PACE_OK;
}
