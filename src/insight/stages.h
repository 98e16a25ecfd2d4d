/*
 * Which stage of training a task belongs to: input, forward, backward, update, other.
 *
 * From autograd's links first (step->gradients): both ends of a link are known. Then from names (annotations, autograd
 * nodes, the loader), then from the thread (one that runs autograd nodes is backward), then from order: by the links
 * around it, and without links what is launched before the first backward task of a step is forward, what comes after
 * the last is update. Only work that none of these reaches is `other`.
 */
#pragma once

#include "insight/steps.h"

/** Fills step->stage for host and device tasks whose stage is not given. */
pace_status pace_stages_attribute(pace_step *step, const pace_marks *marks) PACE_MUST_CHECK;
