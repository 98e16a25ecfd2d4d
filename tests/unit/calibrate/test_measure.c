/* Repeating until stable, against clocks of our own; and the table of rows: kept, resumed, cut off, refused. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "entry_file.h"
#include "machine/device_resolve.h"
#include "measure.h"
#include "rows_file.h"
#include "catalog_of_tests.h"

/* --- measuring ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double run_s, first_s; /* the first run of all takes so much longer */
    unsigned calls, every; /* every so many calls are disturbed by a factor of 10 */
    unsigned long total;
    unsigned fail_at;
} fake;

static pace_probe_status fake_runs(double *seconds, void *state, unsigned runs, char *message) {
    fake *f = state;
    *seconds = runs * f->run_s + (f->calls == 0 ? f->first_s : 0);
    if (f->every && f->calls % f->every == f->every - 1) *seconds *= 10;
    f->calls++;
    f->total += runs;
    if (f->fail_at && f->calls >= f->fail_at) {
        snprintf(message, PACE_BACKEND_MESSAGE, "gone");
        return PACE_PROBE_FAILED;
    }
    return PACE_PROBE_OK;
}

static const pace_measure_limits limits = {
    .timer_s = 1e-7, .batch_s = 1e-3, .point_s = 0.2, .batches = 30, .tolerance = 0.01};

TEST(test_settles) {
    fake f = {.run_s = 3e-6, .first_s = 5};
    pace_point_time m;
    char message[PACE_BACKEND_MESSAGE];
    assert_int_equal(pace_measure(&m, &limits, fake_runs, &f, message), PACE_PROBE_OK);
    assert_true(fabs(m.median_s / 3e-6 - 1) < 1e-9 && fabs(m.best_s / 3e-6 - 1) < 1e-9);
    assert_int_equal(m.batches, 3); /* nothing varies */
    assert_true(m.spread < 1e-9);
    assert_true(m.runs * 3e-6 >= 1e-3); /* a batch is long enough for the clock */
}

/* A quarter of the batches is ten times as slow: the median does not move. */
TEST(test_disturbed) {
    fake f = {.run_s = 2e-3, .every = 4};
    pace_point_time m;
    char message[PACE_BACKEND_MESSAGE];
    assert_int_equal(pace_measure(&m, &limits, fake_runs, &f, message), PACE_PROBE_OK);
    assert_true(fabs(m.median_s / 2e-3 - 1) < 1e-9);
}

/* A run longer than the whole budget is still measured three times. */
TEST(test_slow) {
    fake f = {.run_s = 7};
    pace_point_time m;
    char message[PACE_BACKEND_MESSAGE];
    assert_int_equal(pace_measure(&m, &limits, fake_runs, &f, message), PACE_PROBE_OK);
    assert_int_equal(m.batches, 3);
    assert_int_equal(m.runs, 1);
    assert_int_equal(f.total, 5); /* one to warm up, one to see how long it takes */
    f = (fake){.run_s = 1e-3, .fail_at = 4};
    assert_int_equal(pace_measure(&m, &limits, fake_runs, &f, message), PACE_PROBE_FAILED);
    assert_string_equal(message, "gone");
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static char path[64];

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/paceline-rows-XXXXXX");
    int file = mkstemp(path);
    return file < 0 || close(file) != 0;
}

static int remove_path(void **state) {
    (void)state;
    unlink(path);
    test_catalog_close();
    return pace_memory_live() != 0;
}

static const pace_row_origin origin = {"dev", "a host", "a library 1", "2026-01-02", "loops", "wall", 2};

static pace_point product(double m) {
    pace_point point = {.op = PACE_MEASURE_GEMM, .dtype = PACE_POINT_FP32};
    const char *missing;
    for (int i = 0; i < PACE_POINT_SIZES; i++) point.size[i] = -1;
    point.size[PACE_SIZE_M] = m;
    point.size[PACE_SIZE_N] = 20;
    point.size[PACE_SIZE_K] = 30;
    assert_true(pace_point_complete(&point, &missing));
    return point;
}

