/* Programs carried out on numbers: whoever does what the operations say, with the parts of the vector that their places
 * name, ends with what the collective means. Every row with a program that says places, for 1 to 17 ranks. */
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"

#include <string.h>

#include "cmocka_of_tests.h"

enum { MOST_RANKS = 17, ELEMENTS = 97, MOST_MESSAGES = 4096, MOST_LANES = 16 };

typedef struct {
    uint32_t from, to, channel, length;
    long values[ELEMENTS];
    bool taken;
} letter;

typedef struct {
    pace_program program;
    long vector[ELEMENTS];
    uint32_t at[MOST_LANES];
} player;

static letter letters[MOST_MESSAGES];
static size_t letter_count;
static player players[MOST_RANKS];

static const pace_rank_class *class_of(const player *p, uint32_t rank) {
    return &p->program.classes.items[p->program.class_of[rank]];
}

static const pace_program_lane *lane_of(const player *p, uint32_t rank, uint32_t lane) {
    return &p->program.lanes.items[class_of(p, rank)->first_lane + lane];
}

/* Element i of a place, or false past its end. */
static bool element(size_t *out, const pace_place *place, size_t i) {
    for (uint32_t k = 0; k < place->count; k++) {
        uint32_t block = (place->first + k * place->stride) % place->of;
        size_t from = (size_t)block * ELEMENTS / place->of, to = (size_t)(block + 1) * ELEMENTS / place->of;
        if (i < to - from) {
            *out = from + i;
            return true;
        }
        i -= to - from;
    }
    return false;
}

static void put(const player *p, uint32_t rank, const pace_operation *op, const pace_place *place) {
    const pace_peer *peer = &p->program.peers.items[op->peer];
    assert_true(letter_count < MOST_MESSAGES);
    letter *l = &letters[letter_count++];
    *l = (letter){rank, pace_peer_rank(peer, rank), peer->channel, 0, {0}, false};
    for (size_t at; element(&at, place, l->length);) l->values[l->length++] = p->vector[at];
}

static bool adds(const player *p, const pace_program_lane *lane, uint32_t i) {
    while (i < lane->count && p->program.operations.items[lane->first + i].kind == PACE_OPERATION_RECEIVE) i++;
    return i < lane->count && p->program.operations.items[lane->first + i].kind == PACE_OPERATION_REDUCE;
}

static bool take(player *p, uint32_t rank, const pace_operation *op, const pace_place *place, bool add) {
    const pace_peer *peer = &p->program.peers.items[op->peer];
    uint32_t from = pace_peer_rank(peer, rank);
    for (size_t i = 0; i < letter_count; i++) {
        letter *l = &letters[i];
        if (l->taken || l->from != from || l->to != rank || l->channel != peer->channel) continue;
        uint32_t length = 0;
        for (size_t at; element(&at, place, length); length++)
            p->vector[at] = (add ? p->vector[at] : 0) + l->values[length];
        assert_int_equal(length, l->length);
        return l->taken = true;
    }
    return false;
}

static bool step(player *p, uint32_t rank, uint32_t lane) {
    const pace_program_lane *of = lane_of(p, rank, lane);
    uint32_t i = p->at[lane];
    if (i == of->count) return false;
    const pace_operation *op = &p->program.operations.items[of->first + i];
    const pace_place *place = &p->program.places.items[of->first + i];
    if (op->kind == PACE_OPERATION_SEND) put(p, rank, op, place);
    if (op->kind == PACE_OPERATION_RECEIVE && !take(p, rank, op, place, adds(p, of, i))) return false;
    if (op->kind == PACE_OPERATION_WAIT && p->at[op->peer] <= (uint32_t)op->amount) return false;
    p->at[lane]++;
    return true;
}

static void play(uint32_t ranks) {
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t r = 0; r < ranks; r++)
            for (uint32_t l = 0; l < class_of(&players[r], r)->lane_count; l++) moved |= step(&players[r], r, l);
    }
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t l = 0; l < class_of(&players[r], r)->lane_count; l++)
            assert_int_equal(players[r].at[l], lane_of(&players[r], r, l)->count);
    for (size_t i = 0; i < letter_count; i++) assert_true(letters[i].taken);
}

