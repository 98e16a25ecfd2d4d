/* The question after a model's step, as step_engine.h answers it. */
#pragma once

#include "exchange/approaches.h"
#include "plan/step_time.h"

/* Everything that the time of a step follows from. All is borrowed. */
typedef struct {
    const pace_model *model;
    pace_config config;
    const pace_framework *framework;
    double attention;          /* pace_frameworks_attention() */
    pace_step_spreads spreads; /* of pace_frameworks; all 0: the closed form is to have none */
    const pace_device *device;
    const pace_cost *fitted;       /* a ladder by whose fits its kernels are walked; NULL = formulas */
    const pace_exchange *exchange; /* how the ranks are joined, whatever the approach; NULL = one device */
    const pace_approach *approach; /* how gradients are exchanged; its jitter counts */
    int ranks_per_node;            /* 0 = as many as a node has devices */
    double host_bytes;             /* one device: memory of its host; 0 = unknown. Of several the exchange says it */
    double slowness;               /* exchanges of gradients take so many times as long; 0 = 1 */
    bool may_recompute;            /* whether activations are recomputed was not given */
    bool assumes_tables;           /* where a recommender's tables lie was not given */
    bool assumes_recompute;        /* set by pace_step_settle(): all are, since the step does not fit else; */
    int unassumed_recompute;       /* then what would be where it does */
    bool unfolded;                 /* every micro-batch and operator is walked, though fewer say the same; for tests */
} pace_step_case;
