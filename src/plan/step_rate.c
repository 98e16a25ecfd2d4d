#include "plan/step_rate.h"

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
    return (pace_step_rate){.per_s = samples_per_s * (sequence > 0 ? sequence : 1),
                            .of_tokens = sequence > 0,
                            .mfu = peak > 0 && flop > 0 ? samples_per_s * flop / peak : NAN,
                            .precision = precision};
}
