/*
 * A model as a few parts: what comes before its repeated layers, each kind of layer that it repeats, and what comes
 * behind them. All turns of one kind are alike, so a closed form prices one and counts.
 */
#pragma once

#include "model/model.h"

/* A tail may stand between turns: a decoder's beginning, behind its encoder. */
typedef enum { PACE_PART_HEAD, PACE_PART_LAYER, PACE_PART_TAIL } pace_part_place;

typedef struct {
    pace_part_place place;
    uint32_t first, last; /* layers of the model; of a repeated part its first turn */
    double turns;         /* 1 for head and tail */
    double behind;        /* of a tail: so many repeated turns come before it; less than all where others follow */
    double parameters;    /* of one turn on one rank, without the routed experts' */
    double trained_parameters, trained_expert_parameters; /* of both: those that are not frozen */
    double expert_parameters;                             /* the routed experts', which fewer ranks share */
    double table_parameters; /* of embedding bags: spread over `ep`, updated where they are */
    double tensors;          /* parameter tensors of one turn, without tables */
    double put_off_parameters,
        put_off_tensors; /* of these: whose gradients have a turn apart where a schedule has one */
} pace_model_part;

typedef struct {
    PACE_VEC(pace_model_part) parts; /* head, layers by first appearance, tail */
    PACE_VEC(uint32_t) order;        /* of all repeated turns: which part each is */
    double layers;                   /* turns of all repeated parts */
    double boundary_bytes;           /* of a sample's activations between repeated layers, in the mean */
} pace_model_parts;

/** Divides a model. One that repeats nothing is one layer, which a pipeline cannot cut. */
pace_status pace_model_parts_find(pace_model_parts *out, const pace_model *model,
                                  const pace_config *config) PACE_MUST_CHECK;
void pace_model_parts_free(pace_model_parts *parts);
