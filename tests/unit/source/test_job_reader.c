/* Job tables: what is read, what is refused and why, against tables written here line by line. */

#include "cmocka_of_tests.h"

#include "source/jobs/job_ids.h"
#include "source/jobs/job_reader.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef PACE_HAVE_SQLITE
#include <sqlite3.h>
#endif

#define HEADER                                                                                      \
    "job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes," \
    "dense_weight_bytes,embedding_weight_bytes\n"
#define NUMBERS "4,512,1.5e12,3e10,4e7,3e8,2e8,0"

enum { MOST_SEEN = 60000 };

typedef struct {
    uint64_t line;
    char id[24];
    double sum;
    uint8_t architecture;
} seen_job;

static struct {
    seen_job jobs[MOST_SEEN];
    size_t count;
    double first[PACE_JOB_COLUMNS]; /* of the job on the lowest line */
    char user[24];
    size_t workers; /* that the thread which asks may have: others have a number of their own */
} seen;

static pace_status keep(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    (void)context, (void)file;
    if (worker >= seen.workers) return pace_fail(PACE_E_INTERNAL, "worker %zu", worker);
#pragma omp critical(test_keep)
    for (size_t i = 0; i < jobs->count && seen.count < MOST_SEEN; i++) {
        seen_job *job = &seen.jobs[seen.count++];
        job->line = jobs->lines[i];
        job->architecture = jobs->architectures[i];
        snprintf(job->id, sizeof job->id, "%s", pace_jobs_id(jobs, i));
        job->sum = 0;
        for (int k = 0; k < PACE_JOB_REQUIRED; k++) job->sum += jobs->values[k][i];
        if (seen.count == 1 || seen.jobs[0].line >= job->line) {
            for (int k = 0; k < PACE_JOB_COLUMNS; k++) seen.first[k] = jobs->values[k][i];
            snprintf(seen.user, sizeof seen.user, "%s", pace_jobs_user(jobs, i));
        }
    }
    return PACE_OK;
}

static int by_line(const void *a, const void *b) {
    uint64_t x = ((const seen_job *)a)->line, y = ((const seen_job *)b)->line;
    return (x > y) - (x < y);
}

static pace_status read_bytes(pace_job_reading *out, const char *bytes, size_t length,
                              const pace_job_reader_options *options) {
    pace_input *input;
    const pace_job_reader_options plain = {.catalog = test_catalog()};
    if (!options) options = &plain;
    seen.count = 0;
    seen.workers = pace_job_workers();
    assert_int_equal(pace_input_open_memory(&input, "jobs.csv", bytes, length), PACE_OK);
    pace_status status = pace_jobs_read_input(out, input, options, keep, NULL);
    pace_input_free(input);
    qsort(seen.jobs, seen.count, sizeof *seen.jobs, by_line);
    return status;
}

static pace_status read_text(pace_job_reading *out, const char *text, const pace_job_reader_options *options) {
    return read_bytes(out, text, strlen(text), options);
}

TEST(test_columns_in_any_order) {
    static const char text[] =
        "\xef\xbb\xbf# made here\n\nuser,Embedding-Weight-Bytes,Architecture,note,job,flop,cnodes,"
        "batch_size,memory_access_bytes,input_bytes,weight_traffic_bytes,dense_weight_bytes,"
        "step_s,gpu_hours\r\n"
        "ann,7,\"PS/Worker\",\"a, \"\"b\"\"\",\"j,1\", 1.5e12 ,4,512,\"3e10\",4e7,3e8,2e8,,nan\r\n"
        "\r\n"
        "bob,0,pearl,,j2,1,1,1,1,1,1,1,0.25,3";
    pace_job_reading reading;
    assert_int_equal(read_text(&reading, text, NULL), PACE_OK);
    assert_int_equal(reading.rows, 2);
    assert_int_equal(reading.jobs, 2);
    assert_int_equal(reading.rejected, 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.jobs[0].line, 4);
    assert_int_equal(seen.jobs[1].line, 6);
    assert_string_equal(seen.jobs[0].id, "j,1");
    assert_string_equal(seen.user, "ann");
    assert_int_equal(seen.jobs[0].architecture, PACE_JOB_PS_WORKER);
    assert_int_equal(seen.jobs[1].architecture, PACE_JOB_PEARL);
    static const double values[] = {4, 512, 1.5e12, 3e10, 4e7, 3e8, 2e8, 7};
    for (int i = 0; i < PACE_JOB_REQUIRED; i++) assert_true(seen.first[i] == values[i]);
    for (int i = PACE_JOB_REQUIRED; i < PACE_JOB_COLUMNS; i++) assert_true(isnan(seen.first[i]));
    pace_job_reading_free(&reading);
}

