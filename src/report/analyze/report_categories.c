/* Device time by what is computed. */
#include "report/analyze/analyze_parts.h"
#include "base/numbers.h"
#include "cost/roofline.h"
#include "insight/tables/categories.h"

#include <math.h>

typedef struct {
    pace_category_row of;
    const char *bound;
    pace_work_rates rates;
    double share, modelled_share;
} category_row;

PACE_TABLE_IF_ROWS(categories, "categories", "Device time by what is computed", PACE_FOR_ALL, 16,
                   {"name", "kind of work", PACE_SHOW_WORD, PACE_OF(category_row, of.name)},
                   {"kernels", "kernels", PACE_SHOW_INT, PACE_OF(category_row, of.kernels)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(category_row, of.time_ns)},
                   {"share", "share", PACE_SHOW_SHARE, PACE_OF(category_row, share)},
                   {"bound", "bound by", PACE_SHOW_TEXT, PACE_OF(category_row, bound)},
                   {"flop", NULL, PACE_SHOW_REAL, PACE_KNOWN_OF(category_row, of.flop)},
                   {"moved_bytes", NULL, PACE_SHOW_BYTES, PACE_KNOWN_OF(category_row, of.bytes)},
                   {"flop_per_byte", "flop per byte", PACE_SHOW_REAL, PACE_OF(category_row, rates.flop_per_byte)},
                   {"flop_per_s", "flop/s", PACE_SHOW_RATE, PACE_OF(category_row, rates.flop_per_s)},
                   {"bytes_per_s", "byte/s", PACE_SHOW_RATE, PACE_OF(category_row, rates.bytes_per_s)},
                   {"roofline_share", "roofline", PACE_SHOW_SHARE, PACE_OF(category_row, rates.roofline_share)},
                   {"modelled_share", "known for", PACE_SHOW_SHARE, PACE_OF(category_row, modelled_share)});

static const char *bound_of(const pace_category_row *row) {
    if (row->compute_bound_ns == 0 && row->memory_bound_ns == 0) return NULL;
    return row->compute_bound_ns > row->memory_bound_ns ? "compute" : "memory";
}

static category_row row_of(const pace_category_row *from, int64_t total_ns) {
    return (category_row){.of = *from,
                          .bound = bound_of(from),
                          .share = total_ns > 0 ? (double)from->time_ns / (double)total_ns : 0,
                          .rates = pace_work_rates_of(from->flop, from->bytes, from->modelled_ns, from->roofline_s),
                          .modelled_share = from->time_ns > 0 ? from->modelled_ns / (double)from->time_ns : 0};
}

/* The roof of the widest range: where the memory's bandwidth meets the peak of the elements that most flop are done
 * in. */
static void put_roof(pace_node *chart, const pace_rank *rank, double least, double most) {
    double bandwidth = rank->device->memory_bytes_per_s;
    double peak = pace_device_peak(rank->device, pace_main_element_bytes(rank)), ridge = peak / bandwidth;
    pace_chart_curve(chart, PACE_CURVE_PALE, "peak of %s", rank->device->name);
    pace_chart_point(chart, fmin(least, ridge), fmin(least, ridge) * bandwidth);
    pace_chart_point(chart, ridge, peak);
    pace_chart_point(chart, fmax(most, ridge), peak);
}

static void put_roofline(pace_node *root, const pace_rank *rank, const pace_category_rows *rows) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double intensity = pace_known_rate(rows->items[i].flop, rows->items[i].bytes);
        if (!(intensity > 0)) continue;
        least = fmin(least, intensity);
        most = fmax(most, intensity);
    }
    bool peaks = rank->device && rank->device->memory_bytes_per_s > 0 &&
                 pace_device_peak(rank->device, pace_main_element_bytes(rank)) > 0;
    if (!(most > 0) || !peaks) return;
    pace_node *chart = pace_node_chart(root, "Kinds of work under the device's roofline", "flop for each byte; flop/s",
                                       PACE_CHART_LOG_X | PACE_CHART_LOG_Y);
    put_roof(chart, rank, least, most);
    PACE_ITEMS (const pace_category_row, row, rows) {
        pace_work_rates rates = pace_work_rates_of(row->flop, row->bytes, row->modelled_ns, row->roofline_s);
        if (!(rates.flop_per_byte > 0) || !(rates.flop_per_s > 0)) continue;
        pace_chart_curve(chart, PACE_CURVE_DOTS, "%s", row->name);
        pace_chart_point(chart, rates.flop_per_byte, rates.flop_per_s);
    }
}

pace_status pace_put_categories(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                                const pace_work_shown *shown) {
    pace_category_rows rows;
    PACE_TRY(pace_categories_sum(&rows, rank, analysis->classes, &shown->work));
    pace_node *table = pace_work_table(root, &categories, 0, shown);
    bool modelled = false, roofs = false;
    for (size_t i = 0; i < rows.count; i++) {
        pace_table_put(table, &(category_row[]){row_of(&rows.items[i], shown->total_ns)});
        modelled |= rows.items[i].modelled_ns > 0;
        roofs |= rows.items[i].roofline_s > 0;
    }
    if (modelled)
        pace_node_note(
            root,
            "flop, bytes and rates: of operators whose shapes are recorded and known, 'known for' so much of "
            "the time%s.",
            roofs ? "; roofline: the time their device needs at its peak rates, over the time they took" : "");
    put_roofline(root, rank, &rows);
    PACE_VEC_FREE(&rows);
    return PACE_OK;
}
