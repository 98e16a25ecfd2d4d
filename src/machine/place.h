/* Where work runs, by what a person writes: a machine, or a device by itself. */
#pragma once

#include "machine/device_resolve.h"
#include "machine/machine.h"

/** Whether a text gives figures, KEY=VALUE; "H100 (>= 128 GPUs)" gives none. */
bool pace_place_has_figures(const char *text);

/** The device of what --on says: that of a machine, which fills `machine` and sets `joined`, or one by itself. Errors
 * are those of pace_machine_asked() where a machine is meant, else of pace_device_to_run_on(). */
pace_status pace_place_asked(const pace_device **out, pace_machine *machine, bool *joined, pace_device_catalog *devices,
                             const char *text) PACE_MUST_CHECK;
