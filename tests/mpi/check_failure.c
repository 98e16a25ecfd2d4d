/*
 * A rank that fails in the middle: check_failure kill | late | check | none | overlap | choice. Every survivor must get
 * a clean error in time.
 */
#include "paceline/collective.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;
static pace_comm *comm;
static float vector[1 << 20];

static pace_status sum(size_t count) {
    return pace_comm_allreduce(comm, NULL, vector, count, PACE_ELEMENT_F32, PACE_REDUCTION_SUM);
}

static int answer(pace_status status, pace_status wanted) {
    printf("rank %d: status %d, %s\n", rank, (int)status, pace_comm_message());
    fflush(stdout);
    return status != wanted;
}

/* The last rank dies; nobody else may hang, and the communicator must refuse what follows. */
static int killed(int ranks) {
    pace_status status = PACE_OK;
    for (int i = 0; i < 100; i++) sum(1000);
    if (rank == ranks - 1) {
        close(1);
        raise(SIGKILL);
    }
    while (status == PACE_OK) status = sum(sizeof vector / sizeof *vector);
    int wrong = answer(status, PACE_E_IO);
    wrong |= sum(1) != PACE_E_IO || !strstr(pace_comm_message(), "failed before");
    /* MPI would wait for the dead one. */
    _exit(wrong);
}

/* The last rank does not come until the others have waited in vain and closed their communicators. */
static int late(int ranks) {
    MPI_Comm here;
    int word = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1, rank, &here);
    if (rank == ranks - 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        _exit(0);
    }
    answer(sum(sizeof vector / sizeof *vector), PACE_E_IO);
    pace_comm_close(comm);
    printf("rank %d closed it\n", rank);
    fflush(stdout);
    MPI_Barrier(here);
    if (rank == 0) MPI_Send(&word, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
    _exit(0); /* MPI_Finalize would wait for what was never sent */
}

static int differs(size_t first, size_t others) { return answer(sum(rank == 0 ? first : others), PACE_E_IO); }

/* What can be refused before anything is exchanged leaves the communicator as it was. */
static int refused(void) {
    int wrong =
        answer(pace_comm_allreduce(comm, vector, vector + 1, 8, PACE_ELEMENT_F32, PACE_REDUCTION_SUM), PACE_E_USAGE);
    wrong |= pace_comm_allreduce(comm, NULL, NULL, 8, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) != PACE_E_USAGE;
    wrong |= pace_comm_allreduce(comm, NULL, vector, 8, (pace_element)17, PACE_REDUCTION_SUM) != PACE_E_USAGE;
    wrong |= pace_comm_allreduce(comm, NULL, vector, 8, PACE_ELEMENT_F32, (pace_reduction)-1) != PACE_E_USAGE;
    wrong |= pace_comm_broadcast(comm, vector, 8, PACE_ELEMENT_F32, 99) != PACE_E_USAGE;
    wrong |= pace_comm_allreduce(NULL, NULL, vector, 8, PACE_ELEMENT_F32, PACE_REDUCTION_SUM) != PACE_E_USAGE;
    return wrong | (sum(8) != PACE_OK);
}

int main(int argc, char **argv) {
    int ranks, wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pace_status status = pace_comm_open(&comm, NULL);
    if (status != PACE_OK) {
        wrong = answer(status, PACE_OK);
        comm = NULL;
    } else if (strcmp(argv[1], "kill") == 0) wrong = killed(ranks);
    else if (strcmp(argv[1], "late") == 0) wrong = late(ranks);
    else if (strcmp(argv[1], "check") == 0) wrong = differs(10, 11);
    else if (strcmp(argv[1], "none") == 0) wrong = differs(0, 11);
    else if (strcmp(argv[1], "overlap") == 0) wrong = refused();
    else {
        wrong = sum(sizeof vector / sizeof *vector) != PACE_OK;
        printf("small %s, large %s, broadcast %s\n", pace_comm_choice(comm, "allreduce", 1000),
               pace_comm_choice(comm, "allreduce", 1 << 22), pace_comm_choice(comm, "broadcast", 1000));
    }
    pace_comm_close(comm);
    MPI_Finalize();
    return wrong;
}
