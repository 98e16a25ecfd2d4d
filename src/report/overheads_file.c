/* The host overheads of every trace, with their raw samples, as a file of their own: what cost/host_costs_read.c pools
 * and what leave-one-out needs. */
#include "report/analyze_parts.h"

#include "insight/overheads.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_row(pace_jsonw *json, const pace_rank *rank, const pace_overheads *overheads,
                      const pace_overhead_row *row) {
    const char *name = row->name ? pace_names_text(&rank->step.names, row->name) : NULL;
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key(json, "workload");
    pace_jsonw_text(json, rank->path);
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

static pace_status write_rank(pace_jsonw *json, const pace_rank *rank, double profiler_event_ns) {
    pace_overheads overheads;
    PACE_TRY(pace_overheads_measure(&overheads, rank, profiler_event_ns));
    for (size_t i = 0; i < overheads.rows.count; i++) write_row(json, rank, &overheads, &overheads.rows.items[i]);
    pace_overheads_free(&overheads);
    return PACE_OK;
}

static pace_status write_document(pace_sink *sink, const pace_analysis *analysis, double profiler_event_ns) {
    pace_jsonw json;
    pace_jsonw_init(&json, sink, 1);
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "schema");
    pace_jsonw_text(&json, "paceline.overheads/1");
    pace_jsonw_key(&json, "profiler_event_ns");
    pace_jsonw_real(&json, profiler_event_ns);
    pace_jsonw_key(&json, "rows");
    pace_jsonw_array(&json);
    for (size_t i = 0; i < analysis->traces.count; i++)
        PACE_TRY(write_rank(&json, analysis->traces.items[i], profiler_event_ns));
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

static int write_stream(void *stream, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, stream) == length) return 0;
    return errno ? errno : EIO;
}

/* To `beside`, renamed to `path` once it is whole; they are the same for what is no regular file. */
static pace_status write_beside(const char *beside, const char *path, const pace_analysis *analysis,
                                double profiler_event_ns) {
    bool apart = strcmp(beside, path) != 0;
    FILE *file = fopen(beside, "wb");
    if (!file) return pace_fail(PACE_E_IO, "%s: cannot be created: %s", path, strerror(errno));
    pace_sink sink;
    pace_status status = pace_sink_open(&sink, write_stream, file);
    if (status == PACE_OK) {
        status = write_document(&sink, analysis, profiler_event_ns);
        pace_status closed = pace_sink_close(&sink);
        if (status == PACE_OK && closed != PACE_OK) status = pace_fail_in(closed, path);
    }
    if (fclose(file) != 0 && status == PACE_OK)
        status = pace_fail(PACE_E_IO, "%s: could not be written: %s", path, strerror(errno));
    if (status == PACE_OK && apart && rename(beside, path) != 0)
        status = pace_fail(PACE_E_IO, "%s: could not be replaced: %s", path, strerror(errno));
    if (status != PACE_OK && apart) unlink(beside);
    return status;
}

pace_status pace_write_overheads(const char *path, const pace_analysis *analysis, double profiler_event_us) {
    static const char suffix[] = ".part";
    double profiler_event_ns = profiler_event_us * 1e3;
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) /* a pipe or a device must stay one */
        return write_beside(path, path, analysis, profiler_event_ns);
    size_t length = strlen(path);
    char *beside = pace_alloc(length + sizeof suffix, 1);
    if (!beside) return PACE_E_MEMORY;
    memcpy(beside, path, length);
    memcpy(beside + length, suffix, sizeof suffix);
    pace_status status = write_beside(beside, path, analysis, profiler_event_ns);
    pace_free(beside);
    return status;
}
