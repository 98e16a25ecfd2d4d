#include "server_loop.h"

#include "base/memory.h"
#include "base/print.h"
#include "server_store.h"
#include "store_wire.h"

#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ASKED, READ, MOVES, WAITS, ANSWERED } stage;

/* A call of a worker, from when it may come until it is answered. */
typedef struct request {
    stage stage;
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *message;
    pace_store_ask ask;
    float *room; /* a gradient */
    void *move;
    int cancelled;
    struct request *next; /* of those that wait, or move */
} request;

struct pace_server {
    grpc_server *server;
    grpc_completion_queue *queue;
    pace_store store;
    const pace_carrier *carrier; /* NULL: messages hold the numbers */
    request *waiting, *moving, *passing;
    int passed; /* workers that wait in `passing` */
};

/* --- calls -------------------------------------------------------------------------------------------------------- */

static void expect_call(pace_server *s) {
    request *r = calloc(1, sizeof *r);
    if (!r) return;
    grpc_call_details_init(&r->details);
    grpc_metadata_array_init(&r->metadata);
    grpc_server_request_call(s->server, &r->call, &r->details, &r->metadata, s->queue, s->queue, r);
}

static void end_request(request *r) {
    if (r->message) grpc_byte_buffer_destroy(r->message);
    if (r->call) grpc_call_unref(r->call);
    grpc_call_details_destroy(&r->details);
    grpc_metadata_array_destroy(&r->metadata);
    free(r->room);
    free(r);
}

static void read_message(request *r) {
    grpc_op ops[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_MESSAGE}};
    ops[1].data.recv_message.recv_message = &r->message;
    r->stage = READ;
    grpc_call_start_batch(r->call, ops, 2, r, NULL);
}

static void answer(request *r, const void *data, size_t bytes, const char *fault) {
    grpc_slice said = grpc_slice_from_static_string(fault ? fault : "");
    grpc_byte_buffer *message = pace_wire_message("", 0, data, bytes);
    grpc_op ops[3] = {{.op = GRPC_OP_RECV_CLOSE_ON_SERVER},
                      {.op = GRPC_OP_SEND_STATUS_FROM_SERVER},
                      {.op = GRPC_OP_SEND_MESSAGE}};
    ops[0].data.recv_close_on_server.cancelled = &r->cancelled;
    ops[1].data.send_status_from_server.status = fault ? GRPC_STATUS_INVALID_ARGUMENT : GRPC_STATUS_OK;
    ops[1].data.send_status_from_server.status_details = &said;
    ops[2].data.send_message.send_message = message;
    r->stage = ANSWERED;
    grpc_call_start_batch(r->call, ops, fault ? 2 : 3, r, NULL);
    grpc_byte_buffer_destroy(message);
}

/* --- what is asked ------------------------------------------------------------------------------------------------ */

static const pace_variable *variable_of(const pace_server *s, const request *r) {
    if (r->ask.tensor >= s->store.count || r->ask.worker >= (uint32_t)s->store.workers) return NULL;
    const pace_variable *v = &s->store.variables[r->ask.tensor];
    return v->held && v->elements == r->ask.elements ? v : NULL;
}

static void declare(pace_server *s, request *r) {
    pace_store_terms terms;
    struct {
        pace_store_ask ask;
        pace_store_terms terms;
    } both;
    bool good = pace_wire_read(r->message, &both, sizeof both, NULL, 0);
    terms = both.terms;
    good = good && terms.rule.rule <= PACE_TRAIN_ADAM &&
           pace_store_open(&s->store, &terms.rule, (int)terms.workers, terms.asynchronous, terms.count);
    answer(r, NULL, 0, good ? NULL : "what is trained cannot be read");
}

static void set(pace_server *s, request *r) {
    pace_store_ask ask;
    float *weights = r->ask.tensor < s->store.count ? pace_store_hold(&s->store, r->ask.tensor, r->ask.elements) : NULL;
    bool good = weights && pace_wire_read(r->message, &ask, sizeof ask, weights, r->ask.elements * sizeof *weights);
    answer(r, NULL, 0, good ? NULL : "a variable cannot be held");
}

static void meet(pace_server *s, request *r) {
    static char hello[PACE_HELLO_MOST];
    size_t bytes = grpc_byte_buffer_length(r->message) - sizeof r->ask;
    bool good = s->carrier && bytes <= sizeof hello &&
                pace_wire_read(r->message, &r->ask, sizeof r->ask, hello, bytes) &&
                s->carrier->meet(s->carrier->context, (int)r->ask.worker, hello, bytes);
    long length = good ? s->carrier->hello(s->carrier->context, (int)r->ask.worker, hello, sizeof hello) : -1;
    r->room = length > 0 ? malloc((size_t)length) : NULL; /* until it is answered */
    if (r->room) memcpy(r->room, hello, (size_t)length);
    answer(r, r->room, r->room ? (size_t)length : 0, length < 0 ? "a worker cannot be met" : NULL);
}

static void begin_move(pace_server *s, request *r, float *data, bool sends) {
    r->move = s->carrier->begin(s->carrier->context, (int)r->ask.worker, r->ask.tensor, data, r->ask.elements, sends);
    if (!r->move) {
        answer(r, NULL, 0, "a tensor cannot be moved");
        return;
    }
    r->stage = MOVES;
    r->next = s->moving;
    s->moving = r;
}

