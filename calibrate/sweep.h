/* The grids of catalog/sweeps.yaml, made into points. */
#pragma once

#include "machine/catalog.h"
#include "measure.h"

#include "calibrate_options.h"

typedef struct {
    pace_point point;
    const char *family, *by; /* borrowed from the sweeps; `by` may be NULL */
} pace_sweep_point;

typedef struct {
    const pace_yaml *yaml; /* has the texts; borrowed */
    PACE_VEC(pace_sweep_point) points;
    size_t too_large; /* points left out because their tensors do not fit */
    pace_measure_limits limits;
} pace_sweep;

typedef struct {
    const char *target;   /* "cpu" or "cuda" */
    const char *families; /* "gemm,embedding"; NULL = all */
    bool without;         /* no grid at all: points come from elsewhere */
    pace_effort effort;
    double memory_bytes; /* tensors of a point at most; 0 = no limit */
} pace_sweep_choice;

/** Reads the sweeps and expands those chosen, each point once. Errors: PACE_E_USAGE for a family that no sweep of the
 * target has (naming those there are), PACE_E_INPUT with line and column for a malformed sweep. */
pace_status pace_sweep_load(pace_sweep *out, pace_catalog *catalog, const pace_sweep_choice *choice) PACE_MUST_CHECK;
/** The same from a document of the caller's, which it takes. */
pace_status pace_sweep_of_yaml(pace_sweep *out, const pace_yaml *yaml, const pace_sweep_choice *choice) PACE_MUST_CHECK;
void pace_sweep_free(pace_sweep *sweep);
