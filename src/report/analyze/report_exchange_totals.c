/* What the reported rank exchanged, by its kernels' metadata, against what the catalogue's links would take. */
#include "report/analyze/analyze_parts.h"
#include "base/print.h"
#include "insight/ranks/exchange_totals.h"
#include "report/show.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_exchange_total of;
    double bytes;
    int64_t mean_ns, late_ns; /* -1 = what the links take is not known */
} exchange_row;

PACE_TABLE_IF_ROWS(exchanges, "exchanges", "Communication of this rank, whole trace", PACE_FOR_ALL, 12,
                   {"collective", "collective", PACE_SHOW_TEXT, PACE_OF(exchange_row, of.collective)},
                   {"group", "group", PACE_SHOW_TEXT, PACE_OF(exchange_row, of.group)},
                   {"ranks", "ranks", PACE_SHOW_INT, PACE_KNOWN_OF(exchange_row, of.group_size)},
                   {"nodes", NULL, PACE_SHOW_INT, PACE_KNOWN_OF(exchange_row, of.nodes)},
                   {"bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(exchange_row, bytes)},
                   {"dtype", "type", PACE_SHOW_TEXT, PACE_OF(exchange_row, of.dtype)},
                   {"calls", "calls", PACE_SHOW_INT, PACE_OF(exchange_row, of.calls)},
                   {"mean_ns", "mean", PACE_SHOW_NS, PACE_OF(exchange_row, mean_ns)},
                   {"least_ns", "least", PACE_SHOW_NS, PACE_OF(exchange_row, of.least_ns)},
                   {"algbw_bytes_per_s", NULL, PACE_SHOW_RATE, PACE_OF(exchange_row, of.algbw_per_s)},
                   {"busbw_bytes_per_s", "busbw", PACE_SHOW_RATE, PACE_OF(exchange_row, of.busbw_per_s)},
                   {"expected_ns", "links take", PACE_SHOW_NS, PACE_WHOLE_OF(exchange_row, of.expected_ns)},
                   {"expected_high_ns", NULL, PACE_SHOW_NS, PACE_WHOLE_OF(exchange_row, of.most_ns)},
                   {"exposed_ns", NULL, PACE_SHOW_NS, PACE_OF(exchange_row, of.exposed_ns)},
                   {"late_ns", "beyond", PACE_SHOW_NS, PACE_KNOWN_OF(exchange_row, late_ns)});

static void put_rows(pace_node *root, const pace_exchange_totals *totals) {
    pace_node *table = pace_open_table(root, &exchanges, 0);
    PACE_ITEMS (const pace_exchange_total, row, &totals->items) {
        pace_table_put(table, &(exchange_row){.of = *row,
                                              .bytes = row->bytes >= 0 ? (double)row->bytes : NAN,
                                              .mean_ns = row->time_ns / (int64_t)row->calls,
                                              .late_ns = row->expected_ns >= 0 ? row->late_ns : -1});
    }
}

/* Why these links. */
static void write_basis(char *out, size_t size, const pace_link_machine *links) {
    switch (links->basis) {
    case PACE_LINKS_ASKED: pace_snprintf(out, size, "as --on says"); break;
    case PACE_LINKS_NODE_SIZE:
        pace_snprintf(out, size,
                      "the fastest of the catalogue with %zu such devices a node, as the trace lists; "
                      "--on MACHINE says it",
                      links->traced);
        break;
    default:
        pace_snprintf(out, size, "assumed: the fastest of the catalogue with this device; --on MACHINE says it");
        break;
    }
}

/* `alone`: of one rank. Without the other ranks their lateness can only be told from what the links would take. With
 * them what neither explains is told from a tenth of the window on. */
static void put_sentence(pace_node *root, const pace_exchange_totals *totals, bool alone, int64_t window_ns) {
    const char *machine = totals->links.machine.name;
    double exposed_ns = (double)totals->exposed_ns;
    char basis[160];
    if (totals->links.basis == PACE_LINKS_UNKNOWN) {
        pace_node_note(root, "The catalogue knows no links for this device: what transfers should take is unknown.");
        return;
    }
    if (totals->elsewhere_ns > 0 && totals->elsewhere_ns * 10 >= totals->exposed_ns)
        pace_node_sentence(
            root, true,
            "Of %s of exposed communication in the whole trace at least %s (%.0f %%) is waiting for late ranks%s, not "
            "transfer, if the ranks are joined as in %s.",
            pace_show_ns(totals->exposed_ns).text, pace_show_ns(totals->elsewhere_ns).text,
            100.0 * (double)totals->elsewhere_ns / exposed_ns, alone ? "" : " without a trace", machine);
    if (totals->slow_ns * 10 >= window_ns)
        pace_node_sentence(
            root, true,
            "Of %s of exposed communication in the whole trace %s (%.0f %%) is neither waiting for late ranks nor what the "
            "links of %s take: other links, their settings or contention.",
            pace_show_ns(totals->exposed_ns).text, pace_show_ns(totals->slow_ns).text,
            100.0 * (double)totals->slow_ns / exposed_ns, machine);
    bool said = false;
    for (size_t i = 0; i < totals->items.count; i++) said |= totals->items.items[i].expected_ns >= 0;
    if (!said) return;
    write_basis(basis, sizeof basis, &totals->links);
    pace_node_note(
        root,
        "'links take': a call over the links of %s (%s); 'beyond': exposed time beyond the upper end of its 90 %% interval, of late ranks or slower links. busbw "
        "counts the bytes that cross a rank's link.",
        machine, basis);
}

/* Size against bandwidth, a dot for each row; a colour for each kind of collective. */
static void put_chart(pace_node *root, const pace_exchange_totals *totals) {
    pace_node *chart = NULL;
    for (size_t i = 0; i < totals->items.count; i++) {
        const pace_exchange_total *first = &totals->items.items[i];
        bool before = false;
        for (size_t k = 0; k < i; k++) before |= strcmp(totals->items.items[k].collective, first->collective) == 0;
        if (before) continue;
        bool begun = false;
        for (size_t k = i; k < totals->items.count; k++) {
            const pace_exchange_total *row = &totals->items.items[k];
            if (strcmp(row->collective, first->collective) != 0 || row->bytes <= 0 || !(row->busbw_per_s > 0)) continue;
            if (!chart)
                chart = pace_node_chart(root, "Bandwidth of collectives by their size", "bytes; byte/s on the bus",
                                        PACE_CHART_LOG_X | PACE_CHART_LOG_Y);
            if (!begun) pace_chart_curve(chart, PACE_CURVE_DOTS, "%s", first->collective);
            begun = true;
            pace_chart_point(chart, (double)row->bytes, row->busbw_per_s);
        }
    }
}

pace_status pace_put_exchange_totals(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                                     pace_catalog *catalog) {
    pace_exchange_totals totals;
    PACE_TRY(
        pace_exchange_totals_find(&totals, rank, analysis->ranks.count, pace_asked_machine(analysis), catalog, NULL));
    put_rows(root, &totals);
    put_chart(root, &totals);
    int64_t window_ns = rank->work.window.last_ns - rank->work.window.first_ns;
    if (totals.items.count) put_sentence(root, &totals, analysis->ranks.count == 1, window_ns);
    pace_exchange_totals_free(&totals);
    return PACE_OK;
}
