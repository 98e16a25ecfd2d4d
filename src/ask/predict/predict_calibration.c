#include "ask/predict/predict_calibration.h"

#include <string.h>

/* A trace of a pair, as a forecast. */
typedef struct {
    pace_analysis analysis;
    pace_forecast forecast;
    double steps; /* that it has */
} side;

static void free_side(side *s) {
    pace_forecast_free(&s->forecast);
    pace_analysis_free(&s->analysis);
}

static double count_steps(const pace_analysis *analysis) {
    size_t count = 0;
    const pace_rank *rank = analysis->ranks.items[0];
    for (size_t i = 0; i < rank->marks.items.count; i++)
        count += rank->marks.items.items[i].to_ns > rank->marks.items.items[i].from_ns;
    return count && rank->marks.origin == PACE_MARKS_ANNOTATED ? (double)count : 1;
}

static pace_status read_side(side *out, const char *path, const pace_predict_options *options, const char *device) {
    pace_analyze_options reading = {.context = options->context, .step_regex = options->step_regex, .device = device};
    PACE_TRY(pace_analysis_load(&out->analysis, options->context->catalog, &path, 1, &reading));
    pace_status status = pace_forecast_of_analysis(&out->forecast, &out->analysis, NULL);
    if (status == PACE_OK && !out->forecast.device)
        status = pace_fail(PACE_E_MISSING, "calibrate: %s: does not name a device of the catalogue", path);
    if (status == PACE_OK) out->steps = count_steps(&out->analysis);
    else free_side(out);
    return status;
}

/* Of one step. */
static pace_status times_of(pace_pair_times out[PACE_OP_FAMILIES], const side *s, const pace_cost *cost,
                            const pace_device *device) {
    memset(out, 0, PACE_OP_FAMILIES * sizeof *out);
    PACE_TRY(pace_forecast_pair_times(out, &s->forecast, cost, device));
    for (int f = 0; f < PACE_OP_FAMILIES; f++) {
        out[f].ns /= s->steps;
        out[f].start_ns /= s->steps;
    }
    return PACE_OK;
}

static pace_status take_pair(pace_pair_calibration *out, const side *here, const side *there, const pace_cost *cost) {
    pace_pair_times moved[PACE_OP_FAMILIES], recorded[PACE_OP_FAMILIES];
    PACE_TRY(times_of(moved, here, cost, there->forecast.device));
    PACE_TRY(times_of(recorded, there, cost, NULL));
    return pace_pair_calibration_add(out, here->forecast.device, there->forecast.device, moved, recorded);
}

pace_status pace_predict_calibrate(pace_pair_calibration *out, const char *pair, const pace_cost *cost,
                                   const pace_predict_options *options) {
    const char *equals = strchr(pair, '=');
    side here = {0}, there = {0};
    if (!equals || equals == pair || !equals[1])
        return pace_fail(PACE_E_USAGE, "calibrate: expected FROM_TRACE=TO_TRACE, found '%.200s'", pair);
    char *path = pace_copy_text(pair, (size_t)(equals - pair));
    if (!path) return PACE_E_MEMORY;
    pace_status status = read_side(&here, path, options, options->from);
    if (status == PACE_OK) {
        status = read_side(&there, equals + 1, options, NULL);
        if (status == PACE_OK) {
            status = take_pair(out, &here, &there, cost);
            free_side(&there);
        }
        free_side(&here);
    }
    pace_free(path);
    return status;
}
