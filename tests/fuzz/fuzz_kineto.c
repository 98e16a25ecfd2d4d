/*
 * Fuzz target of the whole way from bytes to tiles and the critical path: any bytes, read as a trace, either fail with
 * a message or give a step that keeps its invariants and that every analysis of a rank can work on.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "insight/critical.h"
#include "insight/idle_causes.h"
#include "insight/tables/operators.h"
#include "insight/tables/overheads.h"
#include "insight/spread.h"
#include "source/traces/kineto.h"
#include "stage_words_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Loaded once: the rules do not depend on the input. */
static const pace_kernel_classes *kernel_classes(void) {
    static pace_kernel_classes *classes;
    if (!classes && pace_kernel_classes_load(&classes, test_catalog()) != PACE_OK) abort();
    return classes;
}

static void must(pace_status status) {
    if (status == PACE_OK) return;
    fprintf(stderr, "fuzz_kineto: status %d: %s\n", (int)status, pace_message());
    abort();
}

/* The cells of the window's tiles are its span, and no tile runs backwards. */
static void check_tiles(const pace_rank *rank) {
    const pace_window *window = &rank->work.window;
    if (window->span_ns < 0 || window->busy_ns < 0 || window->idle_ns < 0 || window->exposed_ns < 0) abort();
    for (size_t i = 0; i < rank->tiles.count; i++) {
        const pace_tile *tile = &rank->tiles.items[i];
        if (pace_tile_end(tile) < tile->start_ns || tile->stage >= PACE_STAGES || tile->resource >= PACE_RESOURCES)
            abort();
    }
}

/* The time of the rows is the time of the work, however it is grouped. */
static void check_operators(const pace_rank *rank) {
    int64_t work_ns = 0;
    for (size_t i = 0; i < rank->work.items.count; i++)
        work_ns += rank->work.items.items[i].end_ns - rank->work.items.items[i].start_ns;
    for (int grouping = PACE_BY_KERNEL; grouping <= PACE_BY_MODULE; grouping++) {
        pace_operator_rows rows;
        must(pace_operators_sum(&rows, rank, (pace_grouping)grouping));
        int64_t rows_ns = 0;
        for (size_t i = 0; i < rows.count; i++) {
            rows_ns += rows.items[i].time_ns;
            if (!(rows.items[i].flop >= 0) || !(rows.items[i].bytes >= 0)) abort();
        }
        if (rows_ns != work_ns) abort();
        PACE_VEC_FREE(&rows);
    }
}

static void check_rest(const pace_rank *rank) {
    pace_overheads overheads;
    must(pace_overheads_measure(&overheads, rank, 500));
    pace_overheads_free(&overheads);
    if (rank->marks.items.count == 0) return;
    pace_spread spread;
    must(pace_spread_measure(&spread, rank));
    pace_spread_free(&spread);
}

/* Whatever waits for whatever, the schedule can finish and gives back the measured starts. */
static void check_path(const pace_rank *rank) {
    pace_critical critical;
    pace_rank *ranks[] = {(pace_rank *)rank}; /* read only */
    must(pace_critical_find_across(&critical, &(pace_analysis){.ranks = {ranks, 1, 1}}, rank));
    if (critical.worst_error_ns != 0) abort();
    pace_critical_free(&critical);
}

/* The devices share out the trace's work. */
static void check_devices(const pace_rank *trace, const pace_kernel_classes *classes) {
    pace_device_ids ids;
    must(pace_rank_device_ids(&ids, &trace->step));
    size_t items = 0;
    for (size_t i = 0; i < ids.count; i++) {
        pace_rank *device;
        must(pace_rank_of_device(&device, trace, ids.items[i], classes, NULL));
        must(pace_rank_tile(device));
        check_tiles(device);
        items += device->work.items.count;
        pace_rank_free(device);
        pace_free(device);
    }
    if (ids.count && items != trace->work.items.count) abort();
    PACE_VEC_FREE(&ids);
}

