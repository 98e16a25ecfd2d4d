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

static void close_processes(const pace_processes *processes) {
    (void)processes;
    MPI_Finalize();
}

PACE_API const pace_processes *pace_processes_open(void);

const pace_processes *pace_processes_open(void) {
    static pace_processes processes = {.version = PACE_PROCESSES_VERSION, .gather = gather, .close = close_processes};
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &processes.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes.count);
    return &processes;
}