static void expect_fault(const char *row, const char *reason) {
    char text[1024];
    pace_job_reading reading;
    const pace_job_reader_options options = {.catalog = test_catalog(), .most_rejected = 1};
    snprintf(text, sizeof text, HEADER "good,ps_worker," NUMBERS "\n%s\nalso good,ps_worker," NUMBERS "\n", row);
    assert_int_equal(read_text(&reading, text, &options), PACE_OK);
    assert_int_equal(reading.rows, 3);
    assert_int_equal(reading.jobs, 2);
    assert_int_equal(reading.rejected, 1);
    assert_int_equal(seen.count, 2);
    assert_int_equal(reading.rejects.count, 1);
    assert_non_null(strstr(reading.rejects.items[0], "jobs.csv:3: "));
    if (!strstr(reading.rejects.items[0], reason)) fail_msg("\"%s\" lacks \"%s\"", reading.rejects.items[0], reason);
    pace_job_reading_free(&reading);
}

TEST(test_faults) {
    expect_fault("x,ps_worker,4,512,1.5e12,3e10,4e7,3e8,2e8",
                 "expected 10 cells as in the header, found 9: cut short?");
    expect_fault("x,ps_wor", "found 2: cut short?");
    expect_fault("x,ps_worker," NUMBERS ",1,2", "expected 10 cells as in the header, found 12");
    expect_fault("x,ps_worker,4,512,1.5e12,3e10,4e7,3e8,,0", "dense_weight_bytes: expected a number, found \"\"");
    expect_fault("x,ps_worker,four,512,1.5e12,3e10,4e7,3e8,2e8,0", "cnodes: expected a number, found \"four\"");
    expect_fault("x,ps_worker,4,512,nan,3e10,4e7,3e8,2e8,0", "flop: expected a number, found \"nan\"");
    expect_fault("x,ps_worker,4,512,1.5e12,3e10,-4e7,3e8,2e8,0", "input_bytes is -4e+07: expected at least 0");
    expect_fault("x,ps_worker,4,512,1.5e12,3e10,4e7,3e30,2e8,0",
                 "weight_traffic_bytes is 3e+30: expected at most 1e+15");
    expect_fault("x,ps_worker,4,512,1.5e12,3e10,0.04,3e8,2e8,0", "is the column in MB?");
    expect_fault("x,ps_worker,4.5,512,1.5e12,3e10,4e7,3e8,2e8,0", "cnodes is 4.5: expected a whole number");
    expect_fault("x,ps_worker,0,512,1.5e12,3e10,4e7,3e8,2e8,0", "cnodes is 0: expected at least 1");
    expect_fault("x,1w1g," NUMBERS, "cnodes is 4: expected 1 for 1w1g");
    expect_fault("x,ring," NUMBERS, "found \"ring\"");
    expect_fault(",ps_worker," NUMBERS, "job: expected a name");
    expect_fault("\"x,ps_worker," NUMBERS, "a quote is left open");
    expect_fault("good,ps_worker," NUMBERS, "job \"good\" was there before");
}

static void expect_failure(const char *text, const pace_job_reader_options *options, pace_status status,
                           const char *message) {
    pace_job_reading reading;
    assert_int_equal(read_text(&reading, text, options), status);
    if (!strstr(pace_message(), message)) fail_msg("\"%s\" lacks \"%s\"", pace_message(), message);
}

