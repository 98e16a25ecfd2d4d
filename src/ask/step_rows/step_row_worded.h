/* Devices and machines that a cell names with figures of its own. Private to ask/step_rows/. */
#pragma once

#include "ask/step_rows/step_row.h"

/** What a text with figures ("KEY=VALUE") names, read as --on is; NULL for a text without, or without memory. It lives
 * as long as `things`, which keeps one for each text. */
const pace_step_worded *pace_step_worded_find(pace_step_things *things, const char *text);
/** Frees all that were found. */
void pace_step_worded_free(pace_step_things *things);
