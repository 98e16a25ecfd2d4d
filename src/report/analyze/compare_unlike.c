/* What makes the sides of a comparison unlike each other, beside how long they take: devices, ranks, samples; and what
 * a recording lacks, so that no cause is named. */
#include "forecast/rank_batches.h"
#include "insight/evidence.h"
#include "report/analyze/compare_parts.h"
#include "report/show.h"

#include <inttypes.h>
#include <string.h>

/* NULL = the trace does not say, or nothing ran on one. */
static const char *device_of(const pace_step_side *side) {
    const pace_rank *rank = side->rank;
    const pace_traced_device *device =
        rank->work.host_is_device ? NULL : pace_step_device(&rank->step, rank->device_id);
    return device && device->name ? pace_names_text(&rank->step.names, device->name) : NULL;
}

static pace_status put_samples(pace_node *root, const pace_step_change *change, pace_catalog *catalog) {
    int64_t a, b;
    PACE_TRY(pace_side_samples(&a, &change->a, catalog));
    PACE_TRY(pace_side_samples(&b, &change->b, catalog));
    pace_node_int(root, "a_samples", a > 0 ? a : PACE_NO_INT);
    pace_node_int(root, "b_samples", b > 0 ? b : PACE_NO_INT);
    if (a > 0 && b > 0 && a != b)
        pace_node_sentence(root, true,
                           "By its shapes a step of A has %" PRId64 " samples and of B %" PRId64
                           ": for each sample B takes %s.",
                           a, b, pace_show_change(change->ratio * (double)a / (double)b - 1).text);
    return PACE_OK;
}

/* `*lacks` = whether, of what this side's recording lacks. */
static pace_status put_evidence(pace_node *root, pace_evidence_gap *lacks, const char *name, const pace_step_side *side,
                                const pace_analysis *analysis) {
    char gap[256];
    pace_evidence evidence;
    PACE_TRY(pace_evidence_find(&evidence, analysis->classes, side->rank, side->typical.from_ns, side->typical.to_ns));
    *lacks = evidence.lacks;
    if (evidence.lacks == PACE_EVIDENCE_WHOLE) return PACE_OK;
    pace_evidence_say(gap, sizeof gap, &evidence, pace_typical_ns(side), side->steps ? "step" : "trace");
    pace_node_sentence(root, true, "%s: %s.", name, gap);
    return PACE_OK;
}

pace_status pace_put_unlike(pace_node *root, bool *alike, const pace_step_change *change, const pace_analysis *a,
                            const pace_analysis *b, pace_catalog *catalog) {
    const char *of_a = device_of(&change->a), *of_b = device_of(&change->b);
    int64_t ranks_a = change->a.rank->step.world_size, ranks_b = change->b.rank->step.world_size;
    pace_evidence_gap lacks_a, lacks_b;
    if (of_a && of_b && strcmp(of_a, of_b) != 0)
        pace_node_sentence(root, true, "A ran on %.60s, B on %.60s.", of_a, of_b);
    if (ranks_a > 0 && ranks_b > 0 && ranks_a != ranks_b)
        pace_node_sentence(root, true, "A is of a job of %" PRId64 " ranks, B of one of %" PRId64 ".", ranks_a,
                           ranks_b);
    PACE_TRY(put_samples(root, change, catalog));
    PACE_TRY(put_evidence(root, &lacks_a, "A", &change->a, a));
    PACE_TRY(put_evidence(root, &lacks_b, "B", &change->b, b));
    *alike = lacks_a == lacks_b;
    if (!*alike)
        pace_node_sentence(root, true, "What changed is unknown: one of the recordings lacks what the other has.");
    return PACE_OK;
}
