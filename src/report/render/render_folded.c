/*
 * The folded renderer: call stacks as flame graph tools read them. The builder knows its stacks; this only hands it the
 * sink.
 */
#include "report/report_node.h"

pace_status pace_render_folded(const pace_report *report, bool device, pace_sink *sink) {
    if (!report->stacks) return pace_fail(PACE_E_USAGE, "this report has no call stacks to write as folded");
    return report->stacks(report->stacked.context, device, sink);
}
