#include "shards.h"

#include <stdlib.h>

typedef struct {
    size_t elements, at;
} sized;

static int larger_first(const void *a, const void *b) {
    const sized *x = a, *y = b;
    if (x->elements != y->elements) return x->elements > y->elements ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

bool pace_shards_place(int *shard_of, int shards, const pace_train_tensor *tensors, size_t count, bool largest_first) {
    sized *order = calloc(count + 1, sizeof *order);
    size_t *held = calloc((size_t)shards, sizeof *held);
    bool good = order && held;
    for (size_t i = 0; good && i < count; i++) order[i] = (sized){tensors[i].elements, i};
    if (good && largest_first) qsort(order, count, sizeof *order, larger_first);
    for (size_t k = 0; good && k < count; k++) {
        int best = 0;
        for (int s = 1; s < shards; s++)
            if (held[s] < held[best]) best = s;
        held[best] += order[k].elements;
        shard_of[order[k].at] = best;
    }
    free(order);
    free(held);
    return good;
}
