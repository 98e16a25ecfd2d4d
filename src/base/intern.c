#include "base/intern.h"

#include <string.h>

static uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

/* The last `length` bytes, fewer than 8, of a text: the first of them lowest. Without a call of memcpy(), which would
 * take longer than all the rest. */
static inline uint64_t tail_of(const unsigned char *at, size_t length) {
    uint64_t tail = 0;
    unsigned shift = 0;
    if (length & 4) {
        uint32_t four;
        memcpy(&four, at, 4);
        tail = four;
        at += 4;
        shift = 32;
    }
    if (length & 2) {
        uint16_t two;
        memcpy(&two, at, 2);
        tail |= (uint64_t)two << shift;
        at += 2;
        shift += 16;
    }
    return length & 1 ? tail | (uint64_t)*at << shift : tail;
}

uint64_t pace_hash(const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    uint64_t h = UINT64_C(0x243f6a8885a308d3) ^ (length * UINT64_C(0xff51afd7ed558ccd));
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        h = mix(h ^ word) + UINT64_C(0x13198a2e03707344);
    }
    return mix(mix(h ^ tail_of(at, length)));
}

pace_status pace_names_init(pace_names *names) {
    *names = (pace_names){.slot_count = 64};
    if (!PACE_MAKE(names->slots, names->slot_count)) return PACE_E_MEMORY;
    pace_name empty;
    pace_status status = pace_names_add(&empty, names, "", 0);
    if (status != PACE_OK) pace_names_free(names);
    return status;
}

void pace_names_free(pace_names *names) {
    PACE_VEC_FREE(&names->bytes, &names->offset, &names->hash);
    pace_free(names->slots);
    *names = (pace_names){0};
}

size_t pace_names_length(const pace_names *names, pace_name name) {
    size_t end = name + 1 < names->offset.count ? names->offset.items[name + 1] : names->bytes.count;
    return end - names->offset.items[name] - 1;
}

/* The slot that holds the text, or the free slot where it belongs. */
static size_t find_slot(const pace_names *names, uint32_t hash, const char *text, size_t length) {
    size_t mask = names->slot_count - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        uint32_t held = names->slots[slot];
        if (held == 0) return slot;
        pace_name name = held - 1;
        if (names->hash.items[name] == hash && pace_names_length(names, name) == length &&
            memcmp(pace_names_text(names, name), text, length) == 0)
            return slot;
    }
}

static pace_status grow_slots(pace_names *names) {
    size_t count = names->slot_count * 2;
    uint32_t *slots = pace_alloc(count, sizeof *slots);
    if (!slots) return PACE_E_MEMORY;
    for (size_t name = 0; name < names->offset.count; name++) {
        size_t slot = names->hash.items[name] & (count - 1);
        while (slots[slot]) slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)name + 1;
    }
    pace_free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    return PACE_OK;
}

bool pace_names_find(pace_name *out, const pace_names *names, const char *text, size_t length) {
    size_t slot = find_slot(names, (uint32_t)pace_hash(text, length), text, length);
    if (names->slots[slot] == 0) return false;
    *out = names->slots[slot] - 1;
    return true;
}

pace_status pace_names_add(pace_name *out, pace_names *names, const char *text, size_t length) {
    uint32_t hash = (uint32_t)pace_hash(text, length);
    size_t slot = find_slot(names, hash, text, length);
    if (names->slots[slot]) {
        *out = names->slots[slot] - 1;
        return PACE_OK;
    }
    if (names->offset.count >= UINT32_MAX - 1) return pace_fail(PACE_E_LIMIT, "more than 4294967294 distinct names");
    PACE_TRY(pace_grow(&names->bytes.items, &names->bytes.capacity, names->bytes.count + length + 1, 1));
    PACE_TRY(
        pace_grow(&names->offset.items, &names->offset.capacity, names->offset.count + 1, sizeof *names->offset.items));
    PACE_TRY(PACE_PUSH(&names->hash, hash));
    pace_name name = (pace_name)names->offset.count;
    names->offset.items[names->offset.count++] = names->bytes.count;
    if (length) memcpy(names->bytes.items + names->bytes.count, text, length);
    names->bytes.items[names->bytes.count + length] = '\0';
    names->bytes.count += length + 1;
    names->slots[slot] = name + 1;
    *out = name;
    if (names->offset.count * 2 > names->slot_count) return grow_slots(names);
    return PACE_OK;
}
