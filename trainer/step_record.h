/* When what ran: the times of steps and of layers, and the events that a trace is made of. */
#pragma once

#include "gradient_exchange.h"
#include "trained_network.h"
#include "base/clock.h"

typedef enum {
    PACE_PART_OF_INPUT, /* the batch is made */
    PACE_PART_OF_FORWARD,
    PACE_PART_OF_BACKWARD,
    PACE_PART_OF_WAIT, /* for exchanges of gradients, behind backward */
    PACE_PART_OF_UPDATE,
    PACE_STEP_PARTS
} pace_step_part;

extern const char *const pace_step_part_names[PACE_STEP_PARTS];

typedef struct {
    int64_t start_ns, end_ns; /* of CLOCK_MONOTONIC */
    uint32_t layer;           /* or part, tensor */
    uint8_t what;             /* pace_traced */
    uint8_t pass;
    uint16_t lane;
} pace_traced_event;

typedef enum {
    PACE_TRACED_STEP, /* layer = its number */
    PACE_TRACED_PART,
    PACE_TRACED_LAYER,
    PACE_TRACED_EXCHANGE, /* layer = its place among exchanges */
} pace_traced;

typedef struct {
    char name[32], collective[32];
    uint64_t elements;
} pace_traced_exchange;

typedef struct {
    size_t steps, layers;                   /* steps that count, layers of the network */
    size_t step;                            /* that runs now, of those that count; PACE_WARMING before */
    double *parts[PACE_STEP_PARTS], *whole; /* seconds of each step that counts */
    float *layer_s;                         /* [layer][pass][step] */
    bool traces;
    bool own_time; /* of the training thread's processor time, not the wall's */
    PACE_VEC(pace_traced_event) events;
    PACE_VEC(pace_traced_exchange) exchanges;
    void *lock; /* exchanges come from other threads */
    pace_status status;
} pace_step_record;

#define PACE_WARMING SIZE_MAX

/** Free with pace_step_record_close(). */
pace_status pace_step_record_open(pace_step_record *out, size_t steps, size_t layers, bool traces) PACE_MUST_CHECK;
void pace_step_record_close(pace_step_record *record);

/** By the clock of the record. */
int64_t pace_record_now_ns(const pace_step_record *record);
/** A step, a part of one and a layer's pass ended. Only steps that count (and, of a trace, all that is recorded) are
 * kept. */
void pace_record_step(pace_step_record *record, uint32_t number, int64_t start_ns, int64_t end_ns);
void pace_record_part(pace_step_record *record, pace_step_part part, int64_t start_ns, int64_t end_ns);
void pace_record_layer(pace_step_record *record, uint32_t layer, pace_engine_pass pass, int64_t start_ns,
                       int64_t end_ns);
/** A pace_exchange_record: of any thread. */
void pace_record_exchange(void *record, const pace_exchange_event *event);
