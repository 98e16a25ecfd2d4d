/*
 * Interned strings: each distinct text is stored once and known by a 32-bit number. Number 0 is the empty text.
 * Numbers are given in order of first appearance, so they are deterministic.
 */
#pragma once

#include "base/memory.h"

typedef uint32_t pace_name;

typedef struct {
    PACE_VEC(char) bytes;      /* all texts, NUL-terminated, back to back */
    PACE_VEC(uint64_t) offset; /* name -> place in bytes */
    uint32_t *slots;           /* open addressing, name + 1, 0 = free */
    size_t slot_count;         /* power of two */
    PACE_VEC(uint32_t) hash;   /* name -> hash */
} pace_names;

pace_status pace_names_init(pace_names *names) PACE_MUST_CHECK;
void pace_names_free(pace_names *names);

/** The number of `text` (which need not be terminated; bytes after a NUL count), added when new. */
pace_status pace_names_add(pace_name *out, pace_names *names, const char *text, size_t length) PACE_MUST_CHECK;

/** The number of `text`, or false when it was never added. */
bool pace_names_find(pace_name *out, const pace_names *names, const char *text, size_t length);

/** The text of a name; NUL-terminated, borrowed until the next add. */
static inline const char *pace_names_text(const pace_names *names, pace_name name) {
    return names->bytes.items + names->offset.items[name];
}

/** Its length; a NUL may be in it. */
size_t pace_names_length(const pace_names *names, pace_name name);

static inline size_t pace_names_count(const pace_names *names) { return names->offset.count; }

/** A fast 64-bit hash of bytes (not cryptographic, the same on every machine of one byte order). */
uint64_t pace_hash(const void *bytes, size_t length);
