/*
 * Allreduce of floats by MPI and by libpaceline_collective, in turns in one process: bench_collective [ROUNDS]. Prints
 * for each size, with warm and with dirty buffers (each rank writes its input and reads its output between calls), the
 * 10th percentile of both in microseconds, private and runtime-owned buffers. bench_collective.py runs it.
 */
#include "paceline/collective.h"

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 << 20, MOST_ROUNDS = 1000 };

static int rank, ranks;
static pace_comm *comm;
static float *in, *out, *owned;
static volatile float sink;

static void touch(float *data, size_t count, float *result) {
    float sum = 0;
    for (size_t i = 0; i < count; i++) data[i] = (float)(i & 7) + (float)rank;
    for (size_t i = 0; i < count; i += 16) sum += result[i];
    sink = sum;
}

typedef void (*call_fn)(size_t count);
static void by_mpi(size_t count) { MPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static void by_pace(size_t count) {
    if (pace_comm_allreduce(comm, in, out, count, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) != PACE_OK) {
        fprintf(stderr, "%s\n", pace_comm_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
static void by_owned(size_t count) {
    if (pace_comm_allreduce(comm, NULL, owned, count, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) != PACE_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* What reading the clock adds to a call that is timed alone. */
static double clock_s(void) {
    static double least;
    for (int i = 0; i < 1000 && (least <= 0 || i); i++) {
        double start = MPI_Wtime(), took = MPI_Wtime() - start;
        if (i == 0 || took < least) least = took;
    }
    return least;
}

/* Seconds of a call, of the slowest rank. */
static double time_of(call_fn call, size_t count, int batch, bool dirty) {
    double spent = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < batch; i++) {
        if (dirty) touch(call == by_owned ? owned : in, count, call == by_owned ? owned : out);
        if (dirty) pace_comm_barrier(comm);
        double start = MPI_Wtime();
        call(count);
        spent += dirty ? MPI_Wtime() - start : 0;
        if (!dirty && i == 0) spent = -start;
    }
    if (!dirty) spent += MPI_Wtime();
    spent = spent / batch - (dirty ? clock_s() : 0);
    PMPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return spent;
}

/* The batch, or as much of it as 20 ms have room for: where ranks share processors, a call of an MPI that spins takes
 * many. */
static int batch_within(call_fn call, size_t count, int batch, bool dirty) {
    time_of(call, count, 1, dirty); /* the first call sets connections up */
    double took = time_of(call, count, 1, dirty);
    return took * batch <= 0.02 ? batch : took < 0.02 ? (int)(0.02 / took) : 1;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double low(double *times, int rounds) {
    qsort(times, (size_t)rounds, sizeof *times, by_value);
    return times[rounds / 10] * 1e6;
}

int main(int argc, char **argv) {
    static double times[3][MOST_ROUNDS];
    const call_fn calls[3] = {by_mpi, by_pace, by_owned};
    int most = argc > 1 ? atoi(argv[1]) : 30;
    size_t until = argc > 3 ? (size_t)atol(argv[3]) : MOST;
    bool pins = argc > 2 && strcmp(argv[2], "pin") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (pins) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(rank % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    if (pace_comm_open(&comm, NULL) != PACE_OK || pace_buffer_alloc((void **)&owned, comm, MOST) != PACE_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    in = aligned_alloc(2 << 20, MOST), out = aligned_alloc(2 << 20, MOST);
    if (!in || !out || most < 1 || most > MOST_ROUNDS) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < MOST / sizeof *in; i++) in[i] = out[i] = owned[i] = 1;
    if (rank == 0) printf("bytes,dirty,way,mpi_us,private_us,owned_us\n");
    for (size_t bytes = 4; bytes <= until; bytes *= 4)
        for (int dirty = 0; dirty < 2; dirty++) {
            int batch = bytes <= 4096      ? 200
                        : bytes <= 262144  ? 20
                        : bytes <= 4194304 ? 4
                                           : 1,
                rounds = bytes > 4194304 ? (most + 2) / 3 : most, batches[3];
            for (int c = 0; c < 3; c++) batches[c] = batch_within(calls[c], bytes / sizeof *in, batch, dirty);
            for (int r = 0; r < rounds; r++)
                for (int c = 0; c < 3; c++) times[c][r] = time_of(calls[c], bytes / sizeof *in, batches[c], dirty);
            double of[3] = {low(times[0], rounds), low(times[1], rounds), low(times[2], rounds)};
            if (rank == 0) {
                printf("%zu,%d,%s,%.3f,%.3f,%.3f\n", bytes, dirty, pace_comm_choice(comm, "allreduce", bytes), of[0],
                       of[1], of[2]);
                fflush(stdout);
            }
            memset(owned, 0, bytes);
        }
    pace_comm_close(comm);
    MPI_Finalize();
}
