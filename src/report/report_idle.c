/* Why the device stood idle. */
#include "report/analyze_parts.h"

#include "insight/idle_causes.h"

void pace_put_idle_causes(pace_node *root, const pace_rank *rank) {
    static const char *const meanings[PACE_IDLE_CAUSES] = {"the host fetched input",
                                                           "the host had first waited for the device",
                                                           "the host was late with the next work",
                                                           "queued work waited for another stream",
                                                           "queued work waited for its launch"};
    static const pace_column columns[] = {{"cause", "cause", PACE_SHOW_TEXT},
                                          {"meaning", "the device was idle because", PACE_SHOW_TEXT},
                                          {"count", "gaps", PACE_SHOW_INT},
                                          {"time_ns", "time", PACE_SHOW_NS},
                                          {"share", "share of window", PACE_SHOW_SHARE}};
    const pace_window *w = &rank->work.window;
    pace_idle_sums sums = pace_idle_causes(rank, w->first_ns, w->last_ns);
    size_t any = 0;
    for (int c = 0; c < PACE_IDLE_CAUSES; c++) any += sums.gaps[c];
    pace_node *table = pace_node_table(root, "idle_causes", any ? "Why the device was idle, whole trace" : NULL,
                                       any ? PACE_FOR_ALL : PACE_FOR_JSON, columns, 5, 0);
    for (int c = 0; c < PACE_IDLE_CAUSES; c++) {
        if (sums.gaps[c] == 0) continue;
        pace_table_row(table);
        pace_table_text(table, pace_idle_cause_names[c]);
        pace_table_text(table, meanings[c]);
        pace_table_int(table, (int64_t)sums.gaps[c]);
        pace_table_int(table, sums.time_ns[c]);
        pace_table_real(table, w->span_ns > 0 ? (double)sums.time_ns[c] / (double)w->span_ns : 0);
    }
}
