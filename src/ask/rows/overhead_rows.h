/*
 * Tables of host overheads by workload: the files `paceline analyze --overheads` writes (*.json*, each trace a model of
 * its own), or tables with columns type (t1 to t5), op, model, batch_size, mean_us, std_us, count. A table's times may
 * be in s, ms, us or ns; std, count (1) and batch_size are optional.
 */
#pragma once

#include "cost/host_samples.h"
#include "machine/catalog.h"

/** Adds a file's samples. Errors: PACE_E_INPUT with file and line or byte. */
pace_status pace_overhead_rows_read(pace_host_samples *samples, pace_catalog *catalog,
                                    pace_input *input) PACE_MUST_CHECK;

/** Writes them all as a file of overheads, each under "model batch". */
pace_status pace_overhead_rows_write(const pace_host_samples *samples, const char *path) PACE_MUST_CHECK;
