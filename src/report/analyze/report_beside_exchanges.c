/* What exchanges cost the kernels that run beside them. */
#include "insight/ranks/beside_exchanges.h"
#include "report/analyze/analyze_parts.h"
#include "report/show.h"

static void put_values(pace_node *root, const pace_beside_exchanges *found) {
    pace_node *node = pace_node_object(root, "beside_exchanges", NULL, PACE_FOR_JSON);
    pace_node_int(node, "kernels", (int64_t)found->kernels);
    pace_node_int(node, "time_ns", found->time_ns);
    pace_node_int(node, "alone_ns", found->alone_ns);
    pace_node_real(node, "slowdown", found->slowdown);
    pace_node_int(node, "unmatched_ns", found->unmatched_ns);
    pace_node_int(node, "steps_ns", found->steps_ns);
    pace_node_text(node, "name", found->worst);
    pace_node_int(node, "name_lost_ns", found->worst_ns);
}

static void put_words(pace_node *root, const pace_beside_exchanges *found) {
    char name[PACE_SHOWN_NAME];
    if (found->matters)
        pace_node_sentence(
            root, true,
            "Exchanges slow the kernels beside them: %zu kernels (%s in all steps) take %.2f times as long "
            "as the same kernels alone, '%s' loses most; %s of others beside exchanges cannot be "
            "compared. They compete for multiprocessors and memory: try fewer channels of NCCL "
            "(NCCL_MAX_NCHANNELS).",
            found->kernels, pace_show_ns(found->time_ns).text, found->slowdown, pace_show_name(name, found->worst),
            pace_show_ns(found->unmatched_ns).text);
    else
        pace_node_note(root,
                       "%zu kernels run beside exchanges and also alone: beside them they take %.2f times as long; %s "
                       "of others cannot be compared.",
                       found->kernels, found->slowdown, pace_show_ns(found->unmatched_ns).text);
}

pace_status pace_put_beside_exchanges(pace_node *root, const pace_rank *rank) {
    pace_beside_exchanges found;
    PACE_TRY(pace_beside_exchanges_find(&found, rank));
    if (found.kernels || found.unmatched_ns) put_values(root, &found);
    if (found.kernels) put_words(root, &found);
    else if (found.unmatched_ns)
        pace_node_note(root, "What exchanges cost the kernels beside them is unknown: none of 10 µs or more also runs "
                             "alone, for as long each time.");
    return PACE_OK;
}
