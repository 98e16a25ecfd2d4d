#include "source/jobs/job_ids.h"
#include "base/intern.h"

#include <string.h>

enum { FIRST_SLOTS = 1 << 8, AHEAD = 32, TOGETHER = 4096 };

static const size_t MOST_IDS = (size_t)1 << 27;

static pace_status open_slots(pace_job_id_part *part, size_t count) {
    if (!PACE_MAKE(part->slots, count)) return PACE_E_MEMORY;
    part->slot_count = count;
    return PACE_OK;
}

pace_status pace_job_ids_init(pace_job_ids *out, size_t most) {
    pace_job_ids ids = {0};
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++) {
        ids.parts[p].most = ((most ? most : MOST_IDS) - 1) / PACE_JOB_ID_PARTS + 1;
        if (open_slots(&ids.parts[p], FIRST_SLOTS) == PACE_OK) continue;
        pace_job_ids_free(&ids);
        return PACE_E_MEMORY;
    }
    *out = ids;
    return PACE_OK;
}

void pace_job_ids_free(pace_job_ids *ids) {
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++) pace_free(ids->parts[p].slots);
    *ids = (pace_job_ids){0};
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

enum { MOST_DIGITS = 8 };
static const uint64_t OF_DIGIT = UINT64_C(0xd1342543de82ef95); /* odd, its bits at random */

/* The last eight bytes, the last of them highest; zeros where there are fewer. */
static uint64_t tail_of(const char *id, size_t length) {
    uint64_t tail = 0;
    if (length < sizeof tail) {
        for (size_t i = 0; i < length; i++) tail = tail >> 8 | (uint64_t)(unsigned char)id[i] << 56;
        return tail;
    }
    for (size_t i = 0; i < sizeof tail; i++) tail |= (uint64_t)(unsigned char)id[length - 8 + i] << 8 * i;
    return tail;
}

/* How many of the last bytes are digits: each byte less '0' is at most 9. */
static unsigned digits_of(uint64_t tail) {
    uint64_t less = tail ^ UINT64_C(0x3030303030303030);
    uint64_t others = ((less & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7676767676767676)) | less;
    others &= UINT64_C(0x8080808080808080);
    return others ? (unsigned)__builtin_clzll(others) / 8 : MOST_DIGITS;
}

static uint64_t number_of(uint64_t tail, unsigned digits) {
    if (digits == 0) return 0;
    uint64_t number = tail ^ UINT64_C(0x3030303030303030);
    number = number >> (64 - 8 * digits) << (64 - 8 * digits); /* zeros before it */
    number = (number & UINT64_C(0x00ff00ff00ff00ff)) * 10 + (number >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    number = (number & UINT64_C(0x0000ffff0000ffff)) * 100 + (number >> 16 & UINT64_C(0x0000ffff0000ffff));
    return (number & UINT64_C(0xffffffff)) * 10000 + (number >> 32);
}

/* "job7" and "job07" are others: how many digits there are is part of the key. */
static uint64_t key_of(uint64_t before, unsigned digits, uint64_t tail) {
    return before + digits * OF_DIGIT + number_of(tail, digits);
}

uint64_t pace_job_id_key(const char *id, size_t length) {
    uint64_t tail = tail_of(id, length);
    unsigned digits = digits_of(tail);
    return key_of(pace_hash(id, length - digits), digits, tail);
}

/* The `count` first of eight bytes that were read, fewer than all. */
static uint64_t head_of(uint64_t bytes, size_t count) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return bytes & ((UINT64_C(1) << 8 * count) - 1);
#else
    return count ? bytes >> (64 - 8 * count) : 0;
#endif
}

/* Whether two texts begin with the same bytes, of which eight more may be read. */
static bool same_bytes(const char *a, const char *b, size_t count) {
    uint64_t differ = 0, one, other;
    for (; count >= sizeof one; a += sizeof one, b += sizeof one, count -= sizeof one) {
        memcpy(&one, a, sizeof one);
        memcpy(&other, b, sizeof other);
        differ |= one ^ other;
    }
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return differ == 0 && head_of(one, count) == head_of(other, count);
}

