/* Tables that are lists of records: JSON ("[{…}, {…}]", or an object a line) and YAML ("- name: …"). */
#pragma once

#include "base/texts.h"

/** Whether a text that begins with these bytes is one; a header of CSV never begins so. */
bool pace_csv_is_records(const char *head, size_t length);

/** Writes `text` as CSV: a column for each member, in the order in which members first appear. Members of objects
 * inside a record are OUTER_INNER; a list inside is a cell such as "[64, 512]", and null is none. Errors: PACE_E_INPUT,
 * with the place, for what is no list of objects, and for a column that has two values in a record. */
pace_status pace_csv_of_records(pace_text *out, const char *name, const char *text, size_t length) PACE_MUST_CHECK;
