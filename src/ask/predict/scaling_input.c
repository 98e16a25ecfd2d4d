#include "ask/predict/scaling_input.h"
#include "ask/predict/scaling_solve.h"
#include "forecast/rank_batches.h"

void pace_scaling_input_free(pace_scaling_input *input) {
    for (size_t i = 0; i < input->steps.count; i++) pace_gradient_profile_free(&input->steps.items[i].profile);
    PACE_VEC_FREE(&input->steps);
    if (!input->is_model) pace_predict_inputs_free(&input->inputs);
}

static pace_status open_model(pace_scaling_input *input, const pace_scaling_options *options) {
    pace_model_settings settings;
    const char *recorded = options->from           ? "from"
                           : options->samples != 0 ? "samples"
                           : options->step_regex   ? "step_regex"
                                                   : NULL;
    if (recorded) return pace_fail(PACE_E_USAGE, "%s: has no effect on a model, whose step is not recorded", recorded);
    input->is_model = true;
    PACE_TRY(pace_model_settings_read(&settings, &input->config, input->catalog, &options->set));
    pace_model_settings_free(&settings);
    if (!pace_settings_name_batch(&options->set) && options->batch.count == 0)
        PACE_TRY(pace_scaling_own_batch(&input->config.micro_batch, options->context->catalog, input->name,
                                        &options->set, input->device));
    if (input->config.mode != PACE_TRAINING) return pace_fail(PACE_E_USAGE, "inference has no gradients to exchange");
    if (pace_config_ranks(&input->config) > 1)
        return pace_fail(PACE_E_USAGE, "expected the configuration of one worker: dp, tp, pp and cp of 1");
    return PACE_OK;
}

/* How many samples a step has is asked of its operators' shapes, where it was not said. */
static pace_status count_samples(pace_scaling_input *input, double said) {
    pace_batch_size found;
    PACE_TRY(pace_rank_batches_first(&found, &input->inputs.forecast, said));
    input->passes = (double)found.passes;
    input->samples = said > 0 ? said : (double)found.samples * input->passes;
    if (input->samples > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: how many samples a step has cannot be told: say " PACE_FIELD "samples",
                     input->name);
}

static pace_status open_recorded(pace_scaling_input *input, pace_device_catalog *devices,
                                 const pace_scaling_options *options) {
    pace_predict_options reading = {.context = options->context,
                                    .step_regex = options->step_regex,
                                    .from = options->from};
    bool timed;
    if (options->set.count) return pace_fail(PACE_E_USAGE, PACE_FIELD "set is for models, found '%s'", input->name);
    PACE_TRY(pace_predict_inputs_have_times(&timed, &input->name, 1));
    PACE_TRY(pace_predict_inputs_read(&input->inputs, &input->name, 1, timed ? NULL : input->device, NULL, &reading));
    PACE_TRY(pace_predict_inputs_place(&input->inputs, devices, options->from));
    if (input->inputs.forecast.ranks.count != 1)
        return pace_fail(PACE_E_USAGE, "%s: expected one worker's step, found %zu ranks", input->name,
                         input->inputs.forecast.ranks.count);
    if (input->inputs.forecast.ranks.items[0].graph.exchanges.count)
        return pace_fail(PACE_E_USAGE, "%s: expected the step of a worker alone, found one that exchanges with others",
                         input->name);
    return count_samples(input, options->samples);
}

pace_status pace_scaling_input_open(pace_scaling_input *out, const char *name, const pace_device *device,
                                    pace_device_catalog *devices, const pace_scaling_options *options) {
    pace_scaling_input input = {.name = name,
                                .catalog = options->context->catalog,
                                .device = device,
                                .config = pace_config_default(),
                                .one_worker = options->one_worker};
    bool is_model;
    PACE_TRY(pace_predict_is_model(&is_model, name));
    pace_status status = is_model ? open_model(&input, options) : open_recorded(&input, devices, options);
    return PACE_GIVE(out, input, status, pace_scaling_input_free(&input));
}

double pace_scaling_input_batch(const pace_scaling_input *input) {
    return input->is_model ? input->config.micro_batch : input->samples;
}

/* Walked anew on the device, with another batch where one is asked for. */
static pace_status step_of_recording(pace_worker_step *step, const pace_scaling_input *input) {
    pace_scenario scenario;
    pace_forecast_result result;
    pace_scenario_init(&scenario, "one worker");
    scenario.device = input->device;
    scenario.samples = input->samples;
    if (step->batch != input->samples) scenario.batch = step->batch / input->passes;
    pace_status status = pace_forecast_run(&result, &input->inputs.forecast, &scenario);
    pace_scenario_free(&scenario);
    if (status != PACE_OK) return status;
    status = pace_gradient_profile_of_rank(&step->profile, pace_analysis_slowest(&result.analysis));
    step->spread = result.step_s.spread;
    pace_forecast_result_free(&result);
    return status;
}

pace_status pace_scaling_input_step(const pace_worker_step **out, pace_scaling_input *input, double batch) {
    pace_worker_step step = {.batch = batch};
    for (size_t i = 0; i < input->steps.count; i++)
        if (input->steps.items[i].batch == batch) {
            *out = &input->steps.items[i];
            return PACE_OK;
        }
    PACE_TRY(step_of_recording(&step, input));
    if (input->one_worker > 0) {
        pace_gradient_profile_scale(&step.profile, batch / input->one_worker);
        step.spread = 0;
    }
    pace_status status = PACE_PUSH(&input->steps, step);
    return PACE_GIVE(out, &input->steps.items[input->steps.count - 1], status,
                     pace_gradient_profile_free(&step.profile));
}