static void add_rows(int from, int to) {
    pace_rows_file rows;
    assert_int_equal(pace_rows_file_open(&rows, path, "dev"), PACE_OK);
    for (int i = from; i < to; i++) {
        pace_point point = product(i);
        pace_point_time m = {1e-6 * i, 0.9e-6 * i, 0.01, 5, 100};
        assert_int_equal(pace_rows_file_add(&rows, &point, &origin, &m), PACE_OK);
    }
    pace_rows_file_close(&rows);
}

static off_t size_of(void) {
    struct stat entry;
    assert_int_equal(stat(path, &entry), 0);
    return entry.st_size;
}

TEST_WITH(test_resume, make_path, remove_path) {
    add_rows(1, 6);
    pace_rows_file rows;
    assert_int_equal(pace_rows_file_open(&rows, path, "dev"), PACE_OK);
    assert_int_equal(rows.kept, 5);
    for (int i = 1; i < 8; i++) {
        pace_point point = product(i);
        const pace_measured_row *row = pace_rows_file_find(&rows, &point, "loops", 2);
        assert_int_equal(row != NULL, i < 6);
        if (row)
            assert_true(fabs(row->median_s / (1e-6 * i) - 1) < 1e-5 && fabs(row->best_s / (0.9e-6 * i) - 1) < 1e-5);
        assert_null(pace_rows_file_find(&rows, &point, "loops", 1)); /* other threads, other row */
        assert_null(pace_rows_file_find(&rows, &point, "openblas", 2));
    }
    pace_rows_file_close(&rows);
    assert_int_equal(pace_rows_file_open(&rows, path, "other"), PACE_OK);
    assert_int_equal(rows.kept, 0); /* another device's rows stay in the file */
    pace_rows_file_close(&rows);
}

/* A run killed at any byte: what was whole stays, one row at most is lost, and the next run goes on. */
TEST_WITH(test_killed, make_path, remove_path) {
    add_rows(1, 4);
    off_t whole = size_of();
    char text[4096];
    int file = open(path, O_RDONLY);
    assert_int_equal(read(file, text, sizeof text), whole);
    close(file);
    off_t head = (off_t)(strchr(text, '\n') + 1 - text);
    for (off_t cut = whole; cut >= 0; cut -= cut > head ? 7 : 41) {
        file = open(path, O_WRONLY | O_TRUNC);
        assert_int_equal(write(file, text, (size_t)cut), cut);
        close(file);
        size_t lines = 0;
        for (off_t i = head; i < cut; i++) lines += text[i] == '\n';
        pace_rows_file rows;
        assert_int_equal(pace_rows_file_open(&rows, path, "dev"), PACE_OK);
        assert_int_equal(rows.kept, lines);
        pace_rows_file_close(&rows);
        add_rows(4, 5);
        assert_int_equal(pace_rows_file_open(&rows, path, "dev"), PACE_OK);
        assert_int_equal(rows.kept, lines + 1);
        pace_rows_file_close(&rows);
    }
}

static void put(const char *text) {
    int file = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

/* What is no table is refused and left as it is. */
TEST_WITH(test_refused, make_path, remove_path) {
    pace_rows_file rows;
    put("device,m\na100,3\n");
    off_t before = size_of();
    assert_int_equal(pace_rows_file_open(&rows, path, "dev"), PACE_E_INPUT);
    assert_int_equal(size_of(), before);
    assert_int_equal(pace_rows_file_open(&rows, "/nowhere/x.csv", "dev"), PACE_E_IO);
    assert_int_equal(pace_rows_file_open(&rows, "/tmp", "dev"), PACE_E_IO);
    put("");
    add_rows(1, 3);
    int file = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(file, "dev,loops\n", 10), 10);
    close(file);
    assert_int_equal(pace_rows_file_open(&rows, path, "dev"), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), ":4:"));
}

