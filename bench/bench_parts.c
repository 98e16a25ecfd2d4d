/*
 * Measures the two halves of `analyze` apart: reading a trace into columns, and everything that is then asked of the
 * columns. Prints one line of JSON per run: bytes, events, and for each half the seconds of processor and of wall time.
 * `read_s` is what read(2) alone costs for the same file in the same run, the limit of any reader.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_clock.h"
#include "insight/critical.h"
#include "insight/tables/operators.h"
#include "insight/tables/overheads.h"
#include "insight/spread.h"
#include "source/traces/kineto.h"
#include "stage_words_of_tests.h"

typedef struct {
    double wall_s, cpu_s;
} moment;

static moment now(void) { return (moment){wall_s(), cpu_s()}; }

static void must(pace_status status) {
    if (status == PACE_OK) return;
    fprintf(stderr, "bench_parts: %s\n", pace_message());
    exit(3);
}

static double read_alone(const char *path) {
    enum { PIECE = 1 << 20 };
    char *buffer = malloc(PIECE);
    double start = cpu_s();
    int fd = open(path, O_RDONLY);
    if (fd < 0 || !buffer) exit(3);
    while (read(fd, buffer, PIECE) > 0) continue;
    close(fd);
    free(buffer);
    return cpu_s() - start;
}

/* What a report asks of one rank. */
static void ask(pace_rank *rank, const pace_kernel_classes *classes) {
    pace_critical critical;
    pace_overheads overheads;
    pace_spread spread;
    must(pace_rank_understand(rank, classes, test_stage_words(), NULL));
    must(pace_rank_tile(rank));
    must(pace_critical_find_across(&critical, &(pace_analysis){.ranks = {&rank, 1, 1}}, rank));
    for (int grouping = PACE_BY_KERNEL; grouping <= PACE_BY_MODULE; grouping++) {
        pace_operator_rows rows;
        must(pace_operators_sum(&rows, rank, (pace_grouping)grouping));
        PACE_VEC_FREE(&rows);
    }
    must(pace_overheads_measure(&overheads, rank, 0));
    if (rank->marks.items.count) {
        must(pace_spread_measure(&spread, rank));
        pace_spread_free(&spread);
    }
    pace_overheads_free(&overheads);
    pace_critical_free(&critical);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_parts TRACE [RUNS]\n");
        return 2;
    }
    pace_kernel_classes *classes;
    must(pace_kernel_classes_load(&classes, test_catalog()));
    for (int run = argc > 2 ? atoi(argv[2]) : 1; run > 0; run--) {
        pace_rank rank = {0};
        pace_read_notes notes = {0};
        pace_input *input;
        double alone_s = read_alone(argv[1]);
        moment start = now();
        must(pace_input_open(&input, argv[1]));
        must(pace_kineto_read(&rank.step, input, &notes, (pace_progress){0}));
        pace_input_free(input);
        moment loaded = now();
        ask(&rank, classes);
        moment done = now();
        printf("{\"bytes\": %" PRIu64
               ", \"events\": %zu, \"read_s\": %.6f, \"load_cpu_s\": %.6f, \"load_wall_s\": %.6f, "
               "\"insight_cpu_s\": %.6f, \"insight_wall_s\": %.6f}\n",
               notes.bytes, rank.step.event_count, alone_s, loaded.cpu_s - start.cpu_s, loaded.wall_s - start.wall_s,
               done.cpu_s - loaded.cpu_s, done.wall_s - loaded.wall_s);
        fflush(stdout);
        pace_rank_free(&rank);
    }
    pace_kernel_classes_free(classes);
    return 0;
}
