/*
 * Bytes of an input, whatever wraps them: a file or standard input ("-"), plain, gzip (several members) or zstd
 * (several frames), told apart by their first bytes, never by the file's name.
 */
#pragma once

#include "base/status.h"

typedef struct pace_input pace_input;

/** Whether `path` is a regular file. */
bool pace_is_file(const char *path);

/** Opens `path`. Errors: PACE_E_IO with the path and the system's reason (a directory is one). */
pace_status pace_input_open(pace_input **out, const char *path) PACE_MUST_CHECK;

/** The most bytes of content that inputs opened on this thread may hold, compressed or not; 0, as at the start: what is
 * compressed may hold 200 times the bytes that are stored, or 1 GiB if that is more. */
uint64_t pace_input_limit(void);
void pace_input_set_limit(uint64_t bytes);

/** The same for a look at what an input is: what this reads of standard input or of a pipe is read again by the next
 * that opens it. */
pace_status pace_input_peek(pace_input **out, const char *path) PACE_MUST_CHECK;

/** The same interface over bytes in memory (borrowed); compression is detected here too. `name` is for messages. */
pace_status pace_input_open_memory(pace_input **out, const char *name, const void *bytes,
                                   size_t length) PACE_MUST_CHECK;

/** Reads on from byte `at` of a plain file. PACE_E_INTERNAL for others, and before the first read. */
pace_status pace_input_seek(pace_input *input, uint64_t at) PACE_MUST_CHECK;

/** Reads up to `capacity` decompressed bytes; *got = 0 only at the end. A stream that breaks off (truncated or
 * corrupt compression) delivers all bytes before the break first, then fails with PACE_E_INPUT and the byte
 * offset in the compressed file. What holds more than the limit fails with PACE_E_LIMIT. */
pace_status pace_input_read(pace_input *input, void *buffer, size_t capacity, size_t *got) PACE_MUST_CHECK;

/** All that is left of it, of at most `most` bytes, with a NUL behind; PACE_E_LIMIT for more. Free with pace_free(). */
pace_status pace_input_read_all(char **out, size_t *length, pace_input *input, size_t most) PACE_MUST_CHECK;

/** Opens `path` for read(out, input). */
pace_status pace_input_read_file(void *out, const char *path,
                                 pace_status (*read)(void *out, pace_input *input)) PACE_MUST_CHECK;

/** The name for messages ("<stdin>" for "-"). */
const char *pace_input_name(const pace_input *input);

/** Bytes consumed of the file as stored, and the file's size (0 = unknown), for progress and the report. */
uint64_t pace_input_stored_bytes(const pace_input *input);
uint64_t pace_input_stored_size(const pace_input *input);

/** The size of a buffer to read through: `most`, or what holds a smaller input of a known size and one byte more, so
 * that a small file does not pay for a large buffer. What is compressed may hold more than fits. */
size_t pace_input_room(const pace_input *input, size_t most);

void pace_input_free(pace_input *input);