/* A full device: the message names the file, and rows before it are whole. */
TEST(test_disk_full) {
    pace_rows_file rows;
    if (access("/dev/full", W_OK) != 0) skip();
    assert_int_equal(pace_rows_file_open(&rows, "/dev/full", "dev"), PACE_E_IO);
    assert_non_null(strstr(pace_message(), "/dev/full"));
}

/* --- the entry ---------------------------------------------------------------------------------------------------- */

static pace_status add_stream(pace_rows_file *rows, double elements, double seconds) {
    pace_point point = {.op = PACE_MEASURE_COPY, .dtype = PACE_POINT_FP32};
    for (int i = 0; i < PACE_POINT_SIZES; i++) point.size[i] = -1;
    point.size[PACE_SIZE_ELEMENTS] = elements;
    pace_point_time m = {seconds, 0.8 * seconds, 0.02, 5, 1};
    return pace_rows_file_add(rows, &point, &origin, &m);
}

/* Rows to figures to YAML to the reader that --on uses. */
TEST_WITH(test_entry, make_path, remove_path) {
    pace_rows_file rows;
    pace_measured_device made;
    pace_device_catalog catalog;
    const pace_device *read;
    pace_device_facts facts = {.vendor = "AMD", .memory_bytes = 16e9, .cache_bytes = 32e6, .launch_s = 2e-6};
    char entry[80];
    snprintf(entry, sizeof entry, "%s.yaml", path);
    assert_int_equal(pace_rows_file_open(&rows, NULL, "dev"), PACE_OK);
    pace_measured_device_make(&made, &rows, &facts, "dev", NULL);
    assert_int_equal(pace_entry_file_write(entry, &made, "test"), PACE_E_MISSING);
    pace_point point = product(1000);
    pace_point_time m = {1e-3, 0.5e-3, 0.02, 5, 1};
    assert_int_equal(pace_rows_file_add(&rows, &point, &origin, &m), PACE_OK);
    assert_int_equal(add_stream(&rows, 32e6, 0.016), PACE_OK); /* 256 MB: memory, 16 GB/s */
    assert_int_equal(add_stream(&rows, 1e6, 0.0001), PACE_OK); /* 8 MB: cache, 80 GB/s */
    assert_int_equal(add_stream(&rows, 1e2, 1e-9), PACE_OK);   /* neither */
    pace_measured_device_make(&made, &rows, &facts, "dev", NULL);
    assert_int_equal(pace_entry_file_write("/nowhere/x.yaml", &made, "test"), PACE_E_IO);
    assert_int_equal(pace_entry_file_write(entry, &made, "test"), PACE_OK);
    pace_rows_file_close(&rows);
    assert_int_equal(pace_device_catalog_load(&catalog, test_catalog()), PACE_OK);
    if (pace_device_resolve(&read, &catalog, entry, 0) != PACE_OK) fail_msg("%s", pace_message());
    assert_string_equal(read->name, "dev");
    assert_true(fabs(read->flop_per_s[PACE_FP32] / (2 * 1000.0 * 20 * 30 / 0.5e-3) - 1) < 1e-5);
    assert_true(fabs(read->achievable_flop_per_s[PACE_FP32] / (2 * 1000.0 * 20 * 30 / 1e-3) - 1) < 1e-5);
    assert_true(fabs(read->achievable_bytes_per_s / 16e9 - 1) < 1e-5);
    assert_true(fabs(read->memory_bytes_per_s / 20e9 - 1) < 1e-5);
    assert_true(fabs(read->l2_bytes_per_s / 80e9 - 1) < 1e-5);
    assert_true(fabs(read->launch_s / 2e-6 - 1) < 1e-5 && read->l2_bytes == 32e6);
    pace_device_catalog_free(&catalog);
    unlink(entry);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
