/* Why the device stood idle. */
#include "report/analyze/analyze_parts.h"
#include "insight/idle_causes.h"

typedef struct {
    const char *cause, *meaning;
    size_t count;
    int64_t time_ns;
    double share;
} cause_row;

PACE_TABLE_IF_ROWS(idle_causes, "idle_causes", "Why the device was idle, whole trace", PACE_FOR_ALL, 0,
                   {"cause", "cause", PACE_SHOW_TEXT, PACE_OF(cause_row, cause)},
                   {"meaning", "the device was idle because", PACE_SHOW_TEXT, PACE_OF(cause_row, meaning)},
                   {"count", "gaps", PACE_SHOW_INT, PACE_OF(cause_row, count)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(cause_row, time_ns)},
                   {"share", "share of window", PACE_SHOW_SHARE, PACE_OF(cause_row, share)});

void pace_put_idle_causes(pace_node *root, const pace_rank *rank) {
    static const char *const meanings[PACE_IDLE_CAUSES] = {"the host fetched input",
                                                           "the host had waited for the device",
                                                           "the host launched the next work late",
                                                           "queued work waited for another stream",
                                                           "queued work waited to start",
                                                           "the launch of the work behind it is not recorded"};
    const pace_window *w = &rank->work.window;
    pace_idle_sums sums = pace_idle_causes(rank, w->first_ns, w->last_ns);
    pace_node *table = pace_open_table(root, &idle_causes, 0);
    for (int c = 0; c < PACE_IDLE_CAUSES; c++)
        if (sums.gaps[c] > 0)
            pace_table_put(table, &(cause_row){pace_idle_cause_names[c], meanings[c], sums.gaps[c], sums.time_ns[c],
                                               w->span_ns > 0 ? (double)sums.time_ns[c] / (double)w->span_ns : 0});
}
