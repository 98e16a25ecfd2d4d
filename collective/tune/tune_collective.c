/*
 * mpirun -n N paceline-tune-collective [FILE]: times every way of every collective on N ranks of this machine and
 * writes the table of the fastest (docs/collective.md), to FILE or where communicators look for it. Sections of other
 * numbers of ranks stay. The last column of what it prints is how many times as long the built-in choice takes.
 */
#include "../tuning.h"

#include "base/whole_file.h"
#include "paceline/collective.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZES = 12, LEAST = 8, STEP = 4, ROUNDS = 7, MOST_WAYS = 8 };
static const size_t most_bytes = (size_t)LEAST << 22;
/* A change of way must gain this share of the time. */
static const double worth = 0.05;

static const struct {
    const char *name, *ways;
} measured[] = {
    {"allreduce", "flat staged copy recursive_doubling ring rabenseifner"},
    {"reduce_scatter", "flat copy ring"},
    {"all_gather", "flat copy ring"},
    {"broadcast", "flat copy binomial"},
};
enum { MEASURED = PACE_COUNT(measured) };

static int rank, ranks;
static char *in, *out;

static void die(void) {
    fprintf(stderr, "paceline-tune-collective: %s\n", pace_comm_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static pace_status call(pace_comm *comm, int collective, size_t bytes) {
    size_t count = bytes / 4, each = count / (size_t)ranks;
    switch (collective) {
    case 0: return pace_comm_allreduce(comm, in, out, count, PACE_ELEMENT_F32, PACE_REDUCTION_SUM);
    case 1: return pace_comm_reduce_scatter(comm, in, out, each, PACE_ELEMENT_F32, PACE_REDUCTION_SUM);
    case 2: return pace_comm_all_gather(comm, in, out, each, PACE_ELEMENT_F32);
    default: return pace_comm_broadcast(comm, out, count, PACE_ELEMENT_F32, 0);
    }
}

/* Seconds of the slowest rank. */
static double time_of(pace_comm *comm, int collective, size_t bytes) {
    int times = bytes < 65536 ? 50 : bytes < ((size_t)4 << 20) ? 5 : 1;
    if (pace_comm_barrier(comm) != PACE_OK) die();
    double start = MPI_Wtime(), slowest;
    for (int i = 0; i < times; i++)
        if (call(comm, collective, bytes) != PACE_OK) die();
    double took = (MPI_Wtime() - start) / times;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static pace_comm *open_way(int collective, const char *way) {
    char setting[128];
    pace_comm *comm;
    pace_snprintf(setting, sizeof setting, "%s=%s", measured[collective].name, way);
    if (*way) setenv("PACELINE_COLLECTIVE", setting, 1);
    else unsetenv("PACELINE_COLLECTIVE");
    if (pace_comm_open(&comm, NULL) != PACE_OK) die();
    return comm;
}

static bool goes(pace_comm *comm, int collective, size_t bytes, const char *way) {
    const char *chosen = pace_comm_choice(comm, measured[collective].name, bytes);
    return !*way || (chosen && strcmp(chosen, way) == 0);
}

/* The least times of all ways at all sizes, and the way of the built-in choice, which may be none of them; 0 where
 * these ranks cannot go one. The ways take turns, for a machine that
 * other machines share is at times half as fast as a minute before. The way "" is the built-in choice. */
static void measure(double times[MOST_WAYS][SIZES], int own[SIZES], int collective, char ways[MOST_WAYS][32],
                    int count) {
    pace_comm *comms[MOST_WAYS];
    for (int w = 0; w < count; w++) comms[w] = open_way(collective, ways[w]);
    size_t bytes = LEAST;
    for (int s = 0; s < SIZES; s++, bytes *= STEP) {
        for (int turn = 0; turn < ROUNDS * count; turn++) {
            int w = turn % count;
            if (!goes(comms[w], collective, bytes, ways[w])) continue;
            double took = time_of(comms[w], collective, bytes);
            if (turn < count || took < times[w][s]) times[w][s] = took;
        }
        own[s] = 0;
        while (own[s] + 1 < count && !goes(comms[count - 1], collective, bytes, ways[own[s]])) own[s]++;
    }
    for (int w = 0; w < count; w++) pace_comm_close(comms[w]);
}

static int split(char ways[MOST_WAYS][32], const char *text) {
    int count = 0, used = 0;
    while (count < MOST_WAYS && sscanf(text, "%31s%n", ways[count], &used) == 1) text += used, count++;
    return count;
}

static bool is_near(double times[MOST_WAYS][SIZES], int way, int fastest, int s) {
    return way >= 0 && times[way][s] > 0 && times[way][s] * (1 - worth) <= times[fastest][s];
}

/* The fastest way at each size, unless the built-in choice's own, or that of the size before, is nearly as fast: of
 * ways that are equal one is the fastest by chance. */
static void choose(int best[SIZES], double times[MOST_WAYS][SIZES], const int own[SIZES], int count) {
    for (int s = 0, now = -1; s < SIZES; s++) {
        int fastest = 0, usual = own[s] < count ? own[s] : -1;
        for (int w = 1; w < count; w++)
            if (times[w][s] > 0 && (times[fastest][s] <= 0 || times[w][s] < times[fastest][s])) fastest = w;
        now = is_near(times, usual, fastest, s) ? usual : is_near(times, now, fastest, s) ? now : fastest;
        best[s] = now;
    }
}

/* The built-in choice and the same way by its name are one, measured twice. */
static void join_own(double times[MOST_WAYS][SIZES], const int own[SIZES], int count) {
    for (int s = 0; s < SIZES; s++) {
        double named = times[own[s]][s], unnamed = times[count][s];
        if (own[s] == count || !(named > 0)) continue;
        times[own[s]][s] = times[count][s] = named < unnamed ? named : unnamed;
    }
}

/* Halfway between the sizes that were measured; as many choices as a communicator takes. */
static void write_choices(char *line, size_t room, const char *name, const int best[SIZES], char ways[MOST_WAYS][32]) {
    int used = pace_snprintf(line, room, "%s=", name), choices = 0;
    size_t bytes = LEAST;
    for (int s = 0; s < SIZES; s++, bytes *= STEP) {
        bool changes = s + 1 < SIZES && best[s + 1] != best[s] && choices + 1 < PACE_MOST_CHOICES;
        if (changes)
            choices++, used += pace_snprintf(line + used, room - (size_t)used, "%s:%zu,", ways[best[s]], 2 * bytes);
        else if (s + 1 == SIZES) pace_snprintf(line + used, room - (size_t)used, "%s\n", ways[best[s]]);
    }
}

static void tune(char *lines, size_t room, int collective) {
    double times[MOST_WAYS][SIZES] = {{0}};
    char ways[MOST_WAYS][32] = {""};
    int best[SIZES], own[SIZES], count = split(ways, measured[collective].ways);
    const double *usual = times[count];
    measure(times, own, collective, ways, count + 1); /* the last is "" */
    join_own(times, own, count);
    choose(best, times, own, count);
    size_t bytes = LEAST, used = strlen(lines);
    for (int s = 0; s < SIZES && rank == 0; s++, bytes *= STEP) {
        char line[160];
        pace_snprintf(line, sizeof line, "%-15s %9zu bytes  %-20s %10.2f us  built-in %5.2f x",
                      measured[collective].name, bytes, ways[best[s]], times[best[s]][s] * 1e6,
                      usual[s] / times[best[s]][s]);
        puts(line);
    }
    write_choices(lines + used, room - used, measured[collective].name, best, ways);
    bytes = LEAST;
    for (int s = 0; s < SIZES; s++, bytes *= STEP) {
        used = strlen(lines);
        pace_snprintf(lines + used, room - used, "# measured %s %zu %s %.4g %.4g\n", measured[collective].name, bytes,
                      ways[best[s]], times[best[s]][s], usual[s]);
    }
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *machine, *lines;
    char *before; /* the table that is there, or NULL */
} table;

/* Sections of other numbers of ranks, as they stand there. */
static void keep_sections(pace_sink *sink, char *before) {
    bool keeps = false;
    char *at = NULL;
    for (char *line = strtok_r(before, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
        if (strncmp(line, "ranks ", 6) == 0) keeps = atoi(line + 6) != ranks;
        if (keeps) pace_sink_format(sink, "%s\n", line);
    }
}

static pace_status fill(pace_sink *sink, void *context) {
    const table *t = context;
    pace_sink_format(sink, "paceline-collective 1\nmachine %s\nranks %d\n%s", t->machine, ranks, t->lines);
    if (t->before) keep_sections(sink, t->before);
    return PACE_OK;
}

/* A table of another machine, or a broken one, is replaced. */
static char *read_before(const char *path, const char *machine) {
    static char text[PACE_TUNING_BYTES], copy[PACE_TUNING_BYTES];
    pace_settings ignored = {.patience_s = 0};
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    memcpy(copy, text, sizeof copy);
    return pace_tuning_read(&ignored, text, path, machine, ranks) == PACE_OK ? copy : NULL;
}

static void make_folders(const char *path) {
    char folder[PACE_TUNING_PATH];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        pace_snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0777);
    }
}

static int store(const char *path, const char *lines) {
    char machine[PACE_MACHINE_LINE];
    pace_tuning_machine(machine);
    make_folders(path);
    table t = {machine, lines, read_before(path, machine)};
    if (pace_whole_file_write(path, fill, &t) != PACE_OK) {
        fprintf(stderr, "paceline-tune-collective: %s\n", pace_message());
        return 3;
    }
    printf("written to %s\n", path);
    return 0;
}

int main(int argc, char **argv) {
    static char lines[PACE_TUNING_BYTES];
    char path[PACE_TUNING_PATH];
    bool asked;
    int status = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) pace_snprintf(path, sizeof path, "%s", argv[1]);
    else if (!pace_tuning_path(path, &asked)) status = 2;
    if (argc > 2 || ranks < 2 || status) {
        if (rank == 0) fprintf(stderr, "usage: mpirun -n RANKS paceline-tune-collective [FILE]\n");
        MPI_Finalize();
        return 2;
    }
    setenv("PACELINE_COLLECTIVE_TABLE", "", 1);
    in = calloc(1, most_bytes), out = calloc(1, most_bytes);
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 5);
    memset(in, 1, most_bytes); /* untouched memory is one page of zeros */
    memset(out, 1, most_bytes);
    for (int c = 0; c < MEASURED; c++) tune(lines, sizeof lines, c);
    if (rank == 0) status = store(path, lines);
    free(in);
    free(out);
    MPI_Finalize();
    return status;
}