TEST(test_columns_missing) {
    static const char typo[] =
        "job,architecture,cnodes,batch_size,flops_total,memory_access_bytes,input_bytes,"
        "weight_traffic_bytes,dense_weight_bytes,embedding_weight_bytes\nx,ps_worker," NUMBERS "\n";
    expect_failure(typo, NULL, PACE_E_INPUT, "no column \"flop\"; the closest name is \"flops_total\"");
    expect_failure("", NULL, PACE_E_INPUT, "empty");
    expect_failure("# nothing\n", NULL, PACE_E_INPUT, "column names");
    expect_failure(HEADER, NULL, PACE_E_INPUT, "expected rows of jobs, found none");
    expect_failure("flop,FLOP\n1,2\n", NULL, PACE_E_INPUT, "are both \"flop\"");
    pace_job_reader_options options = {.catalog = test_catalog(), .columns = "flops_total*1e3=flop"};
    pace_job_reading reading;
    assert_int_equal(read_text(&reading, typo, &options), PACE_OK);
    assert_true(seen.count == 1 && seen.first[PACE_JOB_FLOP] == 1.5e12 * 1e3);
    pace_job_reading_free(&reading);
    options.columns = "flop_total=flop";
    expect_failure(typo, &options, PACE_E_USAGE, "no column \"flop_total\"; the closest name is \"flops_total\"");
    options.columns = "flops_total=flups";
    expect_failure(typo, &options, PACE_E_USAGE, "did you mean \"flop\"?");
    options.columns = "flops_total";
    expect_failure(typo, &options, PACE_E_USAGE, "THEIRS=OURS");
    static const char optional[] =
        "job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,"
        "weight_traffic_bytes,dense_weight_bytes,embedding_weight_bytes,steps_s\nx,ps_worker," NUMBERS ",1\n";
    assert_int_equal(read_text(&reading, optional, NULL), PACE_OK);
    assert_int_equal(reading.remarks.count, 1);
    assert_non_null(strstr(reading.remarks.items[0].text, "\"steps_s\" is not used; did you mean \"step_s\""));
    pace_job_reading_free(&reading);
    static const char unread[] =
        "job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,"
        "weight_traffic_bytes,dense_weight_bytes,embedding_weight_bytes,shelf,Machine\nx,ps_worker," NUMBERS
        ",me,a100\n";
    assert_int_equal(read_text(&reading, unread, NULL), PACE_OK);
    assert_int_equal(reading.remarks.count, 2);
    assert_non_null(strstr(reading.remarks.items[0].text, "column \"Machine\" has no effect: a fleet is asked on one"));
    assert_non_null(strstr(reading.remarks.items[1].text, "columns shelf, Machine are not read"));
    pace_job_reading_free(&reading);
}

TEST(test_units) {
    pace_job_reading reading;
    static const char gigabytes[] =
        HEADER "a,ps_worker,4,512,1.5e12,31.9,4e7,3e8,2e8,0\nb,ps_worker,4,512,1.5e12,100.4,4e7,3e8,"
               "2e8,0\n";
    assert_int_equal(read_text(&reading, gigabytes, NULL), PACE_OK);
    assert_int_equal(reading.remarks.count, 1);
    assert_non_null(strstr(reading.remarks.items[0].text,
                           "the largest memory_access_bytes of all jobs is 100.4: is the column in GB?"));
    pace_job_reading_free(&reading);
}

/* 40 000 rows in several blocks, some of them no jobs, some ids repeated in other blocks. */
static char *many_rows(size_t *length, size_t *bad, size_t *repeated) {
    char *text = malloc(8u << 20), *at = text + sprintf(text, HEADER);
    *bad = *repeated = 0;
    for (int i = 0; i < 40000; i++) {
        if (i % 1000 == 7) {
            at += sprintf(at, "job-%06d,ps_worker,4,512\n", i), ++*bad;
        } else if (i % 1000 == 500 && i > 20000) {
            at += sprintf(at, "job-%06d,ps_worker," NUMBERS "\n", i - 20000), ++*repeated;
        } else {
            at += sprintf(at, "job-%06d,ps_worker,%d,512,%d.5e9,3e10,4e7,%d,2e8,0%s\n", i, 1 + i % 128, 1 + i % 977,
                          1000 * i, "                                            " + i % 40);
        }
    }
    *length = (size_t)(at - text);
    return text;
}

static char *file_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    size_t got = fread(text, 1, (1 << 20) - 1, file);
    assert_true(got > 0);
    fclose(file);
    return text;
}

static void set_threads(int threads) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

