/* Messages between two ranks: pipeline bubbles, who waits for whom. */
#include "insight/ranks/bubbles.h"
#include "report/analyze/analyze_parts.h"

enum { WITH_DEVICES = 1 }; /* a trace has several */

PACE_TABLE_IF_ROWS(bubbles, "bubbles", "Pipeline bubbles: idle while a peer is late", PACE_FOR_ALL, 16,
                   {"device_id", "device", PACE_SHOW_INT, PACE_OF(pace_bubble, device), .only_if = WITH_DEVICES},
                   {"rank", "rank", PACE_SHOW_INT, PACE_OF(pace_bubble, rank)},
                   {"forward_ns", "waiting in forward", PACE_SHOW_NS, PACE_OF(pace_bubble, forward_ns)},
                   {"backward_ns", "in backward", PACE_SHOW_NS, PACE_OF(pace_bubble, backward_ns)},
                   {"other_ns", "elsewhere", PACE_SHOW_NS, PACE_OF(pace_bubble, other_ns)},
                   {"waiting_ns", "per step", PACE_SHOW_NS, PACE_OF(pace_bubble, waiting_ns)},
                   {"share", "of the step", PACE_SHOW_SHARE, PACE_OF(pace_bubble, share)},
                   {"exposed_ns", "transfer exposed", PACE_SHOW_NS, PACE_OF(pace_bubble, exposed_ns)});

static void put_bubbles(pace_node *root, const pace_analysis *analysis) {
    pace_node *table = pace_open_table(root, &bubbles, pace_analysis_has_devices(analysis) ? WITH_DEVICES : 0);
    pace_bubble worst = {0};
    char name[PACE_RANK_NAME] = "";
    for (size_t r = 0; analysis->messages.items.count > 0 && r < analysis->ranks.count; r++) {
        pace_bubble bubble = pace_bubble_of(analysis->ranks.items[r]);
        pace_table_put(table, &bubble);
        if (bubble.share <= worst.share) continue;
        worst = bubble;
        pace_rank_name(name, analysis->ranks.items[r]);
    }
    if (worst.share > 0)
        pace_node_sentence(root, false, "Pipeline bubbles: %s waits longest for its peers, %.3f ms per step (%.1f %%).",
                           name, (double)worst.waiting_ns / 1e6, 100 * worst.share);
}

PACE_TABLE_IF_ROWS(pairs, "point_to_point", "Messages: who waits for whom, per step", PACE_FOR_ALL, 16,
                   {"source", "from", PACE_SHOW_INT, PACE_OF(pace_message_pair, source)},
                   {"destination", "to", PACE_SHOW_INT, PACE_OF(pace_message_pair, destination)},
                   {"group", "group", PACE_SHOW_TEXT, PACE_OF(pace_message_pair, group)},
                   {"messages", "messages", PACE_SHOW_INT, PACE_OF(pace_message_pair, messages)},
                   {"bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(pace_message_pair, bytes)},
                   {"kernel_ns", "kernels", PACE_SHOW_NS, PACE_OF(pace_message_pair, kernel_ns)},
                   {"transfer_ns", "transfer", PACE_SHOW_NS, PACE_OF(pace_message_pair, transfer_ns)},
                   {"destination_wait_ns", "receiver waits", PACE_SHOW_NS,
                    PACE_OF(pace_message_pair, destination_wait_ns)},
                   {"source_wait_ns", "sender waits", PACE_SHOW_NS, PACE_OF(pace_message_pair, source_wait_ns)},
                   {"cause", "late because of", PACE_SHOW_TEXT, PACE_OF(pace_message_pair, cause)});

static pace_status put_pairs(pace_node *root, const pace_analysis *analysis) {
    pace_message_pairs rows;
    PACE_TRY(pace_message_pairs_of(&rows, analysis));
    PACE_PUT_ROWS(root, &pairs, &rows);
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}

static void put_cause(pace_node *table, const void *row) {
    const pace_p2p_message *m = row;
    pace_table_text(table, m->cause ? m->cause : "-");
}

PACE_TABLE(messages, "messages", NULL, PACE_FOR_JSON, 0,
           {"source", NULL, PACE_SHOW_INT, PACE_OF(pace_p2p_message, number[PACE_SENDS])},
           {"destination", NULL, PACE_SHOW_INT, PACE_OF(pace_p2p_message, number[PACE_RECEIVES])},
           {"last_start_ns", NULL, PACE_SHOW_INT, PACE_OF(pace_p2p_message, last_start_ns)},
           {"end_ns", NULL, PACE_SHOW_INT, PACE_OF(pace_p2p_message, end_ns)},
           {"source_wait_ns", NULL, PACE_SHOW_NS, PACE_OF(pace_p2p_message, wait_ns[PACE_SENDS])},
           {"destination_wait_ns", NULL, PACE_SHOW_NS, PACE_OF(pace_p2p_message, wait_ns[PACE_RECEIVES])},
           {"cause", NULL, PACE_SHOW_TEXT, PACE_BY(put_cause)});

static void put_each(pace_node *root, const pace_analysis *analysis) {
    pace_node *table = pace_open_table(root, &messages, 0);
    for (size_t i = 0; i < analysis->messages.items.count; i++) {
        pace_p2p_message one = analysis->messages.items.items[i];
        for (int s = 0; s < 2; s++)
            if (one.number[s] == PACE_NO_RANK) one.number[s] = PACE_NO_INT;
        if (one.matched) pace_table_put(table, &one);
    }
}

pace_status pace_put_messages(pace_node *root, const pace_analysis *analysis) {
    put_bubbles(root, analysis);
    PACE_TRY(put_pairs(root, analysis));
    put_each(root, analysis);
    if (analysis->messages.by_time)
        pace_node_note(root,
                       "The traces do not say between whom %zu messages pass; a send belongs to the receive that ends "
                       "when it does.",
                       analysis->messages.by_time);
    if (analysis->messages.alone)
        pace_node_note(
            root,
            "The peers of %zu sends and receives have no trace here: their waiting cannot be told from transfer "
            "and counts as exposed communication.",
            analysis->messages.alone);
    if (analysis->messages.unmatched)
        pace_node_note(root, "%zu sends and receives have no match in the trace of their peer.",
                       analysis->messages.unmatched);
    return PACE_OK;
}
