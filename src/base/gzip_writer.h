/* A writer that compresses: bytes go in, a gzip member comes out of another writer. The same bytes in give the same bytes
 * out: the header holds neither a time nor a name. */
#pragma once

#include "base/status.h"

typedef struct pace_gzip pace_gzip;

/** Compressed bytes go to `write(context, ...)`. */
pace_status pace_gzip_open(pace_gzip **out, pace_write_fn write, void *context) PACE_MUST_CHECK;

/** A pace_write_fn whose context is the pace_gzip: 0, or the errno value of the first write that failed. */
int pace_gzip_write(void *gzip, const void *bytes, size_t length);

/** Writes what is left and the end of the member, and frees. PACE_E_IO when any write failed. */
pace_status pace_gzip_close(pace_gzip *gzip) PACE_MUST_CHECK;
/** Frees without writing. NULL is allowed. */
void pace_gzip_drop(pace_gzip *gzip);
