/*
 * The JSON reader: a pull parser over a refillable window. It holds one window (1 MiB, grown only for a single
 * longer token), builds no tree, and copies nothing: a token's text points into the window.
 *
 *     while ((token = pace_json_next(json)) != PACE_JSON_END) …
 *
 * Grammar is checked as it goes (RFC 8259), with the deviations real traces need, each of them counted in
 * `oddities`: raw control characters and unknown escapes ("C:\Users") in strings, and bare NaN / Infinity /
 * -Infinity as numbers. Nesting deeper than PACE_JSON_DEPTH is refused. Bytes need not be valid UTF-8.
 */
#pragma once

#include "base/input.h"
#include "base/json_token.h"
#include "base/json_value.h"

typedef struct pace_json pace_json;

/** Reads from `input` (borrowed, must outlive the reader). */
pace_status pace_json_open(pace_json **out, pace_input *input) PACE_MUST_CHECK;
void pace_json_free(pace_json *json);

/** The next token. After END, ERROR or TRUNCATED the same is returned for ever. */
pace_json_token pace_json_next(pace_json *json);

/** Skips the next value whole (scalar, object or array). Call where a value is due: after KEY or inside an array.
 * Returns the kind of the value's first token, or ERROR / TRUNCATED. At the end of an array it returns ARRAY_END
 * and has consumed it. */
pace_json_token pace_json_skip(pace_json *json);

/** The next member of the open object: the first token of its value, whose key is valid until the next call. Returns
 * OBJECT_END behind the last one, or ERROR / TRUNCATED. Keys of PACE_JSON_KEY_MAX bytes and more may come as "". */
pace_json_token pace_json_member(pace_json *json, const char **key, size_t *key_length);

/** The text, as written, of the array whose opening bracket is the last token, if it is one of arrays, numbers and
 * strings without escapes and lies in the window whole: it is consumed. NULL, nothing consumed, for any other. */
const char *pace_json_plain_array(pace_json *json, size_t *length);

/** Consumes the array whose opening bracket is the last token if it is, byte for byte, one that pace_json_plain_array()
 * gave before; `length` 0 is none. */
bool pace_json_array_again(pace_json *json, const char *array, size_t length);

/** The last token as it stands in the document; PACE_JSON_BEHIND bytes may be read behind its end. */
const char *pace_json_place(const pace_json *json);

/** Leaves the innermost open object or array: consumes up to and including its closing bracket. Returns
 * OBJECT_END, ARRAY_END, ERROR or TRUNCATED. Must be fast (it skips stacks and shapes nobody reads). */
pace_json_token pace_json_leave(pace_json *json);

/** Keeps the bytes of the document from the last token on, until pace_json_unpin() gives them back as they are written:
 * from the pinned token to the end of the last one. Valid until the next call. */
void pace_json_pin(pace_json *json);
const char *pace_json_unpin(pace_json *json, size_t *length);

/** Text of the last KEY, STRING (between the quotes, escapes as written) or NUMBER; valid until the next call. */
const char *pace_json_text(const pace_json *json, size_t *length);

/** Whether that text is `word`. */
bool pace_json_is(const pace_json *json, const char *word);

/** Whether the last KEY or STRING holds a backslash. */
bool pace_json_escaped(const pace_json *json);

/** The last KEY or STRING with escapes decoded to UTF-8 (lone surrogates become U+FFFD, unknown escapes stay as
 * written, \u0000 stays escaped). Returns text owned by the reader, valid until the next call; *length set.
 * NULL when out of memory. */
const char *pace_json_decoded(pace_json *json, size_t *length);

/** The last NUMBER or STRING; PACE_JSON_VALUE_OTHER for any other token. */
pace_json_value pace_json_value_of(const pace_json *json);

/** The last NUMBER or numeric STRING as an integer: true when it is one that fits (fraction zero or absent). */
bool pace_json_int(const pace_json *json, int64_t *out);

/** The last NUMBER or numeric STRING in microseconds as integer nanoseconds, exact to the third decimal and
 * rounded half away from zero after it; 19-digit values stay exact; exponents are understood. False when it is
 * not a number or does not fit in int64. */
bool pace_json_us_to_ns(const pace_json *json, int64_t *out_ns);

/** The last NUMBER or numeric STRING as a double, correctly rounded and independent of the locale. */
bool pace_json_double(const pace_json *json, double *out);

/** Offset in decompressed bytes of the first byte of the last token (where the fault is, after ERROR). */
uint64_t pace_json_offset(const pace_json *json);

/** Bytes read so far, decompressed. */
uint64_t pace_json_bytes(const pace_json *json);

/** Open brackets around the last token. */
unsigned pace_json_depth(const pace_json *json);

/** How many deviations from RFC 8259 were let pass. */
uint64_t pace_json_oddities(const pace_json *json);

/** The status behind ERROR (PACE_E_INPUT, PACE_E_IO, PACE_E_LIMIT, PACE_E_MEMORY) or TRUNCATED (PACE_E_INPUT). */
pace_status pace_json_status(const pace_json *json);
