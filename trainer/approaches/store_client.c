#include "store_client.h"
#include "base/memory.h"

#include "shards.h"
#include "store_wire.h"

#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <sched.h>
#include <stdlib.h>

/* What is asked of a server, until it has answered. */
typedef struct {
    pace_store_ask ask;
    int server;
    float *data; /* what is pulled lands here */
    bool moving, answered;
    void *move;
    grpc_call *call;
    grpc_metadata_array first, last;
    grpc_byte_buffer *reply;
    grpc_status_code status;
    grpc_slice details;
    int64_t start_ns;
} call;

struct pace_store_client {
    pace_store_client_setup is;
    int *server_of;
    grpc_channel **channels;
    grpc_completion_queue *queue;
    call *calls; /* as many as there are tensors, and one */
    size_t under_way;
    bool connected;
};

static pace_result out_of_memory(pace_lane *lane) {
    return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
}

static double patience_s(const pace_lane *lane) { return lane->setup.timeout_s > 0 ? lane->setup.timeout_s : 60; }

/* --- one call ----------------------------------------------------------------------------------------------------- */

static void start_call(pace_store_client *c, call *k, grpc_byte_buffer *message) {
    grpc_op ops[6] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
                      {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
                      {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
    grpc_metadata_array_init(&k->first);
    grpc_metadata_array_init(&k->last);
    k->reply = NULL;
    k->answered = false;
    k->call = grpc_channel_create_call(c->channels[k->server], NULL, GRPC_PROPAGATE_DEFAULTS, c->queue,
                                       grpc_slice_from_static_string(PACE_STORE_METHOD), NULL,
                                       pace_wire_in(patience_s(c->is.lane)), NULL);
    if (!c->connected) ops[0].flags = GRPC_INITIAL_METADATA_WAIT_FOR_READY;
    ops[1].data.send_message.send_message = message;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &k->first;
    ops[4].data.recv_message.recv_message = &k->reply;
    ops[5].data.recv_status_on_client.trailing_metadata = &k->last;
    ops[5].data.recv_status_on_client.status = &k->status;
    ops[5].data.recv_status_on_client.status_details = &k->details;
    grpc_call_start_batch(k->call, ops, 6, k, NULL);
    c->under_way++;
}

/* Asks about a tensor; its numbers go with the message, come with the answer, or travel by the carrier. */
static pace_result ask(pace_store_client *c, call *k, pace_store_kind kind, size_t tensor, uint64_t step) {
    pace_lane *lane = c->is.lane;
    const pace_train_tensor *t = &lane->setup.tensors[tensor];
    const pace_carrier *carrier = kind == PACE_STORE_SET ? NULL : c->is.carrier;
    bool sends = kind != PACE_STORE_PULL;
    *k = (call){.ask = {kind, (uint32_t)lane->setup.rank, tensor, step, t->elements}, .server = c->server_of[tensor]};
    k->start_ns = pace_clock_ns();
    k->data = kind == PACE_STORE_PULL ? t->weights : kind == PACE_STORE_PUSH ? t->gradient : t->weights;
    if (carrier) {
        k->move = carrier->begin(carrier->context, k->server, tensor, k->data, t->elements, sends);
        if (!k->move) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "%s cannot be moved", t->name);
        k->moving = true;
    }
    size_t bytes = carrier || !sends ? 0 : t->elements * sizeof(float);
    grpc_byte_buffer *message = pace_wire_message(&k->ask, sizeof k->ask, k->data, bytes);
    start_call(c, k, message);
    grpc_byte_buffer_destroy(message);
    return PACE_EXCHANGER_OK;
}

static pace_result refused(pace_store_client *c, call *k) {
    char *text = grpc_slice_to_c_string(k->details);
    pace_lane_fail(c->is.lane, PACE_EXCHANGER_FAILED, "server %d (%s) does not answer: %.200s", k->server,
                   c->is.address(c->is.context, k->server), text);
    gpr_free(text);
    return PACE_EXCHANGER_FAILED;
}

static void count(pace_lane *lane, const call *k) {
    uint64_t bytes = k->ask.elements * sizeof(float);
    lane->counts.exchanges++;
    if (k->ask.kind == PACE_STORE_PUSH) lane->counts.sent_bytes += bytes;
    else lane->counts.received_bytes += bytes;
    pace_lane_record(lane, k->ask.kind == PACE_STORE_PUSH ? "push" : "pull", NULL, k->ask.elements, k->start_ns);
}

/* The answer is here: the call is over, unless its tensor is moving still. */
static pace_result answered(pace_store_client *c, call *k) {
    pace_lane_moved(c->is.lane);
    pace_result result = k->status == GRPC_STATUS_OK ? PACE_EXCHANGER_OK : refused(c, k);
    bool holds = k->ask.kind == PACE_STORE_PULL && !c->is.carrier;
    if (result == PACE_EXCHANGER_OK && holds &&
        !pace_wire_read(k->reply, NULL, 0, k->data, k->ask.elements * sizeof(float)))
        result = pace_lane_fail(c->is.lane, PACE_EXCHANGER_FAILED, "server %d gave weights of another size", k->server);
    if (k->reply && k->ask.kind != PACE_STORE_MEET) grpc_byte_buffer_destroy(k->reply);
    grpc_slice_unref(k->details);
    grpc_metadata_array_destroy(&k->first);
    grpc_metadata_array_destroy(&k->last);
    grpc_call_unref(k->call);
    k->answered = true;
    if (result == PACE_EXCHANGER_OK && !k->moving) c->under_way--;
    return result;
}

/* --- all that is under way ---------------------------------------------------------------------------------------- */

static pace_result move_on(pace_store_client *c) {
    const pace_carrier *carrier = c->is.carrier;
    if (!carrier) return PACE_EXCHANGER_OK;
    carrier->poll(carrier->context, NULL);
    for (size_t i = 0; i <= c->is.lane->setup.tensor_count; i++) {
        call *k = &c->calls[i];
        int done = k->moving ? carrier->poll(carrier->context, k->move) : 0;
        if (done == 0) continue;
        if (done < 0)
            return pace_lane_fail(c->is.lane, PACE_EXCHANGER_FAILED, "a tensor did not reach server %d", k->server);
        k->moving = false;
        if (k->answered) c->under_way--;
    }
    return PACE_EXCHANGER_OK;
}

/* Takes what has been answered; waits at most so long for it. `ended`: a call that is over, or NULL. */
static pace_result get_on(pace_store_client *c, double wait_s) {
    PACE_LANE_TRY(move_on(c));
    grpc_event event = grpc_completion_queue_next(c->queue, pace_wire_in(c->is.carrier ? 0 : wait_s), NULL);
    if (event.type != GRPC_OP_COMPLETE) {
        if (c->is.carrier) sched_yield();
        return PACE_EXCHANGER_OK;
    }
    return answered(c, event.tag);
}

static pace_result finish_all(pace_store_client *c, size_t most) {
    while (c->under_way > most && !c->is.lane->stop) PACE_LANE_TRY(get_on(c, 0.1));
    return PACE_EXCHANGER_OK;
}

/* What is not ready yet is waited for where nothing is under way; else looked for between answers. */
static pace_result push_all(pace_store_client *c) {
    pace_lane *lane = c->is.lane;
    size_t begun = 0, tensor, most = c->is.carrier && c->is.carrier->serial ? 0 : lane->setup.tensor_count;
    while (begun < lane->setup.tensor_count && !lane->stop) {
        bool there = (c->under_way == 0 || begun < pace_lane_seen(lane)) && pace_lane_next(lane, begun, &tensor);
        if (there) {
            PACE_LANE_TRY(ask(c, &c->calls[begun++], PACE_STORE_PUSH, tensor, lane->step));
            PACE_LANE_TRY(finish_all(c, most));
        } else if (c->under_way) PACE_LANE_TRY(get_on(c, 1e-3));
    }
    PACE_LANE_TRY(finish_all(c, 0));
    for (size_t i = 0; i < begun; i++) count(lane, &c->calls[i]);
    return PACE_EXCHANGER_OK;
}

static pace_result pull_all(pace_store_client *c, uint64_t step) {
    pace_lane *lane = c->is.lane;
    size_t n = lane->setup.tensor_count, most = c->is.carrier && c->is.carrier->serial ? 0 : n;
    for (size_t i = 0; i < n && !lane->stop; i++) {
        PACE_LANE_TRY(ask(c, &c->calls[i], PACE_STORE_PULL, i, step));
        PACE_LANE_TRY(finish_all(c, most));
    }
    PACE_LANE_TRY(finish_all(c, 0));
    for (size_t i = 0; i < n && step; i++) count(lane, &c->calls[i]);
    return PACE_EXCHANGER_OK;
}

/* A message of no numbers to a server, and its answer. */
static pace_result tell(pace_store_client *c, int server, pace_store_ask says, const void *more, size_t bytes) {
    call *k = &c->calls[0];
    *k = (call){.ask = says, .server = server};
    grpc_byte_buffer *message = pace_wire_message(&k->ask, sizeof k->ask, more, bytes);
    start_call(c, k, message);
    grpc_byte_buffer_destroy(message);
    return finish_all(c, 0);
}

/* As TensorFlow's synchronous replicas, whose step ends when the gradients of all are applied: weights that are pulled
 * before share the links with gradients of others that are still pushed. */
static pace_result wait_for_all(pace_store_client *c) {
    const pace_exchanger_setup *setup = &c->is.lane->setup;
    pace_store_ask says = {.kind = PACE_STORE_PASS, .worker = (uint32_t)setup->rank};
    return setup->asynchronous || setup->ranks < 2 ? PACE_EXCHANGER_OK : tell(c, 0, says, NULL, 0);
}

pace_result pace_store_client_step(pace_store_client *c) {
    PACE_LANE_TRY(push_all(c));
    if (!pace_lane_passed(c->is.lane)) return PACE_EXCHANGER_OK;
    PACE_LANE_TRY(wait_for_all(c));
    return pull_all(c, c->is.lane->step);
}

/* --- its life ----------------------------------------------------------------------------------------------------- */

static pace_result connect(pace_store_client *c) {
    grpc_arg arguments[] = {
        {.type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, .value.integer = -1},
        {.type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_ENABLE_HTTP_PROXY, .value.integer = 0},
    };
    grpc_channel_args all = {PACE_COUNT(arguments), arguments};
    grpc_channel_credentials *anybody = grpc_insecure_credentials_create();
    c->queue = grpc_completion_queue_create_for_next(NULL);
    for (int s = 0; s < c->is.servers; s++)
        c->channels[s] = grpc_channel_create(c->is.address(c->is.context, s), anybody, &all);
    grpc_channel_credentials_release(anybody);
    return PACE_EXCHANGER_OK;
}

static pace_result declare(pace_store_client *c, int server) {
    const pace_lane *lane = c->is.lane;
    pace_store_terms terms = {lane->setup.update, (uint32_t)lane->setup.ranks, lane->setup.asynchronous,
                              lane->setup.tensor_count};
    return tell(c, server, (pace_store_ask){.kind = PACE_STORE_DECLARE}, &terms, sizeof terms);
}

static pace_result meet(pace_store_client *c, int server) {
    static char hello[PACE_HELLO_MOST];
    const pace_carrier *carrier = c->is.carrier;
    call *k = &c->calls[0];
    pace_store_ask says = {.kind = PACE_STORE_MEET, .worker = (uint32_t)c->is.lane->setup.rank};
    long length = carrier->hello(carrier->context, server, hello, sizeof hello);
    if (length < 0)
        return pace_lane_fail(c->is.lane, PACE_EXCHANGER_FAILED, "server %d cannot be told who this is", server);
    PACE_LANE_TRY(tell(c, server, says, hello, (size_t)length));
    size_t bytes = k->reply ? grpc_byte_buffer_length(k->reply) : 0;
    bool good = bytes <= sizeof hello && pace_wire_read(k->reply, NULL, 0, hello, bytes) &&
                carrier->meet(carrier->context, server, hello, bytes);
    if (k->reply) grpc_byte_buffer_destroy(k->reply);
    return good ? PACE_EXCHANGER_OK
                : pace_lane_fail(c->is.lane, PACE_EXCHANGER_FAILED, "server %d cannot be met", server);
}

/* Of rank 0: what there is, and its weights. */
static pace_result hand_over(pace_store_client *c) {
    for (int s = 0; s < c->is.servers; s++) PACE_LANE_TRY(declare(c, s));
    for (size_t i = 0; i < c->is.lane->setup.tensor_count; i++)
        PACE_LANE_TRY(ask(c, &c->calls[i], PACE_STORE_SET, i, 0));
    return finish_all(c, 0);
}

/* Servers know what there is when all have passed; who failed makes the others fail. */
static pace_result together(pace_store_client *c, pace_result mine) {
    int bad = mine != PACE_EXCHANGER_OK, any = bad;
    if (c->is.comm == MPI_COMM_NULL) return mine;
    PACE_MPI_TRY(c->is.lane, "waiting for rank 0", MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, c->is.comm));
    return bad || !any ? mine : pace_lane_fail(c->is.lane, PACE_EXCHANGER_FAILED, "another rank reaches no server");
}