TEST(test_blocks_and_threads) {
    size_t length, bad, repeated;
    char *text = many_rows(&length, &bad, &repeated), path[] = "/tmp/paceline-rejects-XXXXXX", *rejects[2];
    static seen_job first[MOST_SEEN];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int round = 0; round < 2; round++) {
        pace_job_reading reading;
        const pace_job_reader_options options = {.catalog = test_catalog(), .most_rejected = 0.5, .rejects_path = path};
        set_threads(round ? 4 : 1);
        assert_int_equal(read_bytes(&reading, text, length, &options), PACE_OK);
        assert_int_equal(reading.rows, 40000);
        assert_int_equal(reading.rejected, bad + repeated);
        assert_int_equal(reading.repeated, repeated);
        assert_int_equal(reading.jobs, 40000 - bad - repeated);
        assert_int_equal(seen.count, reading.jobs);
        for (size_t i = 0; i < seen.count; i++) /* line 1 is the header: job i stands on line i + 2 */
            assert_int_equal(strtol(seen.jobs[i].id + 4, NULL, 10) + 2, seen.jobs[i].line);
        if (round == 0) memcpy(first, seen.jobs, seen.count * sizeof *first);
        else
            for (size_t i = 0; i < seen.count; i++) assert_true(first[i].sum == seen.jobs[i].sum);
        rejects[round] = file_text(path);
        pace_job_reading_free(&reading);
    }
    set_threads(2);
    assert_string_equal(rejects[0], rejects[1]);
    assert_memory_equal(rejects[0], "file,line,reason,row\n\"jobs.csv\",9,\"expected 10 cells", 48);
    assert_non_null(
        strstr(rejects[0],
               "\"jobs.csv\",20502,\"job \"\"job-000500\"\" was there before (--repeats lets it)\",\"job-000500\"\n"));
    pace_job_reading reading;
    const pace_job_reader_options strict = {.catalog = test_catalog(), .most_rejected = 0.001},
                                  repeats = {.catalog = test_catalog(), .repeats = true};
    assert_int_equal(read_bytes(&reading, text, length, &strict), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "rows are no jobs, more than 0.1 %"));
    assert_non_null(strstr(pace_message(), "jobs.csv:9: expected 10 cells"));
    assert_int_equal(read_bytes(&reading, text, length, &repeats), PACE_OK);
    assert_int_equal(reading.jobs, 40000 - bad);
    pace_job_reading_free(&reading);
    unlink(path);
    free(rejects[0]), free(rejects[1]), free(text);
}

