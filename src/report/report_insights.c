/* The insights of the analyze report, most useful first. */
#include "report/analyze_parts.h"

#include "cost/roofline.h"
#include "insight/operators.h"

static void put_operator_table(pace_node *root, const pace_rank *rank, const pace_operator_rows *rows, const char *key,
                               const char *title, bool modelled) {
    static const pace_column columns[] = {
        {"name", "name", PACE_SHOW_TEXT},
        {"calls", "calls", PACE_SHOW_INT},
        {"time_ns", "time", PACE_SHOW_NS},
        {"share", "share", PACE_SHOW_SHARE},
        {"flop_per_s", "flop/s", PACE_SHOW_RATE},
        {"bytes_per_s", "byte/s", PACE_SHOW_RATE},
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
        bool empty =
            rows.count == 0 || (parts[i].grouping == PACE_BY_MODULE && rows.count == 1 && rows.items[0].name == 0);
        if (!empty) put_operator_table(root, rank, &rows, parts[i].key, parts[i].title, i == 0);
        PACE_VEC_FREE(&rows);
    }
    return PACE_OK;
}

/* Throughput and utilisation over the steps: what is modelled of the operators' flop, against the device's
 * half-precision or single-precision peak as their elements have it. Recomputed work counts (HFU); without recompute
 * that is MFU too. */
static pace_status put_throughput(pace_node *root, const pace_rank *rank, const pace_analyze_options *options) {
    pace_matrix mean;
    size_t steps = pace_mean_matrix(&mean, rank);
    double step_s = (double)pace_matrix_total(&mean) * 1e-9;
    pace_node *node = pace_node_object(root, "throughput", NULL, PACE_FOR_JSON);
    if (steps == 0 || step_s <= 0) return PACE_OK;
    pace_operator_rows rows;
    PACE_TRY(pace_operators_sum(&rows, rank, PACE_BY_OPERATOR));
    double flop = 0, modelled_ns = 0, all_ns = 0;
    for (size_t i = 0; i < rows.count; i++) {
        flop += rows.items[i].flop;
        modelled_ns += rows.items[i].modelled_ns;
        all_ns += (double)rows.items[i].time_ns;
    }
    PACE_VEC_FREE(&rows);
    pace_node_real(node, "steps_per_s", 1 / step_s);
    if (options->samples_per_step > 0) {
        pace_node_real(node, "samples_per_s", options->samples_per_step / step_s);
        pace_node_sentence(root, false, "%.1f samples or tokens per second and rank.",
                           options->samples_per_step / step_s);
    }
    if (flop <= 0) return PACE_OK;
    double rate = flop / (double)steps / step_s;
    pace_node_real(node, "flop_per_step", flop / (double)steps);
    pace_node_real(node, "flop_per_s", rate);
    pace_node_real(node, "modelled_share", all_ns > 0 ? modelled_ns / all_ns : 0);
    int element_bytes = pace_main_element_bytes(rank);
    double peak = rank->device ? pace_device_peak(rank->device, element_bytes) : 0;
    if (peak > 0) {
        pace_node_real(node, "hfu", rate / peak);
        pace_node_note(
            root,
            "%.3g TFLOP/s over the step, %.1f %% of the %.4g TFLOP/s peak of %s (%d-byte elements); operators of known "
            "shape are %.0f %% of the device time.",
            rate / 1e12, 100 * rate / peak, peak / 1e12, rank->device->name, element_bytes,
            all_ns > 0 ? 100 * modelled_ns / all_ns : 0.0);
    }
    return PACE_OK;
}

pace_status pace_put_insights(pace_node *root, pace_analysis *analysis, const pace_rank *rank,
                              const pace_analyze_options *options) {
    PACE_TRY(pace_put_critical(root, analysis, rank));
    PACE_TRY(put_operators(root, rank));
    PACE_TRY(put_throughput(root, rank, options));
    return pace_put_overheads(root, rank, options->profiler_event_us, options->overheads_path);
}
