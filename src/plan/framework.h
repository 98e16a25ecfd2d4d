/* How a framework runs a distributed step (catalog/steps.yaml): what it fuses, hides, keeps and spends on the host. */
#ifndef PACE_PLAN_FRAMEWORK_H
#define PACE_PLAN_FRAMEWORK_H

#include "model/config.h"

typedef struct {
    char name[32];
    int execution, attention, precision, recompute; /* as in pace_config */
    double launch_s, dispatch_s;                    /* of the host: per kernel or exchange, per layer of experts */
    double gradient_bytes, state_bytes, update_bytes;
    double overlap_gradients, overlap_pipeline, overlap_tensor, overlap_context,
        overlap_expert;                   /* shares that may hide */
    double zero_stage, sequence_parallel; /* when nobody says */
    double step_s;                        /* of every step */
} pace_framework;

enum { PACE_FRAMEWORKS_MOST = 16 };

typedef struct {
    pace_yaml *yaml;
    pace_framework items[PACE_FRAMEWORKS_MOST];
    size_t count;
    double spread; /* of a step by formula */
    struct {
        char device[24]; /* how its name begins */
        double matrix;
    } load[PACE_FRAMEWORKS_MOST]; /* time of products under load over that of one alone */
    size_t load_count;
} pace_frameworks;

pace_status pace_frameworks_load(pace_frameworks *out) PACE_MUST_CHECK;
void pace_frameworks_free(pace_frameworks *frameworks);

/** How much longer products take on a device under load; 1 where nothing is known. */
double pace_frameworks_load_of(const pace_frameworks *frameworks, const char *device);

/** The framework a table's word means; "" or an unknown word is the first. */
const pace_framework *pace_frameworks_find(const pace_frameworks *frameworks, const char *word);

#endif
