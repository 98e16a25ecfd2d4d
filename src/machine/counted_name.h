/* Several in a word: "64xH100", "8 H100", "H100:8", "2 x dgx-a100". Devices need the wires of a machine, too. */
#pragma once

#include "machine/device.h"

/** PACE_E_MISSING that names machines with so many of the device; PACE_OK where the text says no known one so. */
pace_status pace_counted_name_refuse(const pace_device_catalog *devices, pace_catalog *catalog,
                                     const char *text) PACE_MUST_CHECK;
