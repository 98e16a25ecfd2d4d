/* Reduce-scatter and all-gather over boards, piece by piece: each process reduces its part of a piece and posts the
 * result. */
#include "call.h"

#include <string.h>

typedef struct {
    size_t from, count; /* elements of the vector */
    bool past_caches;
} piece;

static size_t at_part(const piece *p, int i, const pace_comm *c) { return pace_part(p->count, i, c->near); }

/* All of it but the part that this process reduces itself, which nobody else reads. */
static pace_status post_piece(uint64_t *number, pace_comm *c, const pace_call *call, const piece *p) {
    char *note;
    size_t w = call->width, mine = at_part(p, c->me, c) * w, behind = at_part(p, c->me + 1, c) * w;
    const char *in = call->in + p->from * w;
    PACE_TRY(pace_board_begin(&note, &c->boards));
    memcpy(note, in, mine);
    memcpy(note + behind, in + behind, p->count * w - behind);
    *number = pace_board_show(&c->boards);
    return PACE_OK;
}

/* A vector that the caches do not hold is not read into them to be overwritten. */
static void put(const pace_call *call, const piece *p, size_t first, const char *from, size_t count) {
    char *to = call->out + (p->from + first) * call->width;
    if (p->past_caches) pace_copy_past_caches(to, from, count * call->width);
    else memcpy(to, from, count * call->width);
}

/* The part of this process from all; the result on the next note and in the output. */
static pace_status reduce_part(pace_comm *c, const pace_call *call, const piece *p, uint64_t posted, uint64_t *result) {
    char *note;
    size_t w = call->width, first = at_part(p, c->me, c), count = at_part(p, c->me + 1, c) - first;
    const char *own = call->in + (p->from + first) * w, *before = NULL;
    PACE_TRY(pace_board_await_all(&c->boards, posted));
    PACE_TRY(pace_board_begin(&note, &c->boards));
    for (int i = 0; i < c->near; i++) {
        const char *theirs = i == c->me ? own : pace_note(&c->boards, i, posted) + first * w;
        if (i == 1) call->reduce(note, before, theirs, count);
        else if (i > 1) call->reduce(note, note, theirs, count);
        before = theirs;
    }
    *result = pace_board_show(&c->boards);
    put(call, p, first, note, count);
    return PACE_OK;
}

static pace_status gather_parts(pace_comm *c, const pace_call *call, const piece *p, uint64_t result) {
    for (int step = 1; step < c->near; step++) {
        int i = (c->me + step) % c->near;
        size_t first = at_part(p, i, c), count = at_part(p, i + 1, c) - first;
        PACE_TRY(pace_board_await(&c->boards, i, result));
        put(call, p, first, pace_note(&c->boards, i, result), count);
    }
    return PACE_OK;
}

pace_status pace_staged_allreduce(pace_comm *c, const pace_call *call) {
    size_t most = c->room / call->width;
    bool past_caches = pace_is_past_caches((size_t)c->near * call->count * call->width);
    piece now = {0, call->count < most ? call->count : most, past_caches};
    uint64_t posted, result;
    if (!call->count) return PACE_OK;
    PACE_TRY(post_piece(&posted, c, call, &now));
    for (;;) {
        PACE_TRY(reduce_part(c, call, &now, posted, &result));
        piece next = {now.from + now.count, call->count - now.from - now.count, past_caches};
        if (next.count > most) next.count = most;
        if (next.count) PACE_TRY(post_piece(&posted, c, call, &next));
        PACE_TRY(gather_parts(c, call, &now, result));
        if (!next.count) return PACE_OK;
        now = next;
    }
}