/* What is before the digits is mostly the same from id to id. */
void pace_job_id_keys(uint64_t *keys, const char *text, const size_t *ids, size_t count, size_t end) {
    size_t before = 0, before_at = 0;
    uint64_t hash = pace_hash(text, 0);
    for (size_t i = 0; i < count; i++) {
        size_t length = (i + 1 < count ? ids[i + 1] : end) - ids[i] - 1;
        uint64_t tail = tail_of(text + ids[i], length);
        unsigned digits = digits_of(tail);
        if (length - digits != before || !same_bytes(text + before_at, text + ids[i], before)) {
            before = length - digits;
            hash = pace_hash(text + ids[i], before);
        }
        before_at = ids[i];
        keys[i] = key_of(hash, digits, tail);
    }
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

/* Keys that follow each other stay together, in a part and there. */
enum { RUN_BITS = 6, RUN = 1 << RUN_BITS };

static size_t part_of(uint64_t key) { return (size_t)(key >> RUN_BITS) % PACE_JOB_ID_PARTS; }

static size_t home(const pace_job_id_part *part, uint64_t key) {
    uint64_t run = (key >> RUN_BITS) / PACE_JOB_ID_PARTS;
    return (size_t)(run * RUN + key % RUN) & (part->slot_count - 1);
}

/* The slot that holds the key, or the free one where it belongs. Keys that follow each other fill long stretches, so
 * where another key is at home a run goes on together, in steps of its own: odd ones, which reach every slot. */
static size_t find(const pace_job_id_part *part, uint64_t key) {
    size_t slot = home(part, key), step = 0;
    while (part->slots[slot] != 0 && part->slots[slot] != key) {
        uint64_t run = key >> RUN_BITS;
        if (step == 0) step = (size_t)pace_hash(&run, sizeof run) | 1;
        slot = (slot + step) & (part->slot_count - 1);
    }
    return slot;
}

static pace_status grow(pace_job_id_part *part, size_t slot_count) {
    pace_job_id_part larger = *part;
    PACE_TRY(open_slots(&larger, slot_count));
    for (size_t i = 0; i < part->slot_count; i++)
        if (part->slots[i]) larger.slots[find(&larger, part->slots[i])] = part->slots[i];
    pace_free(part->slots);
    *part = larger;
    return PACE_OK;
}

static bool is_full(size_t count, size_t slot_count) { return 8 * count > 5 * slot_count; }

pace_status pace_job_ids_expect(pace_job_ids *ids, size_t count) {
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++) {
        pace_job_id_part *part = &ids->parts[p];
        size_t share = count / PACE_JOB_ID_PARTS, wanted = share < part->most ? share : part->most;
        size_t slot_count = part->slot_count;
        while (is_full(wanted, slot_count)) slot_count *= 2;
        if (slot_count > part->slot_count) PACE_TRY(grow(part, slot_count));
    }
    return PACE_OK;
}

/* Where a key is that was seen before or found no room at home. */
static pace_status add_beyond(bool *seen, pace_job_id_part *part, uint64_t key) {
    size_t slot = find(part, key);
    *seen = part->slots[slot] != 0;
    if (*seen) return PACE_OK;
    if (part->count == part->most) {
        part->unchecked++;
        return PACE_OK;
    }
    if (is_full(part->count + 1, part->slot_count)) {
        PACE_TRY(grow(part, 2 * part->slot_count));
        slot = find(part, key);
    }
    part->slots[slot] = key;
    part->count++;
    return PACE_OK;
}

/* Nearly every key is new, and finds its home free. */
static inline pace_status add(bool *seen, pace_job_id_part *part, uint64_t key) {
    size_t slot = home(part, key);
    if (PACE_UNLIKELY(part->slots[slot] != 0 || part->count == part->most ||
                      is_full(part->count + 1, part->slot_count)))
        return add_beyond(seen, part, key);
    *seen = false;
    part->slots[slot] = key;
    part->count++;
    return PACE_OK;
}

static uint64_t not_zero(uint64_t key) { return key ? key : 1; }

/* The places of a part's keys among the next few. */
static size_t choose(uint16_t *chosen, size_t part, const uint64_t *keys, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        chosen[found] = (uint16_t)i;
        found += part_of(keys[i]) == part;
    }
    return found;
}

pace_status pace_job_ids_add_part(bool *seen, size_t *repeats, pace_job_ids *ids, size_t part, const uint64_t *keys,
                                  size_t count) {
    pace_job_id_part *own = &ids->parts[part];
    for (size_t at = 0; at < count; at += TOGETHER) {
        uint16_t chosen[TOGETHER];
        const uint64_t *from = keys + at;
        size_t found = choose(chosen, part, from, count - at < TOGETHER ? count - at : TOGETHER);
        for (size_t i = 0; i < found; i++) {
            if (i + AHEAD < found) __builtin_prefetch(&own->slots[home(own, from[chosen[i + AHEAD]])], 1);
            PACE_TRY(add(&seen[at + chosen[i]], own, not_zero(from[chosen[i]])));
            *repeats += seen[at + chosen[i]];
        }
    }
    return PACE_OK;
}

pace_status pace_job_ids_add(bool *seen, size_t *repeats, pace_job_ids *ids, const uint64_t *keys, size_t count) {
    *repeats = 0;
    for (size_t part = 0; part < PACE_JOB_ID_PARTS; part++)
        PACE_TRY(pace_job_ids_add_part(seen, repeats, ids, part, keys, count));
    return PACE_OK;
}

uint64_t pace_job_ids_unchecked(const pace_job_ids *ids) {
    uint64_t unchecked = 0;
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++) unchecked += ids->parts[p].unchecked;
    return unchecked;
}
