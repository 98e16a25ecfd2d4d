/* Where device time goes by name: by kernel, by launching operator, by module. */
#pragma once

#include "insight/rank.h"
#include "step/op_shapes.h"

typedef enum { PACE_BY_KERNEL, PACE_BY_OPERATOR, PACE_BY_SHAPES, PACE_BY_MODULE } pace_grouping;

typedef struct {
    pace_name name;                  /* of the rank's step; 0 = nothing encloses it */
    pace_name shapes;                /* by shapes: the shape text (op_shapes.h); 0 = none recorded */
    size_t calls;                    /* kernels, or operator calls that launched any */
    int64_t time_ns;                 /* sum of device time */
    double flop, bytes, modelled_ns; /* of the calls whose shapes are known, and the device time of those */
    double roofline_s;               /* time at the device's roofline of the same calls; 0 = unknown */
} pace_operator_row;

typedef PACE_VEC(pace_operator_row) pace_operator_rows;

/* What work reaches in its modelled time; NAN = not known. */
typedef struct {
    double flop_per_s, bytes_per_s, flop_per_byte, roofline_share;
} pace_work_rates;

pace_work_rates pace_work_rates_of(double flop, double bytes, double modelled_ns, double roofline_s);

/* Device work without a launch: most often it was still queued from before the trace began. */
typedef struct {
    size_t count;
    int64_t time_ns, all_ns; /* all: of all device work */
} pace_unlinked_work;

pace_unlinked_work pace_unlinked_work_of(const pace_rank *rank);

/** Sums by name (and shapes), most time first (ties by name, then shapes). The whole trace. */
pace_status pace_operators_sum(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping) PACE_MUST_CHECK;

/* Work that rows are made of. */
typedef struct {
    int64_t start_ns, end_ns;     /* that starts in [start, end) */
    uint8_t stage;                /* pace_stage; PACE_STAGE_NONE = of all */
    const char *name;             /* rows whose name matches: a POSIX extended regular expression; NULL = all rows */
    bool of_resource;             /* of one resource alone */
    uint8_t resource;             /* then: pace_resource */
    const pace_intervals *within; /* and starts in these; NULL = in any */
} pace_work_choice;

/** Whether a piece of work is chosen, whatever its name. */
static inline bool pace_work_is_chosen(const pace_work_item *item, const pace_work_choice *choice) {
    return item->start_ns >= choice->start_ns && item->start_ns < choice->end_ns &&
           pace_intervals_hold(choice->within, item->start_ns) &&
           (choice->stage == PACE_STAGE_NONE || item->stage == choice->stage) &&
           (!choice->of_resource || pace_work_is_of(item, (pace_resource)choice->resource));
}

/** Sums over the chosen work. PACE_E_USAGE for a bad expression. */
pace_status pace_operators_sum_chosen(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping,
                                      const pace_work_choice *choice) PACE_MUST_CHECK;

/** The same of the work that starts in [start, end). */
pace_status pace_operators_sum_within(pace_operator_rows *out, const pace_rank *rank, pace_grouping grouping,
                                      int64_t start_ns, int64_t end_ns) PACE_MUST_CHECK;

/** Bytes per element of the operators that do most of the flop; 4 when nothing is known. */
int pace_main_element_bytes(const pace_rank *rank);

/** The operator that launched a device task: the innermost around the call whose work is known by its shapes, else the
 * innermost; an operator itself where it is the work. PACE_NO_TASK = none. */
uint32_t pace_operator_of(const pace_step *step, pace_op_cache *cache, uint32_t task);

/** What an operator computes and moves itself, by its shapes; false when that is not known, or when another operator
 * within computes it on a host that stands for the device. */
bool pace_operator_amount(pace_op_amount *out, const pace_rank *rank, pace_op_cache *cache, uint32_t op);

/** The module of a device task or operator: an nn.Module frame of the Python tracer, else the innermost annotation the
 * user wrote; PACE_NO_TASK = none. Backward work belongs to the module of its forward operator. */
uint32_t pace_module_of(const pace_step *step, uint32_t task);
