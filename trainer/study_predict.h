/* What `predict` says of a training of layers over workers. */
#pragma once

#include "base/status.h"
#include "paceline/train.h"

/** Fills predicted_samples_per_s of a row, on hosts as `predict --on` names them. */
pace_status pace_study_predict(pace_study_row *row, pace_context *context, const char *on) PACE_MUST_CHECK;
