/*
 * What the host spends per operator besides the device's work: the five overheads of Lin et al. (HiPC 2022), one figure
 * per operator and type.
 *
 *   T1  before a top-level operator, since the one before it ended
 *   T2  from its start to its first runtime call
 *   T3  from the end of its last runtime call to its end
 *   T4  inside a runtime call, by the call's name
 *   T5  between two runtime calls of one operator; the whole operator when it makes none
 *
 * Figures of several workloads are pooled by their counts: mean and variance are those of all samples together.
 */
#pragma once

#include "base/input.h"
#include "base/intern.h"
#include "cost/host_names.h"
#include "cost/optimizer_line.h"

typedef enum { PACE_T1, PACE_T2, PACE_T3, PACE_T4, PACE_T5, PACE_OVERHEAD_TYPES } pace_overhead_type;

extern const char *const pace_overhead_names[PACE_OVERHEAD_TYPES]; /* "t1" … "t5" */

typedef struct {
    double mean_ns, std_ns;
    double count; /* samples; 0 = never seen */
} pace_host_cost;

/** Mean, spread and count of both samples together. `more` has at least one. */
void pace_host_cost_pool(pace_host_cost *into, pace_host_cost more);

/* Whose figure it is, the closest that was measured. */
typedef enum {
    PACE_HOST_OWN,     /* the name's own */
    PACE_HOST_ALIKE,   /* of names that are the same but for what frameworks add (pace_host_name_plain()) */
    PACE_HOST_CLASS,   /* of names of its kind, of those that launch or of those that do not */
    PACE_HOST_TYPICAL, /* of all samples of the type */
    PACE_HOST_NOTHING, /* nothing was measured of the type */
    PACE_HOST_LEVELS
} pace_host_level;

extern const char *const pace_host_level_names[PACE_HOST_LEVELS];

typedef struct {
    pace_names names; /* of operators and calls */
    pace_names plain; /* the same without what frameworks add to them */
    PACE_VEC(struct {
        pace_name plain;
        uint8_t kind;
    })
    alike; /* by name */
    struct {
        PACE_VEC(pace_host_cost) by_name;
        double log_sum, log_count; /* of all samples: what is typical, whatever a few may be */
    } types[PACE_OVERHEAD_TYPES];
    PACE_VEC(pace_optimizer_line) optimizers; /* by name; empty = of none are several numbers of parameters known */
} pace_host_costs;

pace_status pace_host_costs_init(pace_host_costs *costs) PACE_MUST_CHECK;
void pace_host_costs_free(pace_host_costs *costs);

/** Pools a figure in, for the name and for the type. `name` NULL or "" = for the type alone. */
pace_status pace_host_costs_add(pace_host_costs *costs, pace_overhead_type type, const char *name,
                                pace_host_cost figure) PACE_MUST_CHECK;

/** What an optimizer's step spends before its first call in a workload of so many parameters. The figure itself is to
 * be added as well. */
pace_status pace_host_costs_add_optimizer(pace_host_costs *costs, const char *name, double parameters,
                                          double ns) PACE_MUST_CHECK;

/** T2 of an optimizer's step at a number of parameters, by the line of its name, or of all optimizers where its name
 * has no figure at all; 0 = no line is known, and pace_host_costs_get() has what there is. */
double pace_host_costs_optimizer_ns(const pace_host_costs *costs, const char *name, double parameters);

/** The same figures once more. */
pace_status pace_host_costs_copy(pace_host_costs *out, const pace_host_costs *from) PACE_MUST_CHECK;

/** Pools all figures of `from` in. */
pace_status pace_host_costs_pool(pace_host_costs *costs, const pace_host_costs *from) PACE_MUST_CHECK;

/** The figure of a name (NULL = of the type), or of the closest that was measured; `level` (may be NULL) tells which.
 * `launching`: asked for an operator that makes runtime calls, which tells its T5 from that of one that makes none. Of
 * classes and types it is the geometric mean: a single stall of a second is no reason to expect one of an operator
 * never seen. */
pace_host_cost pace_host_costs_get(const pace_host_costs *costs, pace_overhead_type type, const char *name,
                                   bool launching, pace_host_level *level);

/** Pools a file in: what `paceline analyze --overheads` writes, or the seeds' form ({"t1": [mean, std], "t2": {op:
 * [mean, std]}, …} in microseconds). Errors name file and offset. */
pace_status pace_host_costs_read(pace_host_costs *costs, const char *path) PACE_MUST_CHECK;

/** The figures of a file one by one, to take(context, workload, type, name, figure); "" = a workload or name that is
 * not said. */
typedef pace_status (*pace_host_take_fn)(void *context, const char *workload, pace_overhead_type type, const char *name,
                                         pace_host_cost figure);
pace_status pace_host_costs_scan(pace_input *input, pace_host_take_fn take, void *context) PACE_MUST_CHECK;
/** The same of an input; `costs` is a pace_host_costs. */
pace_status pace_host_costs_read_input(void *costs, pace_input *input) PACE_MUST_CHECK;
