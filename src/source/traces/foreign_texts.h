/* What profilers, libraries and trainers print, which has no timeline: by words of its beginning. */
#pragma once

#include "base/status.h"

#include <stddef.h>

/** PACE_E_INPUT, which says what the text is and what to give instead, for one that is known; PACE_OK else. */
pace_status pace_foreign_refuse_text(const char *path, const char *text, size_t length) PACE_MUST_CHECK;
