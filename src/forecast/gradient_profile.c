#include "forecast/gradient_profile.h"
#include "forecast/forecast.h"
#include "forecast/gradient_parts.h"
#include "forecast/gradient_tables.h"
#include "model/lower.h"

/* A link between two ranks that costs next to nothing: what waits for it shows when a gradient is ready. */
static const pace_link free_link = {.kind = PACE_LINK_NVLINK, .bytes_per_s = 1e18, .efficiency = 1, .latency_s = 1e-12};

static pace_status open_scenario(pace_scenario *scenario, pace_catalog *catalog, const pace_device *device) {
    pace_machine pair = {.devices = 2,
                         .nodes = 1,
                         .inside = free_link,
                         .switched = true,
                         .oversubscription = 1,
                         .network = {.kind = PACE_NETWORK_SWITCH, .oversubscription = 1}};
    pace_scenario_init(scenario, "one worker");
    scenario->device = device;
    scenario->has_exchange = true;
    return pace_exchange_open(&scenario->exchange, catalog, &pair, PACE_LIBRARY_TEXTBOOK, NULL);
}

/* The step walked on the device, alone or (`apart`) with each gradient exchanged by itself. */
static pace_status walk(pace_forecast_result *out, pace_catalog *catalog, pace_forecast *forecast,
                        const pace_model *model, const pace_config *config, const pace_device *device, bool apart) {
    static const char *const name = "one worker";
    pace_graph graph;
    pace_scenario scenario;
    pace_config lowered = *config;
    if (apart) {
        lowered.dp = 2;
        lowered.global_batch = 0;
        lowered.bucket_bytes = 1;
        lowered.gradients = PACE_GRADIENTS_TENSORS;
    }
    PACE_TRY(pace_model_lower(&graph, model, &lowered, 0));
    PACE_TRY(
        pace_forecast_of_graphs(forecast, catalog, &graph, 1, &name, device, pace_execution_modes[config->execution]));
    pace_status status = open_scenario(&scenario, catalog, device);
    if (status == PACE_OK) status = pace_forecast_run(out, forecast, &scenario);
    pace_scenario_free(&scenario);
    if (status != PACE_OK) pace_forecast_free(forecast);
    return status;
}

static const pace_mark *last_step(const pace_rank *rank) {
    return rank->marks.items.count ? &rank->marks.items.items[rank->marks.items.count - 1] : NULL;
}

static pace_status take_stages(pace_gradient_profile *profile, const pace_rank *rank) {
    const pace_mark *mark = last_step(rank);
    if (!mark || mark->to_ns <= mark->from_ns) return pace_fail(PACE_E_INTERNAL, "a step was walked without an end");
    pace_gradient_stages(profile, rank, mark);
    return PACE_OK;
}

static bool is_exchange(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_KERNEL && pace_step_exchange(step, task) != NULL;
}

/* One exchange per tensor and repetition: those of the last one. */
static pace_status take_tensors(pace_gradient_profile *profile, const pace_rank *rank) {
    const pace_step *step = &rank->step;
    const pace_mark *mark = last_step(rank);
    size_t all = 0, count = 0;
    int64_t from_ns, to_ns;
    if (!mark) return pace_fail(PACE_E_INTERNAL, "a step was walked without an end");
    pace_gradient_backward(&from_ns, &to_ns, rank, mark);
    for (uint32_t i = 0; i < step->count; i++) all += is_exchange(step, i);
    PACE_TRY(pace_gradient_room(profile, all));
    for (uint32_t i = 0; i < step->count; i++) {
        if (!is_exchange(step, i) || step->start_ns[i] < mark->from_ns || step->start_ns[i] >= mark->to_ns) continue;
        double share = to_ns > from_ns ? (double)(step->start_ns[i] - from_ns) / (double)(to_ns - from_ns) : 1;
        double ready = share < 0 ? 0 : share > 1 ? 1 : share;
        profile->bytes[count] = (double)pace_exchange_bytes(step, pace_step_exchange(step, i));
        profile->ready_s[count] = ready * profile->backward_s;
        if (count > 0 && profile->ready_s[count] < profile->ready_s[count - 1])
            profile->ready_s[count] = profile->ready_s[count - 1];
        count++;
    }
    profile->count = count;
    return PACE_OK;
}

static pace_status make(pace_gradient_profile *profile, pace_estimate *step_s, pace_catalog *catalog,
                        const pace_model *model, const pace_config *config, const pace_device *device) {
    pace_forecast forecast;
    pace_forecast_result result;
    PACE_TRY(walk(&result, catalog, &forecast, model, config, device, false));
    *step_s = result.step_s;
    pace_status status = take_stages(profile, pace_analysis_slowest(&result.analysis));
    pace_forecast_result_free(&result);
    pace_forecast_free(&forecast);
    if (status != PACE_OK) return status;
    PACE_TRY(walk(&result, catalog, &forecast, model, config, device, true));
    status = take_tensors(profile, pace_analysis_slowest(&result.analysis));
    pace_forecast_result_free(&result);
    pace_forecast_free(&forecast);
    return status;
}

static pace_status mark_tables(pace_gradient_profile *profile, const pace_model *model, const pace_config *config) {
    pace_gradient_tables tables = {0};
    pace_status status = pace_gradient_tables_of(&tables, model, config);
    for (size_t i = 0; status == PACE_OK && i < tables.count; i++)
        pace_gradient_profile_mark_table(profile, &tables.items[i]);
    PACE_VEC_FREE(&tables);
    return status;
}

pace_status pace_gradient_profile_make(pace_gradient_profile *out, pace_estimate *step_s, pace_catalog *catalog,
                                       const pace_model *model, const pace_config *config, const pace_device *device) {
    pace_gradient_profile profile = {0};
    pace_estimate estimate;
    if (config->mode != PACE_TRAINING) return pace_fail(PACE_E_USAGE, "inference has no gradients to exchange");
    if (config->dp > 1 || config->tp > 1 || config->pp > 1)
        return pace_fail(PACE_E_USAGE, "expected the configuration of one worker: dp, tp and pp of 1");
    pace_status status = make(&profile, &estimate, catalog, model, config, device);
    if (status == PACE_OK) status = mark_tables(&profile, model, config);
    if (status != PACE_OK) {
        pace_gradient_profile_free(&profile);
        return status;
    }
    *out = profile;
    *step_s = estimate;
    return PACE_OK;
}

void pace_gradient_profile_scale(pace_gradient_profile *profile, double step_s) {
    double factor = step_s / pace_gradient_profile_step_s(profile);
    profile->forward_s *= factor;
    profile->backward_s *= factor;
    profile->update_s *= factor;
    for (size_t i = 0; i < profile->count; i++) profile->ready_s[i] *= factor;
}
