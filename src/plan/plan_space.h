/*
 * The configurations that a search looks at: every way to share a step out over all devices of a machine, times the
 * micro-batches, the stages of ZeRO, the recomputation, the precision and the states on the host that may be chosen.
 */
#pragma once

#include "model/config.h"
#include "plan/framework.h"

enum { PACE_PLAN_VALUES = 40 };

/* What one field may be, in the order in which it is tried. */
typedef struct {
    double items[PACE_PLAN_VALUES];
    unsigned count;
} pace_plan_values;

typedef enum {
    PACE_PLAN_TP,
    PACE_PLAN_PP,
    PACE_PLAN_VPP,
    PACE_PLAN_CP,
    PACE_PLAN_EP,
    PACE_PLAN_ZERO,
    PACE_PLAN_ZERO_GROUP,
    PACE_PLAN_MICRO_BATCH,
    PACE_PLAN_SCHEDULE,
    PACE_PLAN_RECOMPUTE,
    PACE_PLAN_PRECISION,
    PACE_PLAN_OFFLOAD,
    PACE_PLAN_FIELDS
} pace_plan_field;

/* Their names as settings: "tp", "pp", … */
extern const char *const pace_plan_field_names[PACE_PLAN_FIELDS];

typedef struct {
    double devices, devices_of_node, layers;
    double dp;          /* 0 = what is left of the devices */
    bool whole;         /* no device may be idle */
    bool tables_follow; /* ep is dp x cp: a recommender's tables lie on all ranks */
    const pace_framework *framework;
    pace_plan_values values[PACE_PLAN_FIELDS];
} pace_plan_space;

/* What a model leaves to be chosen. */
typedef struct {
    double devices, devices_of_node;
    double layers;   /* that a pipeline may cut; 1 = none repeats */
    double sequence; /* 0 = no sequences, and no cp */
    double per_step; /* samples of a step */
    int half;        /* the precision that may take the place of fp32; PACE_RUN_FP32 = none */
    bool splits;     /* tp may split layers */
    bool experts, tables_follow, whole;
    const pace_framework *framework; /* what it has not is not looked at */
} pace_plan_limits;

/** Fills the values of every field that `pinned` does not fix: tp up to a node, pp and vpp up to the layers, cp for
 * sequences that are long, ep up to all devices, micro-batches of powers of two. A pinned field keeps what `config`
 * has. */
void pace_plan_space_make(pace_plan_space *out, const pace_plan_limits *limits, const pace_config *config,
                          const bool pinned[PACE_PLAN_FIELDS]);
/** Adds what a configuration has to every field that is not pinned, so that the space holds it. */
void pace_plan_space_add(pace_plan_space *space, const pace_config *config, const bool pinned[PACE_PLAN_FIELDS]);

/** Visits every configuration of the space that divides: dp is the most that the devices hold of which micro_batch x dp
 * divides config->global_batch, on whole nodes or within one (devices that are left over are idle); ep divides dp x cp,
 * an interleaved pipeline's chunks have as many layers each; fields that have no effect (vpp without pp, ZeRO without
 * dp) stand once; ZeRO divides over all replicas or over those of a node. A configuration with the optimizer on the
 * host follows the same one without. Stops at the first visit that fails, whose status it
 * returns. */
pace_status pace_plan_space_visit(const pace_plan_space *space, const pace_config *config,
                                  pace_status (*visit)(void *context, const pace_config *config),
                                  void *context) PACE_MUST_CHECK;
