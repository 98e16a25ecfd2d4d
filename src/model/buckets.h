/*
 * How DistributedDataParallel joins gradients (torch/csrc/distributed/c10d/reducer.cpp): a bucket takes gradients in
 * the order in which backward forms them and goes when it holds its limit or more. The first holds 1 MiB, so that the
 * exchange begins early.
 */
#pragma once

#include "base/memory.h"

#include <stdbool.h>

/* The gradient of a parameter tensor as one rank holds it. */
typedef struct {
    double elements;
    bool expert;     /* of experts that expert-parallel ranks share out: it has fewer replicas */
    size_t launches; /* that backward made before it was formed */
} pace_gradient_tensor;

typedef PACE_VEC(pace_gradient_tensor) pace_gradient_tensors;

typedef struct {
    double bytes;    /* gradients in it so far */
    double tensors;  /* whose they are */
    unsigned number; /* buckets that went before it */
} pace_gradient_bucket;

/** Whether a bucket goes now; `limit_bytes` is of all but the first. */
static inline bool pace_bucket_is_full(const pace_gradient_bucket *bucket, double limit_bytes) {
    static const double first_bytes = 1048576;
    double limit = bucket->number == 0 && first_bytes < limit_bytes ? first_bytes : limit_bytes;
    return bucket->bytes >= limit;
}
