/* Exchanges in which everybody posts what it has and reads what all others posted. A result is reduced in the order of
 * processes, by each for itself: all get the same bits. */
#include "call.h"

#include <string.h>

/* Elements of a piece when a note holds one of each of `blocks`. A communicator's notes have room for one of each
 * process. */
static size_t piece_of(const pace_comm *c, const pace_call *call, size_t blocks) {
    size_t fit = c->room / (call->width * blocks);
    return call->count < fit ? call->count : fit;
}

/* --- allreduce ---------------------------------------------------------------------------------------------------- */

/* What a process posted; a process's own from where it still has it. */
static const char *source(const pace_comm *c, const pace_call *call, size_t from, int process, uint64_t note) {
    bool overwritten = call->in == call->out && process >= 2;
    return process == c->me && !overwritten ? call->in + from * call->width : pace_note(&c->boards, process, note);
}

static pace_status reduce_all(pace_comm *c, const pace_call *call, size_t from, size_t count, uint64_t note) {
    char *out = call->out + from * call->width;
    PACE_TRY(pace_board_await_all(&c->boards, note));
    call->reduce(out, source(c, call, from, 0, note), source(c, call, from, 1, note), count);
    for (int p = 2; p < c->near; p++) call->reduce(out, out, source(c, call, from, p, note), count);
    return PACE_OK;
}

/* What fits into one note: the way of an exchange that takes no longer than a line between two cores. */
pace_status pace_flat_allreduce_small(pace_comm *c, const pace_call *call) {
    pace_boards *b = &c->boards;
    char *note;
    PACE_TRY(pace_board_begin(&note, b));
    if (call->count == 1 && call->width == 4) memcpy(note, call->in, 4);
    else if (call->count == 1 && call->width == 8) memcpy(note, call->in, 8);
    else memcpy(note, call->in, call->count * call->width);
    uint64_t number = pace_board_show(b);
    if (call->count * call->width <= PACE_SMALL_NOTE) pace_board_fetch_next(b);
    return reduce_all(c, call, 0, call->count, number);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* A note ahead: the next piece is posted before the others' are waited for. */
pace_status pace_flat_allreduce(pace_comm *c, const pace_call *call) {
    size_t piece = piece_of(c, call, 1), posted = 0;
    uint64_t note, now = c->boards.posted;
    for (size_t from = 0; from < call->count; from += piece) {
        for (; posted < least(call->count, from + PACE_BOARD_AHEAD * piece); posted += piece)
            PACE_TRY(pace_board_post(&note, &c->boards, call->in + posted * call->width,
                                     least(call->count - posted, piece) * call->width));
        PACE_TRY(reduce_all(c, call, from, least(call->count - from, piece), ++now));
    }
    return PACE_OK;
}

/* --- the others --------------------------------------------------------------------------------------------------- */

/* Of every block the same piece. */
static pace_status scatter_piece(pace_comm *c, const pace_call *call, size_t from, size_t count) {
    char *note;
    size_t bytes = count * call->width;
    PACE_TRY(pace_board_begin(&note, &c->boards));
    for (int p = 0; p < c->near; p++)
        memcpy(note + (size_t)p * bytes, call->in + ((size_t)p * call->count + from) * call->width, bytes);
    uint64_t number = pace_board_show(&c->boards);
    PACE_TRY(pace_board_await_all(&c->boards, number));
    char *out = call->out + from * call->width;
    const char *mine = NULL;
    for (int p = 0; p < c->near; p++) {
        const char *theirs = pace_note(&c->boards, p, number) + (size_t)c->me * bytes;
        if (p == 1) call->reduce(out, mine, theirs, count);
        else if (p > 1) call->reduce(out, out, theirs, count);
        mine = theirs;
    }
    return PACE_OK;
}

/* In place piece `from` is written over block 0, whose piece has been posted. */
pace_status pace_flat_reduce_scatter(pace_comm *c, const pace_call *call) {
    size_t piece = piece_of(c, call, (size_t)c->near);
    for (size_t from = 0; from < call->count; from += piece)
        PACE_TRY(scatter_piece(c, call, from, call->count - from < piece ? call->count - from : piece));
    return PACE_OK;
}

pace_status pace_flat_all_gather(pace_comm *c, const pace_call *call) {
    size_t piece = piece_of(c, call, 1);
    for (size_t from = 0; from < call->count; from += piece) {
        size_t bytes = (call->count - from < piece ? call->count - from : piece) * call->width;
        uint64_t note;
        PACE_TRY(pace_board_post(&note, &c->boards, call->in + from * call->width, bytes));
        for (int p = 0; p < c->near; p++) {
            char *to = call->out + ((size_t)p * call->count + from) * call->width;
            PACE_TRY(p == c->me ? PACE_OK : pace_board_await(&c->boards, p, note));
            if (p != c->me) memcpy(to, pace_note(&c->boards, p, note), bytes);
            else if (to != call->in + from * call->width) memcpy(to, call->in + from * call->width, bytes);
        }
    }
    return PACE_OK;
}

pace_status pace_flat_broadcast(pace_comm *c, const pace_call *call) {
    size_t piece = piece_of(c, call, 1);
    for (size_t from = 0; from < call->count; from += piece) {
        size_t bytes = (call->count - from < piece ? call->count - from : piece) * call->width;
        char *at = call->out + from * call->width;
        uint64_t note;
        PACE_TRY(pace_board_post(&note, &c->boards, at, c->me == call->root ? bytes : 0));
        if (c->me == call->root) continue;
        PACE_TRY(pace_board_await(&c->boards, call->root, note));
        memcpy(at, pace_note(&c->boards, call->root, note), bytes);
    }
    return PACE_OK;
}

/* Only the root reads. Its own input may stand where the result goes. */
pace_status pace_flat_reduce(pace_comm *c, const pace_call *call) {
    size_t piece = piece_of(c, call, 1);
    for (size_t from = 0; from < call->count; from += piece) {
        size_t count = call->count - from < piece ? call->count - from : piece;
        uint64_t note;
        PACE_TRY(pace_board_post(&note, &c->boards, call->in + from * call->width, count * call->width));
        if (c->me == call->root) PACE_TRY(reduce_all(c, call, from, count, note));
    }
    return PACE_OK;
}
