/* Names of collectives as traces, nccl-tests, MPI benchmarks and tables write them. */
#include "exchange/collective.h"

#include <ctype.h>
#include <string.h>

const char *const pace_collective_names[PACE_COLLECTIVES] = {
    [PACE_ALLREDUCE] = "allreduce", [PACE_ALLGATHER] = "allgather", [PACE_REDUCESCATTER] = "reducescatter",
    [PACE_ALLTOALL] = "alltoall",   [PACE_BROADCAST] = "broadcast", [PACE_REDUCE] = "reduce",
    [PACE_SENDRECV] = "sendrecv",
};

bool pace_collective_adds(pace_collective collective) {
    return collective == PACE_ALLREDUCE || collective == PACE_REDUCESCATTER || collective == PACE_REDUCE;
}

/* Longer names first: "allreduce" holds "reduce". */
static const struct {
    const char *word;
    pace_collective collective;
} words[] = {
    {"allreduce", PACE_ALLREDUCE}, {"reducescatter", PACE_REDUCESCATTER},
    {"allgather", PACE_ALLGATHER}, {"alltoall", PACE_ALLTOALL},
    {"allall", PACE_ALLTOALL},     {"broadcast", PACE_BROADCAST},
    {"bcast", PACE_BROADCAST},     {"sendrecv", PACE_SENDRECV},
    {"reduce", PACE_REDUCE},       {"send", PACE_SENDRECV},
    {"recv", PACE_SENDRECV},
};

bool pace_collective_find(pace_collective *out, const char *name) {
    char plain[64];
    size_t length = 0;
    for (const char *c = name; *c && length + 1 < sizeof plain; c++)
        if (isalpha((unsigned char)*c)) plain[length++] = (char)tolower((unsigned char)*c);
    plain[length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(plain, words[i].word)) {
            *out = words[i].collective;
            return true;
        }
    return false;
}
