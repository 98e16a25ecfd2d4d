/*
 * Several machines that train one model together, of whatever generations: every one holds all of the model in the
 * configuration that suits it, and trains so many samples of each step that all end at about the same time (data
 * parallelism with unequal shares). Then gradients are summed between machines.
 */
#pragma once

#include "ask/plan/plan_place.h"

/** Shares the step out over all places: a->together. Nothing where the model fits on less than two of them.
 * PACE_E_USAGE for a machine without a network. */
pace_status pace_plan_share_out(pace_plan_asked *a) PACE_MUST_CHECK;
