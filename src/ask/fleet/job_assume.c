#include "ask/fleet/job_assume.h"
#include "ask/predict/predict_fits.h"
#include "fleet/job_fit.h"

/* A fit knows what its rows ran on where they did not say. */
static pace_status set(pace_job_setting *out, const pace_job_catalog *catalog, const pace_job_assumptions *assume) {
    pace_job_setting_words words = {assume->on, assume->overlap, assume->contention, assume->nvlink,
                                    assume->efficiency};
    pace_job_fit fit = {0};
    if (assume->fit_path && assume->efficiency)
        return pace_fail(PACE_E_USAGE,
                         PACE_FIELD "fit and " PACE_FIELD "efficiency both say what jobs reach: expected one of them");
    if (assume->fit_path) PACE_TRY(pace_predict_fit_of_kind(assume->fit_path, "job"));
    if (assume->fit_path) PACE_TRY(pace_job_fit_load(&fit, assume->fit_path));
    if (!words.on && *fit.machine) words.on = fit.machine;
    PACE_TRY(pace_job_setting_parse(out, catalog, &words));
    if (assume->fit_path) pace_job_fit_apply(out, &fit);
    return PACE_OK;
}

pace_status pace_job_assume(pace_job_setting *out, pace_job_catalog *jobs, pace_catalog *catalog,
                            const pace_job_assumptions *assume) {
    PACE_TRY(pace_job_catalog_load(jobs, catalog));
    pace_status status = set(out, jobs, assume);
    if (status != PACE_OK) pace_job_catalog_free(jobs);
    return status;
}
