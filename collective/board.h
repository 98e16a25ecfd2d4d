/*
 * Boards: every process of a host posts the same number of notes in the same order on its own board, which all others
 * read. A board has SLOTS places that are used in turn.
 *
 * Rule: note w is posted only after note w - 2 of everybody else has been seen, and posting w says that all notes up to
 * w - 2 have been read. So whoever posts w knows that note w - 4, which it overwrites, has been read by all; no
 * acknowledgement is needed. Between posting w and reading the others' notes w - 1 a process may look one note ahead.
 *
 * A note's number and its first 56 bytes share a cache line: a small note takes one transfer between two cores. The
 * number's upper bits sign the calls up to the one that the note belongs to: whoever reads a note of other calls than
 * its own learns that the processes call differently, before it takes one call's bytes for another's.
 */
#pragma once

#include "waiting.h"

#include <stddef.h>

#define PACE_NOTE_NUMBER (UINT64_MAX >> 16) /* the bits of a number; those above sign a call */

enum { PACE_BOARD_AHEAD = 2, PACE_BOARD_SLOTS = 2 * PACE_BOARD_AHEAD, PACE_NOTE_HEAD = 8, PACE_SMALL_NOTE = 56 };

typedef struct {
    char *base; /* of all boards, in shared memory */
    size_t slot_bytes, board_bytes;
    int me, count;
    uint64_t posted;                  /* notes */
    uint64_t sign;                    /* of the calls so far, above the number's bits: the same on all processes */
    uint64_t signs[PACE_BOARD_SLOTS]; /* of the last own notes */
    uint64_t *seen;                   /* of each process */
    pace_waiter *waiter;
} pace_boards;

/** Bytes of shared memory for the boards of so many processes whose notes have up to `room` bytes. */
size_t pace_boards_bytes(int count, size_t room);
pace_status pace_boards_open(pace_boards *out, void *memory, int me, int count, size_t room,
                             pace_waiter *waiter) PACE_MUST_CHECK;
void pace_boards_close(pace_boards *boards);

static inline size_t pace_board_room(const pace_boards *b) { return b->slot_bytes - PACE_NOTE_HEAD; }

/* What stands on a board as note `number`. */
static inline char *pace_note(const pace_boards *b, int process, uint64_t number) {
    return b->base + (size_t)process * b->board_bytes + (number % PACE_BOARD_SLOTS) * b->slot_bytes + PACE_NOTE_HEAD;
}

static inline _Atomic uint64_t *pace_note_number(const pace_boards *b, int process, uint64_t number) {
    return (_Atomic uint64_t *)(void *)(pace_note(b, process, number) - PACE_NOTE_HEAD);
}

/** PACE_E_IO: a note of another call lies on that process's board. */
pace_status pace_board_unlike(const pace_boards *boards, int process) PACE_MUST_CHECK;

/** Waits for note `number` of a process, one that was posted here too. PACE_E_IO also where it is of another call. */
static inline pace_status pace_board_await(pace_boards *b, int process, uint64_t number) {
    if (b->seen[process] >= number) return PACE_OK;
    _Atomic uint64_t *at = pace_note_number(b, process, number);
    uint64_t found;
    PACE_WAIT_UNTIL(b->waiter, ((found = atomic_load_explicit(at, memory_order_acquire)) & PACE_NOTE_NUMBER) >= number);
    if (PACE_UNLIKELY(found != (number | b->signs[number % PACE_BOARD_SLOTS]))) return pace_board_unlike(b, process);
    b->seen[process] = number;
    return PACE_OK;
}

static inline pace_status pace_board_await_all(pace_boards *b, uint64_t number) {
    for (int i = 0; i < b->count; i++)
        if (i != b->me) PACE_TRY(pace_board_await(b, i, number));
    return PACE_OK;
}

/** Waits until the next note may be written; returns the place for it. */
static inline pace_status pace_board_begin(char **out, pace_boards *b) {
    if (b->posted >= PACE_BOARD_AHEAD) PACE_TRY(pace_board_await_all(b, b->posted + 1 - PACE_BOARD_AHEAD));
    *out = pace_note(b, b->me, b->posted + 1);
    return PACE_OK;
}

/** Shows the note that was written there. Its number. */
static inline uint64_t pace_board_show(pace_boards *b) {
    uint64_t number = ++b->posted;
    b->signs[number % PACE_BOARD_SLOTS] = b->sign;
    atomic_store_explicit(pace_note_number(b, b->me, number), number | b->sign, memory_order_release);
    pace_wake_all(b->waiter);
    return number;
}

/** Takes the line of the next note for writing while the others' notes are waited for: the readers of four notes ago
 * share it, and to ask for it later would take as long as a small exchange itself. */
static inline void pace_board_fetch_next(const pace_boards *b) {
    pace_fetch_to_write(pace_note_number(b, b->me, b->posted + 1));
}

/** Both, for `bytes` of `data`, which fit. */
pace_status pace_board_post(uint64_t *number, pace_boards *boards, const void *data, size_t bytes) PACE_MUST_CHECK;

/** Nobody goes on before all have come. */
pace_status pace_board_meet(pace_boards *boards) PACE_MUST_CHECK;