static pace_result begin(pace_store_client *c) {
    pace_lane *lane = c->is.lane;
    if (!pace_shards_place(c->server_of, c->is.servers, lane->setup.tensors, lane->setup.tensor_count, false))
        return out_of_memory(lane);
    PACE_LANE_TRY(connect(c));
    PACE_LANE_TRY(together(c, lane->setup.rank == 0 ? hand_over(c) : PACE_EXCHANGER_OK));
    for (int s = 0; s < c->is.servers && c->is.carrier; s++) PACE_LANE_TRY(meet(c, s));
    c->connected = true;
    return together(c, pull_all(c, 0)); /* nobody updates what others still have to get */
}

pace_result pace_store_client_open(pace_store_client **out, const pace_store_client_setup *setup) {
    size_t n = setup->lane->setup.tensor_count;
    pace_store_client *c = *out = calloc(1, sizeof *c);
    if (!c) return out_of_memory(setup->lane);
    c->is = *setup;
    c->server_of = calloc(n + 1, sizeof *c->server_of);
    c->calls = calloc(n + 1, sizeof *c->calls);
    c->channels = calloc((size_t)setup->servers, sizeof *c->channels);
    if (!c->server_of || !c->calls || !c->channels) return out_of_memory(setup->lane);
    grpc_init();
    return begin(c);
}

void pace_store_client_close(pace_store_client *c) {
    if (!c) return;
    for (int s = 0; c->channels && s < c->is.servers; s++)
        if (c->channels[s]) grpc_channel_destroy(c->channels[s]);
    if (c->queue) {
        grpc_completion_queue_shutdown(c->queue);
        while (grpc_completion_queue_next(c->queue, pace_wire_in(1), NULL).type == GRPC_OP_COMPLETE) continue;
        grpc_completion_queue_destroy(c->queue);
    }
    free(c->server_of);
    free(c->calls);
    free(c->channels);
    free(c);
}
