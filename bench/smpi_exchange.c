/* For smpicc of SimGrid: one collective, and how long it takes on the simulated clock of the slowest rank.
 * Usage: smpi_exchange allreduce|alltoall|broadcast BYTES. Buffers are shared between the ranks: only time counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, ranks, floats = atoi(words[2]) / 4;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t bytes = (size_t)floats * sizeof(float);
    float *in = SMPI_SHARED_MALLOC(bytes), *out = SMPI_SHARED_MALLOC(bytes);
    double begin = MPI_Wtime(), taken, most;
    if (!strcmp(words[1], "allreduce")) MPI_Allreduce(in, out, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(words[1], "alltoall"))
        MPI_Alltoall(in, floats / ranks, MPI_FLOAT, out, floats / ranks, MPI_FLOAT, MPI_COMM_WORLD);
    if (!strcmp(words[1], "broadcast")) MPI_Bcast(in, floats, MPI_FLOAT, 0, MPI_COMM_WORLD);
    taken = MPI_Wtime() - begin;
    MPI_Reduce(&taken, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.12g\n", most);
    MPI_Finalize();
    return 0;
}
