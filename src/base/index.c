#include "base/index.h"

typedef struct pace_index_slot index_slot;

/* Where a key is, or would be put. */
static index_slot *slot_of(index_slot *slots, size_t mask, uint64_t key) {
    size_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 24) & mask;
    while (slots[at].number && slots[at].key != key) at = (at + 1) & mask;
    return &slots[at];
}

static pace_status grow(pace_index *index) {
    size_t slots = index->slots ? (index->mask + 1) * 2 : 256;
    index_slot *table = pace_alloc(slots, sizeof *table);
    if (!table) return PACE_E_MEMORY;
    for (size_t i = 0; index->slots && i <= index->mask; i++)
        if (index->slots[i].number) *slot_of(table, slots - 1, index->slots[i].key) = index->slots[i];
    pace_free(index->slots);
    index->slots = table;
    index->mask = slots - 1;
    return PACE_OK;
}

static pace_status place(index_slot **out, pace_index *index, uint64_t key) {
    if (!index->slots || index->count * 2 > index->mask) PACE_TRY(grow(index));
    *out = slot_of(index->slots, index->mask, key);
    (*out)->key = key;
    index->count += !(*out)->number;
    return PACE_OK;
}

pace_status pace_index_find(uint32_t *out, pace_index *index, uint64_t key, uint32_t next) {
    index_slot *slot;
    PACE_TRY(place(&slot, index, key));
    if (!slot->number) slot->number = next + 1;
    *out = slot->number - 1;
    return PACE_OK;
}

pace_status pace_index_set(pace_index *index, uint64_t key, uint32_t number) {
    index_slot *slot;
    PACE_TRY(place(&slot, index, key));
    slot->number = number + 1;
    return PACE_OK;
}

uint32_t pace_index_get(const pace_index *index, uint64_t key) {
    return index->slots ? slot_of(index->slots, index->mask, key)->number - 1 : PACE_NO_NUMBER;
}

void pace_index_free(pace_index *index) {
    pace_free(index->slots);
    *index = (pace_index){0};
}
