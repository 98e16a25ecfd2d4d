#include "plan/slot_buckets.h"

#include <math.h>
#include <stdbool.h>

static unsigned closest(const pace_slot_buckets *b, double bytes) {
    unsigned best = 0;
    for (unsigned i = 1; i < b->size_count; i++)
        if (fabs(b->sizes[i].bytes - bytes) < fabs(b->sizes[best].bytes - bytes)) best = i;
    return best;
}

static void put(pace_slot_buckets *b, double bytes) {
    unsigned at = closest(b, bytes);
    bool known = b->size_count > 0 && b->sizes[at].bytes == bytes;
    if (!known && b->size_count < PACE_BUCKET_SIZES) {
        at = b->size_count++;
        b->sizes[at].bytes = bytes;
        b->sizes[at].count = 0;
    }
    double count = b->sizes[at].count++;
    b->sizes[at].bytes = (b->sizes[at].bytes * count + bytes) / (count + 1);
}

void pace_slot_buckets_add(pace_slot_buckets *buckets, double bytes) {
    if (buckets->bytes > 0) put(buckets, buckets->last_bytes);
    buckets->last_bytes = bytes;
    buckets->bytes += bytes;
}
