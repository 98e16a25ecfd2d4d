/* Vectors of many sizes and types, added in another order on each rank and in parts, give what an allreduce of each
 * gives; names are compared once; what does not fit together is said on all ranks. */
#include "paceline/collective.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { VECTORS = 60, MOST = 5000 };

static int rank, ranks, failures;
static pace_comm *comm;
static pace_fusion *fusion;
static double data[VECTORS][MOST];

static void expect(bool good, const char *what, int number) {
    if (!good && failures++ < 20) fprintf(stderr, "rank %d: %s, %d: %s\n", rank, what, number, pace_comm_message());
}

static size_t count_of(int v) { return (size_t)(v * v * 7 % MOST + 1); }
static pace_element element_of(int v) { return v % 3 ? PACE_ELEMENT_F32 : PACE_ELEMENT_I64; }
static pace_reduction reduction_of(int v) { return v % 5 ? PACE_REDUCTION_SUM : PACE_REDUCTION_MAX; }

static void fill(int v, int turn) {
    for (size_t i = 0; i < count_of(v); i++) {
        long x = (long)(i % 97) * (rank + 1) + v + turn;
        if (v % 3) ((float *)data[v])[i] = (float)x;
        else ((int64_t *)data[v])[i] = x;
    }
}

static void check(int v, int turn) {
    for (size_t i = 0; i < count_of(v); i++) {
        long want = 0, most = 0;
        for (int r = 0; r < ranks; r++) {
            long x = (long)(i % 97) * (r + 1) + v + turn;
            want += x;
            most = x > most ? x : most;
        }
        if (v % 5 == 0) want = most;
        long is = v % 3 ? (long)((float *)data[v])[i] : (long)((int64_t *)data[v])[i];
        if (is != want) {
            expect(false, "vector", v);
            return;
        }
    }
}

static pace_status add(int v) {
    char name[32];
    snprintf(name, sizeof name, "layer.%d", v);
    return pace_fusion_add(fusion, name, data[v], count_of(v), element_of(v), reduction_of(v));
}

static void one_step(int turn, bool in_parts) {
    for (int i = 0; i < VECTORS; i++) {
        int v = (i * 7 + rank * 13) % VECTORS;
        fill(v, turn);
        expect(add(v) == PACE_OK, "add", v);
        size_t left;
        if (in_parts && i % 20 == 19) expect(pace_fusion_cycle(fusion, &left) == PACE_OK, "cycle", i);
    }
    if (!in_parts) expect(add(3) == PACE_E_USAGE, "added twice", 3);
    expect(pace_fusion_wait(fusion) == PACE_OK, "wait", turn);
    for (int v = 0; v < VECTORS; v++) check(v, turn);
}

static void errors(void) {
    float one = 1;
    expect(pace_fusion_add(fusion, "layer.1", &one, 1, PACE_ELEMENT_F64, PACE_REDUCTION_SUM) == PACE_E_USAGE,
           "another type", 1);
    expect(pace_fusion_add(fusion, "", &one, 1, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) == PACE_E_USAGE, "no name", 0);
    if (rank == 0)
        expect(pace_fusion_add(fusion, "lonely", &one, 1, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) == PACE_OK, "lonely",
               0);
    expect(ranks == 1 || (pace_fusion_wait(fusion) == PACE_E_USAGE && strstr(pace_comm_message(), "'lonely'")),
           "lonely waits", 0);
    pace_fusion *other;
    expect(pace_fusion_open(&other, comm, 1024) == PACE_OK, "open", 0);
    expect(pace_fusion_add(other, "w", data, rank == 0 ? 3 : 4, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) == PACE_OK, "add",
           0);
    expect(ranks == 1 || pace_fusion_wait(other) == PACE_E_USAGE, "counts differ", 0);
    pace_fusion_close(other);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (pace_comm_open(&comm, NULL) != PACE_OK || pace_fusion_open(&fusion, comm, 64 << 10) != PACE_OK) {
        fprintf(stderr, "%s\n", pace_comm_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int turn = 0; turn < 4; turn++) one_step(turn, turn % 2);
    pace_fusion_counters counted = {.size = sizeof counted};
    pace_fusion_count(fusion, &counted);
    expect(counted.vectors == 4 * VECTORS && counted.exchanges < counted.vectors / 2 && counted.comparisons == 1,
           "counted", (int)counted.exchanges);
    errors();
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures; %llu vectors in %llu exchanges\n", failures, (unsigned long long)counted.vectors,
               (unsigned long long)counted.exchanges);
    pace_fusion_close(fusion);
    pace_comm_close(comm);
    MPI_Finalize();
    return failures != 0;
}
