/* From the options of pace_predict() to scenarios: each what-if alone, then all together. */
#pragma once

#include "base/texts.h"
#include "ask/engine_options.h"

typedef struct {
    PACE_VEC(pace_scenario) items; /* the first is the step as it is */
    pace_texts labels;
} pace_scenarios;

/** The values of the what-if of that name. */
pace_words *pace_what_if_words(pace_predict_options *options, const char *name);

/** How many values of what-ifs there are. *at_odds: two of them cannot be at once, nothing stands for all together. */
size_t pace_what_ifs_asked(bool *at_odds, const pace_predict_options *options);

/** Whether one of them is about device work. */
bool pace_what_ifs_need_device(const pace_predict_options *options);

/** Steps without times (`timed` false) run on the first device of options->on: that is their step as it is. */
pace_status pace_scenarios_make(pace_scenarios *out, const pace_predict_options *options, bool timed,
                                pace_device_catalog *devices) PACE_MUST_CHECK;

/** Leaves out a precision alone that the recorded device (NULL = not known) has no rate for, where it is asked about on
 * others, too. What was left out: its label, which lives as long as the scenarios; NULL = nothing. */
const char *pace_scenarios_leave_unrated(pace_scenarios *scenarios, const pace_device *recorded);
/** The same of a move alone to a device without fp32, where it is asked about with a precision, too. */
const char *pace_scenarios_leave_single(pace_scenarios *scenarios);
void pace_scenarios_free(pace_scenarios *scenarios);
