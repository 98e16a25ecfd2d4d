/*
 * An MPI program that knows nothing of Paceline: each collective gives what PMPI gives, whatever library stands before
 * it. Communicators come and go, types have gaps, counts are odd, two threads use two communicators:
 * check_shim [CYCLES [refuse]]; refuse: what cannot be is refused, also where MPI does not look.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks, failures;

static void expect(bool good, const char *what, long number) {
    if (!good && failures++ < 20) fprintf(stderr, "rank %d of %d: %s, %ld\n", rank, ranks, what, number);
}

enum { MOST = 70001 };
static double in[MOST], out[MOST * 8], reference[MOST * 8];

static void fill(void *data, MPI_Datatype type, int count, int of) {
    for (int i = 0; i < count; i++) {
        int x = (i * 7919 + of * 104729) % 97 - 48;
        if (type == MPI_DOUBLE) ((double *)data)[i] = x / 8.0;
        else if (type == MPI_FLOAT) ((float *)data)[i] = (float)x / 4;
        else if (type == MPI_INT) ((int *)data)[i] = x;
        else if (type == MPI_INT64_T) ((int64_t *)data)[i] = (int64_t)x * (1 << 20);
        else ((unsigned char *)data)[i] = (unsigned char)x;
    }
}

/* All sums here are exact: the bits must be MPI's. */
static void reductions(MPI_Comm comm) {
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_FLOAT, MPI_INT, MPI_INT64_T, MPI_BYTE};
    const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_BOR};
    const int counts[] = {0, 1, 17, 1000, 8000};
    int n, me;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (int t = 0; t < 5; t++)
        for (int o = 0; o < 4; o++)
            for (int k = 0; k < 5; k++) {
                bool bits = o == 3;
                int size, count = counts[k], root = (t + o + k) % n;
                if (bits != (t == 4)) continue;
#ifdef MPICH /* 4.0 reads from MPI_IN_PLACE itself where a long vector's root is not rank 0, and it does bits alone */
                if (bits) root = 0;
#endif
                MPI_Type_size(types[t], &size);
                size_t bytes = (size_t)count * (size_t)size;
                fill(in, types[t], count, rank);
                PMPI_Allreduce(in, reference, count, types[t], ops[o], comm);
                memset(out, 0, bytes);
                MPI_Allreduce(in, out, count, types[t], ops[o], comm);
                expect(!memcmp(out, reference, bytes), "allreduce", count);
                memcpy(out, in, bytes);
                MPI_Allreduce(MPI_IN_PLACE, out, count, types[t], ops[o], comm);
                expect(!memcmp(out, reference, bytes), "allreduce in place", count);
                memcpy(out, in, bytes);
                MPI_Reduce(me == root ? MPI_IN_PLACE : in, me == root ? out : NULL, count, types[t], ops[o], root,
                           comm);
                expect(me != root || !memcmp(out, reference, bytes), "reduce", count);
                count /= n;
                MPI_Reduce_scatter_block(in, out, count, types[t], ops[o], comm);
                expect(!memcmp(out, (char *)reference + (size_t)me * count * (size_t)size,
                               (size_t)count * (size_t)size),
                       "reduce_scatter_block", count);
            }
}

