/*
 * How long an operation takes on a device: the ladder of rungs, best first. A model fitted to measurements answers
 * where it has seen the operation's family (fit.h); else a formula with the device's figures; else the roofline.
 */
#pragma once

#include "base/estimate.h"
#include "cost/fit.h"
#include "step/timed_op.h"
#include "machine/doubts.h"

typedef struct pace_cost pace_cost;

/* What goes on around an operation. Alone: some repetitions, as tables of kernels are measured. In a step that is
 * repeated for hours the device is at its limit of power, and what its matrix units compute takes longer
 * (catalog/costs.yaml, load). */
typedef enum { PACE_ALONE, PACE_SUSTAINED } pace_load;

/** The ladder without measurements: formulas and rooflines, constants from catalog/costs.yaml. */
pace_status pace_cost_create(pace_cost **out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_cost_free(pace_cost *cost);

/** What its answers take for granted; the ladder's. */
const pace_doubts *pace_cost_doubts(const pace_cost *cost);

/** pace_cost_figures_mark() of its figures. */
uint64_t pace_cost_mark(const pace_cost *cost);

/** Puts a fit on top of the ladder; it is the ladder's from then on, whatever the status. PACE_E_INPUT for one that was
 * learned on top of other figures. */
pace_status pace_cost_add_fit(pace_cost *cost, pace_fit_model *fit) PACE_MUST_CHECK;

/** Lets the fits of another ladder answer in place of its own; `lender` lives as long, and gets no more meanwhile. */
void pace_cost_borrow_fits(pace_cost *cost, const pace_cost *lender);

/** Whether a fit has rows of products whose weights lie packed (step/op.h). */
bool pace_cost_knows_packed(const pace_cost *cost);

/** Whether a fit has answered so far. */
bool pace_cost_fits_told(const pace_cost *cost);

/** Puts kernels of a recording on a device on top of the ladder, in place of those before (timed_ops.h). They count in
 * pace_cost_op_under(). */
pace_status pace_cost_add_timed(pace_cost *cost, const pace_device *device, const pace_timed_op *calls,
                                size_t count) PACE_MUST_CHECK;

/** Time of one execution of `op` (completed: pace_op_complete()) on `device`, in seconds: kernel time only, no launch,
 * no host. The first rung that can answer does. PACE_E_INPUT when nothing is known of the operation (no flop, no
 * bytes) or of the device (no rate). Safe to call from several threads. */
pace_status pace_cost_op(pace_estimate *out_s, const pace_cost *cost, const pace_device *device,
                         const pace_op *op) PACE_MUST_CHECK;

/** The same under a load; pace_cost_op() is of an operation alone. */
pace_status pace_cost_op_under(pace_estimate *out_s, const pace_cost *cost, const pace_device *device,
                               const pace_op *op, pace_load load) PACE_MUST_CHECK;

/** pace_cost_op() for an operation measured with a tool or library: "" = not said. */
pace_status pace_cost_op_from(pace_estimate *out_s, const pace_cost *cost, const pace_device *device, const pace_op *op,
                              const char *source) PACE_MUST_CHECK;

/** Whether frameworks compute a product of this precision in single precision, as the device has no units for it. */
bool pace_cost_emulates(const pace_cost *cost, const pace_device *device, const pace_op *op);

/** What of an operation lies outside the rows of the fit that answers it, in words (cost/learn.h): the answer is
 * carried over from the nearest rows. NULL: nothing, or no fit answers. */
const char *pace_cost_beyond(const pace_cost *cost, const pace_device *device, const pace_op *op, const char *source);

/** The share of an operation's time, by formula, that its start and end take; 0 where there is no formula. */
double pace_cost_start_share(const pace_cost *cost, const pace_device *device, const pace_op *op);
/** What of the spread of a time by this rung is that the device is a part of a GPU; 0 where it is none. */
double pace_cost_part_spread(const pace_cost *cost, const pace_device *device, pace_rung rung);

/** What a product or convolution takes at least by its arithmetic alone, s (cost/roofline.h); 0 = not known. */
double pace_cost_least_flop_s(const pace_cost *cost, const pace_device *device, const pace_op *op);
/** What any operation takes at least, s; 0 = not known. No price is below it. */
double pace_cost_least_s(const pace_cost *cost, const pace_device *device, const pace_op *op);

/** What an operation takes of which only the bytes of its tensors are known, or (`op` NULL, or without bytes) nothing:
 * the roofline of the bytes and the time of a small kernel, or what kernels usually take; with a wide spread
 * (catalog/costs.yaml, guess). Always answers. */
pace_estimate pace_cost_guess_op(const pace_cost *cost, const pace_device *device, const pace_op *op);

/** What a device computes a family in that may be computed in `precision`: in FP32 where it has no TF32. */
pace_precision pace_cost_precision(const pace_device *device, pace_op_family family, pace_precision precision);
