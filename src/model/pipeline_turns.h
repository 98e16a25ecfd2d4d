/* What orders of pipelines are written in: schedules, turns, and which part of a model each stage holds. */
#pragma once

#include "base/memory.h"

typedef enum {
    PACE_SCHEDULE_1F1B,
    PACE_SCHEDULE_GPIPE,
    PACE_SCHEDULE_ZERO_BUBBLE,
    PACE_SCHEDULE_ZB_V,
    PACE_SCHEDULE_DUALPIPE_V,
    PACE_SCHEDULE_DUALPIPE, /* a word for dualpipe-v on half the stages: pace_config_take_two_way() */
    PACE_SCHEDULES
} pace_pipeline_schedule;

typedef enum {
    PACE_TURN_FORWARD,
    PACE_TURN_BACKWARD, /* gradients of inputs and of weights */
    PACE_TURN_INPUTS,   /* zero-bubble: those of inputs alone */
    PACE_TURN_WEIGHTS   /* those of weights */
} pace_turn_pass;

typedef struct {
    pace_turn_pass pass;
    uint32_t micro_batch, chunk; /* from 0; chunk c of stage s holds the layers of part pace_pipeline_part(s, c) */
} pace_turn;

typedef PACE_VEC(pace_turn) pace_turns; /* free with PACE_VEC_FREE() */

typedef struct {
    pace_pipeline_schedule schedule;
    uint32_t stages, chunks, micro_batches;
    bool forward_only; /* inference */
} pace_pipeline;

/** Whether stages hold two chunks as the sides of a V. */
static inline bool pace_schedule_is_v(int schedule) {
    return schedule == PACE_SCHEDULE_ZB_V || schedule == PACE_SCHEDULE_DUALPIPE_V;
}
enum { PACE_V_CHUNKS = 2 };

/** Whether gradients of weights come in a turn of their own throughout. */
static inline bool pace_schedule_splits(int schedule) {
    return schedule == PACE_SCHEDULE_ZERO_BUBBLE || schedule == PACE_SCHEDULE_ZB_V;
}

/** Which part of a model is a chunk of a stage, and which stage holds a part. */
uint32_t pace_pipeline_part(const pace_pipeline *pipeline, uint32_t stage, uint32_t chunk);
uint32_t pace_pipeline_stage(const pace_pipeline *pipeline, uint32_t part);
