/*
 * Values of a trace as RFC 8259 has them. Nearly all are. What the JSON reader lets pass beside the grammar, and what
 * it does not look at because nobody reads it, would make a copy that other programs refuse.
 */
#pragma once

#include "source/json_text.h"

typedef enum { PACE_MEND_SOUND, PACE_MEND_MENDED, PACE_MEND_BROKEN } pace_mend_verdict;

/** Judges a value and, if it can be mended, replaces *out by the mended text: raw controls and stray backslashes become
 * escapes, bytes that are no UTF-8 become U+FFFD, NaN and infinities become null. One that is no JSON otherwise is
 * broken. */
pace_status pace_mend(pace_mend_verdict *verdict, pace_text *out, const char *bytes, size_t length) PACE_MUST_CHECK;
