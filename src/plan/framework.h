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

/* How much longer kernels take in a step than alone: hours of full power lower the clock. */
typedef struct {
    double matrix, attention;
} pace_load;

typedef struct {
    char device[24], framework[32]; /* how the device's name begins; "" = any framework */
    pace_load load;
} pace_load_entry;

typedef struct {
    pace_yaml *yaml;
    pace_framework items[PACE_FRAMEWORKS_MOST];
    size_t count;
    double spread; /* of a step by formula */
    pace_load_entry load[PACE_FRAMEWORKS_MOST];
    size_t load_count;
} pace_frameworks;

pace_status pace_frameworks_load(pace_frameworks *out) PACE_MUST_CHECK;
void pace_frameworks_free(pace_frameworks *frameworks);

/** What is known of a device under load in a framework's steps; all 1 where nothing is. */
pace_load pace_frameworks_load_of(const pace_frameworks *frameworks, const char *device, const char *framework);

/** The framework a table's word means; "" or an unknown word is the first. */
const pace_framework *pace_frameworks_find(const pace_frameworks *frameworks, const char *word);

#endif
