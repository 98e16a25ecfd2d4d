/* Inference: passes over a prompt and passes over one new token, told by what attention is computed of. */
#pragma once

#include "step/step.h"

/** Whether a step trains: something in it is known to be backward or update. Stages must have been attributed. */
bool pace_step_trains(const pace_step *step);

/** Turns the forward stage of a step that does not train into prefill and decode where shapes tell: a pass runs from
 * one look-up of embeddings to the next, and the queries of its attention are many (prefill) or one (decode). */
pace_status pace_passes_attribute(pace_step *step) PACE_MUST_CHECK;