static void give(pace_server *s, request *r) {
    const pace_variable *v = &s->store.variables[r->ask.tensor];
    if (s->carrier) begin_move(s, r, v->weights, true);
    else answer(r, v->weights, v->elements * sizeof *v->weights, NULL);
}

static void pull(pace_server *s, request *r) {
    if (pace_store_is_fresh(&s->store, r->ask.tensor, r->ask.step)) {
        give(s, r);
        return;
    }
    r->stage = WAITS;
    r->next = s->waiting;
    s->waiting = r;
}

/* Those that waited for an update of this variable. */
static void wake(pace_server *s, size_t tensor) {
    request **at = &s->waiting;
    while (*at) {
        request *r = *at;
        if (r->ask.tensor != tensor || !pace_store_is_fresh(&s->store, tensor, r->ask.step)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        give(s, r);
    }
}

static void pushed(pace_server *s, request *r) {
    bool updated = pace_store_push(&s->store, r->ask.tensor, r->room);
    size_t tensor = r->ask.tensor;
    answer(r, NULL, 0, NULL);
    if (updated) wake(s, tensor);
}

static void push(pace_server *s, request *r) {
    r->room = malloc(r->ask.elements * sizeof *r->room + 1);
    if (!r->room) answer(r, NULL, 0, "out of memory");
    else if (s->carrier) begin_move(s, r, r->room, false);
    else if (pace_wire_read(r->message, &r->ask, sizeof r->ask, r->room, r->ask.elements * sizeof *r->room))
        pushed(s, r);
    else answer(r, NULL, 0, "a gradient of another length");
}

/* The worker that comes last lets all go on. */
static void pass(pace_server *s, request *r) {
    r->stage = WAITS;
    r->next = s->passing;
    s->passing = r;
    if (++s->passed < s->store.workers) return;
    s->passed = 0;
    while ((r = s->passing)) {
        s->passing = r->next;
        answer(r, NULL, 0, NULL);
    }
}

static void act(pace_server *s, request *r) {
    if (!pace_wire_peek(r->message, &r->ask, sizeof r->ask) || r->ask.kind >= PACE_STORE_KINDS) {
        answer(r, NULL, 0, "a message that cannot be read");
        return;
    }
    if (r->ask.kind == PACE_STORE_DECLARE) declare(s, r);
    else if (r->ask.kind == PACE_STORE_SET) set(s, r);
    else if (r->ask.kind == PACE_STORE_MEET) meet(s, r);
    else if (r->ask.kind == PACE_STORE_PASS) pass(s, r);
    else if (!variable_of(s, r)) answer(r, NULL, 0, "a variable that is not here, or has another size");
    else if (r->ask.kind == PACE_STORE_PUSH) push(s, r);
    else pull(s, r);
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static void turn(pace_server *s, request *r, bool success) {
    if (r->stage == ASKED && success) {
        expect_call(s);
        read_message(r);
    } else if (r->stage == READ && success) act(s, r);
    else end_request(r);
}

/* Whether anything is moving still. */
static bool move_on(pace_server *s) {
    request **at = &s->moving;
    if (s->carrier) s->carrier->poll(s->carrier->context, NULL);
    while (*at) {
        request *r = *at;
        int done = s->carrier->poll(s->carrier->context, r->move);
        if (done == 0) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (done < 0) answer(r, NULL, 0, "a tensor did not arrive");
        else if (r->ask.kind == PACE_STORE_PUSH) pushed(s, r);
        else answer(r, NULL, 0, NULL);
        at = &s->moving; /* whoever was woken stands in front */
    }
    return s->moving != NULL;
}

int pace_server_open(pace_server **out, const char *interface, int port, const pace_carrier *carrier) {
    grpc_arg arguments[] = {
        {.type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, .value.integer = -1},
        {.type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_ALLOW_REUSEPORT, .value.integer = 0},
    };
    grpc_channel_args all = {PACE_COUNT(arguments), arguments};
    char address[128];
    pace_server *s = calloc(1, sizeof *s);
    if (!s) return 0;
    setenv("GRPC_VERBOSITY", "NONE", 0); /* the worker says what is wrong, in one line */
    grpc_init();
    s->carrier = carrier;
    s->queue = grpc_completion_queue_create_for_next(NULL);
    s->server = grpc_server_create(&all, NULL);
    grpc_server_register_completion_queue(s->server, s->queue, NULL);
    pace_snprintf(address, sizeof address, "%s:%d", interface, port);
    grpc_server_credentials *anybody = grpc_insecure_server_credentials_create();
    int got = grpc_server_add_http2_port(s->server, address, anybody);
    grpc_server_credentials_release(anybody);
    if (!got) return free(s), 0; /* the process ends */
    grpc_server_start(s->server);
    *out = s;
    return got;
}

void pace_server_run(pace_server *s, bool (*goes_on)(void *context), void *context) {
    enum { CALLS_AT_ONCE = 64 };
    for (int i = 0; i < CALLS_AT_ONCE; i++) expect_call(s);
    while (goes_on(context)) {
        bool moves = s->carrier && move_on(s);
        double wait_s = moves ? 0 : s->carrier ? 1e-3 : 0.2;
        grpc_event event = grpc_completion_queue_next(s->queue, pace_wire_in(wait_s), NULL);
        if (event.type == GRPC_OP_COMPLETE) turn(s, event.tag, event.success);
        else if (moves) sched_yield();
    }
}