/* Every other element: the type on one side has gaps, the other has none. */
static void moves(MPI_Comm comm) {
    int n, me;
    MPI_Datatype gaps;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (int count = 1; count < 6000; count = count * 3 + 1) {
        int root = count % n;
        MPI_Type_vector(count, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
        int *wide = (int *)out, *flat = (int *)in;
        memset(wide, 0xff, sizeof(int) * 2 * (size_t)count);
        for (int i = 0; i < count; i++) {
            if (me == root) wide[2 * i] = flat[i] = i * 5 + root;
            else flat[i] = -7;
        }
        if (me % 2) MPI_Bcast(flat, count, MPI_INT, root, comm);
        else MPI_Bcast(wide, 1, gaps, root, comm);
        for (int i = 0; i < count; i++) {
            expect((me % 2 ? flat[i] : wide[2 * i]) == i * 5 + root, "bcast", count);
            expect(me % 2 || i + 1 == count || wide[2 * i + 1] == -1, "bcast between", count);
        }
        for (int i = 0; i < count; i++) flat[i] = me * 100000 + i;
        MPI_Allgather(flat, count, MPI_INT, out, count, MPI_INT, comm);
        for (int r = 0; r < n; r++)
            expect(((int *)out)[r * count + count - 1] == r * 100000 + count - 1, "allgather", count);
        for (int i = 0; i < count; i++) ((int *)reference)[2 * i] = me * 100000 + i;
        MPI_Allgather(reference, 1, gaps, out, count, MPI_INT, comm);
        for (int r = 0; r < n; r++)
            expect(((int *)out)[r * count + count - 1] == r * 100000 + count - 1, "allgather of gaps", count);
        char odd[7];
        memset(odd, me == root ? 'x' : 0, sizeof odd);
        MPI_Bcast(odd, 7, MPI_CHAR, root, comm);
        expect(odd[6] == 'x', "bcast of 7 bytes", count);
        MPI_Type_free(&gaps);
    }
}

/* As many as fit; of other kinds those that MPI keeps. */
static void add_pairs(void *a, void *b, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((double *)b)[i] = 2 * ((double *)a)[i] + ((double *)b)[i];
}

static void left_to_mpi(void) {
    MPI_Op own;
    double pair[2] = {rank, 1}, got[2], want[2];
    struct {
        double value;
        int at;
    } least = {-rank, rank}, found;
    MPI_Op_create(add_pairs, 0, &own);
    PMPI_Allreduce(pair, want, 2, MPI_DOUBLE, own, MPI_COMM_WORLD);
    MPI_Allreduce(pair, got, 2, MPI_DOUBLE, own, MPI_COMM_WORLD);
    expect(!memcmp(got, want, sizeof got), "own operation", 2);
    MPI_Op_free(&own);
    MPI_Allreduce(&least, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    expect(found.at == ranks - 1, "minloc", found.at);
    MPI_Allreduce(pair, got, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    expect(!memcmp(got, pair, sizeof got), "alone", 2);
    if (ranks < 2) return;
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
    expect(sum == (rank % 2 ? (ranks + 1) / 2 : ranks / 2), "between two groups", sum);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static int class_of(int error) {
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

/* Arguments that cannot be: an error of a class, on a communicator that wants to know; MPI itself may read from
 * NULL. */
static void refused(void) {
    MPI_Comm comm;
    MPI_Datatype unfinished;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    fill(in, MPI_DOUBLE, 100, rank);
    memcpy(out, in, 100 * sizeof *in);
    int errors[] = {MPI_Allreduce(NULL, out, 10, MPI_DOUBLE, MPI_SUM, comm),
                    MPI_Allreduce(in, NULL, 10, MPI_DOUBLE, MPI_SUM, comm),
                    MPI_Allreduce(in, MPI_IN_PLACE, 10, MPI_DOUBLE, MPI_SUM, comm),
                    MPI_Allreduce(out, out + 3, 10, MPI_DOUBLE, MPI_SUM, comm),
                    MPI_Reduce(NULL, out, 10, MPI_DOUBLE, MPI_SUM, 0, comm),
                    MPI_Reduce_scatter_block(in, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, comm),
                    MPI_Bcast(NULL, 10, MPI_DOUBLE, 0, comm),
                    MPI_Allgather(NULL, 10, MPI_DOUBLE, out, 10, MPI_DOUBLE, comm)};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        expect(class_of(errors[i]) == MPI_ERR_BUFFER, "class of buffers", (long)i);
    expect(class_of(MPI_Allgather(in, 20, MPI_DOUBLE, out, 10, MPI_DOUBLE, comm)) == MPI_ERR_TRUNCATE, "too many", 20);
    MPI_Type_contiguous(2, MPI_DOUBLE, &unfinished);
    expect(MPI_Bcast(out, 2, unfinished, 0, comm) != MPI_SUCCESS || rank > 0, "a type that is not committed", 2);
    MPI_Type_free(&unfinished);
    expect(!memcmp(out, in, 100 * sizeof *in), "nothing is written", 100);
    expect(MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS, "nothing of nothing", 0);
    expect(MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS, "goes on", 1);
    MPI_Comm_free(&comm);
}

/* Ranks that ask for unlike numbers of elements learn it one call apart, at worst: then all fail, and nobody waits. */
static void fails_together(void) {
    MPI_Comm comm;
    int error = MPI_SUCCESS;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Allreduce(MPI_IN_PLACE, out, rank == 0 ? 300000 : 10, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < 3; i++) error = MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_DOUBLE, MPI_SUM, comm);
    expect(error != MPI_SUCCESS, "goes on after a failure", error);
    MPI_Barrier(MPI_COMM_WORLD); /* the communicator is not freed: MPI would wait for all of it */
}

/* A child process that ends as programs do takes nothing of its parent's along, nor writes it. */
static void child_ends(void) {
    pid_t child = fork();
    if (child == 0) exit(0);
    expect(child > 0 && waitpid(child, NULL, 0) == child, "a child", (long)child);
}

/* A large message that its receiver must let through while it waits in a collective. */
static void progress(void) {
    static double large[200000], other[200000];
    MPI_Request request;
    int sum, one = 1;
    if (ranks < 2) return;
    if (rank == 0) MPI_Irecv(other, 200000, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Send(large, 200000, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == ranks, "while a message is under way", sum);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void *in_thread(void *comm) {
    for (long i = 0; i < 100; i++) {
        long sum = 0;
        MPI_Allreduce(&i, &sum, 1, MPI_LONG, MPI_SUM, *(MPI_Comm *)comm);
        expect(sum == i * ranks, "in a thread", i);
    }
    return NULL;
}

static void two_threads(void) {
    MPI_Comm comms[2];
    pthread_t other;
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    pthread_create(&other, NULL, in_thread, &comms[0]);
    in_thread(&comms[1]);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
}

static long open_files(void) {
    long count = 0;
    char path[64];
    for (int i = 0; i < 4096; i++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", i);
        char target[256];
        if (readlink(path, target, sizeof target) > 0) count++;
    }
    return count;
}

static void come_and_go(int times) {
    long before = 0;
    for (int i = 0; i < times; i++) {
        MPI_Comm comm;
        int sum = 0, one = 1;
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comm);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        expect(sum == ranks, "new communicator", i);
        MPI_Comm_free(&comm);
        if (i == 1) before = open_files();
    }
    expect(times < 3 || open_files() <= before, "files left open", open_files());
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Dl_info by = {0};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_Allreduce"), &by);
    MPI_Comm part, copy;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &part);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    reductions(MPI_COMM_WORLD);
    reductions(part);
    moves(copy);
    moves(part);
    left_to_mpi();
    if (ranks > 1 && argc > 2) refused(), fails_together();
    child_ends();
    progress();
    if (level == MPI_THREAD_MULTIPLE) two_threads();
    MPI_Comm_free(&part);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    come_and_go(argc > 1 ? atoi(argv[1]) : 20);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d failures by %s\n", failures, by.dli_fname);
    MPI_Finalize();
    return failures != 0;
}
