/*
 * Random calls of the collectives that libpaceline_mpi takes over, and of calls around them: each must leave the bits
 * that PMPI leaves, also beside what it may write: check_random SEED CALLS. All ranks draw the same calls.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMS = 6, TYPES = 12, OPS = 11, MOST = 40000, ROOM = 4 << 20, NAMES = 7 };

static const char *const names[NAMES] = {"allreduce", "reduce",    "reduce_scatter_block", "bcast", "allgather",
                                         "barrier",   "iallreduce"};
static MPI_Comm comms[COMMS];
static MPI_Datatype types[TYPES]; /* reductions know the first 7, pairs are the 8th; the rest are made */
static MPI_Op ops[OPS];           /* the last 2 are this program's */
static unsigned char *in, *mine, *theirs;
static uint64_t state;
static int rank, failures;

static uint64_t draw(uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Not commutative: the later rank's stays. */
static void second_operand(void *a, void *b, int *count, MPI_Datatype *type) {
    (void)a, (void)b, (void)count, (void)type;
}

static void make_types(void) {
    const MPI_Datatype known[] = {MPI_INT,  MPI_FLOAT,    MPI_DOUBLE,     MPI_INT64_T,      MPI_LONG,
                                  MPI_CHAR, MPI_UNSIGNED, MPI_DOUBLE_INT, MPI_DATATYPE_NULL};
    for (int i = 0; i < 8; i++) types[i] = known[i];
    types[5] = MPI_SIGNED_CHAR;
    MPI_Type_contiguous(3, MPI_BYTE, &types[8]); /* of odd bytes */
    MPI_Type_vector(2, 1, 3, MPI_SHORT, &types[9]);
    MPI_Type_create_resized(MPI_INT, 0, 12, &types[10]);
    MPI_Type_contiguous(2, MPI_DOUBLE, &types[11]);
    for (int i = 8; i < TYPES; i++) MPI_Type_commit(&types[i]);
}

static void make_ops(void) {
    const MPI_Op known[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_LAND, MPI_LOR, MPI_BXOR, MPI_BAND, MPI_MAXLOC};
    for (int i = 0; i < 9; i++) ops[i] = known[i];
    MPI_Op_create(second_operand, 0, &ops[9]);
    MPI_Op_create(second_operand, 1, &ops[10]);
}

static void make_comms(void) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Group all, less;
    const int left_out[] = {ranks - 1};
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, ranks > 1, left_out, &less);
    MPI_Comm_create(MPI_COMM_WORLD, less, &comms[3]); /* no communicator on the last rank */
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &ranks, 1, &comms[4]);
    comms[5] = MPI_COMM_SELF;
    MPI_Group_free(&all);
    MPI_Group_free(&less);
}

/* Small numbers of the type, whose sums are exact; of made types any bytes. */
static void fill(MPI_Datatype type, size_t bytes) {
    for (size_t i = 0; i < bytes / 8; i++) {
        int small = (int)(((size_t)rank * 7 + i * 13) % 5) - 2;
        unsigned char *at = in + 8 * i;
        if (type == MPI_FLOAT) memcpy(at, &(float[2]){(float)small, (float)-small}, 8);
        else if (type == MPI_DOUBLE) memcpy(at, &(double){small}, 8);
        else if (type == MPI_DOUBLE_INT) memcpy(at, i % 2 ? (void *)&(int[2]){small, 0} : (void *)&(double){small}, 8);
        else memcpy(at, &(uint64_t){(uint64_t)(rank + 1) * 0x9e3779b97f4a7c15u * (i + 1)}, 8);
    }
}

typedef struct {
    int name, comm, type, op, count, root, shift;
    bool in_place;
} call;

