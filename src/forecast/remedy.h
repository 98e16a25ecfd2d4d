/* A remedy that was tried: what it saves. */
#pragma once

#include "forecast/remedy_catalog.h"
#include "insight/lead.h"

typedef struct {
    pace_remedy_row row;
    char *value;          /* of the what-if; NULL = it takes none */
    char *says, *how;     /* of the row, with the value */
    pace_estimate step_s; /* median and rung as predict gives them; the spread is also of the row's saving */
    double walked_s;      /* before its saving was bounded (saving_bound.h) */
    double low_s, high_s; /* 90 %; the saving's spread goes no further than what the replay leaves without all that the
                             remedy acts on */
    double walked_low_s;  /* before that spread */
    double samples;       /* times as many as now that the step takes: a batch's; else 1 */
    double saved_share;   /* of the step of today, for as many samples */
    double at_most_share; /* of the recorded step: the bound on saved_share */
    double busiest_s;     /* the busiest stream, or thread where the host is the device, of a step */
    pace_advice resource; /* that it acts on: of its resources that matter, the one with most time on the path */
    pace_culprit culprit; /* what stands behind that resource */
} pace_remedy;

void pace_remedy_free(pace_remedy *remedy);
