/* Memory that the processes of a host share from the start, and the reduction in it: each process reduces its part of
 * the vector and writes the result into everybody's buffer. */
#include "call.h"

#include <string.h>
#include <unistd.h>

/* Of all processes' lines those that are reduced at a time stay in the nearest cache. */
enum { BLOCK = 8 << 10, LINE = 64 };

/* Where parts begin: on a line, so that no two processes write to one. */
static size_t part(const pace_call *call, const pace_comm *c, int i) {
    size_t a_line = LINE / call->width, lines = (call->count + a_line - 1) / a_line,
           at = pace_part(lines, i, c->near) * a_line;
    return at < call->count ? at : call->count;
}

static pace_status reduce_block(const pace_views *v, const pace_call *call, size_t from, size_t count,
                                bool past_caches) {
    _Alignas(LINE) char sum[BLOCK];
    size_t w = call->width;
    const char *before = NULL, *theirs;
    for (int p = 0; p < v->comm->near; p++) {
        PACE_TRY(pace_view(&theirs, v, p, false, from * w, count * w, NULL));
        if (p == 1) call->reduce(sum, before, theirs, count);
        else if (p > 1) call->reduce(sum, sum, theirs, count);
        before = theirs;
    }
    for (int p = 0; p < v->comm->near; p++) {
        PACE_TRY(pace_view(&theirs, v, p, true, from * w, count * w, NULL));
        char *to = (char *)(uintptr_t)theirs;
        if (past_caches) pace_copy_past_caches(to, sum, count * w);
        else memcpy(to, sum, count * w);
    }
    return PACE_OK;
}

pace_status pace_owned_allreduce(const pace_views *v, const pace_call *call) {
    pace_comm *c = v->comm;
    size_t from = part(call, c, c->me), to = part(call, c, c->me + 1), most = BLOCK / call->width;
    bool in_place = call->in == call->out; /* lines that were read a moment ago are written where they are */
    bool past_caches = !in_place && pace_is_past_caches((size_t)c->near * call->count * call->width);
    for (; from < to; from += most)
        PACE_TRY(reduce_block(v, call, from, to - from < most ? to - from : most, past_caches));
    return pace_board_meet(&c->boards);
}

/* --- the memory --------------------------------------------------------------------------------------------------- */

pace_status pace_buffer_alloc(void **out, pace_comm *c, size_t bytes) {
    if (!out || !c || !bytes)
        return pace_fail(PACE_E_USAGE, "pace_buffer_alloc() needs a place, a communicator and a size");
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    if (bytes > SIZE_MAX / 2 / (size_t)c->near) return pace_fail(PACE_E_MEMORY, "%zu bytes for each rank", bytes);
    pace_owned made = {.bytes = whole, .id = ++c->owned_made};
    pace_status status = pace_segment_open(&made.segment, c->local, whole * (size_t)c->near, c->settings.shm);
    if (status == PACE_OK) status = PACE_KEEP(&c->owned, made, pace_segment_close(&made.segment));
    int worst = (int)status;
    PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, c->over);
    if (worst == PACE_OK) {
        *out = (char *)made.segment.base + (size_t)c->me * whole;
        return PACE_OK;
    }
    if (status == PACE_OK) pace_segment_close(&c->owned.items[--c->owned.count].segment);
    return status != PACE_OK ? status : pace_fail(PACE_E_MEMORY, "another rank has no memory for %zu bytes", bytes);
}

void pace_buffer_free(pace_comm *c, void *buffer) {
    const pace_owned *found = buffer && c ? pace_owned_find(c, buffer, 1) : NULL;
    if (!found) return;
    size_t at = (size_t)(found - c->owned.items);
    pace_segment_close(&c->owned.items[at].segment);
    c->owned.items[at] = c->owned.items[--c->owned.count];
}
