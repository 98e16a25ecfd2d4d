/* Exchanges in which every process reads what it needs out of the others' buffers, and nobody copies into boards. */
#include "call.h"

#include <string.h>

enum { BLOCK = 128 << 10 };

/* Elements from on of all inputs, reduced in the order of processes, to element `to` of the output. */
static pace_status reduce_block(const pace_views *v, const pace_call *call, size_t from, size_t to, size_t count,
                                char *room) {
    size_t w = call->width;
    const char *before = NULL, *theirs;
    char *out = call->out + to * w;
    int me = v->comm->me;
    for (int p = 0; p < v->comm->near; p++) {
        if (p == me) theirs = call->in + from * w;
        else PACE_TRY(pace_view(&theirs, v, p, false, from * w, count * w, room + (size_t)(p % 2) * BLOCK));
        bool own_is_lost = p == me && p >= 2 && theirs == out;
        if (own_is_lost) theirs = room + 2 * (size_t)BLOCK;
        if (p == 0 && me >= 2 && call->in + from * w == out) memcpy(room + 2 * (size_t)BLOCK, out, count * w);
        if (p == 1) call->reduce(out, before, theirs, count);
        else if (p > 1) call->reduce(out, out, theirs, count);
        before = theirs;
    }
    return PACE_OK;
}

static pace_status reduce_range(const pace_views *v, const pace_call *call, size_t from, size_t to, size_t count,
                                char *room) {
    size_t most = BLOCK / call->width;
    for (size_t done = 0; done < count; done += most)
        PACE_TRY(reduce_block(v, call, from + done, to + done, count - done < most ? count - done : most, room));
    return PACE_OK;
}

/* Bytes of a process's output, or input, into the own one. */
static pace_status fetch(const pace_views *v, int process, bool of_output, size_t from, size_t bytes, char *to) {
    const char *at;
    PACE_TRY(pace_view(&at, v, process, of_output, from, bytes, to));
    if (at != to) memcpy(to, at, bytes);
    return PACE_OK;
}

pace_status pace_pulled_allreduce(const pace_views *v, const pace_call *call) {
    pace_comm *c = v->comm;
    char *room = pace_comm_scratch(c, 3 * (size_t)BLOCK);
    if (!room) return PACE_E_MEMORY;
    size_t mine = pace_part(call->count, c->me, c->near), behind = pace_part(call->count, c->me + 1, c->near);
    PACE_TRY(reduce_range(v, call, mine, mine, behind - mine, room));
    PACE_TRY(pace_board_meet(&c->boards));
    for (int step = 1; step < c->near; step++) {
        int p = (c->me + step) % c->near;
        size_t from = pace_part(call->count, p, c->near) * call->width,
               to = pace_part(call->count, p + 1, c->near) * call->width;
        PACE_TRY(fetch(v, p, true, from, to - from, call->out + from));
    }
    return pace_board_meet(&c->boards);
}

/* In place the result waits until nobody reads the first block any more. */
pace_status pace_pulled_reduce_scatter(const pace_views *v, const pace_call *call) {
    pace_comm *c = v->comm;
    size_t bytes = call->count * call->width;
    bool in_place = call->in == call->out;
    char *room = pace_comm_scratch(c, 3 * (size_t)BLOCK + (in_place ? bytes : 0));
    if (!room) return PACE_E_MEMORY;
    pace_call aside = *call;
    if (in_place) aside.out = room + 3 * (size_t)BLOCK;
    PACE_TRY(reduce_range(v, &aside, (size_t)c->me * call->count, 0, call->count, room));
    PACE_TRY(pace_board_meet(&c->boards));
    if (in_place) memcpy(call->out, aside.out, bytes);
    return PACE_OK;
}

pace_status pace_pulled_all_gather(const pace_views *v, const pace_call *call) {
    pace_comm *c = v->comm;
    size_t bytes = call->count * call->width;
    char *own = call->out + (size_t)c->me * bytes;
    if (own != call->in) memcpy(own, call->in, bytes);
    for (int step = 1; step < c->near; step++) {
        int p = (c->me + step) % c->near;
        PACE_TRY(fetch(v, p, false, 0, bytes, call->out + (size_t)p * bytes));
    }
    return pace_board_meet(&c->boards);
}

pace_status pace_pulled_broadcast(const pace_views *v, const pace_call *call) {
    pace_comm *c = v->comm;
    if (c->me != call->root) PACE_TRY(fetch(v, call->root, false, 0, call->count * call->width, call->out));
    return pace_board_meet(&c->boards);
}
