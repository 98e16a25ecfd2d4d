#include "source/job_ids.h"

enum { FIRST_SLOTS = 1 << 12, AHEAD = 16 };

static const size_t MOST_IDS = (size_t)1 << 27;

pace_status pace_job_ids_init(pace_job_ids *ids, size_t most) {
    *ids = (pace_job_ids){.slot_count = FIRST_SLOTS, .most = most ? most : MOST_IDS};
    ids->slots = pace_alloc(ids->slot_count, sizeof *ids->slots);
    return ids->slots ? PACE_OK : PACE_E_MEMORY;
}

void pace_job_ids_free(pace_job_ids *ids) {
    pace_free(ids->slots);
    *ids = (pace_job_ids){0};
}

static size_t home(const pace_job_ids *ids, uint64_t hash) { return (size_t)hash & (ids->slot_count - 1); }

/* The slot that holds the hash, or the free one where it belongs. */
static size_t find(const pace_job_ids *ids, uint64_t hash) {
    size_t slot = home(ids, hash);
    while (ids->slots[slot] != 0 && ids->slots[slot] != hash) slot = (slot + 1) & (ids->slot_count - 1);
    return slot;
}

static pace_status grow(pace_job_ids *ids) {
    pace_job_ids larger = *ids;
    larger.slot_count *= 2;
    larger.slots = pace_alloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots) return PACE_E_MEMORY;
    for (size_t i = 0; i < ids->slot_count; i++)
        if (ids->slots[i]) larger.slots[find(&larger, ids->slots[i])] = ids->slots[i];
    pace_free(ids->slots);
    *ids = larger;
    return PACE_OK;
}

pace_status pace_job_ids_add(bool *seen, size_t *repeats, pace_job_ids *ids, const uint64_t *hashes, size_t count) {
    *repeats = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(&ids->slots[home(ids, hashes[i + AHEAD])], 1);
        uint64_t hash = hashes[i] ? hashes[i] : 1;
        size_t slot = find(ids, hash);
        seen[i] = ids->slots[slot] != 0;
        *repeats += seen[i];
        if (seen[i]) continue;
        if (ids->count == ids->most) {
            ids->unchecked++;
            continue;
        }
        if (8 * (ids->count + 1) > 7 * ids->slot_count) {
            PACE_TRY(grow(ids));
            slot = find(ids, hash);
        }
        ids->slots[slot] = hash;
        ids->count++;
    }
    return PACE_OK;
}
