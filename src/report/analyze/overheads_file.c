/* The host overheads of every trace, with their raw samples, as a file of their own: what cost/host_costs_read.c pools
 * and what leave-one-out needs. */
#include "report/analyze/analyze_parts.h"
#include "base/whole_file.h"
#include "insight/tables/overheads.h"

static void write_row(pace_jsonw *json, const pace_rank *rank, const pace_overheads *overheads,
                      const pace_overhead_row *row) {
    const char *name = row->name ? pace_names_text(&rank->step.names, row->name) : NULL;
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "workload", rank->path);
    pace_jsonw_key_text(json, "type", pace_overhead_names[row->type]);
    pace_jsonw_key_text(json, "name", name);
    pace_jsonw_key_int(json, "count", (int64_t)row->count);
    pace_jsonw_key_int(json, "kept", (int64_t)row->kept);
    pace_jsonw_key_real(json, "mean_ns", row->mean_ns);
    pace_jsonw_key_real(json, "std_ns", row->std_ns);
    pace_jsonw_key_real(json, "median_ns", row->median_ns);
    pace_jsonw_key_array(json, "samples_ns");
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

typedef struct {
    const pace_analysis *analysis;
    double profiler_event_ns;
} document;

static pace_status write_document(pace_sink *sink, void *context) {
    const document *d = context;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 1, "paceline.overheads/1");
    pace_jsonw_key_real(&json, "profiler_event_ns", d->profiler_event_ns);
    pace_jsonw_key_array(&json, "rows");
    for (size_t i = 0; i < d->analysis->traces.count; i++)
        PACE_TRY(write_rank(&json, d->analysis->traces.items[i], d->profiler_event_ns));
    pace_jsonw_array_end(&json);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_write_overheads(const char *path, const pace_analysis *analysis, double profiler_event_us) {
    return pace_whole_file_write(path, write_document, &(document){analysis, profiler_event_us * 1e3});
}
