/* Tables of choices as plug-ins read them: docs/tune.md, "Dialects". */
#pragma once

#include "ask/plan/tune_asked.h"
#include "report/report.h"

/** The rows that change the library's choice, a line each; what stays is said in comments. */
void pace_tune_file_write(pace_sink *sink, const pace_tuned *tuned, const char *dialect);
