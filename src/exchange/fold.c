#include "exchange/fold.h"

#include <string.h>

enum { ROUNDS = 64 };

/* What tells a rank from others: 128 bits mixed from its colour and its peers'. */
typedef struct {
    uint64_t low, high;
} mark;

typedef struct {
    const pace_program *program;
    uint32_t *peer_first, *peers; /* class -> the peers it names, each once */
    uint32_t *colour_of;
    mark *marks;     /* per rank */
    uint32_t *slots; /* hash table: rank + 1 */
    size_t slot_count;
    uint32_t *of_slot; /* the colour of a slot's mark */
} folder;

static void mix(mark *m, uint64_t value) {
    m->low = (m->low ^ value) * 0x9e3779b97f4a7c15u;
    m->low ^= m->low >> 31;
    m->high = (m->high + value) * 0xbf58476d1ce4e5b9u;
    m->high ^= m->high >> 29;
}

/* Numbers the marks in order of first appearance. */
static uint32_t number_marks(folder *f) {
    uint32_t count = 0;
    memset(f->slots, 0, f->slot_count * sizeof *f->slots);
    for (uint32_t rank = 0; rank < f->program->rank_count; rank++) {
        const mark *m = &f->marks[rank];
        size_t i = (m->low ^ m->high >> 7) & (f->slot_count - 1);
        while (f->slots[i] && memcmp(&f->marks[f->slots[i] - 1], m, sizeof *m)) i = (i + 1) & (f->slot_count - 1);
        if (!f->slots[i]) {
            f->slots[i] = rank + 1;
            f->of_slot[i] = count++;
        }
        f->colour_of[rank] = f->of_slot[i];
    }
    return count;
}

static uint32_t refine(folder *f) {
    const pace_program *p = f->program;
    for (uint32_t rank = 0; rank < p->rank_count; rank++) {
        mark m = {1, 2};
        uint32_t class = p->class_of[rank];
        mix(&m, f->colour_of[rank]);
        for (uint32_t i = f->peer_first[class]; i < f->peer_first[class + 1]; i++) {
            uint32_t peer = pace_peer_rank(&p->peers.items[f->peers[i]], rank);
            mix(&m, peer < p->rank_count ? f->colour_of[peer] : UINT64_MAX);
        }
        f->marks[rank] = m;
    }
    return number_marks(f);
}

/* The peers every class names. */
static pace_status list_peers(folder *f) {
    const pace_program *p = f->program;
    uint32_t *seen = pace_alloc(p->peers.count + 1, sizeof *seen);
    PACE_VEC(uint32_t) peers = {0};
    pace_status status = seen ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t c = 0; c < p->classes.count && status == PACE_OK; c++) {
        const pace_rank_class *class = &p->classes.items[c];
        f->peer_first[c] = (uint32_t)peers.count;
        for (uint32_t l = class->first_lane; l < class->first_lane + class->lane_count; l++) {
            const pace_program_lane *lane = &p->lanes.items[l];
            for (uint32_t i = lane->first; i < lane->first + lane->count && status == PACE_OK; i++) {
                const pace_operation *o = &p->operations.items[i];
                if ((o->kind != PACE_OPERATION_SEND && o->kind != PACE_OPERATION_RECEIVE) || seen[o->peer] == c + 1)
                    continue;
                seen[o->peer] = c + 1;
                status = PACE_PUSH(&peers, o->peer);
            }
        }
    }
    f->peer_first[p->classes.count] = (uint32_t)peers.count;
    f->peers = peers.items;
    pace_free(seen);
    return status;
}

static bool names_ranks(const pace_program *program) {
    for (size_t i = 0; i < program->peers.count; i++)
        if (program->peers.items[i].kind == PACE_PEER_RANK) return true;
    return false;
}

static pace_status fill(pace_fold *out, uint32_t *colour_of, uint32_t ranks, uint32_t count) {
    pace_fold fold = {.count = count, .colour_of = colour_of};
    if (!PACE_MAKE(fold.first, count) || !PACE_MAKE(fold.members, count)) {
        PACE_FREE(fold.first, fold.members);
        return PACE_E_MEMORY;
    }
    for (uint32_t rank = ranks; rank-- > 0;) {
        fold.first[colour_of[rank]] = rank;
        fold.members[colour_of[rank]]++;
    }
    *out = fold;
    return PACE_OK;
}

pace_status pace_fold_none(pace_fold *out, uint32_t ranks) {
    uint32_t *colour_of = pace_alloc(ranks, sizeof *colour_of);
    if (!colour_of) return PACE_E_MEMORY;
    for (uint32_t rank = 0; rank < ranks; rank++) colour_of[rank] = rank;
    pace_status status = fill(out, colour_of, ranks, ranks);
    if (status != PACE_OK) pace_free(colour_of);
    return status;
}

/* The number of colours; as many as ranks when refining them does not come to rest. */
static uint32_t refine_all(folder *f, const uint64_t *kind_of) {
    uint32_t ranks = f->program->rank_count;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        f->marks[rank] = (mark){1, 2};
        mix(&f->marks[rank], f->program->class_of[rank]);
        mix(&f->marks[rank], kind_of ? kind_of[rank] : 0);
    }
    uint32_t count = number_marks(f);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t finer = refine(f);
        if (finer == count) return count;
        count = finer;
        if (count > ranks / 2) break;
    }
    return ranks;
}

pace_status pace_fold_ranks(pace_fold *out, const pace_program *program, const uint64_t *kind_of) {
    uint32_t ranks = program->rank_count, count = ranks;
    if (names_ranks(program)) return pace_fold_none(out, ranks);
    folder f = {.program = program, .slot_count = 64};
    while (f.slot_count < 2 * (size_t)ranks) f.slot_count *= 2;
    pace_status status = PACE_MAKE(f.peer_first, program->classes.count + 1) && PACE_MAKE(f.colour_of, ranks) &&
                                 PACE_MAKE(f.marks, ranks) && PACE_MAKE(f.slots, f.slot_count) &&
                                 PACE_MAKE(f.of_slot, f.slot_count)
                             ? list_peers(&f)
                             : PACE_E_MEMORY;
    if (status == PACE_OK) count = refine_all(&f, kind_of);
    if (status == PACE_OK) status = count < ranks ? fill(out, f.colour_of, ranks, count) : pace_fold_none(out, ranks);
    if (status != PACE_OK || count == ranks) pace_free(f.colour_of);
    PACE_FREE(f.peer_first, f.peers, f.marks, f.slots, f.of_slot);
    return status;
}

void pace_fold_free(pace_fold *fold) {
    PACE_FREE(fold->colour_of, fold->first, fold->members);
    *fold = (pace_fold){0};
}
