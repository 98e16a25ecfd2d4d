/* What a remedy is tried with, and how its words read then. */
#pragma once

#include "forecast/forecast.h"
#include "forecast/remedy_catalog.h"

typedef char pace_remedy_value_text[256];

/* What values follow from. */
typedef struct {
    const pace_forecast *forecast;
    double headroom;
    int most_workers;
} pace_remedy_setting;

/** The value that is tried at a turn, from 0; of a flag "". False: there is none. */
bool pace_remedy_value_at(pace_remedy_value_text out, const pace_remedy_row *row, size_t turn,
                          const pace_remedy_setting *setting);

/** Times as many samples as the measured step has that the step with the remedy takes. */
double pace_remedy_samples(const pace_remedy_row *row, const pace_forecast_edits *edits, const char *value);

/** The text with the value in place of "{value}"; freed with pace_free(). */
pace_status pace_remedy_words(char **out, const char *text, const char *value) PACE_MUST_CHECK;
