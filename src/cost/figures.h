/* The constants of the formulas, from catalog/costs.yaml: how close each family comes to a device's peaks. */
#pragma once

#include "machine/catalog.h"
#include "step/op.h"

typedef struct {
    pace_op_family family;
    int pass;             /* -1 = any */
    char kind[24];        /* a part of the operation's kind; "" = any */
    char vendor[16];      /* of the device; "" = any */
    int below_generation; /* only devices of an earlier generation (compute capability times ten); 0 = any */
    int from_generation;  /* only devices of this generation or a later one; 0 = any */
    bool cpu;             /* of CPUs; without one for the family, that of accelerators is taken */
    bool matrix;          /* only on matrix units: at more than thrice the vector rate, as packed halves reach twice */
    bool own;             /* the device's measured rate of the precision, where known, counts instead of `compute` */
    int precision;        /* -1 = any */
    double compute, memory; /* shares of the peaks, above 0, at most 1 */
    double strided;         /* in the place of compute where filters move by more than one pixel */
    double pixel;           /* and where they are one pixel; strided ones in proportion */
    double scores; /* attention: clocks of a multiprocessor for each score's exponential that products do not hide */
    double clock_flop; /* most that a multiprocessor does a clock by a kernel's instructions; 0 = as the device */
    double fixed_s;    /* of a kernel that does nothing */
    double spread;     /* of ln(measured / predicted) */
    uint32_t before;   /* the row before of the same family, + 1; 0 = none */
} pace_cost_figure;

/* Of kernels of which little is known. */
typedef struct {
    double fixed_s;
    double memory; /* share of the peak; 0 = bytes are unknown too */
    double spread;
} pace_cost_guess;

/* How much longer arithmetic on matrix units takes in a step that goes on for hours. */
typedef struct {
    char device[16]; /* how the device's name begins */
    int precision;   /* -1 = any on the matrix units */
    double factor;
} pace_cost_load;

/* Products that frameworks compute in single precision where a device lacks matrix units for theirs. */
typedef struct {
    pace_precision precision;
    int below_generation; /* NVIDIA's compute capability times ten */
    double share;         /* of what products in single precision reach */
    double spread;        /* besides that of the figure */
} pace_cost_emulated;

/* Of kernels that quantise the input of a product, row by row (quantise.h). */
typedef struct {
    double fixed_s; /* of each kernel */
    double row_s;   /* of each kernel and row, on one multiprocessor */
    double stride;  /* values of a row that are taken at a time */
    double memory;  /* share of the peak */
} pace_cost_quantise;

typedef struct {
    PACE_VEC(pace_cost_figure) rows;
    uint32_t last_of[PACE_OP_FAMILIES]; /* family -> its last row + 1; 0 = none */
    PACE_VEC(pace_cost_load) loads;
    PACE_VEC(pace_cost_emulated) emulated;
    pace_cost_guess of_tensors, of_nothing;
    struct {
        double share, spread;
    } roofline;            /* share of the bound's rates that is reached */
    double clock_headroom; /* highest clock over that of the data sheet's rates */
    double l2_over_memory;
    double power_reaction_s; /* after which the clock of a device held back by its power is half way down */
    pace_cost_quantise quantise;
    double depthwise_clock_flop[2]; /* of convolutions with a channel a group: a clock and multiprocessor; [1] = half */
    double block_scaled;            /* products whose operands are scaled block by block over such of one scale each */
} pace_cost_figures;

pace_status pace_cost_figures_load(pace_cost_figures *out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_cost_figures_free(pace_cost_figures *figures);

/** Tells figures apart: what is learned on top of formulas holds for the figures that it was learned with. */
uint64_t pace_cost_figures_mark(const pace_cost_figures *figures);

/** The last row that applies to the operation on a device, NULL when none does. */
const pace_cost_figure *pace_cost_figures_of(const pace_cost_figures *figures, const pace_op *op,
                                             const pace_device *device);

/** Whether a device computes the operation's precision on matrix units: in TF32, or above thrice the vector rate. */
bool pace_cost_on_matrix_units(const pace_op *op, const pace_device *device);

/** Times which the arithmetic of an operation takes under load: 1 for what multiplies no matrices, or not on matrix
 * units, and for devices of which nothing is known. */
double pace_cost_figures_load_of(const pace_cost_figures *figures, const pace_op *op, const pace_device *device);

/** The entry that says how a product's precision is emulated on a device; NULL = its own units compute it. */
const pace_cost_emulated *pace_cost_emulated_of(const pace_cost_figures *figures, const pace_op *op,
                                                const pace_device *device);
