/*
 * Fuzz target of SQLite files, read as an export of Nsight Systems, as a table of jobs and as stored results. Bytes
 * that begin as a database does are one; all else is SQL that makes one, so that values of every type meet every
 * column.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/jobs/job_reader.h"
#include "source/traces/nsys.h"
#include "source/results_store.h"
#include "catalog_of_tests.h"
#include "fuzz/scratch_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[96];

static void remove_file(void) { unlink(path); }

static void put(const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

/* SQLite's own memory, which is not what is tested here: pieces behind each other, all given back when none is left. */
enum { ARENA = 64 << 20, ALIGN = 16 };
static _Alignas(ALIGN) char arena[ARENA];
static size_t arena_used, arena_pieces;

static int piece_size(void *piece) { return piece ? *(int *)(void *)((char *)piece - ALIGN) : 0; }

static void *piece_make(int size) {
    size_t room = ALIGN + ((size_t)size + ALIGN - 1) / ALIGN * ALIGN;
    if (arena_used + room > ARENA) return NULL;
    char *piece = arena + arena_used + ALIGN;
    arena_used += room;
    arena_pieces++;
    *(int *)(void *)(piece - ALIGN) = size;
    return piece;
}

static void piece_free(void *piece) {
    if (piece && --arena_pieces == 0) arena_used = 0;
}

static void *piece_resize(void *piece, int size) {
    if (piece && size <= piece_size(piece)) return piece;
    void *larger = piece_make(size);
    if (larger && piece) memcpy(larger, piece, (size_t)piece_size(piece));
    if (larger) piece_free(piece);
    return larger;
}

static int piece_round(int size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }
static int arena_open(void *context) { return (void)context, SQLITE_OK; }
static void arena_close(void *context) { (void)context; }

static void set_up_sqlite(void) {
    static const sqlite3_mem_methods memory = {piece_make,  piece_free, piece_resize, piece_size,
                                               piece_round, arena_open, arena_close,  NULL};
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK)
        abort();
}

/* Tables, rows and what may stand in a schema; no other files and nothing that runs long. */
static int allow(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_CREATE_TABLE || action == SQLITE_CREATE_VIEW || action == SQLITE_CREATE_TRIGGER ||
                   action == SQLITE_CREATE_INDEX || action == SQLITE_INSERT || action == SQLITE_UPDATE ||
                   action == SQLITE_SELECT || action == SQLITE_READ
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int stop(void *context) {
    (void)context;
    return 1;
}

static void make(const uint8_t *data, size_t size) {
    sqlite3 *database;
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    unlink(path);
    if (sqlite3_open(path, &database) != SQLITE_OK) abort();
    sqlite3_exec(database, "PRAGMA page_size=512; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL,
                 NULL);
    sqlite3_set_authorizer(database, allow, NULL);
    sqlite3_progress_handler(database, 100000, stop, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1 << 16);
    sqlite3_exec(database, text, NULL, NULL, NULL);
    sqlite3_set_authorizer(database, NULL, NULL);
    sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(database);
    free(text);
}

static void read_export(void) {
    pace_step step;
    pace_read_notes notes;
    pace_status status = pace_nsys_read(&step, path, &notes, (pace_progress){0});
    if (status != PACE_OK) {
        if (!*pace_message() || status == PACE_E_INTERNAL) abort();
        return;
    }
    if (pace_step_check(&step) != PACE_OK) abort();
    pace_step_free(&step);
}

static pace_status count(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    (void)file, (void)worker;
    for (size_t i = 0; i < jobs->count; i++)
        for (int k = 0; k < PACE_JOB_REQUIRED; k++)
            if (!isfinite(jobs->values[k][i]) || jobs->values[k][i] < 0) abort();
#pragma omp atomic
    *(uint64_t *)context += jobs->count;
    return PACE_OK;
}

static void read_jobs(void) {
    const pace_job_reader_options options = {.catalog = test_catalog(), .most_rejected = 1};
    const char *const paths[] = {path};
    pace_job_reading reading;
    uint64_t jobs = 0;
    if (pace_jobs_read(&reading, paths, 1, &options, count, &jobs) == PACE_OK) {
        if (reading.jobs != jobs || reading.jobs + reading.rejected != reading.rows) abort();
        pace_job_reading_free(&reading);
    } else if (!*pace_message()) {
        abort();
    }
}

static void read_results(void) {
    const char *const paths[] = {path};
    pace_results results;
    if (pace_results_read(&results, paths, 1) != PACE_OK) {
        if (!*pace_message()) abort();
        return;
    }
    for (size_t i = 0; i < results.figures.count; i++)
        if (results.figures.items[i].run >= results.runs.count || !isfinite(results.figures.items[i].value)) abort();
    pace_results_free(&results);
}

static bool names(const uint8_t *data, size_t size, const char *word) {
    return memmem(data, size, word, strlen(word)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!*path) {
        set_up_sqlite();
        snprintf(path, sizeof path, "%s/fuzz.sqlite", make_scratch_folder());
        atexit(remove_file);
    }
    if (size >= 15 && memcmp(data, "SQLite format 3", 15) == 0) put(data, size);
    else make(data, size);
    /* each opens the file anew, which is most of the time: only those whose tables it may have, at least one */
    bool jobs = names(data, size, "job"), results = names(data, size, "paceline");
    if (jobs) read_jobs();
    if (results) read_results();
    if (!(jobs || results) || names(data, size, "CUPTI")) read_export();
    return 0;
}
