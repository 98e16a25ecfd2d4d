/* What the reported rank exchanged, by its kernels' metadata, against what the catalogue's links would take. */
#include "report/analyze_parts.h"

#include "insight/exchange_totals.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>

typedef struct {
    pace_exchange_total of;
    double bytes;
    int64_t mean_ns, expected_ns;
} exchange_row;

static const pace_table exchanges = {
    "exchanges",
    "Communication of this rank, whole trace",
    PACE_FOR_ALL,
    12,
    .hidden_when_empty = true,
    PACE_CELLS({"collective", "collective", PACE_SHOW_TEXT, PACE_OF(exchange_row, of.collective)},
               {"ranks", "ranks", PACE_SHOW_INT, PACE_OF(exchange_row, of.group_size)},
               {"bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(exchange_row, bytes)},
               {"dtype", "type", PACE_SHOW_TEXT, PACE_OF(exchange_row, of.dtype)},
               {"calls", "calls", PACE_SHOW_INT, PACE_OF(exchange_row, of.calls)},
               {"mean_ns", "mean", PACE_SHOW_NS, PACE_OF(exchange_row, mean_ns)},
               {"least_ns", "least", PACE_SHOW_NS, PACE_OF(exchange_row, of.least_ns)},
               {"algbw_bytes_per_s", NULL, PACE_SHOW_RATE, PACE_OF(exchange_row, of.algbw_per_s)},
               {"busbw_bytes_per_s", "busbw", PACE_SHOW_RATE, PACE_OF(exchange_row, of.busbw_per_s)},
               {"expected_ns", "links take", PACE_SHOW_NS, PACE_OF(exchange_row, expected_ns)},
               {"exposed_ns", NULL, PACE_SHOW_NS, PACE_OF(exchange_row, of.exposed_ns)},
               {"late_ns", "others late", PACE_SHOW_NS, PACE_OF(exchange_row, of.late_ns)})};

static void put_rows(pace_node *root, const pace_exchange_totals *totals) {
    pace_node *table = pace_open_table(root, &exchanges, 0);
    for (size_t i = 0; i < totals->items.count; i++) {
        const pace_exchange_total *row = &totals->items.items[i];
        pace_table_put(table, &(exchange_row){*row, (double)row->bytes, row->time_ns / (int64_t)row->calls,
                                              row->expected_ns >= 0 ? row->expected_ns : PACE_NO_INT});
    }
}

/* `alone`: without the other ranks their lateness can only be told from what the links would take. */
static void put_sentence(pace_node *root, const pace_exchange_totals *totals, bool alone) {
    if (!totals->machine[0]) {
        pace_node_note(root, "The catalogue knows no links for this device: what transfers should take is unknown.");
        return;
    }
    if (alone && totals->late_ns * 10 >= totals->exposed_ns && totals->exposed_ns > 0)
        pace_node_sentence(
            root, true,
            "Of %s of exposed communication at least %s (%.0f %%) is waiting for late ranks, not transfer, if "
            "the ranks are joined as in %s.",
            pace_show_ns(totals->exposed_ns).text, pace_show_ns(totals->late_ns).text,
            100.0 * (double)totals->late_ns / (double)totals->exposed_ns, totals->machine);
    pace_node_note(root,
                   "'links take': a call over the links of %s, the fastest of the catalogue with this device; 'others "
                   "late': exposed time beyond that. busbw counts the bytes that cross a rank's link.",
                   totals->machine);
}

pace_status pace_put_exchange_totals(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                                     pace_catalog *catalog) {
    pace_exchange_totals totals;
    PACE_TRY(pace_exchange_totals_find(&totals, rank, catalog, INT64_MIN, INT64_MAX));
    put_rows(root, &totals);
    if (totals.items.count) put_sentence(root, &totals, analysis->ranks.count == 1);
    pace_exchange_totals_free(&totals);
    return PACE_OK;
}
