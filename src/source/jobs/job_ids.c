#include "source/jobs/job_ids.h"

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

static size_t part_of(uint64_t hash) { return (size_t)(hash >> 32) % PACE_JOB_ID_PARTS; }

static size_t home(const pace_job_id_part *part, uint64_t hash) { return (size_t)hash & (part->slot_count - 1); }

/* The slot that holds the hash, or the free one where it belongs. */
static size_t find(const pace_job_id_part *part, uint64_t hash) {
    size_t slot = home(part, hash);
    while (part->slots[slot] != 0 && part->slots[slot] != hash) slot = (slot + 1) & (part->slot_count - 1);
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

static pace_status add(bool *seen, pace_job_id_part *part, uint64_t hash) {
    size_t slot = find(part, hash);
    *seen = part->slots[slot] != 0;
    if (*seen) return PACE_OK;
    if (part->count == part->most) {
        part->unchecked++;
        return PACE_OK;
    }
    if (is_full(part->count + 1, part->slot_count)) {
        PACE_TRY(grow(part, 2 * part->slot_count));
        slot = find(part, hash);
    }
    part->slots[slot] = hash;
    part->count++;
    return PACE_OK;
}

static uint64_t not_zero(uint64_t hash) { return hash ? hash : 1; }

/* The places of a part's hashes among the next few. */
static size_t choose(uint16_t *chosen, size_t part, const uint64_t *hashes, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        chosen[found] = (uint16_t)i;
        found += part_of(hashes[i]) == part;
    }
    return found;
}

pace_status pace_job_ids_add_part(bool *seen, size_t *repeats, pace_job_ids *ids, size_t part, const uint64_t *hashes,
                                  size_t count) {
    pace_job_id_part *own = &ids->parts[part];
    for (size_t at = 0; at < count; at += TOGETHER) {
        uint16_t chosen[TOGETHER];
        const uint64_t *from = hashes + at;
        size_t found = choose(chosen, part, from, count - at < TOGETHER ? count - at : TOGETHER);
        for (size_t i = 0; i < found; i++) {
            if (i + AHEAD < found) __builtin_prefetch(&own->slots[home(own, from[chosen[i + AHEAD]])], 1);
            PACE_TRY(add(&seen[at + chosen[i]], own, not_zero(from[chosen[i]])));
            *repeats += seen[at + chosen[i]];
        }
    }
    return PACE_OK;
}

pace_status pace_job_ids_add(bool *seen, size_t *repeats, pace_job_ids *ids, const uint64_t *hashes, size_t count) {
    *repeats = 0;
    for (size_t part = 0; part < PACE_JOB_ID_PARTS; part++)
        PACE_TRY(pace_job_ids_add_part(seen, repeats, ids, part, hashes, count));
    return PACE_OK;
}

uint64_t pace_job_ids_unchecked(const pace_job_ids *ids) {
    uint64_t unchecked = 0;
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++) unchecked += ids->parts[p].unchecked;
    return unchecked;
}
