/*
 * Tensor fusion after Horovod: ranks agree on what is ready, pack vectors of one kind into a buffer up to a threshold,
 * exchange it once and unpack. A name's number is agreed on when it is first seen, from then on a cycle needs one small
 * allreduce (the response cache). Nothing runs in the background: cycles are the caller's.
 */
#include "base/memory.h"
#include "paceline/collective.h"

#include <string.h>

enum { NAME = 64, LEAST_BYTES = 64 };

/* A vector as ranks tell each other of it. */
typedef struct {
    char name[NAME];
    uint64_t count;
    uint32_t element, reduction;
} announced;

typedef struct {
    announced what;
    char *data; /* NULL: not ready on this rank */
} vector;

struct pace_fusion {
    pace_comm *comm;
    size_t threshold;
    char *buffer;           /* owned memory */
    PACE_VEC(vector) known; /* by their numbers */
    PACE_VEC(vector) fresh; /* added, without a number */
    PACE_VEC(int32_t) ready;
    pace_fusion_counters counters;
};

static size_t bytes_of(const announced *a) { return (size_t)a->count * pace_element_bytes((pace_element)a->element); }

static vector *find(vector *items, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].what.name, name) == 0) return &items[i];
    return NULL;
}

static bool same(const announced *a, const announced *b) {
    return a->count == b->count && a->element == b->element && a->reduction == b->reduction;
}

/* --- opening, adding ---------------------------------------------------------------------------------------------- */

pace_status pace_fusion_open(pace_fusion **out, pace_comm *comm, size_t threshold_bytes) {
    if (!out || !comm || threshold_bytes < LEAST_BYTES)
        return pace_fail(PACE_E_USAGE, "fusion needs a communicator and a threshold of at least 64 bytes, found %zu",
                         threshold_bytes);
    pace_fusion *f = pace_alloc(1, sizeof *f);
    void *buffer = NULL;
    pace_status status = pace_buffer_alloc(&buffer, comm, threshold_bytes);
    if (status == PACE_OK && !f) status = PACE_E_MEMORY;
    if (f) *f = (pace_fusion){.comm = comm, .threshold = threshold_bytes, .buffer = buffer};
    return PACE_GIVE(out, f, status, pace_free(f));
}

void pace_fusion_close(pace_fusion *f) {
    if (!f) return;
    pace_buffer_free(f->comm, f->buffer);
    PACE_VEC_FREE(&f->known);
    PACE_VEC_FREE(&f->fresh);
    PACE_VEC_FREE(&f->ready);
    pace_free(f);
}

