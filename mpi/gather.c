/*
 * The module that lets processes started by mpirun share work: process 0 gathers what each has found. Loaded when the
 * environment says that there are several, so that the program itself needs no MPI.
 */
#include "paceline/paceline.h"

#include <mpi.h>
#include <stdlib.h>

enum { TAG = 7, PIECE = 1 << 28 }; /* MPI counts in int */

static int receive(int rank, char **bytes, size_t *length) {
    unsigned long long size = 0;
    MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *length = (size_t)size;
    *bytes = malloc(*length ? *length : 1);
    if (!*bytes) return -1;
    for (size_t at = 0; at < *length; at += PIECE) {
        size_t piece = *length - at < PIECE ? *length - at : PIECE;
        MPI_Recv(*bytes + at, (int)piece, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return 0;
}

static void send_all(const char *bytes, size_t length) {
    unsigned long long size = length;
    MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, TAG, MPI_COMM_WORLD);
    for (size_t at = 0; at < length; at += PIECE) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        MPI_Send(bytes + at, (int)piece, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

static int gather(const pace_processes *processes, const void *bytes, size_t length, pace_gathered_fn take,
                  void *context) {
    if (processes->rank > 0) {
        send_all(bytes, length);
        return 0;
    }
    int failed = take(context, 0, bytes, length);
    for (int rank = 1; rank < processes->count; rank++) {
        char *theirs;
        size_t size;
        if (receive(rank, &theirs, &size) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
        if (!failed) failed = take(context, rank, theirs, size);
        free(theirs);
    }
    return failed;
}

/* To the right and from the left, one place further each time; in pieces, as MPI counts in int. */
static void pass(const pace_processes *processes, int step, const void *bytes, size_t length, char *theirs,
                 size_t their_length) {
    int to = (processes->rank + step) % processes->count;
    int from = (processes->rank + processes->count - step) % processes->count;
    for (size_t at = 0; at < length || at < their_length; at += PIECE) {
        size_t out = at < length ? (length - at < PIECE ? length - at : PIECE) : 0;
        size_t in = at < their_length ? (their_length - at < PIECE ? their_length - at : PIECE) : 0;
        MPI_Sendrecv((const char *)bytes + (out ? at : 0), (int)out, MPI_BYTE, out ? to : MPI_PROC_NULL, TAG,
                     theirs + (in ? at : 0), (int)in, MPI_BYTE, in ? from : MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static int exchange(const pace_processes *processes, const void *const *bytes, const size_t *lengths,
                    pace_gathered_fn take, void *context) {
    size_t count = (size_t)processes->count, own = (size_t)processes->rank;
    unsigned long long *ours = calloc(2 * count, sizeof *ours), *theirs = ours ? ours + count : NULL;
    char **got = calloc(count, sizeof *got);
    if (!bytes || !lengths || !ours || !got) MPI_Abort(MPI_COMM_WORLD, 4); /* no memory: all end */
    for (size_t i = 0; i < count; i++) ours[i] = lengths[i];
    MPI_Alltoall(ours, 1, MPI_UNSIGNED_LONG_LONG, theirs, 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
    for (size_t step = 1; step < count; step++) {
        size_t to = (own + step) % count, from = (own + count - step) % count;
        got[from] = malloc(theirs[from] ? theirs[from] : 1);
        if (!got[from]) MPI_Abort(MPI_COMM_WORLD, 4);
        pass(processes, (int)step, bytes[to], lengths[to], got[from], theirs[from]);
    }
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (!failed) failed = take(context, (int)i, i == own ? bytes[own] : got[i], theirs[i]);
        free(got[i]);
    }
    free(got);
    free(ours);
    return failed;
}

static void close_processes(const pace_processes *processes) {
    (void)processes;
    MPI_Finalize();
}

PACE_API const pace_processes *pace_processes_open(void);

const pace_processes *pace_processes_open(void) {
    static pace_processes processes = {.version = PACE_PROCESSES_VERSION,
                                       .gather = gather,
                                       .exchange = exchange,
                                       .close = close_processes};
    int level; /* train exchanges gradients on another thread */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &processes.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes.count);
    return &processes;
}
