/* Several in a word: "64xH100", "8 H100", "H100:8", "2 x dgx-a100". Devices need the wires of a machine, too. */
#pragma once

#include "machine/device.h"

/** PACE_E_MISSING that names machines with so many of the device; PACE_OK where the text says no known one so. */
pace_status pace_counted_name_refuse(const pace_device_catalog *devices, pace_catalog *catalog,
                                     const char *text) PACE_MUST_CHECK;

enum { PACE_HOLDERS_TEXT = 200 };

/** "dgx-h100, hgx-h100": machines of the catalogue with several of a device; "" = none. */
pace_status pace_machines_that_hold(char out[PACE_HOLDERS_TEXT], pace_catalog *catalog,
                                    const char *device) PACE_MUST_CHECK;
