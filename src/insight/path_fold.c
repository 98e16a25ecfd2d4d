#include "insight/path_fold.h"

#include "base/order.h"

#include <string.h>

/* Adds the stretch of a path from one instant to another, so many times. */
static void add_stretch(pace_critical *sum, const pace_critical *path, int64_t from_ns, int64_t to_ns, int64_t times) {
    PACE_ITEMS (const pace_path_piece, piece, &path->pieces) {
        int64_t start = piece->start_ns > from_ns ? piece->start_ns : from_ns;
        int64_t end = pace_piece_end(piece) < to_ns ? pace_piece_end(piece) : to_ns;
        if (end <= start) continue;
        sum->by_resource_ns[piece->resource] += times * (end - start);
        sum->by_rank_ns.items[piece->rank] += times * (end - start);
        if (piece->resource == PACE_ADVICE_GAP) sum->unexplained_ns += times * (end - start);
    }
}

/* Whether the path has as much of each resource in both rounds. */
static bool rounds_are_even(const pace_critical *path, int64_t from_ns, int64_t period_ns) {
    int64_t sum_ns[2][PACE_ADVICES] = {{0}};
    PACE_ITEMS (const pace_path_piece, piece, &path->pieces)
        for (int round = 0; round < 2; round++) {
            int64_t begin = from_ns + round * period_ns, end = begin + period_ns;
            int64_t from = piece->start_ns > begin ? piece->start_ns : begin;
            int64_t to = pace_piece_end(piece) < end ? pace_piece_end(piece) : end;
            if (to > from) sum_ns[round][piece->resource] += to - from;
        }
    return memcmp(sum_ns[0], sum_ns[1], sizeof sum_ns[0]) == 0;
}

static size_t first_from(const pace_critical *path, int64_t at_ns) {
    size_t first = 0;
    PACE_SEARCH(first, path->pieces.count, middle, path->pieces.items[middle].start_ns < at_ns);
    return first;
}

static bool is_again(const pace_path_piece *a, const pace_path_piece *b, int64_t period_ns) {
    return a->start_ns + period_ns == b->start_ns && a->resource == b->resource && a->rank == b->rank &&
           a->waiting == b->waiting;
}

/* The pieces [first, first + count) are those of one round, and so are as many behind them. */
static bool find_round(size_t *first, size_t *count, const pace_critical *path, int64_t from_ns, int64_t period_ns) {
    *first = first_from(path, from_ns);
    size_t second = first_from(path, from_ns + period_ns), end = first_from(path, from_ns + 2 * period_ns);
    *count = second - *first;
    if (*count == 0 || end - second != *count) return false;
    for (size_t i = 0; i < *count; i++)
        if (!is_again(&path->pieces.items[*first + i], &path->pieces.items[second + i], period_ns)) return false;
    return true;
}

static pace_status put_rounds_in(pace_critical *path, size_t first, size_t count, const pace_step_fold *fold) {
    const pace_path_piece *old = path->pieces.items;
    size_t old_count = path->pieces.count, more = fold->times * count;
    pace_path_piece *pieces = pace_alloc(old_count + more + 1, sizeof *pieces);
    if (!pieces) return PACE_E_MEMORY;
    for (size_t i = 0; i <= old_count + more; i++) {
        size_t end = first + count, round = i < end ? 0 : i < end + more ? 1 + (i - end) / count : fold->times;
        pieces[i] = old[i < end ? i : i < end + more ? first + (i - end) % count : i - more];
        pieces[i].start_ns += (int64_t)round * fold->period_ns;
    }
    PACE_VEC_FREE(&path->pieces);
    path->pieces.items = pieces;
    path->pieces.count = old_count + more;
    path->pieces.capacity = old_count + more + 1;
    return PACE_OK;
}

pace_status pace_path_unfold(pace_critical *path, const pace_rank *rank, bool pieces) {
    const pace_step_fold *fold = &rank->fold;
    size_t first = 0, count = 0;
    if (fold->times == 0) return PACE_OK;
    path->uneven = path->mark == SIZE_MAX;
    if (path->uneven) return PACE_OK;
    int64_t from_ns = fold->from_ns[path->mark];
    path->uneven = !rounds_are_even(path, from_ns, fold->period_ns) ||
                   (pieces && !find_round(&first, &count, path, from_ns, fold->period_ns));
    if (path->uneven) return PACE_OK;
    add_stretch(path, path, from_ns, from_ns + fold->period_ns, fold->times);
    path->to_ns += pace_rank_left_out_ns(rank);
    return pieces ? put_rounds_in(path, first, count, fold) : PACE_OK;
}
