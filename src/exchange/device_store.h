/*
 * MXNet's device store on one node (src/kvstore/comm.h): every tensor is merged on one device and copied back to all.
 */
#pragma once

#include "exchange/approaches.h"

typedef struct {
    const pace_machine *machine;
    int ranks;
    double threads;  /* of a device that copy away from it, each one copy after another; 1 to 4 */
    double add_rate; /* bytes/s of a device's memory; 0 = adding costs nothing */
    double copy_s;   /* of a copy beside its bytes: its launch, and the thread that waits for it */
    double slowness; /* 0 = 1 */
} pace_device_store;

/** When all tensors are back on all devices. They are placed largest first, each on the device with the fewest bytes;
 * all others copy to it and get the sum back. Copies under way share links fairly. `ready_s` of each tensor, ascending;
 * NULL = all at 0. `ends_s`: when each is back; NULL = not asked. Errors: PACE_E_USAGE for other numbers of threads;
 * those of pace_fabric_of_machine(). */
pace_status pace_device_store_s(double *out_s, double *ends_s, const pace_device_store *store,
                                const pace_gradients *gradients, const double *ready_s) PACE_MUST_CHECK;

/* What devices hold beside their own gradients to merge: of each tensor that one merges, what it gets from every other,
 * and the sum (MXNet's merge buffers, which are never freed). */
typedef struct {
    double first_bytes, most_bytes; /* of device 0; of the device that holds most */
} pace_merge_buffers;

pace_status pace_merge_buffers_find(pace_merge_buffers *out, int ranks,
                                    const pace_gradients *gradients) PACE_MUST_CHECK;

/** Of the device store: when all tensors are back, `ends_s` and `ready_s` as for pace_device_store_s(). PACE_E_USAGE
 * for more than one node. */
pace_status pace_approach_device_s(double *out_s, double *ends_s, const pace_approach *approach,
                                   const pace_machine *machine, const pace_approach_setup *setup,
                                   const pace_gradients *gradients, const double *ready_s) PACE_MUST_CHECK;
