/* A part of a GPU (MIG) as a device of its own: catalog/slices.yaml says which share of the whole it has. */
#pragma once

#include "machine/device.h"

/* What a profile names. */
typedef struct {
    int slices;       /* of compute */
    double memory_gb; /* rounded, as the name has it */
} pace_slice_profile;

/** Reads "3g.20gb", "MIG 1g.10gb+me". False for any other text. */
bool pace_slice_profile_read(pace_slice_profile *out, const char *text);

/** Where a name of a device says which part of it is meant, "a100 mig=3g.20gb" or "NVIDIA A100-SXM4-40GB MIG 3g.20gb":
 * the place of the profile, and the bytes of the name before it; NULL where it names no part. */
const char *pace_slice_in(size_t *name_length, const char *text);

/** Memory in bytes of the `nth` GPU that may have such a part, to choose between GPUs of one name; 0 = no further. */
double pace_slice_whole_bytes(pace_catalog *catalog, const pace_slice_profile *profile, size_t nth);

/** Makes the device what the part has: rates, SMs, memory and its cache in proportion; the link to the host is shared
 * and stays, clocks too. PACE_E_USAGE for devices that are not cut, or not so: the message lists their profiles. */
pace_status pace_slice_of(pace_device *device, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;
