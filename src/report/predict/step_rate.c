#include "report/predict/step_rate.h"
#include "base/print.h"
#include "report/show.h"

#include <math.h>

pace_precision pace_step_main_precision(const pace_step_case *asked) {
    double convolved = 0;
    PACE_ITEMS (const pace_layer, layer, &asked->model->layers)
        if (layer->kind == PACE_LAYER_CONVOLUTION) convolved += layer->multiply_adds[0];
    bool convolves = convolved > pace_model_total(asked->model, &asked->config).multiply_adds / 2;
    return pace_device_rated_as(asked->device, convolves ? pace_config_convolution_precision(&asked->config)
                                                         : pace_config_matrix_precision(&asked->config));
}

pace_step_rate pace_step_rate_of(const pace_step_case *asked, double seconds, double devices) {
    const pace_config *config = &asked->config;
    pace_precision precision = pace_step_main_precision(asked);
    double sequence = pace_model_sequence(asked->model, config), peak = pace_device_rate(asked->device, precision);
    double samples = pace_config_micro_batches(config) * config->micro_batch * config->dp;
    double samples_per_s = samples / seconds / devices;
    double flop = 2 * pace_model_total(asked->model, config).multiply_adds * pace_config_passes(config);
    pace_step_rate rate = {.of_tokens = sequence > 0, .mfu = peak > 0 && flop > 0 ? samples_per_s * flop / peak : NAN};
    char used[48] = "";
    rate.per_s = samples_per_s * (rate.of_tokens ? sequence : 1);
    if (!isnan(rate.mfu))
        pace_snprintf(used, sizeof used, " (MFU %.1f %% of the %s peak)", 100 * rate.mfu,
                      pace_precision_key(precision));
    pace_snprintf(rate.text, sizeof rate.text, "%s %s/s per device%s", pace_show_real(rate.per_s).text,
                  rate.of_tokens ? "tokens" : "samples", used);
    return rate;
}

pace_step_rate pace_put_step_takes(pace_node *root, const pace_step_asked *step, pace_estimate time_s) {
    const pace_step_case *asked = &step->asked;
    double ranks = pace_config_ranks(&asked->config), replicas = asked->config.dp;
    char count[32] = "", shared[64] = "";
    const pace_step_rate rate = pace_step_rate_of(asked, time_s.median, ranks);
    if (ranks > 1) pace_snprintf(count, sizeof count, "%.0f ", ranks);
    if (step->all_devices && replicas == ranks) pace_snprintf(shared, sizeof shared, ", data parallel");
    else if (step->all_devices)
        pace_snprintf(shared, sizeof shared, ", %.0f replicas of %.0f", replicas, ranks / replicas);
    pace_node_sentence(root, true, "The step would take %s (%s to %s) on %s%s%s: %s.",
                       pace_show_ns(pace_ns(time_s.median)).text, pace_show_ns(pace_estimate_low_ns(time_s)).text,
                       pace_show_ns(pace_estimate_high_ns(time_s)).text, count, asked->device->name, shared, rate.text);
    return rate;
}
