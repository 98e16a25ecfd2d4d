/* A JSON value kept as compact text, and a walk over the elements of an array in such text. Private to source/. */
#pragma once

#include "base/json_reader.h"
#include "base/texts.h"

/** Replaces *out by the value that `token`, which was read, begins: white space left out, strings as written. Returns
 * the kind of its first token, or ERROR / TRUNCATED; a failure to allocate is ERROR with *status set. */
pace_json_token pace_json_capture_from(pace_text *out, pace_json *json, pace_json_token token, pace_status *status);

/** The next element of the array that *at is inside of ('[' was the character before, or an element); false at its end,
 * with *at behind the bracket. Sets the element's place and length. */
bool pace_json_element(const char **at, const char **element, size_t *length);
