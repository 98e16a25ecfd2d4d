/* Layers over workers (approach "segments"): a question of train becomes a run of the module trainer/segments/, and its
 * times an answer. */
#pragma once

#include "base/status.h"
#include "paceline/train.h"

bool pace_segments_asked(const pace_question *question);
/** Answers such a question. Errors: PACE_E_USAGE for a model that is no chain of fully connected layers, and ranks that
 * are not replicas x workers + servers; PACE_E_MISSING without the module; PACE_E_LIMIT where memory does not suffice;
 * PACE_E_IO when a rank died. */
pace_status pace_train_segments(pace_answer **out, const pace_question *question) PACE_MUST_CHECK;
