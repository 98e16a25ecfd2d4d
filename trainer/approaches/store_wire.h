/*
 * What workers and parameter servers tell each other by gRPC: calls whose message begins with a pace_store_ask. Behind
 * it numbers may follow, and in the answer, unless something else carries them.
 */
#pragma once

#include "../gradient_exchange.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>

typedef enum {
    PACE_STORE_DECLARE, /* a pace_store_terms follows: what is trained, and how */
    PACE_STORE_SET,     /* the weights of a variable that lies here follow */
    PACE_STORE_MEET,    /* of carriers: how this worker is reached; the answer says the same of the server */
    PACE_STORE_PUSH,    /* a gradient */
    PACE_STORE_PULL,    /* weights, when `step` updates were made */
    PACE_STORE_PASS,    /* answered when all workers have asked: nobody pulls while another still pushes */
    PACE_STORE_KINDS
} pace_store_kind;

#define PACE_STORE_METHOD "/paceline.Store/Ask"

typedef struct {
    uint32_t kind, worker;
    uint64_t tensor, step, elements;
} pace_store_ask;

typedef struct {
    pace_train_update rule;
    uint32_t workers, asynchronous;
    uint64_t count;
} pace_store_terms;

/** A message of some bytes and what follows; `data` is borrowed until the call is over. */
grpc_byte_buffer *pace_wire_message(const void *head, size_t head_bytes, const void *data, size_t data_bytes);

/** Takes a message apart: as many bytes at its start, and all that follows. False when it has another length. */
bool pace_wire_read(grpc_byte_buffer *message, void *head, size_t head_bytes, void *data, size_t data_bytes);

/** Its start alone. False when it is shorter. */
bool pace_wire_peek(grpc_byte_buffer *message, void *head, size_t head_bytes);

/** From now; 0: gRPC looks and does not wait. */
gpr_timespec pace_wire_in(double seconds);
