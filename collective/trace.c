#include "trace.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 4096, HELD = 1 << 16, EVENT = 1024 };

/* No FILE: what that holds back would be written twice, by a child process that exits, too. */
struct pace_comm_trace {
    int file, ranks;
    int failed; /* errno of a write; nothing is written behind it */
    bool any;
    size_t held;
    char text[HELD];
    char name[NAME];
};

static void write_out(struct pace_comm_trace *t) {
    for (size_t done = 0; done < t->held && !t->failed;) {
        ssize_t wrote = write(t->file, t->text + done, t->held - done);
        if (wrote > 0) done += (size_t)wrote;
        else if (errno != EINTR) t->failed = wrote ? errno : ENOSPC;
    }
    t->held = 0;
}

static void put(struct pace_comm_trace *t, const char *text) {
    size_t length = strlen(text);
    if (t->held + length > HELD) write_out(t);
    memcpy(t->text + t->held, text, length);
    t->held += length;
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
    static _Atomic unsigned opened;
    const char *asked = getenv("PACELINE_TRACE");
    char head[EVENT];
    *out = NULL;
    if (!asked || !*asked) return PACE_OK;
    struct pace_comm_trace *t = pace_alloc(1, sizeof *t);
    if (!t) return PACE_E_MEMORY;
    name_of(t->name, asked, c->rank, atomic_fetch_add(&opened, 1));
    t->ranks = c->ranks;
    t->file = open(t->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (t->file < 0) {
        pace_status status = pace_fail(PACE_E_IO, "PACELINE_TRACE: %s: %s", t->name, strerror(errno));
        pace_free(t);
        return status;
    }
    pace_snprintf(head, sizeof head,
                  "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"paceline\",\"rank\":%d,\"world_size\":%d},\n"
                  "\"traceEvents\":[\n",
                  c->rank, c->ranks);
    put(t, head);
    *out = t;
    return PACE_OK;
}

void pace_trace_close(struct pace_comm_trace *t) {
    if (!t) return;
    put(t, "\n]}\n");
    write_out(t);
    if (close(t->file) != 0 && !t->failed) t->failed = errno;
    if (t->failed) fprintf(stderr, "PACELINE_TRACE: %s is not whole: %s\n", t->name, strerror(t->failed));
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

/* Times in microseconds, with the nanoseconds behind the point by integers. */
void pace_trace_add(struct pace_comm_trace *t, const pace_call *call, const char *way, int64_t start_ns) {
    size_t in, out;
    char event[EVENT];
    const char *name = pace_chosen_name(call->collective);
    long process = (long)getpid();
    int64_t took_ns = pace_clock_ns_of(CLOCK_REALTIME) - start_ns;
    elements(&in, &out, call, t->ranks);
    pace_snprintf(event, sizeof event,
                  "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"paceline:%s\",\"pid\":%ld,\"tid\":%ld,"
                  "\"ts\":%lld.%03d,\"dur\":%lld.%03d,\"args\":{\"Collective name\":\"%s\",\"In msg nelems\":%zu,"
                  "\"Out msg nelems\":%zu,\"Group size\":%d,\"dtype\":\"%s\",\"way\":\"%s\"}}",
                  t->any ? ",\n" : "", name, process, process, (long long)(start_ns / 1000), (int)(start_ns % 1000),
                  (long long)(took_ns / 1000), (int)(took_ns % 1000), name, in, out, t->ranks, type_name(call->element),
                  way ? way : "");
    put(t, event);
    t->any = true;
}
