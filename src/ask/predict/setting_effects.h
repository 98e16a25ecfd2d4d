/* Settings that cannot change the answer to the question asked: they are refused, not passed over. */
#pragma once

#include "base/words.h"
#include "model/model.h"
#include "plan/framework.h"

/** A configuration of a model as a framework runs it (NULL: PyTorch). `placed`: how many ranks share the step is
 * known; `fitted`: fits of kernels are given. */
typedef struct {
    const pace_config *config;
    const pace_model *model;
    const pace_framework *framework;
    bool placed;
    bool fitted;
} pace_setting_question;

/** Why a setting has no effect on the answer ("on inference"); NULL = it may have. */
const char *pace_setting_idle(const char *key, const pace_setting_question *asked);

/** PACE_E_USAGE names the first of `set` that has no effect on the answer, and why. */
pace_status pace_settings_check_effect(const pace_words *set, const pace_setting_question *asked) PACE_MUST_CHECK;

/** Whether it has convolutions that may be computed in TF32 although all is held in fp32. */
bool pace_model_convolves_in_tf32(const pace_model *model, const pace_config *config);
/** Whether convolutions in half precision copy images that lie channel by channel (nchw). */
bool pace_model_copies_images(const pace_model *model, const pace_config *config, const pace_device *device);
