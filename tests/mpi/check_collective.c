/*
 * Every way of every collective against MPI's own result, or against sums in double precision where MPI has no such
 * type: check_collective [--few | --full] [WAY] [device | apart] under mpirun. Integers must be equal, other numbers
 * within the bound of any order of summation; what two runs give must be the same bits, and so must what all ranks get
 * where the way says so. Inside a host the bits are those of floats added one rank after the other.
 */
#include "paceline/collective.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures, checks, ways_checked;
static bool full, few;
static const char
    *device_wanted; /* "device": in and out lie in a pretended device's memory; "apart": on odd ranks only */

static void fail(const char *what, const char *way, pace_element element, pace_reduction reduction, size_t count,
                 bool in_place, size_t at) {
    if (failures++ < 20)
        fprintf(stderr, "rank %d of %d: %s by %s, element type %d, reduction %d, %zu elements%s: wrong from %zu on\n",
                rank, ranks, what, way, (int)element, (int)reduction, count, in_place ? " in place" : "", at);
}

static void must(pace_status status) {
    if (status == PACE_OK) return;
    fprintf(stderr, "rank %d: %s\n", rank, pace_comm_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static double read_half(uint16_t bits, int exponent_bits, int fraction_bits) {
    int bias = (1 << (exponent_bits - 1)) - 1, exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    int fraction = bits & ((1 << fraction_bits) - 1);
    double magnitude = exponent ? ldexp(1.0 + ldexp(fraction, -fraction_bits), exponent - bias)
                                : ldexp(fraction, 1 - bias - fraction_bits);
    return bits >> 15 ? -magnitude : magnitude;
}

/* Exact for the values that are used here, which have few digits. */
static uint16_t write_half(double value, int exponent_bits, int fraction_bits) {
    int exponent, bias = (1 << (exponent_bits - 1)) - 1;
    if (value == 0) return 0;
    double fraction = frexp(fabs(value), &exponent) * 2 - 1;
    return (uint16_t)((value < 0) << 15 | (exponent - 1 + bias) << fraction_bits | (int)ldexp(fraction, fraction_bits));
}

static double get(const void *data, pace_element element, size_t i) {
    switch (element) {
    case PACE_ELEMENT_F16: return read_half(((const uint16_t *)data)[i], 5, 10);
    case PACE_ELEMENT_BF16: return read_half(((const uint16_t *)data)[i], 8, 7);
    case PACE_ELEMENT_F32: return (double)((const float *)data)[i];
    case PACE_ELEMENT_F64: return ((const double *)data)[i];
    case PACE_ELEMENT_I32: return ((const int32_t *)data)[i];
    default: return (double)((const int64_t *)data)[i];
    }
}

static void set(void *data, pace_element element, size_t i, double value) {
    switch (element) {
    case PACE_ELEMENT_F16: ((uint16_t *)data)[i] = write_half(value, 5, 10); return;
    case PACE_ELEMENT_BF16: ((uint16_t *)data)[i] = write_half(value, 8, 7); return;
    case PACE_ELEMENT_F32: ((float *)data)[i] = (float)value; return;
    case PACE_ELEMENT_F64: ((double *)data)[i] = value; return;
    case PACE_ELEMENT_I32: ((int32_t *)data)[i] = (int32_t)value; return;
    default: ((int64_t *)data)[i] = (int64_t)value; return;
    }
}

static double unit_of(pace_element element) {
    static const double of[PACE_ELEMENTS] = {1.0 / 1024, 1.0 / 128, FLT_EPSILON, DBL_EPSILON, 0, 0};
    return of[element];
}

/* What a rank puts in: few digits; of products, whose size must stay small, powers of two; of whole numbers odd
 * ones. */
static double given(int of, size_t i, pace_element element, pace_reduction reduction) {
    uint32_t x = (uint32_t)(i * 2654435761u) ^ (uint32_t)(of + 1) * 40503u;
    x = (x ^ x >> 13) * 0x5bd1e995u;
    int small = (int)(x >> 20 & 63) - 31;
    bool whole = element == PACE_ELEMENT_I32 || element == PACE_ELEMENT_I64;
    if (reduction == PACE_REDUCTION_PROD)
        return whole ? (double)(small % 4 * 2 + 1) : (x >> 9 & 1 ? -1.0 : 1.0) * (x >> 10 & 1 ? 0.5 : 1.5);
    return whole ? small * 1001.0 : small / 16.0;
}

static MPI_Datatype type_of(pace_element element) {
    switch (element) {
    case PACE_ELEMENT_F32: return MPI_FLOAT;
    case PACE_ELEMENT_F64: return MPI_DOUBLE;
    case PACE_ELEMENT_I32: return MPI_INT32_T;
    case PACE_ELEMENT_I64: return MPI_INT64_T;
    default: return MPI_DATATYPE_NULL;
    }
}

static MPI_Op op_of(pace_reduction reduction) {
    const MPI_Op of[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_SUM};
    return of[reduction];
}

/* --- expectations ------------------------------------------------------------------------------------------------- */

static bool is_whole(pace_element element) { return element == PACE_ELEMENT_I32 || element == PACE_ELEMENT_I64; }

/* The reduction of element i over all ranks in double precision, and what any order of rounding may add. */
static double serial(double *bound, size_t i, pace_element element, pace_reduction reduction) {
    double value = given(0, i, element, reduction), sum = fabs(value);
    for (int r = 1; r < ranks; r++) {
        double x = given(r, i, element, reduction);
        sum += fabs(x);
        if (reduction == PACE_REDUCTION_MIN) value = x < value ? x : value;
        else if (reduction == PACE_REDUCTION_MAX) value = x > value ? x : value;
        else if (reduction == PACE_REDUCTION_PROD) value *= x;
        else value += x;
    }
    if (reduction == PACE_REDUCTION_AVG) value /= ranks, sum /= ranks;
    double scale = reduction == PACE_REDUCTION_PROD ? fabs(value) : sum;
    bool exact = reduction == PACE_REDUCTION_MIN || reduction == PACE_REDUCTION_MAX;
    *bound = exact ? 0 : scale * (ranks + 1) * unit_of(element);
    if (is_whole(element) && reduction == PACE_REDUCTION_AVG) value = trunc(value);
    return value;
}

/* Whether elements `first`... of the vector stand in `got`, by MPI's result where there is one. */
static bool is_right(size_t *at, const void *got, const void *mpi, size_t first, size_t count, pace_element element,
                     pace_reduction reduction) {
    bool wraps = is_whole(element) && reduction == PACE_REDUCTION_PROD;
    for (size_t i = 0; i < count; i++) {
        double bound, want = serial(&bound, first + i, element, reduction), is = get(got, element, i);
        if (mpi && reduction != PACE_REDUCTION_AVG) want = get(mpi, element, i);
        if (wraps && !mpi) continue;
        if (!(fabs(is - want) <= bound)) {
            *at = i;
            return false;
        }
    }
    return true;
}

/* --- one question ------------------------------------------------------------------------------------------------- */

typedef struct {
    char *in, *out, *again, *mpi;
} buffers;

typedef struct {
    pace_comm *comm;
    const char *way;
    buffers b;
    pace_element element;
    pace_reduction reduction;
    size_t count;
    bool in_place;
} question;

static void fill(void *data, const question *q, size_t count, size_t first) {
    for (size_t i = 0; i < count; i++) set(data, q->element, i, given(rank, first + i, q->element, q->reduction));
}

static void verdict(const question *q, const char *what, const void *got, const void *mpi, size_t first) {
    size_t at = 0;
    checks++;
    if (!is_right(&at, got, mpi, first, q->count, q->element, q->reduction))
        fail(what, q->way, q->element, q->reduction, q->count, q->in_place, at);
}

static void *input(const question *q, void *out) { return q->in_place ? out : q->b.in; }

static void check_allreduce(const question *q) {
    const buffers *b = &q->b;
    MPI_Datatype type = type_of(q->element);
    size_t bytes = q->count * pace_element_bytes(q->element);
    for (int time = 0; time < 2; time++) {
        void *out = time ? b->again : b->out;
        fill(input(q, out), q, q->count, 0);
        must(pace_comm_allreduce(q->comm, time && q->in_place ? NULL : input(q, out), out, q->count, q->element,
                                 q->reduction));
    }
    fill(b->in, q, q->count, 0);
    if (type != MPI_DATATYPE_NULL)
        MPI_Allreduce(b->in, b->mpi, (int)q->count, type, op_of(q->reduction), MPI_COMM_WORLD);
    verdict(q, "allreduce", b->out, type != MPI_DATATYPE_NULL ? b->mpi : NULL, 0);
    if (memcmp(b->out, b->again, bytes))
        fail("allreduce again", q->way, q->element, q->reduction, q->count, q->in_place, 0);
}

static void check_reduce_scatter(const question *q) {
    const buffers *b = &q->b;
    size_t all = q->count * (size_t)ranks;
    void *in = input(q, b->out);
    fill(in, q, all, 0);
    must(pace_comm_reduce_scatter(q->comm, in, b->out, q->count, q->element, q->reduction));
    verdict(q, "reduce_scatter", b->out, NULL, (size_t)rank * q->count);
}

static void check_all_gather(const question *q) {
    size_t bytes = q->count * pace_element_bytes(q->element);
    char *own = q->in_place ? q->b.out + (size_t)rank * bytes : q->b.in;
    memset(q->b.out, 1, bytes * (size_t)ranks);
    fill(own, q, q->count, 0);
    must(pace_comm_all_gather(q->comm, q->in_place ? NULL : own, q->b.out, q->count, q->element));
    checks++;
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < q->count; i++)
            if (get(q->b.out + (size_t)r * bytes, q->element, i) != given(r, i, q->element, q->reduction)) {
                fail("all_gather", q->way, q->element, q->reduction, q->count, q->in_place, i);
                return;
            }
}

static void check_broadcast(const question *q) {
    int root = (int)(q->count % (size_t)ranks);
    memset(q->b.out, 1, q->count * pace_element_bytes(q->element));
    if (rank == root) fill(q->b.out, q, q->count, 0);
    must(pace_comm_broadcast(q->comm, q->b.out, q->count, q->element, root));
    checks++;
    for (size_t i = 0; i < q->count; i++)
        if (get(q->b.out, q->element, i) != given(root, i, q->element, q->reduction)) {
            fail("broadcast", q->way, q->element, q->reduction, q->count, false, i);
            return;
        }
}

static void check_reduce(const question *q) {
    int root = (int)((q->count + 1) % (size_t)ranks);
    void *in = input(q, q->b.out);
    fill(in, q, q->count, 0);
    bool only_in = rank != root && !q->in_place;
    must(pace_comm_reduce(q->comm, in, only_in ? NULL : q->b.out, q->count, q->element, q->reduction, root));
    if (rank == root) verdict(q, "reduce", q->b.out, NULL, 0);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static const size_t fewest_counts[] = {0, 7, 20011};
static const size_t few_counts[] = {0, 1, 7, 128, 4099, 40009};
static const size_t many_counts[] = {0,  1,   2,    3,    13,   14,   15,    16,    31,    63,    64,
                                     65, 127, 1023, 1024, 1025, 8191, 16384, 32771, 65537, 300007};

static void ask(question *q, const char *collective) {
    if (strcmp(collective, "allreduce") == 0) check_allreduce(q);
    else if (strcmp(collective, "reduce_scatter") == 0) check_reduce_scatter(q);
    else if (strcmp(collective, "all_gather") == 0) check_all_gather(q);
    else if (strcmp(collective, "broadcast") == 0) check_broadcast(q);
    else check_reduce(q);
}

static void sweep(question *q, const char *collective) {
    const size_t *counts = full ? many_counts : few ? fewest_counts : few_counts;
    size_t number = full  ? sizeof many_counts / sizeof *many_counts
                    : few ? sizeof fewest_counts / sizeof *fewest_counts
                          : sizeof few_counts / sizeof *few_counts;
    bool reduces = strcmp(collective, "all_gather") != 0 && strcmp(collective, "broadcast") != 0;
    for (size_t i = 0; i < number; i++)
        for (int e = 0; e < PACE_ELEMENTS; e++)
            for (int r = 0; r < PACE_REDUCTIONS; r++)
                for (int place = 0; place < 2; place++) {
                    q->element = (pace_element)e;
                    q->reduction = reduces ? (pace_reduction)r : PACE_REDUCTION_SUM;
                    q->count = counts[i];
                    q->in_place = place;
                    if (!reduces && r) continue;
                    if (!full && counts[i] > 10000 && (r % 4 || e % 3 == 0)) continue;
                    if (few && ((r + 2 * e + place) % 5 || !q->count) && (r || e != 2)) continue;
                    ask(q, collective);
                }
}

static const struct {
    const char *collective, *ways;
} all_ways[] = {
    {"allreduce",
     "flat staged copy two_level ring recursive_doubling rabenseifner binomial pipelined_tree double_tree knomial "
     "direct rails leaders torus bruck"},
    {"reduce_scatter", "flat copy ring halving bruck direct"},
    {"all_gather", "flat copy ring recursive_doubling bruck direct"},
    {"broadcast", "flat copy two_level binomial chain scatter_allgather"},
    {"reduce", "flat two_level binomial chain"},
};

static void allocate(buffers *b, pace_comm *comm, bool owned, size_t bytes) {
    char **of[] = {&b->in, &b->out, &b->again, &b->mpi};
    for (int i = 0; i < 4; i++) {
        if (owned && i < 2) must(pace_buffer_alloc((void **)of[i], comm, bytes));
        else *of[i] = malloc(bytes);
        if (!*of[i]) MPI_Abort(MPI_COMM_WORLD, 1);
        memset(*of[i], 0, bytes);
    }
}

static void release(const buffers *b, pace_comm *comm, bool owned) {
    char *of[] = {b->in, b->out, b->again, b->mpi};
    for (int i = 0; i < 4; i++)
        if (owned && i < 2) pace_buffer_free(comm, of[i]);
        else free(of[i]);
}

/* Input and output within one range of a device that is slow to say so. */
static void use_device(question *q, pace_device *device, void **memory, size_t bytes) {
    must(pace_device_pretend(device, memory, 2 * bytes, 1e-6, 0));
    must(pace_comm_set_device(q->comm, device, 1));
    if (strcmp(device_wanted, "apart") == 0 && rank % 2 == 0) return;
    free(q->b.in);
    free(q->b.out);
    q->b.in = *memory;
    q->b.out = (char *)*memory + bytes;
}

/* The device that has both buffers is asked about them once; host memory, of which no range is known, once for each
 * larger vector. */
static void leave_device(question *q, pace_device *device, const void *memory) {
    pace_comm_counters counted = {.size = sizeof counted};
    bool there = q->b.in == memory;
    pace_comm_count(q->comm, &counted);
    if (there && (!counted.queries || 4 * counted.queries > counted.remembered))
        fail("pointer cache", q->way, 0, 0, counted.queries, false, counted.remembered);
    must(pace_comm_set_device(q->comm, NULL, 0));
    if (there) q->b.in = q->b.out = NULL;
    pace_device_pretend_end(device);
}

static void check_way(const char *collective, const char *way, bool owned, const char *more) {
    pace_device device;
    void *memory = NULL;
    char setting[128];
    size_t most = full ? 300007 : 40009;
    question q = {.way = owned ? "owned buffers" : way};
    snprintf(setting, sizeof setting, "%s=%s;timeout=120%s", collective, way, more);
    setenv("PACELINE_COLLECTIVE", setting, 1);
    must(pace_comm_open(&q.comm, NULL));
    const char *chosen = pace_comm_choice(q.comm, collective, 4096);
    if (strcmp(chosen, way) == 0) {
        ways_checked++;
        allocate(&q.b, q.comm, owned, most * 8 * (size_t)ranks + 64);
        if (device_wanted) use_device(&q, &device, &memory, most * 8 * (size_t)ranks + 64);
        sweep(&q, collective);
        if (device_wanted) leave_device(&q, &device, memory);
        must(pace_comm_barrier(q.comm));
        release(&q.b, q.comm, owned);
    }
    pace_comm_close(q.comm);
}

static float third(int of, size_t i) { return 1.0f / (float)(3 + (i + 7 * (size_t)of) % 101); }

/* Inside a host all ways but programs add one rank after the other: which is chosen, by the built-in choice as well,
 * changes no bit. */
static void check_order(const char *way, size_t count) {
    char setting[64];
    float *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    pace_comm *comm;
    snprintf(setting, sizeof setting, "%s%s", *way ? "allreduce=" : "", way);
    setenv("PACELINE_COLLECTIVE", setting, 1);
    must(pace_comm_open(&comm, NULL));
    bool asked = strstr(*way ? way : "flat staged copy", pace_comm_choice(comm, "allreduce", count * sizeof *in));
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < count; i++) in[i] = third(rank, i);
    must(pace_comm_allreduce(comm, in, out, count, PACE_ELEMENT_F32, PACE_REDUCTION_SUM));
    checks += asked;
    for (size_t i = 0; i < count && asked; i++) {
        float sum = third(0, i);
        for (int r = 1; r < ranks; r++) sum += third(r, i);
        if (out[i] != sum) {
            fail("order of sums", way, PACE_ELEMENT_F32, PACE_REDUCTION_SUM, count, false, i);
            break;
        }
    }
    pace_comm_close(comm);
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    few = argc > 1 && strcmp(argv[1], "--few") == 0;
    full = argc > 1 && strcmp(argv[1], "--full") == 0;
    const char *only = argc > 2 && argv[2][0] ? argv[2] : NULL;
    device_wanted = argc > 3 && argv[3][0] ? argv[3] : NULL;
    const char *more = argc > 4 ? argv[4] : ""; /* settings */
    for (size_t i = 0; i < sizeof all_ways / sizeof *all_ways; i++) {
        char ways[256], *at = NULL;
        snprintf(ways, sizeof ways, "%s", all_ways[i].ways);
        for (char *way = strtok_r(ways, " ", &at); way; way = strtok_r(NULL, " ", &at))
            if (!only || strcmp(only, way) == 0) check_way(all_ways[i].collective, way, false, more);
        if (!only && !device_wanted) check_way(all_ways[i].collective, "flat", true, ";check");
    }
    static const char *const in_order[] = {"flat", "staged", "copy", ""};
    for (int i = 0; i < 4 && !only && !device_wanted; i++)
        for (size_t count = 100; count <= 100000; count *= 10) check_order(in_order[i], count);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ways, %d checks on %d ranks, %d failures\n", ways_checked, checks, ranks, failures);
    MPI_Finalize();
    return failures != 0;
}
