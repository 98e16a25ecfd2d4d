/* The machine of a job from one of catalog/machines.yaml, of a file, or of a short form (machine/machine.h). */
#pragma once

#include "fleet/job_catalog.h"
#include "machine/machine.h"

/** What the job model needs of a machine. Work of 4 bytes is done on matrix units where they take it (TF32); the
 * network is one NIC; NVLink is what joins the devices of a server, whatever its name: as one link the widest pair of
 * devices, as aggregate all of a device's, one direction. The shares of the peaks are what was measured of the device
 * and its links: the best matrix product, a stream through memory, copies from page-locked memory, the bus bandwidth of
 * large exchanges; where nothing was, that of the first machine of catalog/jobs.yaml. Sources are borrowed from the
 * catalogue. Errors: PACE_E_MISSING for a device that is unknown or whose figures are. */
pace_status pace_job_machine_derive(pace_job_machine *out, const pace_job_catalog *catalog,
                                    const pace_machine *machine) PACE_MUST_CHECK;
