/*
 * Fuzz target of slices: any bytes, read as a trace, are cut to a window, with and without names; what is written is a
 * document again, and keeps no event that the trace does not have.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog_of_tests.h"
#include "fuzz/scratch_folder.h"
#include "source/traces/kineto.h"
#include "source/slice/slice_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char in_path[96], out_path[96];

static void remove_files(void) {
    unlink(in_path);
    unlink(out_path);
}

static void open_paths(void) {
    if (in_path[0]) return;
    snprintf(in_path, sizeof in_path, "%s/in.json", make_scratch_folder());
    snprintf(out_path, sizeof out_path, "%s/out.json", scratch_folder);
    atexit(remove_files);
}

static void put(const uint8_t *data, size_t size) {
    FILE *file = fopen(in_path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

static pace_status read_trace(uint64_t *events, const char *path) {
    pace_step step;
    pace_input *input;
    pace_read_notes notes;
    if (pace_input_open(&input, path) != PACE_OK) abort();
    pace_status status = pace_kineto_read(&step, input, &notes, (pace_progress){0});
    pace_input_free(input);
    if (status != PACE_OK) return status;
    *events = step.event_count;
    pace_step_free(&step);
    return PACE_OK;
}

/* The slice is JSON by the grammar, all of it. */
static void check_grammar(void) {
    pace_input *input;
    pace_json *json;
    pace_json_token token;
    if (pace_input_open(&input, out_path) != PACE_OK || pace_json_open(&json, input) != PACE_OK) abort();
    do token = pace_json_next(json);
    while (token != PACE_JSON_END && !pace_json_failed(token));
    if (pace_json_failed(token) || pace_json_oddities(json)) {
        fprintf(stderr, "fuzz_slice: %s, %d oddities\n", pace_message(), (int)pace_json_oddities(json));
        abort();
    }
    pace_json_free(json);
    pace_input_free(input);
}

/* The slice reads back whole, is empty, or holds only events of a tool whose traces are not read. */
static void read_back(const pace_slice_counts *counts) {
    uint64_t events, all;
    if (counts->kept_events > counts->events) abort();
    pace_status status = read_trace(&events, out_path);
    if (status == PACE_OK && events != counts->kept_events) abort();
    bool other = status != PACE_OK && strstr(pace_message(), "of another tool");
    if (status != PACE_OK && counts->kept_events && !other && read_trace(&all, in_path) == PACE_OK) {
        status = read_trace(&events, out_path);
        fprintf(stderr, "fuzz_slice: %s\n", pace_message());
        abort();
    }
}

static void cut(const pace_kernel_classes *classes, const pace_anonymizer *anonymizer, int64_t from, int64_t until) {
    pace_slice_cut found;
    pace_slice_counts counts;
    pace_step steps;
    if (pace_slice_cut_find(&found, in_path, from, until, classes, (pace_progress){0}) != PACE_OK) return;
    if (pace_step_init(&steps) != PACE_OK) abort();
    pace_slice_job job = {.path = in_path, .cut = &found, .steps = &steps, .anonymizer = anonymizer};
    if (pace_slice_write(&counts, out_path, &job) == PACE_OK) {
        check_grammar();
        if (counts.warning[0] == '\0') read_back(&counts);
    }
    pace_step_free(&steps);
    pace_slice_cut_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pace_kernel_classes *classes;
    pace_anonymizer anonymizer;
    if (size > 1 << 20) return 0;
    open_paths();
    if (!classes && pace_kernel_classes_load(&classes, test_catalog()) != PACE_OK) abort();
    if (pace_anonymizer_open(&anonymizer, test_catalog(), classes) != PACE_OK) abort();
    put(data, size);
    cut(classes, NULL, 1000, 2000000);
    cut(classes, &anonymizer, INT64_MIN, INT64_MAX);
    return 0;
}
