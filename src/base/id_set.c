#include "base/id_set.h"

enum { FEWEST_SLOTS = 64 };

static size_t slot_of(const pace_id_set *set, uint64_t id) {
    size_t slot = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->slot_count - 1);
    while (set->slots[slot] && set->slots[slot] != id) slot = (slot + 1) & (set->slot_count - 1);
    return slot;
}

static pace_status grow(pace_id_set *set) {
    pace_id_set larger = {.slot_count = set->slot_count ? set->slot_count * 2 : FEWEST_SLOTS};
    if (!PACE_MAKE(larger.slots, larger.slot_count)) return PACE_E_MEMORY;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i]) larger.slots[slot_of(&larger, set->slots[i])] = set->slots[i];
    pace_free(set->slots);
    set->slots = larger.slots;
    set->slot_count = larger.slot_count;
    return PACE_OK;
}

pace_status pace_id_set_add(pace_id_set *set, uint64_t id) {
    if (pace_id_set_has(set, id)) return PACE_OK;
    if (id && 3 * (set->count + 1) > 2 * set->slot_count) PACE_TRY(grow(set));
    if (id) set->slots[slot_of(set, id)] = id;
    else set->has_zero = true;
    set->count++;
    return PACE_OK;
}

bool pace_id_set_has(const pace_id_set *set, uint64_t id) {
    if (id == 0) return set->has_zero;
    return set->slot_count && set->slots[slot_of(set, id)] == id;
}

void pace_id_set_free(pace_id_set *set) {
    pace_free(set->slots);
    *set = (pace_id_set){0};
}
