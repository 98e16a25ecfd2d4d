/* Kernels by how long they take. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/duration_bins.h"

typedef struct {
    pace_duration_bin bin;
    int64_t to_ns;
    double kernel_share, share;
} bin_row;

PACE_TABLE_IF_ROWS(durations, "kernel_durations", "Kernels by how long they take", PACE_FOR_ALL, 0,
                   {"from_ns", "from", PACE_SHOW_NS, PACE_OF(bin_row, bin.from_ns)},
                   {"to_ns", "to below", PACE_SHOW_NS, PACE_OF(bin_row, to_ns)},
                   {"kernels", "kernels", PACE_SHOW_INT, PACE_OF(bin_row, bin.kernels)},
                   {"kernel_share", "of kernels", PACE_SHOW_SHARE, PACE_OF(bin_row, kernel_share)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(bin_row, bin.time_ns)},
                   {"share", "of their time", PACE_SHOW_SHARE, PACE_OF(bin_row, share)});

static bin_row row_of(const pace_duration_bins *bins, size_t i) {
    const pace_duration_bin *bin = &bins->items[i];
    return (bin_row){.bin = *bin,
                     .to_ns = bin->to_ns == INT64_MAX ? PACE_NO_INT : bin->to_ns,
                     .kernel_share = (double)bin->kernels / (double)bins->kernels,
                     .share = bins->time_ns > 0 ? (double)bin->time_ns / (double)bins->time_ns : 0};
}

/* A step over each bin. */
static void put_curve(pace_node *chart, const pace_duration_bins *bins, const char *name, bool by_time) {
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s", name);
    for (size_t i = bins->first; i < bins->first + bins->count; i++) {
        const bin_row row = row_of(bins, i);
        double from = row.bin.from_ns > 0 ? (double)row.bin.from_ns : (double)row.bin.to_ns / 2;
        double to = row.to_ns == PACE_NO_INT ? 2 * from : (double)row.to_ns;
        pace_chart_point(chart, from / 1e3, by_time ? row.share : row.kernel_share);
        pace_chart_point(chart, to / 1e3, by_time ? row.share : row.kernel_share);
    }
}

void pace_put_durations(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    const pace_duration_bins bins = pace_duration_bins_of(rank, &shown->work);
    pace_node *table = pace_work_table(root, &durations, 0, shown);
    for (size_t i = bins.first; i < bins.first + bins.count; i++) pace_table_put(table, &(bin_row[]){row_of(&bins, i)});
    if (bins.count < 2) return;
    pace_node *chart =
        pace_node_chart(root, "Length of kernels", "µs; share of the kernels, and of their time", PACE_CHART_LOG_X);
    put_curve(chart, &bins, "of the kernels", false);
    put_curve(chart, &bins, "of their time", true);
}
