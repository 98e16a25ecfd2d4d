/* What the closed loop writes for the other verbs to read: probes, host overheads, machines. */
#pragma once

#include "live_state.h"

/** Opens the scratch folder, and writes the models of the probes in it. PACE_E_IO. */
pace_status pace_live_files_make(pace_live *live) PACE_MUST_CHECK;

/** Overheads of a host that spends so many nanoseconds between two operators, and nothing else. PACE_E_IO. */
pace_status pace_live_write_overheads(const char *path, double between_ns) PACE_MUST_CHECK;

/** What a probe exchanges. */
double pace_live_probe_bytes(int probe);

/** A machine whose ranks are joined by links of a rate: those of one host, or each a host of its own. Its path is new
 * each time, since a document is read once. PACE_E_IO. */
pace_status pace_live_write_machine(char path[PACE_LIVE_PATH], pace_live *live, const pace_live_road *road,
                                    double bytes_per_s) PACE_MUST_CHECK;

/** All-reduces of the probes' bytes, each with its time, among the ranks of a road; and the name of their fit. Both
 * paths are new each time. PACE_E_IO. */
pace_status pace_live_write_curve(char rows[PACE_LIVE_PATH], char fit[PACE_LIVE_PATH], pace_live *live,
                                  const pace_live_road *road, const double time_s[PACE_LIVE_PROBES]) PACE_MUST_CHECK;
