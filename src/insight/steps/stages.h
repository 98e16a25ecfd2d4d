/*
 * Which stage of training or inference a task belongs to.
 *
 * From autograd's links first (step->gradients): both ends of a link are known. Then from names (catalog/stages.yaml):
 * what an annotation or operator encloses follows it. Then from autograd's notes: an operator that autograd noted and
 * nothing around it claims is forward; inside a backward operator it is computed again. Then from the thread (one that
 * runs autograd nodes is backward). Order comes last: by the links around it, and without links what is launched before
 * the first backward task of a step is forward, what comes after the last is update. Where forward and backward
 * operators of a step take turns, order says nothing between them: that work is `other`.
 */
#pragma once

#include "insight/steps/stage_words.h"
#include "insight/steps/steps.h"

/** Fills step->stage for host and device tasks whose stage is not given. */
pace_status pace_stages_attribute(pace_step *step, const pace_marks *marks,
                                  const pace_stage_words *words) PACE_MUST_CHECK;
