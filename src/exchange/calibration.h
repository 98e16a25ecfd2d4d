/*
 * Exchanges as they were measured: curves of time against size, and what they say of other sizes, other numbers of
 * ranks and other collectives on the same system (calibration_ask.c). docs/exchange.md has the equations and their
 * errors.
 *
 * What one curve says is in calibration_curve.c.
 */
#pragma once

#include "base/memory.h"
#include "exchange/curve_noise.h"
#include "exchange/exchange.h"

typedef struct {
    char system[96]; /* as the measurement names it; "" = not named */
    pace_collective collective;
    int ranks_per_node, nodes;
    uint32_t first, count; /* of points, by size */
    int element_bytes;     /* of collectives that add, whose time depends on it; 0 = not said */
    char variant[96];      /* library, implementation, algorithm: what else tells curves apart */
    pace_curve_scatter scatter;
} pace_exchange_curve;

/* What is asked of a fit. */
typedef struct {
    const char *system;  /* NULL = the fit's only one */
    const char *variant; /* NULL = not said: curves that differ in nothing else answer together */
    pace_collective collective;
    double bytes;
    int ranks_per_node, nodes;
    int element_bytes;          /* of a collective that adds; 0 = not said */
    pace_nccl_stack stack;      /* what starts it, for few measured sizes */
    const pace_exchange *model; /* of the same machine, for what was not measured; may be NULL */
    const pace_doubts *doubts;  /* of other sizes, ranks and collectives than the measured ones */
    pace_doubts_used *used;     /* receives what the answer rests on; NULL = not wanted */
} pace_fit_question;

typedef struct {
    PACE_VEC(pace_exchange_curve) curves;
    PACE_VEC(pace_curve_point) points;
    double unit_s; /* seconds in the unit of the rows it was made from */
    char unit[8];
} pace_exchange_fit;

void pace_exchange_fit_free(pace_exchange_fit *fit);

/** Adds a curve: `points` are sorted by size here, their scatter is found, equal sizes become their median, and no
 * more than PACE_CURVE_KNOTS are kept. Where no size comes twice, the scatter of repeats is the
 * one of `key`. Errors: PACE_E_INPUT for no size or a time that is not above 0. */
pace_status pace_exchange_fit_add(pace_exchange_fit *fit, const pace_exchange_curve *key, pace_curve_point *points,
                                  size_t count) PACE_MUST_CHECK;

/** Sorts by size; equal sizes become one, at the median of their times. Returns how many are left. */
size_t pace_curve_tidy(pace_curve_point *points, size_t count);

/** Sizes worth measuring: `wanted` of `count` sorted points, their numbers in `chosen`. Ends, and between them evenly
 * in the logarithm, where protocols change (32 KiB to 32 MiB) when the range is wider than that; one alone is in the
 * middle. Returns how many. */
size_t pace_curve_probes(size_t *chosen, const pace_curve_point *points, size_t count, size_t wanted);

/** Between two measured sizes time is linear in bytes: Hockney's model with constants of its own for every region
 * between them. Below the smallest size it is constant, above the largest the last region goes on. */
double pace_curve_time(const pace_curve_point *points, size_t count, double bytes);

/** The time of an exchange: of its own curves; else between or beyond other numbers of ranks; else of another
 * collective. Errors: PACE_E_MISSING when nothing measured tells. */
pace_status pace_exchange_fit_time(pace_estimate *out_s, const pace_exchange_fit *fit,
                                   const pace_fit_question *question) PACE_MUST_CHECK;

/** A fit as a JSON file, and back. */
pace_status pace_exchange_fit_save(const pace_exchange_fit *fit, const char *path) PACE_MUST_CHECK;
pace_status pace_exchange_fit_read(void *out, const pace_yaml *yaml) PACE_MUST_CHECK;
pace_status pace_exchange_fit_load(pace_exchange_fit *out, const char *path) PACE_MUST_CHECK;
