#include "base/child_index.h"

typedef struct pace_child_slot child_slot;

/* Where a key is, or would be put. */
static child_slot *slot_of(child_slot *slots, size_t mask, uint64_t key) {
    size_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 24) & mask;
    while (slots[at].node && slots[at].key != key) at = (at + 1) & mask;
    return &slots[at];
}

static pace_status grow(pace_child_index *index) {
    size_t slots = index->slots ? (index->mask + 1) * 2 : 256;
    child_slot *table = pace_alloc(slots, sizeof *table);
    if (!table) return PACE_E_MEMORY;
    for (size_t i = 0; index->slots && i <= index->mask; i++)
        if (index->slots[i].node) *slot_of(table, slots - 1, index->slots[i].key) = index->slots[i];
    pace_free(index->slots);
    index->slots = table;
    index->mask = slots - 1;
    return PACE_OK;
}

pace_status pace_child_index_find(uint32_t *out, pace_child_index *index, uint32_t parent, uint32_t name,
                                  uint32_t next) {
    uint64_t key = (uint64_t)parent << 32 | name;
    if (!index->slots || index->count * 2 > index->mask) PACE_TRY(grow(index));
    child_slot *slot = slot_of(index->slots, index->mask, key);
    if (!slot->node) {
        *slot = (child_slot){key, next + 1};
        index->count++;
    }
    *out = slot->node - 1;
    return PACE_OK;
}

void pace_child_index_free(pace_child_index *index) {
    pace_free(index->slots);
    *index = (pace_child_index){0};
}
