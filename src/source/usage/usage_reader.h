/*
 * Records of clusters, streamed: accounting of schedulers, public traces, counters of GPUs. A mapping (usage_mapping.h)
 * says what a file's columns are; the reader knows two forms, separated values and JSON. Memory grows with the longest
 * row alone. No row is dropped silently: what is no record is counted, and the first one's reason is kept.
 */
#pragma once

#include "base/input.h"
#include "source/usage/usage_reading.h"

enum { PACE_USAGE_HEAD = 1 << 16 }; /* bytes that are looked at to recognise a file */

/** Which mapping recognises the beginning of a file, and what stands between its cells: of the user's mappings the
 * first, else of the catalogue's the one that knows most of its columns. `out->mapping`: NULL = none does;
 * `out->separator`: 0 = cells hold the character that separates them. `head` is changed. */
void pace_usage_recognised(pace_usage_reading *out, const pace_usage_mappings *mappings, char *head, size_t length);

/** The same of a file, which can be read from its start afterwards. PACE_E_USAGE: its cells hold the character that
 * separates them. */
pace_status pace_usage_recognise(pace_usage_reading *out, const pace_usage_mappings *mappings,
                                 const char *path) PACE_MUST_CHECK;

/** Reads all rows of a file that was recognised. A file that breaks off is read up to there. Errors: PACE_E_INPUT for
 * a column that is missing, a document that is none; PACE_E_IO; PACE_E_LIMIT for a row that is too long; those of
 * `take`. */
pace_status pace_usage_read(pace_usage_reading *reading, pace_input *input, pace_usage_take_fn take,
                            void *context) PACE_MUST_CHECK;