TEST(test_stream_that_breaks_off) {
    size_t length, bad, repeated;
    char *text = many_rows(&length, &bad, &repeated);
    uLong bound = compressBound((uLong)length) + 64;
    unsigned char *packed = malloc(bound);
    z_stream gzip = {0};
    assert_int_equal(deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    gzip.next_in = (Bytef *)text, gzip.avail_in = (uInt)length, gzip.next_out = packed, gzip.avail_out = (uInt)bound;
    assert_int_equal(deflate(&gzip, Z_FINISH), Z_STREAM_END);
    size_t size = gzip.total_out;
    deflateEnd(&gzip);
    const pace_job_reader_options options = {.catalog = test_catalog(), .most_rejected = 0.5};
    pace_job_reading reading;
    assert_int_equal(read_bytes(&reading, (char *)packed, size, &options), PACE_OK);
    assert_int_equal(reading.rows, 40000);
    assert_int_equal(reading.remarks.count, 0);
    pace_job_reading_free(&reading);
    assert_int_equal(read_bytes(&reading, (char *)packed, size / 2, &options), PACE_OK);
    assert_in_range(reading.rows, 10000, 30000);
    assert_int_equal(reading.jobs + reading.rejected, reading.rows);
    assert_non_null(strstr(reading.remarks.items[0].text, "read as far as it goes"));
    assert_true(seen.jobs[seen.count - 1].line <= reading.rows + 1);
    pace_job_reading_free(&reading);
    free(packed), free(text);
}

static pace_status refuse(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    (void)context, (void)worker, (void)file, (void)jobs;
    return pace_fail(PACE_E_LIMIT, "enough");
}

TEST(test_callback_fails) {
    size_t length, bad, repeated;
    char *text = many_rows(&length, &bad, &repeated);
    pace_input *input;
    pace_job_reading reading;
    assert_int_equal(pace_input_open_memory(&input, "jobs.csv", text, length), PACE_OK);
    assert_int_equal(pace_jobs_read_input(&reading, input, &(pace_job_reader_options){.catalog = test_catalog()},
                                          refuse, NULL),
                     PACE_E_LIMIT);
    assert_string_equal(pace_message(), "enough");
    pace_input_free(input);
    free(text);
}

TEST(test_database) {
#ifdef PACE_HAVE_SQLITE
    char path[] = "/tmp/paceline-jobs-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    static const char script[] =
        "CREATE TABLE other(x); CREATE TABLE jobs(job TEXT, architecture TEXT, cnodes INTEGER, batch_size REAL, flop, "
        "memory_access_bytes, input_bytes, traffic_MB REAL, dense_weight_bytes, embedding_weight_bytes, step_s REAL);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) INSERT INTO jobs SELECT 'job-' || i, "
        "'PS/Worker', 1 + i % 7, 512, '1.5e12', 3e10, 4e7, i, 2e8, 0, NULL FROM n;"
        "UPDATE jobs SET flop = 'many' WHERE job = 'job-5000'; UPDATE jobs SET job = 'job-1' WHERE job = 'job-6000';";
    assert_int_equal(sqlite3_exec(database, script, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    pace_job_reading reading;
    const pace_job_reader_options options = {.catalog = test_catalog(),
                                             .columns = "traffic_MB*1e6=weight_traffic_bytes"},
                                  wrong = {.catalog = test_catalog(), .table = "jbos"};
    const char *paths[] = {path};
    seen.count = 0;
    assert_int_equal(pace_jobs_read(&reading, paths, 1, &options, keep, NULL), PACE_OK);
    qsort(seen.jobs, seen.count, sizeof *seen.jobs, by_line);
    assert_int_equal(reading.rows, 10000);
    assert_int_equal(seen.count, 9998);
    assert_int_equal(reading.repeated, 1);
    assert_non_null(strstr(reading.rejects.items[0], ":5001: flop: expected a number"));
    assert_non_null(strstr(reading.rejects.items[1], ":6001: job \"job-1\" was there before"));
    for (size_t i = 0; i < seen.count; i++) {
        double k = (double)seen.jobs[i].line - 1;
        assert_true(seen.jobs[i].sum == 1 + fmod(k, 7) + 512 + 1.5e12 + 3e10 + 4e7 + k * 1e6 + 2e8);
    }
    pace_job_reading_free(&reading);
    assert_int_equal(pace_jobs_read(&reading, paths, 1, &wrong, keep, NULL), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "no table \"jbos\""));
    unlink(path);
#else
    skip();
#endif
}

TEST(test_ids) {
    pace_job_ids ids;
    bool again[3];
    size_t repeats;
    uint64_t total = 0;
    assert_int_equal(pace_job_ids_init(&ids, 50000), PACE_OK);
    for (uint64_t i = 0; i < 60000; i += 2) { /* each number is there twice, next to each other or apart */
        uint64_t hashes[] = {i * UINT64_C(0x9e3779b97f4a7c15), (i / 4) * UINT64_C(0x9e3779b97f4a7c15), 0};
        assert_int_equal(pace_job_ids_add(again, &repeats, &ids, hashes, 3), PACE_OK);
        assert_int_equal(again[2], i > 0 || hashes[0] == 0);
        total += repeats;
    }
    size_t kept = 0;
    for (size_t p = 0; p < PACE_JOB_ID_PARTS; p++) {
        const pace_job_id_part *part = &ids.parts[p];
        assert_true(part->count <= part->most && 8 * part->count <= 5 * part->slot_count);
        kept += part->count;
    }
    assert_true(kept <= 50000);
    assert_int_equal(kept + total + pace_job_ids_unchecked(&ids), 90000);
    pace_job_ids_free(&ids);
}

/* Numbers that count in any steps, and those that start where others end: each is new once. */
TEST(test_ids_that_count) {
    enum { COUNT = 20000 };
    static const unsigned shifts[] = {0, 3, 6, 8, 20, 40};
    uint64_t *keys = calloc(COUNT, sizeof *keys);
    bool *again = calloc(COUNT, sizeof *again);
    pace_job_ids ids;
    assert_true(keys && again);
    assert_int_equal(pace_job_ids_init(&ids, 0), PACE_OK);
    for (size_t s = 0; s < PACE_COUNT(shifts); s++) {
        size_t repeats;
        for (uint64_t i = 0; i < COUNT; i++) keys[i] = ((s + 1) << 60) + (i << shifts[s]);
        for (size_t time = 0; time < 2; time++) {
            assert_int_equal(pace_job_ids_add(again, &repeats, &ids, keys, COUNT), PACE_OK);
            assert_int_equal(repeats, time * COUNT);
            for (size_t i = 0; i < COUNT; i++) assert_int_equal(again[i], time);
        }
    }
    pace_job_ids_free(&ids);
    free(keys);
    free(again);
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Ids that differ have keys that differ, whether they stand alone or back to back; the number that an id ends in
 * counts on. */
TEST(test_keys) {
    static const char *const forms[] = {"%d",    "%09d", "job-%d", "job-%07d", "%d_", "12345678901234%06d",
                                        "a%d.b", "%x-"};
    enum { EACH = 5000, COUNT = EACH * PACE_COUNT(forms) };
    char *text = malloc(COUNT * 32), *to = text;
    uint64_t *alone = calloc(COUNT, sizeof *alone), *keys = calloc(COUNT, sizeof *keys);
    size_t *at = calloc(COUNT, sizeof *at);
    assert_true(text && alone && keys && at);
    for (int i = 0; i < COUNT; i++) {
        at[i] = (size_t)(to - text);
        to += sprintf(to, forms[i % (int)PACE_COUNT(forms)], i / (int)PACE_COUNT(forms)) + 1;
        alone[i] = pace_job_id_key(text + at[i], strlen(text + at[i]));
    }
    pace_job_id_keys(keys, text, at, COUNT, (size_t)(to - text));
    assert_memory_equal(alone, keys, COUNT * sizeof *keys);
    qsort(keys, COUNT, sizeof *keys, by_number);
    for (int i = 1; i < COUNT; i++) assert_true(keys[i - 1] < keys[i]);
    assert_true(pace_job_id_key("run-7", 5) == pace_job_id_key("run-1", 5) + 6);
    free(text);
    free(alone);
    free(keys);
    free(at);
}

static uint64_t drawn(uint64_t below) {
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

/* A number as a table may hold it. */
static double draw_cell(char *cell) {
    double value = (double)(1 + drawn(100000)) * pow(10, (double)drawn(10));
    static const char *const forms[] = {"%.0f",  "%.0f",  "%.0f",  "%.0f.0", "000%.0f",
                                        "%.17g", "%.16e", " %.0f", "%.0f\t", "+%.0f"};
    size_t form = drawn(PACE_COUNT(forms) + 2);
    if (form < PACE_COUNT(forms)) sprintf(cell, forms[form], value);
    else if (form == PACE_COUNT(forms)) sprintf(cell, "%.0f.%03u", value, (unsigned)drawn(1000));
    else sprintf(cell, "%u.%014u", 1 + (unsigned)drawn(1000), (unsigned)drawn(1u << 31));
    return strtod(cell, NULL);
}

/* Every way to write a number, in rows with and without quotes, gives what the C library reads there. */
static void check_spellings(const char *line_end) {
    enum { ROWS = 700 };
    static double sums[ROWS];
    char *text = malloc(ROWS * 400), *at = text + sprintf(text, "%.*s%s", (int)strlen(HEADER) - 1, HEADER, line_end);
    for (int i = 0; i < ROWS; i++) {
        const char *quote = drawn(20) == 0 ? "\"" : "";
        unsigned cnodes = 2 + (unsigned)drawn(60);
        at += sprintf(at, "%sj%d%s,%s,%u", quote, i, quote, drawn(9) ? "ps_worker" : "PS/Worker ", cnodes);
        sums[i] = cnodes;
        for (int k = 1; k < PACE_JOB_REQUIRED; k++) {
            char cell[64];
            double value = draw_cell(cell);
            if (k == PACE_JOB_BATCH_SIZE) value = 32, strcpy(cell, "32");
            sums[i] += value;
            at += sprintf(at, ",%s", cell);
        }
        at += sprintf(at, "%s", i + 1 < ROWS ? line_end : "");
    }
    pace_job_reading reading;
    assert_int_equal(read_text(&reading, text, NULL), PACE_OK);
    assert_int_equal(reading.jobs, ROWS);
    assert_int_equal(seen.count, ROWS);
    for (int i = 0; i < ROWS; i++) {
        char id[24];
        snprintf(id, sizeof id, "j%d", i);
        assert_string_equal(seen.jobs[i].id, id);
        assert_int_equal(seen.jobs[i].line, 2 + i);
        assert_int_equal(seen.jobs[i].architecture, PACE_JOB_PS_WORKER);
        assert_true(seen.jobs[i].sum == sums[i]);
    }
    pace_job_reading_free(&reading);
    free(text);
}

TEST(test_spellings) {
    check_spellings("\n");
    check_spellings("\r\n");
}

int main(void) { return run_tests_of_file(NULL, NULL); }
