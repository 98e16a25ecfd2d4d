/* The collectives, and their names as traces, nccl-tests, MPI benchmarks and tables write them. */
#include "exchange/collective.h"
#include "base/numbers.h"
#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const pace_collective_row pace_collective_rows[PACE_COLLECTIVES] = {
    [PACE_ALLREDUCE] = {"allreduce", " allreduce ", .adds = true, .passes = 2, .likeness = 3},
    [PACE_ALLGATHER] = {"allgather", " allgather ", .passes = 1, .of_parts = true, .likeness = 2},
    [PACE_REDUCESCATTER] = {"reducescatter", " reducescatter ", .adds = true, .passes = 1, .likeness = 1},
    [PACE_ALLTOALL] = {"alltoall", " alltoall allall ", .passes = 1, .sends = true, .likeness = 6},
    [PACE_BROADCAST] = {"broadcast", " broadcast bcast ", .rooted = true, .likeness = 4},
    [PACE_REDUCE] = {"reduce", " reduce ", .adds = true, .rooted = true, .likeness = 5},
    [PACE_SENDRECV] = {"sendrecv", " sendrecv send recv ", .sends = true, .likeness = 7},
};

double pace_collective_steps(pace_collective collective, int ranks) {
    const pace_collective_row *row = &pace_collective_rows[collective];
    return row->rooted ? ranks : pace_most(row->passes, 1) * (ranks - 1);
}

double pace_collective_hops(pace_collective collective, int ranks) {
    const pace_collective_row *row = &pace_collective_rows[collective];
    if (row->sends) return row->passes ? log2(ranks) : 1;
    return pace_most(row->passes, 1) * (ranks - 1);
}

double pace_bus_factor(pace_collective collective, int ranks) {
    int passes = pace_collective_rows[collective].passes;
    return passes ? (double)passes * (ranks - 1) / ranks : 1;
}

/* The length of the longest of its words that the text holds. */
static size_t longest_word(const pace_collective_row *row, const char *plain) {
    size_t best = 0;
    for (const char *at = row->words; *at;) {
        char word[32];
        at += strspn(at, " ");
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length > best && strstr(plain, word)) best = length;
        at += length;
    }
    return best;
}

bool pace_collective_find(pace_collective *out, const char *name) {
    char plain[64];
    size_t length = 0, best = 0;
    for (const char *c = name; *c && length + 1 < sizeof plain; c++)
        if (pace_is_alpha(*c)) plain[length++] = pace_lower(*c);
    plain[length] = '\0';
    for (int i = 0; i < PACE_COLLECTIVES; i++) {
        size_t found = longest_word(&pace_collective_rows[i], plain);
        if (found <= best) continue;
        best = found;
        *out = (pace_collective)i;
    }
    return best > 0;
}
