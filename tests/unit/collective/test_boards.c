/* The protocol of boards and of rings, by threads instead of processes: every note is read as it was posted, whoever is
 * ahead (built with -fsanitize=thread it is also checked for races). And the pointer cache. */
#include "board.h"
#include "pointers.h"
#include "rings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { THREADS = 4, ROUNDS = 3000, ROOM = 192, SLOT = 64 };

static pace_seat seats[THREADS];
static char *memory;
static _Atomic int wrong;

typedef struct {
    int me;
    pthread_t thread;
} actor;

static uint64_t word(int of, uint64_t number, size_t i) { return (uint64_t)of << 56 ^ number << 16 ^ i; }

/* Every third round nobody looks ahead, every fifth one only the first thread's notes are read. */
static pace_status play_boards(int me) {
    pace_waiter waiter;
    pace_boards b;
    pace_waiter_init(&waiter, seats, me, THREADS, true, 0);
    PACE_TRY(pace_boards_open(&b, memory, me, THREADS, ROOM, &waiter));
    uint64_t data[ROOM / 8 - 1];
    unsigned noise = (unsigned)me * 77u + 1;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint64_t upto = round + (round % 3 != 0 && round < ROUNDS); b.posted < upto;) {
            uint64_t number;
            for (size_t i = 0; i < sizeof data / 8; i++) data[i] = word(me, b.posted + 1, i);
            PACE_TRY(pace_board_post(&number, &b, data, sizeof data));
        }
        noise = noise * 1103515245u + 12345u;
        for (unsigned i = 0; i < (noise >> 20) % 64; i++) pace_relax();
        for (int p = 0; p < (round % 5 ? THREADS : 1); p++) {
            if (p != me) PACE_TRY(pace_board_await(&b, p, round));
            memcpy(data, pace_note(&b, p, round), sizeof data);
            for (size_t i = 0; i < sizeof data / 8; i++) wrong += data[i] != word(p, round, i);
        }
    }
    pace_status status = pace_board_meet(&b);
    pace_boards_close(&b);
    return status;
}

/* Round the threads, more messages on their way than there are slots. */
static pace_status play_rings(int me) {
    pace_waiter waiter;
    pace_pair_rings r;
    int next = (me + 1) % THREADS, before = (me + THREADS - 1) % THREADS;
    pace_waiter_init(&waiter, seats, me, THREADS, true, 0);
    PACE_TRY(pace_pair_rings_open(&r, memory, me, THREADS, SLOT, &waiter));
    for (uint64_t sent = 0, taken = 0; sent < ROUNDS || taken < ROUNDS;) {
        char *room = sent < ROUNDS ? pace_pair_room(&r, next, 1) : NULL;
        if (room) {
            uint64_t value = word(me, ++sent, 0);
            memcpy(room, &value, sizeof value);
            pace_pair_send(&r, next, 1);
            if (sent % 7) continue;
        }
        const char *message;
        PACE_WAIT_UNTIL(&waiter,
                        (message = pace_pair_message(&r, before, 1)) || (sent < ROUNDS && pace_pair_room(&r, next, 1)));
        if (!message) continue;
        uint64_t value;
        memcpy(&value, message, sizeof value);
        wrong += value != word(before, ++taken, 0);
        pace_pair_done(&r, before, 1);
    }
    pace_pair_rings_close(&r);
    return PACE_OK;
}

static void *board_thread(void *of) {
    wrong += play_boards(((actor *)of)->me) != PACE_OK;
    return NULL;
}

static void *ring_thread(void *of) {
    wrong += play_rings(((actor *)of)->me) != PACE_OK;
    return NULL;
}

static void run(void *(*play)(void *), size_t bytes) {
    actor actors[THREADS];
    memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(memory);
    memset(memory, 0, bytes);
    memset(seats, 0, sizeof seats);
    wrong = 0;
    for (int i = 0; i < THREADS; i++) actors[i].me = i;
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&actors[i].thread, NULL, play, &actors[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(actors[i].thread, NULL);
    free(memory);
    assert_int_equal(wrong, 0);
}

TEST(notes_arrive_as_posted) { run(board_thread, pace_boards_bytes(THREADS, ROOM)); }

TEST(messages_arrive_in_order) { run(ring_thread, pace_pair_rings_bytes(THREADS, SLOT)); }

/* --- the pointer cache -------------------------------------------------------------------------------------------- */

static char space[1000];
static size_t mine_from, mine_to;

static int find(void *context, const void *at, const void **base, size_t *bytes) {
    size_t offset = (size_t)((const char *)at - space);
    ++*(int *)context;
    *base = space + mine_from;
    *bytes = mine_to - mine_from;
    return offset >= mine_from && offset < mine_to;
}

/* Random questions get the device's own answer, with far fewer queries, while what is the device's changes. */
TEST(remembers_what_is_true) {
    int queries = 0;
    uint64_t asked, remembered;
    const pace_device device = {sizeof device, "test", &queries, find, NULL, NULL};
    pace_pointers *p;
    assert_int_equal(pace_pointers_open(&p, &device, true), PACE_OK);
    srand(1);
    for (int turn = 0; turn < 20; turn++) {
        mine_from = (size_t)rand() % 500, mine_to = mine_from + 100 + (size_t)rand() % 300;
        pace_pointers_forget(p, NULL);
        for (int i = 0; i < 500; i++) {
            size_t at = (size_t)rand() % 990, bytes = 1 + (size_t)rand() % 4;
            bool inside = at >= mine_from && at < mine_to, on_device = !inside;
            pace_status status = pace_pointers_find(&on_device, p, space + at, bytes);
            if (inside && at + bytes > mine_to) assert_int_equal(status, PACE_E_USAGE);
            else assert_int_equal(status, PACE_OK);
            if (status == PACE_OK && at + bytes <= mine_to) assert_int_equal(on_device, inside);
        }
    }
    pace_pointers_count(p, &asked, &remembered);
    assert_int_equal(asked, queries);
    assert_int_equal(asked + remembered, 20 * 500);
    pace_pointers_forget(p, space + mine_from);
    bool on_device;
    assert_int_equal(pace_pointers_find(&on_device, p, space + mine_from, 1), PACE_OK);
    assert_int_equal(queries, (int)asked + 1);
    pace_pointers_close(p);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
