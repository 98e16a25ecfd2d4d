#include "staging.h"

#include "pointers.h"

enum { PIECE = 1 << 20 };

typedef struct {
    bool in, out; /* on the device */
    size_t in_bytes, out_bytes;
    size_t own; /* of an all-gather in place: where the own part stands in the output */
} place;

static pace_status find(place *p, pace_comm *c, const pace_call *call) {
    size_t bytes = call->count * call->width;
    *p = (place){.in_bytes = bytes, .out_bytes = bytes};
    if (call->collective == PACE_REDUCESCATTER) p->in_bytes *= (size_t)c->ranks;
    if (call->collective == PACE_ALLGATHER) p->out_bytes *= (size_t)c->ranks, p->own = (size_t)c->rank * bytes;
    if (!bytes || call->collective == PACE_BARRIER) return PACE_OK;
    PACE_TRY(pace_pointers_find(&p->in, c->pointers, call->in, p->in_bytes));
    return call->out ? pace_pointers_find(&p->out, c->pointers, call->out, p->out_bytes) : PACE_OK;
}

static pace_status copy(const pace_comm *c, bool to_host, void *to, const void *from, size_t bytes) {
    const pace_device *d = &c->device;
    int failed = to_host ? d->to_host(d->context, to, from, bytes) : d->to_device(d->context, to, from, bytes);
    return failed ? pace_fail(PACE_E_IO, "%s did not copy %zu bytes", d->name, bytes) : PACE_OK;
}

static bool writes(const pace_comm *c, const pace_call *call) {
    if (call->collective == PACE_REDUCE) return c->rank == call->root;
    return call->collective != PACE_BROADCAST || c->rank != call->root;
}

/* What stands on the device is copied to `room`, whose first part takes the output, and back. */
static pace_status by_way_of_host(pace_comm *c, const pace_call *call, const place *p, pace_carry_fn carry) {
    pace_call here = *call;
    bool gathers = call->collective == PACE_ALLGATHER,
         in_place = call->in == call->out || (gathers && call->in == call->out + p->own);
    size_t most = p->out_bytes > p->in_bytes ? p->out_bytes : p->in_bytes;
    char *room = pace_alloc(most + p->in_bytes, 1), *aside = room ? room + most : NULL;
    if (!room) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    if (p->out) here.out = room;
    if (p->in) here.in = in_place ? here.out + p->own : aside;
    if (p->in) status = copy(c, true, (char *)(uintptr_t)here.in, call->in, p->in_bytes);
    if (status == PACE_OK) status = carry(c, &here);
    if (status == PACE_OK && p->out && writes(c, call)) status = copy(c, false, call->out, here.out, p->out_bytes);
    pace_free(room);
    return status;
}

static pace_status one(pace_comm *c, const pace_call *call, pace_carry_fn carry) {
    place p;
    PACE_TRY(find(&p, c, call));
    return p.in || p.out ? by_way_of_host(c, call, &p, carry) : carry(c, call);
}

pace_status pace_staged_carry(pace_comm *c, const pace_call *call, pace_carry_fn carry) {
    size_t piece = PIECE / (call->width ? call->width : 1);
    if (call->collective != PACE_ALLREDUCE || call->count <= piece) return one(c, call, carry);
    for (size_t from = 0; from < call->count; from += piece) {
        pace_call part = *call;
        part.in += from * call->width;
        part.out += from * call->width;
        part.count = call->count - from < piece ? call->count - from : piece;
        PACE_TRY(one(c, &part, carry));
    }
    return PACE_OK;
}

pace_status pace_comm_set_device(pace_comm *c, const pace_device *device, int remember) {
    pace_pointers *made = NULL;
    if (!c || (device && (!device->find || !device->to_host || !device->to_device || device->size < sizeof *device)))
        return pace_fail(PACE_E_USAGE, "expected a communicator, and a device with all its functions");
    if (device) PACE_TRY(pace_pointers_open(&made, device, remember != 0));
    pace_pointers_close(c->pointers);
    c->pointers = made;
    if (device) c->device = *device;
    return PACE_OK;
}

void pace_comm_forget(pace_comm *c, const void *at) {
    if (c && c->pointers) pace_pointers_forget(c->pointers, at);
}
