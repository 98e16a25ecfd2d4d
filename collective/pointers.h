/* The pointer cache: which addresses are a device's, without asking its driver each time. */
#pragma once

#include "base/status.h"
#include "paceline/collective.h"

#include <stdbool.h>

typedef struct pace_pointers pace_pointers;

/** `remember` false: the device is asked every time. */
pace_status pace_pointers_open(pace_pointers **out, const pace_device *device, bool remember) PACE_MUST_CHECK;
void pace_pointers_close(pace_pointers *pointers);

/** Whether `bytes` at an address are device memory. PACE_E_USAGE where only a part is; PACE_E_IO when the device
 * fails. */
pace_status pace_pointers_find(bool *on_device, pace_pointers *pointers, const void *at, size_t bytes) PACE_MUST_CHECK;
void pace_pointers_forget(pace_pointers *pointers, const void *at);
void pace_pointers_count(const pace_pointers *pointers, uint64_t *queries, uint64_t *remembered);
