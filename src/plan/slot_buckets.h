/* Buckets in which the gradients of one step are exchanged, by size: a model that repeats its layers has few sizes. */
#pragma once

enum { PACE_BUCKET_SIZES = 16 };

typedef struct {
    struct {
        double bytes, count;
    } sizes[PACE_BUCKET_SIZES]; /* the last bucket is not among them */
    unsigned size_count;
    double bytes, last_bytes; /* of all; of the last, which nothing hides */
    double before_s;          /* kernels of gradients before the last goes: part of backward */
} pace_slot_buckets;

/** Adds a bucket behind the others. Past PACE_BUCKET_SIZES sizes the closest ones share their mean. */
void pace_slot_buckets_add(pace_slot_buckets *buckets, double bytes);
