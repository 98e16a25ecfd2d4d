/*
 * What was said in vain: the figure of `--on "v100 fp16=200TFLOP/s"` moves no number of a step in fp32, `--nvlink
 * aggregate` none of a job without NVLink. Told by asking again without it, whatever engine answers.
 */
#pragma once

#include "ask/question.h"
#include "report/report.h"

typedef pace_status (*pace_idle_ask)(pace_report **out, size_t *missed, const pace_question *question);

/** Warns in `report`, the answer to `question`, of every KEY=VALUE of `on` and every option that only assumes something
 * without which `ask` finds the same numbers. What-ifs that are answered jointly are tried each. Not asked again are
 * plans and what reads more than 16 MiB or a pipe. */
pace_status pace_report_idle_figures(pace_report *report, const pace_question *question,
                                     pace_idle_ask ask) PACE_MUST_CHECK;