/* The causes divide the idle columns of the window's matrix. */
static void check_idle_causes(const pace_rank *rank) {
    if (rank->tiles.count == 0) return;
    const pace_window *window = &rank->work.window;
    pace_matrix matrix = pace_matrix_of(&rank->tiles, window->first_ns, window->last_ns);
    pace_idle_sums sums = pace_idle_causes(rank, window->first_ns, window->last_ns);
    int64_t idle = 0;
    for (int s = 0; s < PACE_STAGES; s++)
        idle +=
            matrix.cell_ns[s][PACE_IDLE_HOST] + matrix.cell_ns[s][PACE_IDLE_INPUT] + matrix.cell_ns[s][PACE_IDLE_OTHER];
    for (int c = 0; c < PACE_IDLE_CAUSES; c++) idle -= sums.time_ns[c];
    if (idle != 0) abort();
}

static pace_status read_trace(pace_step *out, const uint8_t *data, size_t size) {
    pace_read_notes notes;
    pace_input *input;
    PACE_TRY(pace_input_open_memory(&input, "fuzz", data, size));
    pace_status status = pace_kineto_read(out, input, &notes, (pace_progress){0});
    pace_input_free(input);
    return status;
}

/* Of a finished step, not longer than it is. */
static void set_duration(pace_step *step, uint32_t task, int64_t duration_ns) {
    if (step->duration[task] != PACE_LONG_TASK) step->duration[task] = (uint32_t)duration_ns;
    for (size_t i = 0; i < step->long_tasks.count; i++)
        if (step->long_tasks.items[i].task == task) step->long_tasks.items[i].duration_ns = duration_ns;
}

/* The trace beside itself as another rank that was twice as fast: all exchanges match, and somebody always waits. */
static void check_two_ranks(const uint8_t *data, size_t size, const pace_kernel_classes *classes) {
    pace_analysis analysis = {0};
    for (int i = 0; i < 2; i++) {
        pace_rank *rank = pace_alloc(1, sizeof *rank);
        if (!rank) abort();
        must(read_trace(&rank->step, data, size));
        rank->step.rank = i;
        for (uint32_t task = 0; i == 1 && task < rank->step.count; task++) {
            int64_t end = pace_step_end_ns(&rank->step, task) / 2;
            rank->step.start_ns[task] /= 2;
            set_duration(&rank->step, task, end - rank->step.start_ns[task]);
        }
        must(pace_rank_understand(rank, classes, test_stage_words(), NULL));
        must(PACE_PUSH(&analysis.traces, rank));
        must(PACE_PUSH(&analysis.ranks, rank));
    }
    must(pace_analysis_join(&analysis));
    for (int i = 0; i < 2; i++) {
        pace_critical critical;
        check_tiles(analysis.ranks.items[i]);
        must(pace_critical_find_across(&critical, &analysis, analysis.ranks.items[i]));
        int64_t at = critical.from_ns;
        if (critical.worst_error_ns != 0) abort();
        for (size_t p = 0; p < critical.pieces.count; p++) {
            if (critical.pieces.items[p].start_ns != at) abort();
            at = pace_piece_end(&critical.pieces.items[p]);
        }
        if (at != critical.to_ns) abort();
        pace_critical_free(&critical);
    }
    pace_analysis_free(&analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const pace_kernel_classes *classes = kernel_classes();
    pace_rank rank = {0};
    pace_status status = read_trace(&rank.step, data, size);
    if (status != PACE_OK) {
        if (pace_message()[0] == '\0' || status == PACE_E_INTERNAL) abort();
        return 0;
    }
    must(pace_step_check(&rank.step));
    must(pace_rank_understand(&rank, classes, test_stage_words(), NULL));
    must(pace_rank_tile(&rank));
    check_tiles(&rank);
    check_operators(&rank);
    check_rest(&rank);
    check_path(&rank);
    check_idle_causes(&rank);
    check_devices(&rank, classes);
    pace_rank_free(&rank);
    check_two_ranks(data, size, classes);
    return 0;
}
