#include "step/step_pack.h"
#include "step/step_parts.h"

pace_status pace_pack(pace_packed *out, const void *bytes, size_t length) {
    PACE_TRY(pace_grow(&out->items, &out->capacity, out->count + length + 1, 1));
    if (length) memcpy(out->items + out->count, bytes, length);
    out->count += length;
    return PACE_OK;
}

bool pace_unpack(void *out, size_t length, const char **at, const char *end) {
    if ((size_t)(end - *at) < length) return false;
    if (length) memcpy(out, *at, length);
    *at += length;
    return true;
}

/* The struct as it is, then what its pointers lead to. */
pace_status pace_step_pack(pace_packed *out, const pace_step *step) {
    PACE_TRY(pace_pack(out, step, sizeof *step));
    for (size_t i = 0; i < pace_step_part_count; i++) {
        const pace_step_part *part = &pace_step_parts[i];
        const void *items = pace_step_part_items(step, part);
        uint8_t present = items != NULL;
        PACE_TRY(pace_pack(out, &present, 1));
        if (present) PACE_TRY(pace_pack(out, items, pace_step_part_length(step, part) * part->size));
    }
    return PACE_OK;
}

static void set_items(pace_step *step, const pace_step_part *part, void *items) {
    memcpy((char *)step + part->items, &items, sizeof items);
    if (part->capacity) memcpy((char *)step + part->capacity, (char *)step + part->count, sizeof(size_t));
}

static pace_status fail_short(void) { return pace_fail(PACE_E_INTERNAL, "a packed step breaks off"); }

static pace_status unpack_part(pace_step *step, const pace_step_part *part, const char **at, const char *end) {
    uint8_t present;
    size_t count = pace_step_part_length(step, part);
    if (!pace_unpack(&present, 1, at, end)) return fail_short();
    if (!present) return PACE_OK;
    if (count > (size_t)(end - *at) / part->size) return fail_short();
    void *items = pace_alloc(count, part->size);
    if (!items) return PACE_E_MEMORY;
    set_items(step, part, items);
    return pace_unpack(items, count * part->size, at, end) ? PACE_OK : fail_short();
}

pace_status pace_step_unpack(pace_step *out, const char **at, const char *end) {
    pace_step step;
    if (!pace_unpack(&step, sizeof step, at, end)) return fail_short();
    for (size_t i = 0; i < pace_step_part_count; i++) set_items(&step, &pace_step_parts[i], NULL);
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < pace_step_part_count; i++)
        status = unpack_part(&step, &pace_step_parts[i], at, end);
    return PACE_GIVE(out, step, status, pace_step_free(&step));
}
