#include "fleet/pack.h"

#include <string.h>

pace_status pace_pack_u64(pace_bytes *bytes, uint64_t value) {
    PACE_TRY(pace_grow(&bytes->items, &bytes->capacity, bytes->count + 8, 1));
    for (int i = 0; i < 8; i++) bytes->items[bytes->count++] = (unsigned char)(value >> (8 * i) & 0xff);
    return PACE_OK;
}

pace_status pace_pack_real(pace_bytes *bytes, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return pace_pack_u64(bytes, bits);
}

pace_status pace_unpack_u64(uint64_t *out, pace_unpack *from) {
    if (from->left < 8)
        return pace_fail(PACE_E_INPUT, "a partial result: expected 8 more bytes, found %zu", from->left);
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value |= (uint64_t)from->at[i] << (8 * i);
    from->at += 8;
    from->left -= 8;
    *out = value;
    return PACE_OK;
}

pace_status pace_unpack_real(double *out, pace_unpack *from) {
    uint64_t bits = 0;
    PACE_TRY(pace_unpack_u64(&bits, from));
    memcpy(out, &bits, sizeof bits);
    return PACE_OK;
}

pace_status pace_pack_text(pace_bytes *bytes, const char *text) {
    size_t length = strlen(text);
    PACE_TRY(pace_pack_u64(bytes, length));
    PACE_TRY(pace_grow(&bytes->items, &bytes->capacity, bytes->count + length, 1));
    memcpy(bytes->items + bytes->count, text, length);
    bytes->count += length;
    return PACE_OK;
}

pace_status pace_unpack_text(const char **out, size_t *length, pace_unpack *from) {
    uint64_t count = 0;
    PACE_TRY(pace_unpack_u64(&count, from));
    if (from->left < count)
        return pace_fail(PACE_E_INPUT, "a partial result: expected %llu more bytes, found %zu",
                         (unsigned long long)count, from->left);
    *out = (const char *)from->at;
    *length = (size_t)count;
    from->at += count;
    from->left -= (size_t)count;
    return PACE_OK;
}
