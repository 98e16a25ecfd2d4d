/* Frameworks that people run, trained beside our own trainer: the same network, batch and ranks
 * (trainer/referee.py). */
#pragma once

#include "base/status.h"
#include "paceline/train.h"

/** Whether the question names another runner than Paceline's own trainer. */
bool pace_referee_asked(const pace_question *question);

/** Answers a question of train that names one. Errors: PACE_E_USAGE for fields without effect and layers that the
 * framework does not get, PACE_E_MISSING where a package is missing (it is named). */
pace_status pace_train_referee(pace_answer **out, const pace_question *question) PACE_MUST_CHECK;
