/* Files that are written whole or not at all: beside the old one, then renamed over it. */
#pragma once

#include "base/json_writer.h"

typedef pace_status (*pace_fill_fn)(pace_sink *sink, void *context);

/** Creates or replaces `path` with what `fill` writes, compressed if its name ends with .gz or .zst; on failure the old
 * file stays. A pipe or a device stays one and is written to. Errors: PACE_E_IO with path and reason, and those of
 * `fill`. */
pace_status pace_whole_file_write(const char *path, pace_fill_fn fill, void *context) PACE_MUST_CHECK;

/** Writes a sink's bytes to `stream`, a FILE; an errno on failure. */
int pace_write_stream(void *stream, const void *bytes, size_t length);