static call any(void) {
    call c = {.name = (int)draw(NAMES), .comm = (int)draw(COMMS), .in_place = draw(3) == 0};
    bool moves = c.name == 3 || c.name == 4;
    c.type = (int)draw(moves ? TYPES : 8);
    c.op = c.type == 7 ? 8 : (int)draw(8);
    if (draw(8) == 0) c.op = 9 + (int)draw(2);
    if ((c.type == 1 || c.type == 2) && c.op >= 4 && c.op < 8) c.op -= 4; /* no bits and truths of floats */
    uint64_t kind = draw(10);
    c.count = kind == 0 ? 0 : kind < 6 ? (int)draw(70) : kind < 9 ? (int)draw(3000) : (int)draw(MOST);
    c.root = (int)draw(64);
/* 4.0 reads from MPI_IN_PLACE itself where a long vector's root is not rank 0, and writes past its room for pairs */
#ifdef MPICH
    if (c.name == 1 && c.in_place) c.root = 0;
    if (c.name == 2 && c.type == 7) c.name = 0;
#endif
    c.shift = draw(4) ? 0 : (int)draw(8) * 8;
    return c;
}

/* The call, by MPI or by PMPI, on `to`. */
#define CALL(function, ...) (p ? PMPI_##function(__VA_ARGS__) : MPI_##function(__VA_ARGS__))

static int start(const call *c, bool p, unsigned char *to, int ranks, int me) {
    MPI_Comm comm = comms[c->comm];
    MPI_Datatype type = types[c->type];
    MPI_Op op = ops[c->op];
    MPI_Request request;
    int root = c->root % ranks, one = 1, sum = 0;
    const void *from = c->in_place ? MPI_IN_PLACE : in + c->shift;
    switch (c->name) {
    case 0: return CALL(Allreduce, from, to, c->count, type, op, comm);
    case 1:
        if (me != root) return CALL(Reduce, c->in_place ? to : from, NULL, c->count, type, op, root, comm);
        return CALL(Reduce, from, to, c->count, type, op, root, comm);
    case 2: return CALL(Reduce_scatter_block, from, to, c->count / ranks, type, op, comm);
    case 3: return CALL(Bcast, to, c->count, type, root, comm);
    case 4: return CALL(Allgather, from, c->count / ranks, type, to, c->count / ranks, type, comm);
    case 5: return CALL(Barrier, comm);
    default: /* another collective of the communicator while one is under way */
        PMPI_Iallreduce(from, to, c->count, type, op, comm, &request);
        CALL(Allreduce, &one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != ranks) failures++;
        return PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void try(const call *c, long number) {
    int ranks, me;
    MPI_Aint low, extent;
    if (comms[c->comm] == MPI_COMM_NULL) return;
    MPI_Comm_size(comms[c->comm], &ranks);
    MPI_Comm_rank(comms[c->comm], &me);
    MPI_Type_get_extent(types[c->type], &low, &extent);
    size_t bytes = (size_t)c->count * (size_t)extent + 256;
    fill(types[c->type], bytes);
    memcpy(mine, in, bytes), memcpy(theirs, in, bytes);
    int wrong = start(c, true, theirs + c->shift, ranks, me) != MPI_SUCCESS;
    wrong |= start(c, false, mine + c->shift, ranks, me) != MPI_SUCCESS;
    if (!wrong && !memcmp(mine, theirs, bytes)) return;
    if (failures++ < 5)
        fprintf(stderr,
                "rank %d: call %ld, %s, communicator %d, type %d, operation %d, count %d, root %d, shift %d%s\n", rank,
                number, names[c->name], c->comm, c->type, c->op, c->count, c->root % ranks, c->shift,
                c->in_place ? ", in place" : "");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    in = calloc(3, ROOM), mine = in + ROOM, theirs = mine + ROOM;
    make_types();
    make_ops();
    make_comms();
    for (long i = 0, calls = argc > 2 ? atol(argv[2]) : 1000; in && i < calls; i++) {
        call c = any();
        try(&c, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    Dl_info by = {0};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_Allreduce"), &by);
    if (rank == 0) printf("%d failures by %s\n", failures, by.dli_fname);
    for (int i = 8; i < TYPES; i++) MPI_Type_free(&types[i]);
    for (int i = 9; i < OPS; i++) MPI_Op_free(&ops[i]);
    for (int i = 1; i < COMMS - 1; i++)
        if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return failures != 0;
}
