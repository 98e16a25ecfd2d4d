/* The host overheads of the analyze report, and their raw samples as a file of their own. */
#include "report/analyze_parts.h"

#include "insight/overheads.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_of(const pace_rank *rank, const pace_overhead_row *row) {
    return row->name ? pace_names_text(&rank->step.names, row->name) : NULL;
}

/* --- in the report ----------------------------------------------------------------------------------------- */

static void put_totals(pace_node *root, const pace_overheads *overheads) {
    pace_node *object = pace_node_object(root, "overheads", NULL, PACE_FOR_JSON);
    for (size_t i = 0; i < PACE_OVERHEAD_TYPES; i++) {
        const pace_overhead_row *total = &overheads->total[i];
        pace_node *type = pace_node_object(object, pace_overhead_names[i], NULL, PACE_FOR_JSON);
        pace_node_int(type, "count", (int64_t)total->count);
        pace_node_real(type, "median_ns", total->count ? total->median_ns : NAN);
        pace_node_real(type, "mean_ns", total->count ? total->mean_ns : NAN);
    }
}

static void put_row(pace_node *table, const pace_rank *rank, const pace_overhead_row *row) {
    pace_table_row(table);
    pace_table_text(table, pace_overhead_names[row->type]);
    const char *name = name_of(rank, row);
    if (name) pace_table_text(table, name);
    else pace_table_none(table);
    pace_table_int(table, (int64_t)row->count);
    pace_table_int(table, llround(row->median_ns));
    pace_table_int(table, llround(row->mean_ns));
    pace_table_int(table, llround(row->std_ns));
    pace_table_int(table, llround(row->sum_ns));
}

static int by_sum(const void *left, const void *right) {
    const pace_overhead_row *a = *(const pace_overhead_row *const *)left, *b = *(const pace_overhead_row *const *)right;
    if (a->sum_ns != b->sum_ns) return a->sum_ns > b->sum_ns ? -1 : 1;
    return (a > b) - (a < b);
}

/* Largest first whatever the type: the rows shown are the ones worth looking at. */
static pace_status put_table(pace_node *root, const pace_rank *rank, const pace_overheads *overheads) {
    static const pace_column columns[] = {
        {"type", "type", PACE_SHOW_TEXT},      {"name", "name", PACE_SHOW_TEXT},  {"count", "count", PACE_SHOW_INT},
        {"median_ns", "median", PACE_SHOW_NS}, {"mean_ns", "mean", PACE_SHOW_NS}, {"std_ns", "std", PACE_SHOW_NS},
        {"total_ns", "total", PACE_SHOW_NS},
    };
    size_t count = overheads->rows.count;
    if (count == 0) return PACE_OK;
    const pace_overhead_row **order = pace_alloc(count, sizeof *order);
    if (!order) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) order[i] = &overheads->rows.items[i];
    qsort(order, count, sizeof *order, by_sum);
    pace_node *table = pace_node_table(root, "overheads_by_operator", "Host overheads (DLRM types T1 to T5)",
                                       PACE_FOR_ALL, columns, sizeof columns / sizeof *columns, 12);
    for (size_t i = 0; i < count; i++) put_row(table, rank, order[i]);
    pace_free(order);
    pace_node_note(
        root, "t1 between operators, t2 before an operator's first call of the runtime, t3 after its last, t4 in a "
              "call that gives the device work, t5 between its calls. Median, mean and std leave outliers out.");
    return PACE_OK;
}

/* --- as a file --------------------------------------------------------------------------------------------- */

