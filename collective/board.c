#include "board.h"

#include "base/memory.h"

#include <string.h>

static size_t slot_of(size_t room) { return (room + PACE_NOTE_HEAD + 63) / 64 * 64; }

/* A line more than the slots need: boards of the same size would else share the places of a cache. */
static size_t board_of(size_t room) { return PACE_BOARD_SLOTS * slot_of(room) + 64; }

size_t pace_boards_bytes(int count, size_t room) { return (size_t)count * board_of(room); }

pace_status pace_boards_open(pace_boards *out, void *memory, int me, int count, size_t room, pace_waiter *waiter) {
    pace_boards made = {.base = memory,
                        .slot_bytes = slot_of(room),
                        .board_bytes = board_of(room),
                        .me = me,
                        .count = count,
                        .waiter = waiter};
    made.seen = pace_alloc((size_t)count, sizeof *made.seen);
    if (!made.seen) return PACE_E_MEMORY;
    *out = made;
    return PACE_OK;
}

void pace_boards_close(pace_boards *boards) {
    pace_free(boards->seen);
    boards->seen = NULL;
}

pace_status pace_board_unlike(const pace_boards *b, int process) {
    return pace_fail(PACE_E_IO,
                     "ranks call differently: local rank %d is in another call than local rank %d; "
                     "PACELINE_COLLECTIVE=check shows both",
                     process, b->me);
}

pace_status pace_board_post(uint64_t *number, pace_boards *b, const void *data, size_t bytes) {
    char *note;
    PACE_TRY(pace_board_begin(&note, b));
    if (bytes) memcpy(note, data, bytes);
    *number = pace_board_show(b);
    return PACE_OK;
}

pace_status pace_board_meet(pace_boards *b) {
    uint64_t number;
    PACE_TRY(pace_board_post(&number, b, NULL, 0));
    pace_board_fetch_next(b);
    return pace_board_await_all(b, number);
}
