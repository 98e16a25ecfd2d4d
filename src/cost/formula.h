/*
 * The formula rung: what a kernel computes and moves, held against what the device sustains, one function per kind
 * of family. A kernel takes its fixed time and then the longest of its parts (they overlap), or of products more, whose
 * parts overlap in part.
 */
#pragma once

#include "cost/figures.h"

/* The parts of a kernel's time on one device, in seconds. */
typedef struct {
    double compute_s, memory_s, l2_s, fixed_s;
    double layout_s;    /* of kernels before and after it that copy tensors into the layout it takes */
    double chain_s;     /* of steps that wait for each other */
    double held_more;   /* how much longer the arithmetic takes in a step that goes on, where power holds the clock */
    bool partly_hidden; /* arithmetic, traffic and waiting hide each other in part only */
} pace_cost_parts;

typedef struct {
    const pace_device *device;
    const pace_cost_figure *figure;
    double flop_per_s;    /* peak of the operation's precision; 0 = unknown */
    double product_share; /* of it, that a library's plain products reach */
    double
        memory_bytes_per_s; /* peak; where what the device sustains was measured, that of a usual device that does so */
    double l2_bytes_per_s;  /* of the catalogue, or derived from the memory's */
    double depthwise_flop_per_s; /* that convolutions with a channel a group do at most; 0 = unknown */
} pace_cost_where;

/** Fills `parts` (zeroed before) in; false when the operation or the device lacks what the formula needs. */
typedef bool (*pace_formula)(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);

/** The formula of a family; NULL when it has none. */
pace_formula pace_formula_of(pace_op_family family);

bool pace_formula_gemm(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);
bool pace_formula_convolution(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);
bool pace_formula_attention(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);
bool pace_formula_embedding(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);
bool pace_formula_stream(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);
bool pace_formula_transfer(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where);

/** Whether images whose channels lie apart (nchw) are copied before and after convolutions on matrix units in half
 * precision, as by cuDNN from 2018 on. Its first kernels for Volta took either layout (DeepBench's rows of 2017, which
 * say none). */
bool pace_device_copies_nchw(const pace_device *device);

/** Whether each group of a convolution is one channel, and the device has kernels of their own for these. */
bool pace_convolution_depthwise(const pace_op *op, const pace_device *device);

/** How many times the arithmetic of a convolution a library for processors does, which fills up channels to whole
 * vectors; 1 on other devices, whose matrix units fill up less. */
double pace_convolution_filled(const pace_op *op, const pace_device *device);

/** Parts to seconds. */
double pace_cost_parts_s(const pace_cost_parts *parts);

/* The middle of measured over peak among the devices of the catalogue that have both. */
extern const double pace_usual_compute, pace_usual_memory;

/** What a device sustains: the rate somebody measured, else a usual share of the peak; 0 = unknown. */
double pace_device_sustained_flop_per_s(const pace_device *device, pace_precision precision);
double pace_device_sustained_bytes_per_s(const pace_device *device);
