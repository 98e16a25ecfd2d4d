/* The insights of the analyze report, most useful first. */
#include "report/analyze_parts.h"

#include "insight/operators.h"

static void put_operator_table(pace_node *root, const pace_rank *rank, const pace_operator_rows *rows, const char *key,
                               const char *title, bool modelled) {
    static const pace_column columns[] = {
        {"name", "name", PACE_SHOW_TEXT},          {"calls", "calls", PACE_SHOW_INT},
        {"time_ns", "time", PACE_SHOW_NS},         {"share", "share", PACE_SHOW_SHARE},
        {"flop_per_s", "flop/s", PACE_SHOW_RATE},  {"bytes_per_s", "byte/s", PACE_SHOW_RATE},
        {"roofline_share", "roofline", PACE_SHOW_SHARE},
    };
    int64_t total = 0;
    for (size_t i = 0; i < rows->count; i++) total += rows->items[i].time_ns;
    pace_node *table = pace_node_table(root, key, title, PACE_FOR_ALL, columns, modelled ? 7 : 4, 10);
    for (size_t i = 0; i < rows->count; i++) {
        const pace_operator_row *row = &rows->items[i];
        pace_table_row(table);
        pace_table_text(table, row->name ? pace_names_text(&rank->step.names, row->name) : "(none)");
        pace_table_int(table, (int64_t)row->calls);
        pace_table_int(table, row->time_ns);
        pace_table_real(table, total > 0 ? (double)row->time_ns / (double)total : 0);
        if (!modelled) continue;
        double seconds = row->modelled_ns * 1e-9;
        if (seconds > 0 && row->flop > 0) pace_table_real(table, row->flop / seconds);
        else pace_table_none(table);
        if (seconds > 0 && row->bytes > 0) pace_table_real(table, row->bytes / seconds);
        else pace_table_none(table);
        if (seconds > 0 && row->roofline_s > 0) pace_table_real(table, row->roofline_s / seconds);
        else pace_table_none(table);
    }
}

static pace_status put_operators(pace_node *root, const pace_rank *rank) {
    static const struct {
        pace_grouping grouping;
        const char *key, *title;
    } parts[] = {{PACE_BY_OPERATOR, "operators", "Device time by operator"},
                 {PACE_BY_KERNEL, "kernels", "Device time by kernel"},
                 {PACE_BY_MODULE, "modules", "Device time by module or annotation"}};
    for (size_t i = 0; i < 3; i++) {
        pace_operator_rows rows;
        PACE_TRY(pace_operators_sum(&rows, rank, parts[i].grouping));
        bool empty = rows.count == 0 || (parts[i].grouping == PACE_BY_MODULE && rows.count == 1 && rows.items[0].name == 0);
        if (!empty) put_operator_table(root, rank, &rows, parts[i].key, parts[i].title, i == 0);
        PACE_VEC_FREE(&rows);
    }
    return PACE_OK;
}

pace_status pace_put_insights(pace_node *root, pace_analysis *analysis, const pace_rank *rank,
                              const pace_analyze_options *options) {
    (void)options;
    PACE_TRY(pace_put_critical(root, analysis, rank));
    return put_operators(root, rank);
}
