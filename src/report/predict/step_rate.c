#include "report/predict/step_rate.h"
#include "base/print.h"
#include "report/show.h"

#include <math.h>

/* What most of the arithmetic is done in: PyTorch's fp32 takes TF32 for convolutions, not for products of matrices. */
static pace_precision precision_of(const pace_step_case *asked) {
    double convolved = 0;
    PACE_ITEMS (const pace_layer, layer, &asked->model->layers)
        if (layer->kind == PACE_LAYER_CONVOLUTION) convolved += layer->multiply_adds[0];
    bool convolves = convolved > pace_model_total(asked->model, &asked->config).multiply_adds / 2;
    return convolves ? pace_config_convolution_precision(&asked->config) : pace_config_matrix_precision(&asked->config);
}

pace_step_rate pace_step_rate_of(const pace_step_case *asked, double seconds, double devices) {
    const pace_config *config = &asked->config;
    pace_precision precision = pace_device_rated_as(asked->device, precision_of(asked));
    double sequence = pace_model_sequence(asked->model, config), peak = pace_device_rate(asked->device, precision);
    double samples_per_s = pace_config_samples(config) / seconds / devices;
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