static long given(uint32_t rank, size_t i) { return (long)((rank + 1) * (rank + 3) * 1000 + (i + 1) * (rank + 1)); }

static size_t owner(size_t i, uint32_t ranks) {
    size_t rank = 0;
    while (i >= (rank + 1) * ELEMENTS / ranks) rank++;
    return rank;
}

/* What rank `rank` must have, or whether it may have anything. */
static bool expected(long *out, pace_collective collective, uint32_t rank, size_t i, uint32_t ranks) {
    long sum = 0;
    for (uint32_t r = 0; r < ranks; r++) sum += given(r, i);
    *out = collective == PACE_BROADCAST   ? given(0, i)
           : collective == PACE_ALLGATHER ? given((uint32_t)owner(i, ranks), i)
                                          : sum;
    if (collective == PACE_REDUCE) return rank == 0;
    return collective != PACE_REDUCESCATTER || owner(i, ranks) == rank;
}

/* Of an all-gather a rank has its own part only. */
static long begins_with(pace_collective collective, uint32_t rank, size_t i, uint32_t ranks) {
    return collective == PACE_ALLGATHER && owner(i, ranks) != rank ? -1 : given(rank, i);
}

static void check(const char *row, pace_collective collective, uint32_t ranks, uint32_t group, uint32_t segments) {
    letter_count = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        pace_program_question q = {
            .ranks = ranks, .bytes = ELEMENTS * 8, .group = group, .segments = segments, .viewer = r + 1};
        memset(&players[r], 0, sizeof players[r]);
        if (pace_program_build(&players[r].program, pace_collective_rows[collective].name, row, &q) != PACE_OK) {
            assert_int_equal(r, 0); /* refused for these ranks, for all of them */
            return;
        }
        assert_int_equal(players[r].program.places.count, players[r].program.operations.count);
        for (size_t i = 0; i < ELEMENTS; i++) players[r].vector[i] = begins_with(collective, r, i, ranks);
    }
    play(ranks);
    for (uint32_t r = 0; r < ranks; r++)
        for (size_t i = 0; i < ELEMENTS; i++) {
            long want;
            if (expected(&want, collective, r, i, ranks) && players[r].vector[i] != want)
                fail_msg("%s of %u ranks by %s: rank %u, element %zu is %ld, expected %ld",
                         pace_collective_rows[collective].name, ranks, row, r, i, players[r].vector[i], want);
        }
    for (uint32_t r = 0; r < ranks; r++) pace_program_free(&players[r].program);
}

TEST(every_program_means_its_collective) {
    const pace_collective done[] = {PACE_ALLREDUCE, PACE_ALLGATHER, PACE_REDUCESCATTER, PACE_BROADCAST, PACE_REDUCE};
    for (size_t a = 0; a < pace_exchange_algorithm_count; a++)
        for (size_t c = 0; c < sizeof done / sizeof *done; c++)
            for (uint32_t ranks = 1; ranks <= MOST_RANKS; ranks++)
                for (uint32_t group = 1; group <= ranks; group++) {
                    const pace_exchange_algorithm *row = &pace_exchange_algorithms[a];
                    bool grouped = strcmp(row->name, "rails") == 0 || strcmp(row->name, "leaders") == 0;
                    if (!(row->collectives >> done[c] & 1) || row->in_switch) continue;
                    if (group > 1 && (!grouped || ranks % group)) continue;
                    check(row->name, done[c], ranks, grouped ? group : ranks, 0);
                    if (row->segments) check(row->name, done[c], ranks, ranks, 3);
                }
}

TEST(a_viewer_is_a_rank) {
    pace_program program;
    const pace_program_question q = {.ranks = 3, .bytes = 8, .viewer = 4};
    assert_int_equal(pace_program_build(&program, "all_reduce", "ring", &q), PACE_E_INPUT);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
