/* Writing a file so that nothing good is lost. */
#pragma once

#include "base/status.h"

/** Writes what is to be in the file. */
typedef pace_status (*pace_fill_fn)(void *context, pace_write_fn write, void *file);

/** Fills a new file beside `path` and gives it that name when all of it is written; a failure leaves what was there. What
 * is no plain file (a pipe, /dev/stdout) is written to directly. PACE_E_IO, or what `fill` returned. */
pace_status pace_replace_file(const char *path, pace_fill_fn fill, void *context) PACE_MUST_CHECK;