pace_status pace_fusion_add(pace_fusion *f, const char *name, void *data, size_t count, pace_element element,
                            pace_reduction reduction) {
    vector added = {.what = {.count = count, .element = element, .reduction = reduction}, .data = data};
    if (!f || !name || !*name || strlen(name) >= NAME || !data || !pace_element_bytes(element) ||
        (unsigned)reduction >= PACE_REDUCTIONS)
        return pace_fail(PACE_E_USAGE, "expected a name of 1 to 63 characters, data, an element type and a reduction");
    pace_snprintf(added.what.name, NAME, "%s", name);
    vector *known = find(f->known.items, f->known.count, name);
    if ((known && known->data) || find(f->fresh.items, f->fresh.count, name))
        return pace_fail(PACE_E_USAGE, "vector '%s' is waiting already", name);
    if (!known) return PACE_PUSH(&f->fresh, added);
    if (!same(&known->what, &added.what))
        return pace_fail(PACE_E_USAGE, "vector '%s' had %llu elements of type %u, reduction %u before", name,
                         (unsigned long long)known->what.count, known->what.element, known->what.reduction);
    known->data = data;
    return PACE_OK;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

static pace_status learn(pace_fusion *f, const announced *a, int rank) {
    vector *known = find(f->known.items, f->known.count, a->name);
    if (known && !same(&known->what, a))
        return pace_fail(PACE_E_USAGE,
                         "vector '%s' has %llu elements of type %u, reduction %u on rank %d, elsewhere %llu, %u, %u",
                         a->name, (unsigned long long)a->count, a->element, a->reduction, rank,
                         (unsigned long long)known->what.count, known->what.element, known->what.reduction);
    return known ? PACE_OK : PACE_PUSH(&f->known, ((vector){.what = *a}));
}

/* All ranks hear of all names without a number, and number them in the same order. */
static pace_status compare_names(pace_fusion *f, size_t most) {
    size_t ranks = (size_t)pace_comm_size(f->comm), rank = (size_t)pace_comm_rank(f->comm),
           words = sizeof(announced) / 4;
    announced *all = pace_alloc(ranks * most, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    for (size_t i = 0; i < f->fresh.count; i++) all[rank * most + i] = f->fresh.items[i].what;
    pace_status status = pace_comm_all_gather(f->comm, NULL, all, most * words, PACE_ELEMENT_I32);
    for (size_t i = 0; i < ranks * most && status == PACE_OK; i++)
        if (all[i].name[0]) status = learn(f, &all[i], (int)(i / most));
    for (size_t i = 0; i < f->fresh.count && status == PACE_OK; i++)
        find(f->known.items, f->known.count, f->fresh.items[i].what.name)->data = f->fresh.items[i].data;
    if (status == PACE_OK) f->fresh.count = 0;
    f->counters.comparisons++;
    pace_free(all);
    return status;
}

/* Which vectors are ready on all ranks: one number for each. The first says how many names somebody has without a
 * number (as a negative one: the least is taken). */
static pace_status agree(pace_fusion *f) {
    for (;;) {
        f->ready.count = 0;
        PACE_TRY(PACE_PUSH(&f->ready, -(int32_t)f->fresh.count));
        for (size_t i = 0; i < f->known.count; i++) PACE_TRY(PACE_PUSH(&f->ready, f->known.items[i].data != NULL));
        PACE_TRY(
            pace_comm_allreduce(f->comm, NULL, f->ready.items, f->ready.count, PACE_ELEMENT_I32, PACE_REDUCTION_MIN));
        if (f->ready.items[0] == 0) return PACE_OK;
        PACE_TRY(compare_names(f, (size_t)-f->ready.items[0]));
    }
}

/* --- exchanging --------------------------------------------------------------------------------------------------- */

static pace_status exchange_alone(pace_fusion *f, vector *v) {
    f->counters.exchanges++;
    return pace_comm_allreduce(f->comm, NULL, v->data, (size_t)v->what.count, (pace_element)v->what.element,
                               (pace_reduction)v->what.reduction);
}

static bool is_ready(const pace_fusion *f, size_t i) { return f->ready.items[i + 1] > 0; }

/* Vectors from number `first` on that are of its kind and fit into the buffer go with it. */
static pace_status exchange_with(pace_fusion *f, size_t first) {
    const announced *kind = &f->known.items[first].what;
    size_t used = 0, width = pace_element_bytes((pace_element)kind->element), end = first;
    for (size_t i = first; i < f->known.count; i++) {
        vector *v = &f->known.items[i];
        bool goes = is_ready(f, i) && v->what.element == kind->element && v->what.reduction == kind->reduction;
        if (!goes || used + bytes_of(&v->what) > f->threshold) continue;
        memcpy(f->buffer + used, v->data, bytes_of(&v->what));
        used += bytes_of(&v->what);
        f->ready.items[i + 1] = 2;
        end = i + 1;
    }
    f->counters.exchanges++;
    PACE_TRY(pace_comm_allreduce(f->comm, NULL, f->buffer, used / width, (pace_element)kind->element,
                                 (pace_reduction)kind->reduction));
    used = 0;
    for (size_t i = first; i < end; i++) {
        if (f->ready.items[i + 1] != 2) continue;
        memcpy(f->known.items[i].data, f->buffer + used, bytes_of(&f->known.items[i].what));
        used += bytes_of(&f->known.items[i].what);
        f->known.items[i].data = NULL;
        f->ready.items[i + 1] = 0;
        f->counters.vectors++;
    }
    return PACE_OK;
}

pace_status pace_fusion_cycle(pace_fusion *f, size_t *left) {
    if (!f) return pace_fail(PACE_E_USAGE, "no fusion was given");
    f->counters.cycles++;
    PACE_TRY(agree(f));
    for (size_t i = 0; i < f->known.count; i++) {
        if (!is_ready(f, i)) continue;
        if (bytes_of(&f->known.items[i].what) <= f->threshold) {
            PACE_TRY(exchange_with(f, i));
            continue;
        }
        PACE_TRY(exchange_alone(f, &f->known.items[i]));
        f->known.items[i].data = NULL;
        f->ready.items[i + 1] = 0;
        f->counters.vectors++;
    }
    size_t waiting = 0;
    for (size_t i = 0; i < f->known.count; i++) waiting += f->known.items[i].data != NULL;
    if (left) *left = waiting;
    return PACE_OK;
}

/* The first number, on all ranks, that waits on one: the least. */
pace_status pace_fusion_wait(pace_fusion *f) {
    PACE_TRY(pace_fusion_cycle(f, NULL));
    int32_t first = INT32_MAX;
    for (size_t i = 0; i < f->known.count && first == INT32_MAX; i++)
        if (f->known.items[i].data) first = (int32_t)i;
    PACE_TRY(pace_comm_allreduce(f->comm, NULL, &first, 1, PACE_ELEMENT_I32, PACE_REDUCTION_MIN));
    if (first == INT32_MAX) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "vector '%s' was added on some ranks and not on all",
                     f->known.items[first].what.name);
}

void pace_fusion_count(const pace_fusion *f, pace_fusion_counters *out) {
    pace_fusion_counters all = f->counters;
    all.size = out->size < sizeof all ? out->size : sizeof all;
    memcpy(out, &all, all.size);
}
