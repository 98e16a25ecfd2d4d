#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 4096 };

struct pace_comm_trace {
    FILE *file;
    bool any;
    int ranks;
};

int64_t pace_trace_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* "run.json" of rank 3 is "run.rank3.json"; of the second communicator "run.rank3.1.json". */
static void name_of(char name[NAME], const char *asked, int rank, unsigned number) {
    const char *slash = strrchr(asked, '/'), *dot = strrchr(asked, '.');
    size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - asked) : strlen(asked);
    char which[16] = "";
    if (number) pace_snprintf(which, sizeof which, ".%u", number);
    pace_snprintf(name, NAME, "%.*s.rank%d%s%s", (int)stem, asked, rank, which, asked[stem] ? asked + stem : ".json");
}

pace_status pace_trace_open(struct pace_comm_trace **out, const pace_comm *c) {
    static unsigned opened;
    const char *asked = getenv("PACELINE_TRACE");
    char name[NAME];
    *out = NULL;
    if (!asked || !*asked) return PACE_OK;
    name_of(name, asked, c->rank, opened++);
    struct pace_comm_trace *t = pace_alloc(1, sizeof *t);
    if (!t) return PACE_E_MEMORY;
    t->ranks = c->ranks;
    t->file = fopen(name, "w");
    if (!t->file) {
        pace_free(t);
        return pace_fail(PACE_E_IO, "PACELINE_TRACE: %s: %s", name, strerror(errno));
    }
    fprintf(t->file,
            "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"paceline\",\"rank\":%d,\"world_size\":%d},\n"
            "\"traceEvents\":[\n",
            c->rank, c->ranks);
    *out = t;
    return PACE_OK;
}

void pace_trace_close(struct pace_comm_trace *t) {
    if (!t) return;
    fputs("\n]}\n", t->file);
    fclose(t->file);
    pace_free(t);
}

/* Names of types as PyTorch's profiler writes them. */
static const char *type_name(pace_element element) {
    static const char *const names[PACE_ELEMENTS] = {"Half", "BFloat16", "Float", "Double", "Int", "Long"};
    return (unsigned)element < PACE_ELEMENTS ? names[element] : "Byte";
}

/* Elements that a rank puts in and gets out. */
static void elements(size_t *in, size_t *out, const pace_call *call, int ranks) {
    *in = *out = call->count;
    if (call->collective == PACE_REDUCESCATTER) *in *= (size_t)ranks;
    if (call->collective == PACE_ALLGATHER) *out *= (size_t)ranks;
}

/* Microseconds with the nanoseconds behind the point, by integers. */
static void put_time(FILE *file, const char *key, int64_t ns) {
    fprintf(file, "\"%s\":%lld.%03d,", key, (long long)(ns / 1000), (int)(ns % 1000));
}

void pace_trace_add(struct pace_comm_trace *t, const pace_call *call, const char *way, int64_t start_ns) {
    size_t in, out;
    const char *name = pace_chosen_name(call->collective);
    elements(&in, &out, call, t->ranks);
    fprintf(t->file, "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"paceline:%s\",\"pid\":%ld,\"tid\":%ld,",
            t->any ? ",\n" : "", name, (long)getpid(), (long)getpid());
    put_time(t->file, "ts", start_ns);
    put_time(t->file, "dur", pace_trace_now_ns() - start_ns);
    fprintf(t->file,
            "\"args\":{\"Collective name\":\"%s\",\"In msg nelems\":%zu,\"Out msg nelems\":%zu,\"Group size\":%d,"
            "\"dtype\":\"%s\",\"way\":\"%s\"}}",
            name, in, out, t->ranks, type_name(call->element), way ? way : "");
    t->any = true;
}
