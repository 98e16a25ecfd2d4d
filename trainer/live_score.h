/* Figures of merit of the closed loop. */
#pragma once

#include "live_state.h"

enum { PACE_LIVE_FIGURES = 8 };

/** Errors and cover of each step, from what was predicted and what its runs took. */
void pace_live_find_measured(pace_live_run *run);

/** The share of a step's parts that is most off. */
double pace_live_most_off(const pace_live_step *step);

/** Whether a step counts: trained, and not by more threads than processors. */
bool pace_live_counts(const pace_live_step *step);

/** All figures, NAN where there is nothing to compute one from. */
void pace_live_figures(pace_live_figure out[PACE_LIVE_FIGURES], const pace_live_step *steps, size_t count);
