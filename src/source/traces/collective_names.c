#include "source/traces/collective_names.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

static const struct {
    const char *text; /* in lower case without "_": in a kernel's, operator's or profiler's name */
    const char *collective;
} collectives[] = {
    {"allreduce", "allreduce"}, {"reducescatter", "reducescatter"},
    {"allgather", "allgather"}, {"alltoall", "alltoall"},
    {"broadcast", "broadcast"}, {"barrier", "allreduce"},
    {"gather", "gather"},       {"scatter", "scatter"},
    {"reduce", "reduce"},       {"sendrecv", ""}, /* NCCL's kernel for all that is made of sends */
    {"recv", "recv"},           {"send", "send"},
};

const char *pace_collective_in(const char *text) {
    char plain[256];
    size_t length = 0;
    for (; *text && length + 1 < sizeof plain; text++)
        if (*text != '_') plain[length++] = pace_lower(*text);
    plain[length] = '\0';
    for (size_t i = 0; i < PACE_COUNT(collectives); i++)
        if (strstr(plain, collectives[i].text)) return collectives[i].collective;
    return "";
}
