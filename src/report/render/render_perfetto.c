/*
 * The perfetto renderer: the builder knows its timeline; this only hands it the sink.
 */
#include "report/report_node.h"

pace_status pace_render_perfetto(const pace_report *report, pace_sink *sink) {
    if (!report->trace) return pace_fail(PACE_E_USAGE, "this report has no timeline to write as perfetto");
    return report->trace(report->traced.context, report, sink);
}
