/*
 * Records of clusters, streamed: accounting of schedulers, public traces, counters of GPUs. A mapping (usage_mapping.h)
 * says what a file's columns are; the reader knows two forms, separated values and JSON. Memory grows with the longest
 * row alone. No row is dropped silently: what is no record is counted, and the first one's reason is kept.
 */
#pragma once

#include "base/input.h"
#include "source/usage/usage_reading.h"

enum { PACE_USAGE_HEAD = 1 << 16 }; /* bytes that are looked at to recognise a file */

/** The mapping that recognises the beginning of a file: of the user's the first, else of the catalogue's the one that
 * knows most of its columns; NULL = none does. `head` is changed. */
const pace_usage_mapping *pace_usage_recognised(const pace_usage_mappings *mappings, char *head, size_t length);

/** The same of a file, which can be read from its start afterwards. PACE_E_USAGE: it has the columns of a mapping, with
 * other characters between them. */
pace_status pace_usage_recognise(const pace_usage_mapping **out, const pace_usage_mappings *mappings,
                                 const char *path) PACE_MUST_CHECK;

/** Reads all rows. A file that breaks off is read up to there. Errors: PACE_E_INPUT for a column that is missing, a
 * document that is none; PACE_E_IO; PACE_E_LIMIT for a row that is too long; those of `take`. */
pace_status pace_usage_read(pace_usage_reading *out, pace_input *input, const pace_usage_mapping *mapping,
                            pace_usage_take_fn take, void *context) PACE_MUST_CHECK;
