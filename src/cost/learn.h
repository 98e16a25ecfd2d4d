/*
 * Times of one family of operations, learned from measurements.
 *
 *   ln time = ln base(sizes, device)              base_time.h: the formula and a fixed time
 *           + what the nearest measurements say   krige.h: from the same series (device, kind, pass, precision, source)
 *           + what boosted trees say              trees.h: of tiles, waves, alignment, and how the neighbours disagree
 *
 * The neighbours of a row of the training set leave out its own group, and the trees learn to mend what is left, so
 * that what they see in training is like what they meet later. A device, precision or kind without rows ("far") is
 * answered from the series most like it: their base and a share of what their neighbours say. That share, and how far
 * it is off, come from leaving one device after the other out.
 */
#pragma once

#include "base/estimate.h"
#include "cost/learned.h"
#include "machine/doubts.h"

/* One measurement. */
typedef struct {
    pace_op op; /* completed */
    const pace_device *device;
    char source[32]; /* the tool or library it was measured with; "" = not said */
    double time_s;
    double formula_s; /* what a fit starts from and must be better than; NAN = no formula tells it */
    uint32_t group;   /* rows that are held out together */
} pace_measurement;

/* How well rows were predicted that were held out. */
typedef struct {
    size_t held_out;
    double gmae, mape, signed_mean, largest, coverage;
    double formula_mape; /* the formula's, of the same rows; infinite where it does not tell one */
    double gain;         /* how much less |ln(predicted / measured)| is than by the formula, a row's at most ln 2 */
} pace_learned_score;

enum {
    PACE_LEARN_LEAST = 8, /* rows of a family; fewer tell what their own sizes take, and nothing of others */
    PACE_LEARN_FEW = 600  /* a tenth of fewer says little of an interval */
};

/** Learns from `rows` of one family. A tenth of the groups chooses the number of trees and sets the spread, a tenth is
 * scored (`score` may be NULL); of fewer than PACE_LEARN_FEW rows each tenth is held out in turn, sets the spread with
 * the others and is scored. The model that is kept saw all rows; of fewer than
 * PACE_LEARN_LEAST none is scored. PACE_E_INPUT without rows. The same rows and seed give the same model. */
pace_status pace_learned_fit(pace_learned *out, pace_learned_score *score, const pace_measurement *rows, size_t count,
                             uint64_t seed) PACE_MUST_CHECK;
void pace_learned_free(pace_learned *learned);

/** Builds what is not stored (search trees); fails on anything out of order. For models read from a file. */
pace_status pace_learned_ready(pace_learned *learned) PACE_MUST_CHECK;

/** What of an operation lies outside the rows that were learned from, in words ("sizes", "device"), NULL = nothing: the
 * answer is carried over from the nearest rows. False when the family has no series like it. */
bool pace_learned_beyond(const char **out, const pace_learned *learned, const pace_op *op, const pace_device *device,
                         const char *source);

/** False when the family has no series like it. `source` may be ""; `formula_s` as of a measurement. */
bool pace_learned_time(pace_estimate *out_s, const pace_learned *learned, const pace_op *op, const pace_device *device,
                       const char *source, double formula_s, const pace_doubts *doubts);
