/*
 * An MPI program whose ranks call differently, to be run with libpaceline_mpi.so and PACELINE_COLLECTIVE=check: rank 0
 * makes another call than the rest. Each must come back as an error, on every rank; each has a communicator of its own.
 * With an argument it runs without `check`: of what all ranks leave to the library one of two calls must fail.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROOM = 256, KINDS = 19 };

static int rank;
static float in[ROOM], out[ROOM * 8];
static MPI_Op own;

static void add(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((float *)to)[i] += ((float *)from)[i];
}

static int gather(int given, int taken, MPI_Datatype type, MPI_Comm comm) {
    return MPI_Allgather(in, given, type, out, taken, type, comm);
}
static int sum(int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return MPI_Allreduce(in, out, count, type, op, comm);
}

static int call(int kind, int first, MPI_Comm comm) {
    switch (kind) {
    case 0: return gather(first ? 3 : 4, 4, MPI_INT, comm); /* its own sizes */
    case 1: return gather(first ? 8 : 4, first ? 8 : 4, MPI_INT, comm);
    case 2: return gather(first ? 3 : 4, first ? 3 : 4, MPI_BYTE, comm); /* odd numbers of bytes are MPI's */
    case 3: return sum(first ? 10 : 11, MPI_FLOAT, MPI_SUM, comm);
    case 4: return sum(10, first ? MPI_INT : MPI_FLOAT, MPI_SUM, comm);
    case 5: return sum(10, MPI_FLOAT, first ? MPI_MAX : MPI_SUM, comm);
    case 6: return sum(10, MPI_FLOAT, first ? own : MPI_SUM, comm);
    case 7: return sum(10, first ? MPI_FLOAT_INT : MPI_FLOAT, first ? MPI_MINLOC : MPI_SUM, comm);
    case 8: return sum(first ? -1 : 10, MPI_FLOAT, MPI_SUM, comm);
    case 9: return MPI_Allreduce(first ? out + 1 : in, out, 10, MPI_FLOAT, MPI_SUM, comm); /* overlaps */
    case 10: return MPI_Allreduce(first ? NULL : in, out, 10, MPI_FLOAT, MPI_SUM, comm);
    case 11: return MPI_Reduce(in, out, 10, MPI_FLOAT, MPI_SUM, first, comm);
    case 12: return MPI_Reduce(in, out, 10, MPI_FLOAT, MPI_SUM, first ? 99 : 0, comm);
    case 13: return MPI_Bcast(in, 10, MPI_FLOAT, first, comm);
    case 14: return MPI_Bcast(in, first ? 5 : 10, MPI_FLOAT, 0, comm);
    case 15: return MPI_Bcast(in, first ? 5 : 10, MPI_BYTE, 0, comm);
    case 16: return MPI_Reduce_scatter_block(in, out, first ? 2 : 4, MPI_FLOAT, MPI_SUM, comm);
    case 17: return first ? MPI_Barrier(comm) : sum(10, MPI_FLOAT, MPI_SUM, comm);
    case 18: return first ? MPI_Bcast(in, 10, MPI_FLOAT, 0, comm) : gather(4, 4, MPI_INT, comm);
    default: return -1;
    }
}

static bool is_never_of_mpi(int kind) {
    static const int kinds[] = {1, 3, 4, 5, 11, 13, 14, 16, 17, 18};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == kind) return true;
    return false;
}

int main(int argc, char **argv) {
    int silent = 0, all = 0, kind = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &own);
    for (;; kind++) {
        MPI_Comm comm;
        if (argc > 1 && kind < KINDS && !is_never_of_mpi(kind)) continue;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int error = call(kind, rank == 0, comm);
        if (error == -1) break;
        if (argc > 1 && error == MPI_SUCCESS) error = sum(1, MPI_FLOAT, MPI_SUM, comm);
        if (error != MPI_SUCCESS) continue;
        printf("call %d came back on rank %d without an error\n", kind, rank);
        silent++;
    }
    MPI_Allreduce(&silent, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d kinds, %d silent\n", kind, all);
    MPI_Op_free(&own);
    MPI_Finalize();
    return all != 0;
}
