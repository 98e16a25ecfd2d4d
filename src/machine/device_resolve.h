/*
 * What a person may write where a device is meant: a catalogue name, a file of his own, or a name with changed figures.
 *
 *   a100-40-sxm                          the catalogue; also the name that a trace gives it
 *   mine.yaml                            the one device of a file in the format of catalog/devices.yaml
 *   mine.yaml:lab-cpu                    one of several
 *   "a100 memory=2TB/s fp16=1.5x"        any of these with other figures
 *
 * A changed peak takes the rates that were measured under it along in proportion: a device whose memory is twice as
 * fast streams twice as fast. Units: k M G T P, then B B/s FLOP/s s ms us ns or nothing; KiB MiB GiB TiB; "2x" is a
 * factor.
 */
#pragma once

#include "machine/device.h"

/** Where a name ends and the changes of figures, KEY=VALUE, begin; 0 where there are none. */
size_t pace_changed_name_length(const char *text);
/** Length of the path when `text` names a file; the name of a device may follow behind a colon. 0: it names none. */
size_t pace_device_path_length(const char *text);

/** Finds or makes the device; it lives as long as `catalog`. `memory_bytes` (0 = unknown) tells sizes of one name
 * apart. Errors: PACE_E_MISSING for an unknown name (with the closest one), PACE_E_IO and PACE_E_INPUT for a file,
 * PACE_E_USAGE for a figure that cannot be understood or cannot be. */
pace_status pace_device_resolve(const pace_device **out, pace_device_catalog *catalog, const char *text,
                                double memory_bytes) PACE_MUST_CHECK;

/** The same, of a device that work is to be predicted on: PACE_E_MISSING for any CPU ("cpu"), with how to measure one.
 */
pace_status pace_device_to_run_on(const pace_device **out, pace_device_catalog *catalog,
                                  const char *text) PACE_MUST_CHECK;

/** PACE_E_USAGE for a machine whose devices nobody names, with what can be asked of it all the same. */
pace_status pace_device_fail_nameless(void) PACE_MUST_CHECK;
