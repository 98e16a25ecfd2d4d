/*
 * An approach of a module against means computed one after another: check_exchange MODULE APPROACH|all right | few |
 * async | stall | kill | server. Its tensors are made up: none, one, of uneven sizes, hundreds of tiny ones.
 */
#include "../../trainer/gradient_exchange.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 3, MOST = 400 };

typedef struct {
    const char *name;
    size_t count, sizes[8]; /* sizes repeat */
    double fusion_bytes;
} list;

static const list lists[] = {
    {"none", 0, {1}, 0},
    {"one", 1, {1000}, 0},
    {"uneven", 7, {1, 0, 65537, 3, 1024, 100003, 2, 17}, 0},
    {"tiny", MOST, {1, 2, 3, 5, 8, 13, 37, 0}, 1000},
};

static int rank, ranks, wrong;
static pace_train_tensor tensors[MOST];
static char names[MOST][24];
static const pace_exchanger *approach;
static pace_train_update rule = {PACE_TRAIN_SGD, 0.1F, 0.9F, 0.9F, 0.999F, 1e-8F};

/* Between -1 and 1, of everything that tells two gradients apart. */
static float number(int of_rank, int step, size_t tensor, size_t element) {
    uint64_t x = (uint64_t)of_rank * 1000003 + (uint64_t)step * 10007 + tensor * 8191 + element * 31 + 7;
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return (float)((double)(x >> 40) / (1 << 23) - 1);
}

static void make(const list *l) {
    for (size_t i = 0; i < l->count; i++) {
        size_t n = l->sizes[i % 8];
        snprintf(names[i], sizeof names[i], "layer%zu.weight", i);
        tensors[i] = (pace_train_tensor){names[i], n, aligned_alloc(64, (4 * n + 64) / 64 * 64),
                                         aligned_alloc(64, (4 * n + 64) / 64 * 64)};
        for (size_t e = 0; e < n; e++) tensors[i].weights[e] = rank == 0 ? number(99, 0, i, e) : NAN;
    }
}

static void drop(const list *l) {
    for (size_t i = 0; i < l->count; i++) free(tensors[i].gradient), free(tensors[i].weights);
}

static void expect(bool good, const list *l, int step, const char *what) {
    if (good) return;
    printf("rank %d of %d, list %s, step %d: %s\n", rank, ranks, l->name, step, what);
    wrong = 1;
}

/* The optimizer once more, in double precision. */
static double updated(size_t tensor, size_t element, int steps) {
    double w = (double)number(99, 0, tensor, element), m = 0, v = 0;
    for (int s = 1; s <= steps; s++) {
        double g = 0;
        for (int r = 0; r < ranks; r++) g += (double)number(r, s, tensor, element) / ranks;
        if (rule.rule == PACE_TRAIN_SGD) w -= (double)rule.rate * g;
        else if (rule.rule == PACE_TRAIN_MOMENTUM) m = (double)rule.momentum * m + g, w -= (double)rule.rate * m;
        else {
            m = (double)rule.beta1 * m + (1 - (double)rule.beta1) * g;
            v = (double)rule.beta2 * v + (1 - (double)rule.beta2) * g * g;
            w -= (double)rule.rate * (m / (1 - pow((double)rule.beta1, s))) /
                 (sqrt(v / (1 - pow((double)rule.beta2, s))) + (double)rule.epsilon);
        }
    }
    return w;
}

static double mean_of(size_t tensor, size_t element, int step) {
    double sum = 0;
    for (int r = 0; r < ranks; r++) sum += (double)number(r, step, tensor, element);
    return sum / ranks;
}

static void compare(const list *l, int step) {
    for (size_t i = 0; i < l->count; i++) {
        for (size_t e = 0; e < tensors[i].elements; e++) {
            double is = (double)(approach->does_update ? tensors[i].weights : tensors[i].gradient)[e];
            double should = approach->does_update ? updated(i, e, step) : mean_of(i, e, step);
            if (fabs(is - should) <= 2e-5) continue;
            expect(false, l, step, names[i]);
            printf("  element %zu of %zu: %g instead of %g\n", e, tensors[i].elements, is, should);
            return;
        }
    }
}

static void check(pace_exchanger_result result, const char *message) {
    if (result == PACE_EXCHANGER_OK) return;
    printf("%s\n", message);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, result == PACE_EXCHANGER_MISSING ? 4 : result == PACE_EXCHANGER_USAGE ? 2 : 3);
    _exit(3);
}

static double patience_s = 60;

static void *open_on(const list *l, bool overlap, bool asynchronous, unsigned servers) {
    char message[PACE_EXCHANGER_MESSAGE];
    void *state = NULL;
    pace_exchanger_setup setup = {.size = sizeof setup,
                                  .rank = rank,
                                  .ranks = ranks,
                                  .tensors = tensors,
                                  .tensor_count = l->count,
                                  .update = rule,
                                  .overlap = overlap,
                                  .asynchronous = asynchronous,
                                  .servers = servers,
                                  .fusion_bytes = l->fusion_bytes,
                                  .timeout_s = patience_s};
    check(approach->open(&state, &setup, message), message);
    for (size_t i = 0; i < l->count; i++)
        for (size_t e = 0; e < tensors[i].elements; e++)
            if (tensors[i].weights[e] != number(99, 0, i, e)) {
                expect(false, l, 0, "weights are not those of rank 0");
                return state;
            }
    return state;
}

