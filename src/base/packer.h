/* A writer that compresses: bytes go in, a gzip member or a zstd frame comes out of another writer. The same bytes in
 * give the same bytes out: the header holds neither a time nor a name. */
#pragma once

#include "base/status.h"

typedef enum { PACE_PACK_GZIP, PACE_PACK_ZSTD, PACE_PACK_KINDS } pace_pack_kind;

typedef struct pace_packer pace_packer;

/** How a file of this name is compressed: ".gz", ".zst"; PACE_PACK_KINDS = not. */
pace_pack_kind pace_pack_kind_of(const char *path);

/** Compressed bytes go to `write(context, ...)`. */
pace_status pace_packer_open(pace_packer **out, pace_pack_kind kind, pace_write_fn write,
                             void *context) PACE_MUST_CHECK;

/** A pace_write_fn whose context is the pace_packer: 0, or the errno value of the first write that failed. */
int pace_packer_write(void *packer, const void *bytes, size_t length);

/** Writes what is left and the end, and frees. PACE_E_IO when any write failed. */
pace_status pace_packer_close(pace_packer *packer) PACE_MUST_CHECK;
/** Frees without writing. NULL is allowed. */
void pace_packer_drop(pace_packer *packer);
