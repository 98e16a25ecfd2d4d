#include "fleet/sum.h"

__extension__ typedef unsigned __int128 bits128;

pace_status pace_sum_pack(pace_bytes *bytes, const pace_sum *sum) {
    bits128 bits = (bits128)sum->units;
    PACE_TRY(pace_pack_u64(bytes, (uint64_t)bits));
    return pace_pack_u64(bytes, (uint64_t)(bits >> 64));
}

pace_status pace_sum_unpack(pace_sum *out, pace_unpack *from) {
    uint64_t low = 0, high = 0;
    PACE_TRY(pace_unpack_u64(&low, from));
    PACE_TRY(pace_unpack_u64(&high, from));
    out->units = (pace_int128)((bits128)high << 64 | low);
    return PACE_OK;
}
