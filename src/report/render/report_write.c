/* A report in the format that is asked for. */
#include "report/report_node.h"

#include <stdio.h>

static pace_status render(const pace_report *report, pace_format format, const pace_write_options *options,
                          pace_sink *sink) {
    switch (format) {
    case PACE_FORMAT_TABLE: return pace_render_table(report, options, sink);
    case PACE_FORMAT_JSON: return pace_render_json(report, sink);
    case PACE_FORMAT_CSV: return pace_render_csv(report, options, sink);
    case PACE_FORMAT_HTML: return pace_render_html(report, sink);
    case PACE_FORMAT_PERFETTO: return pace_render_perfetto(report, sink);
    case PACE_FORMAT_JUNIT: return pace_render_junit(report, sink);
    case PACE_FORMAT_FOLDED:
    case PACE_FORMAT_FOLDED_DEVICE: return pace_render_folded(report, format == PACE_FORMAT_FOLDED_DEVICE, sink);
    }
    return pace_fail(PACE_E_USAGE, "unknown report format %d", (int)format);
}

pace_status pace_report_write(const pace_report *report, pace_format format, const pace_write_options *options,
                              pace_write_fn write, void *context) {
    const pace_write_options defaults = {0};
    if (report->status != PACE_OK) return pace_fail(report->status, "the report could not be built completely");
    pace_sink sink;
    PACE_TRY(pace_sink_open(&sink, write, context));
    pace_status status = render(report, format, options ? options : &defaults, &sink);
    if (status == PACE_OK) return pace_sink_close(&sink);
    char message[512]; /* closing may fail too; the first failure is the one to tell */
    snprintf(message, sizeof message, "%s", pace_message_marked());
    if (pace_sink_close(&sink) != PACE_OK) return pace_fail(status, "%s", message);
    return status;
}
