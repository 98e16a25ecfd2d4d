/* Files of other tools that are no trace here, by how they begin or end their name, and what to do with them. */
#pragma once

#include "base/json_reader.h"

#include <stddef.h>

/** PACE_E_INPUT, which says what the file is and what to do, for a known format that is not read; PACE_OK else. */
pace_status pace_foreign_refuse(const char *path, const unsigned char *bytes, size_t length) PACE_MUST_CHECK;

/** The same of the member at hand of a document in JSON. */
pace_status pace_foreign_refuse_member(const char *path, const pace_json *json) PACE_MUST_CHECK;

/** The same of a database that holds a table of that name. */
pace_status pace_foreign_refuse_table(const char *path, const char *table) PACE_MUST_CHECK;
