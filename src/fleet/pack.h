/*
 * Values as bytes that are the same on every machine: little-endian 64-bit words, back to back. Partial results travel
 * in them between processes, and two results are the same when their bytes are.
 */
#pragma once

#include "base/memory.h"

typedef PACE_VEC(unsigned char) pace_bytes; /* free with PACE_VEC_FREE */

pace_status pace_pack_u64(pace_bytes *bytes, uint64_t value) PACE_MUST_CHECK;
/** The double's bits. */
pace_status pace_pack_real(pace_bytes *bytes, double value) PACE_MUST_CHECK;

/** A length and as many bytes. */
pace_status pace_pack_text(pace_bytes *bytes, const char *text) PACE_MUST_CHECK;

/* Reading: a place in bytes that are borrowed. */
typedef struct {
    const unsigned char *at;
    size_t left;
} pace_unpack;

/** PACE_E_INPUT when the bytes end before the value does. */
pace_status pace_unpack_u64(uint64_t *out, pace_unpack *from) PACE_MUST_CHECK;
pace_status pace_unpack_real(double *out, pace_unpack *from) PACE_MUST_CHECK;
/** Text, not terminated, borrowed from the bytes. */
pace_status pace_unpack_text(const char **out, size_t *length, pace_unpack *from) PACE_MUST_CHECK;