static void one_step(void *state, const list *l, int step) {
    char message[PACE_EXCHANGER_MESSAGE];
    for (size_t i = l->count; i-- > 0;) {
        for (size_t e = 0; e < tensors[i].elements; e++) tensors[i].gradient[e] = number(rank, step, i, e);
        check(approach->ready(state, i, message), message);
    }
    check(approach->finish(state, message), message);
}

static void run(const list *l, bool overlap, unsigned servers) {
    pace_exchanger_counts counts;
    make(l);
    void *state = open_on(l, overlap, false, servers);
    for (int step = 1; step <= STEPS; step++) one_step(state, l, step), compare(l, step);
    approach->count(state, &counts);
    expect(ranks < 2 || l->count == 0 || (counts.exchanges && counts.sent_bytes && counts.received_bytes), l, STEPS,
           "nothing is counted");
    expect(counts.waited_ns > 0 && counts.transport[0], l, STEPS, "no waits, no transport");
    if (rank == 0 && overlap && l->count == 7) printf("transport: %s\n", counts.transport);
    approach->close(state);
    drop(l);
}

/* Whatever the order, every worker's gradient is applied once each step: with SGD the weights end at the same place. */
static void run_async(const list *l) {
    char message[PACE_EXCHANGER_MESSAGE];
    make(l);
    rule.rate /= (float)ranks; /* gradients of single workers, not means */
    void *state = open_on(l, true, true, 0);
    rule.rate *= (float)ranks;
    for (int step = 1; step <= STEPS; step++) one_step(state, l, step);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = l->count; i-- > 0;) {
        memset(tensors[i].gradient, 0, 4 * tensors[i].elements);
        check(approach->ready(state, i, message), message);
    }
    check(approach->finish(state, message), message);
    compare(l, STEPS);
    approach->close(state);
    drop(l);
}

static void right(void) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int overlap = 0; overlap < 2; overlap++) run(&lists[i], overlap, 0);
    if (!approach->does_update) return;
    run(&lists[2], true, 2);
    for (rule.rule = PACE_TRAIN_MOMENTUM; rule.rule <= PACE_TRAIN_ADAM; rule.rule++) run(&lists[2], true, 1);
    rule.rule = PACE_TRAIN_SGD;
}

static void few(void) {
    run(&lists[2], true, approach->does_update ? 2 : 0);
    run(&lists[3], false, 0);
}

/* Kills the processes that a thread of this rank started; Linux lists children by thread. */
static int kill_children(const char *thread) {
    char path[300];
    long process;
    int killed = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/children", thread);
    FILE *children = fopen(path, "r");
    while (children && fscanf(children, "%ld", &process) == 1) killed += kill((pid_t)process, SIGKILL) == 0;
    if (children) fclose(children);
    return killed;
}

/* Servers are children of a thread of the rank that started them. */
static void kill_servers(void) {
    int killed = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *one; threads && (one = readdir(threads));) killed += kill_children(one->d_name);
    if (threads) closedir(threads);
    MPI_Allreduce(MPI_IN_PLACE, &killed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (killed == 0) printf("no server was found\n");
}

/* The last rank goes no further, or servers die; the others say so. */
static void fails(const char *how) {
    const list *l = &lists[2];
    make(l);
    patience_s = 1;
    void *state = open_on(l, true, false, 0);
    one_step(state, l, 1);
    if (strcmp(how, "server") == 0) kill_servers();
    else if (rank == ranks - 1 && strcmp(how, "kill") == 0) raise(SIGKILL);
    else if (rank == ranks - 1) sleep(100);
    one_step(state, l, 2);
}

static int as_asked(const char *what) {
    if (strcmp(what, "right") == 0) right();
    else if (strcmp(what, "few") == 0) few();
    else if (strcmp(what, "async") == 0) run_async(&lists[2]);
    else fails(what);
    return wrong;
}

/* All approaches of a module, or one. */
static int each(const char *path, const char *name, const char *what) {
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    pace_exchanger_fn all = NULL;
    int found = 0;
    if (module) *(void **)&all = dlsym(module, "pace_train_exchanger");
    else printf("%s\n", dlerror());
    for (size_t i = 0; all && all(i); i++) {
        if (strcmp(name, "all") != 0 && strcmp(all(i)->name, name) != 0) continue;
        approach = all(i);
        found++;
        if (as_asked(what)) printf("that was %s\n", approach->name);
    }
    return wrong || !found;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int result = argc > 3 ? each(argv[1], argv[2], argv[3]) : 2;
    MPI_Finalize();
    return result;
}