static void write_row(pace_jsonw *json, const pace_rank *rank, const pace_overheads *overheads,
                      const pace_overhead_row *row) {
    const char *name = name_of(rank, row);
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key(json, "type");
    pace_jsonw_text(json, pace_overhead_names[row->type]);
    pace_jsonw_key(json, "name");
    if (name) pace_jsonw_text(json, name);
    else pace_jsonw_null(json);
    pace_jsonw_key(json, "count");
    pace_jsonw_int(json, (int64_t)row->count);
    pace_jsonw_key(json, "kept");
    pace_jsonw_int(json, (int64_t)row->kept);
    pace_jsonw_key(json, "mean_ns");
    pace_jsonw_real(json, row->mean_ns);
    pace_jsonw_key(json, "std_ns");
    pace_jsonw_real(json, row->std_ns);
    pace_jsonw_key(json, "median_ns");
    pace_jsonw_real(json, row->median_ns);
    pace_jsonw_key(json, "samples_ns");
    pace_jsonw_array(json);
    for (size_t i = 0; i < row->count; i++) pace_jsonw_int(json, overheads->samples.items[row->first_sample + i]);
    pace_jsonw_array_end(json);
    pace_jsonw_object_end(json);
}

static void write_document(pace_sink *sink, const pace_rank *rank, const pace_overheads *overheads,
                           double profiler_event_ns) {
    pace_jsonw json;
    pace_jsonw_init(&json, sink, 1);
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "schema");
    pace_jsonw_text(&json, "paceline.overheads/1");
    pace_jsonw_key(&json, "profiler_event_ns");
    pace_jsonw_real(&json, profiler_event_ns);
    pace_jsonw_key(&json, "rows");
    pace_jsonw_array(&json);
    for (size_t i = 0; i < overheads->rows.count; i++) write_row(&json, rank, overheads, &overheads->rows.items[i]);
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
}

static int write_stream(void *stream, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, stream) == length) return 0;
    return errno ? errno : EIO;
}

/* To `beside`, renamed to `path` once it is whole; they are the same for what is no regular file. */
static pace_status write_beside(const char *beside, const char *path, const pace_rank *rank,
                                const pace_overheads *overheads, double profiler_event_ns) {
    bool apart = strcmp(beside, path) != 0;
    FILE *file = fopen(beside, "wb");
    if (!file) return pace_fail(PACE_E_IO, "%s: cannot be created: %s", path, strerror(errno));
    pace_sink sink;
    pace_status status = pace_sink_open(&sink, write_stream, file);
    if (status == PACE_OK) {
        write_document(&sink, rank, overheads, profiler_event_ns);
        status = pace_sink_close(&sink);
        if (status != PACE_OK) status = pace_fail_in(status, path);
    }
    if (fclose(file) != 0 && status == PACE_OK)
        status = pace_fail(PACE_E_IO, "%s: could not be written: %s", path, strerror(errno));
    if (status == PACE_OK && apart && rename(beside, path) != 0)
        status = pace_fail(PACE_E_IO, "%s: could not be replaced: %s", path, strerror(errno));
    if (status != PACE_OK && apart) unlink(beside);
    return status;
}

static pace_status write_samples(const char *path, const pace_rank *rank, const pace_overheads *overheads,
                                 double profiler_event_ns) {
    static const char suffix[] = ".part";
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) /* a pipe or a device must stay one */
        return write_beside(path, path, rank, overheads, profiler_event_ns);
    size_t length = strlen(path);
    char *beside = pace_alloc(length + sizeof suffix, 1);
    if (!beside) return PACE_E_MEMORY;
    memcpy(beside, path, length);
    memcpy(beside + length, suffix, sizeof suffix);
    pace_status status = write_beside(beside, path, rank, overheads, profiler_event_ns);
    pace_free(beside);
    return status;
}

pace_status pace_put_overheads(pace_node *root, const pace_rank *rank, double profiler_event_us, const char *path) {
    double profiler_event_ns = profiler_event_us * 1e3;
    pace_overheads overheads;
    PACE_TRY(pace_overheads_measure(&overheads, rank, profiler_event_ns));
    put_totals(root, &overheads);
    pace_status status = put_table(root, rank, &overheads);
    if (status == PACE_OK && path) status = write_samples(path, rank, &overheads, profiler_event_ns);
    pace_overheads_free(&overheads);
    return status;
}
