#include "report/predict/predict_parts.h"
#include "base/order.h"
#include "report/table.h"
#include "base/print.h"

#include <stdlib.h>

typedef struct {
    const char *name;
    double added, figure; /* figure: NaN where a table gives one for each family */
    pace_doubt_words words;
} row;

PACE_TABLE_IF_ROWS(assumptions, "assumptions", "What the interval rests on", PACE_FOR_ALL, 5,
                   {"doubt", "assumption", PACE_SHOW_TEXT, PACE_OF(row, name)},
                   {"added_spread", "adds", PACE_SHOW_SHARE, PACE_OF(row, added)},
                   {"spread", NULL, PACE_SHOW_REAL, PACE_OF(row, figure)},
                   {"says", "what is assumed", PACE_SHOW_TEXT, PACE_OF(row, words.says)},
                   {"removed_by", NULL, PACE_SHOW_TEXT, PACE_OF(row, words.removed_by)},
                   {"confidence", NULL, PACE_SHOW_TEXT, PACE_OF(row, words.confidence)},
                   {"source", NULL, PACE_SHOW_TEXT, PACE_OF(row, words.source)});

PACE_ORDER(largest_first, row, PACE_DOWN(added) PACE_TEXT(name))

/* Of the largest, in words: in a table such texts would be cut. */
static void put_removal(pace_node *parent, const row *rows, size_t count) {
    enum { NAMED = 3 };
    char text[640] = "";
    for (size_t i = 0; i < count && i < NAMED && rows[i].added >= rows[0].added / 10; i++)
        pace_list(text, sizeof text, "; ", "%.40s by %.160s", rows[i].name, rows[i].words.removed_by);
    if (count) pace_node_note(parent, "What removes the largest assumptions: %s.", text);
}

/* Doubts that mean an answer beyond what was fitted. */
static void warn_beyond(pace_report *report, const pace_doubts_used *used, const pace_doubt_catalog *all) {
    for (int i = 0; report && i < PACE_DOUBTS; i++)
        if (used->added[i] > 0 && pace_doubt_beyond((pace_doubt)i))
            pace_report_warn(report, PACE_WARN_EXTRAPOLATED, pace_doubt_name((pace_doubt)i),
                             "%.160s (removed by %.160s)", all->words[i].says, all->words[i].removed_by);
}

/* `largest` is the doubt that adds most; NULL without any. */
static void warn_of_width(pace_report *report, pace_estimate answer, const row *largest) {
    double factor = answer.median > 0 ? pace_estimate_high(answer) / answer.median : 1;
    if (!report || factor <= 2) return;
    if (largest)
        pace_report_warn(report, PACE_WARN_WIDE_INTERVAL, largest->name,
                         "the answer is known within a factor of %.1f, mostly because: %.160s (removed by %.160s)",
                         factor, largest->words.says, largest->words.removed_by);
    else pace_report_warn(report, PACE_WARN_WIDE_INTERVAL, NULL, "the answer is known within a factor of %.1f", factor);
}

pace_status pace_put_assumptions(pace_node *parent, pace_catalog *catalog, const pace_doubts_used *used,
                                 pace_estimate answer) {
    pace_doubt_catalog all;
    row rows[PACE_DOUBTS];
    size_t count = 0;
    PACE_TRY(pace_doubt_catalog_load(&all, catalog));
    for (int i = 0; i < PACE_DOUBTS; i++)
        if (used->added[i] > 0)
            rows[count++] =
                (row){pace_doubt_name((pace_doubt)i), used->added[i],
                      pace_doubt_kind_of((pace_doubt)i) == PACE_DOUBT_TABLE ? NAN : all.doubts.figure[i], all.words[i]};
    qsort(rows, count, sizeof *rows, largest_first);
    pace_put_table(parent, &assumptions, rows, count, sizeof *rows);
    put_removal(parent, rows, count);
    warn_beyond(pace_node_report(parent), used, &all);
    warn_of_width(pace_node_report(parent), answer, count ? rows : NULL);
    return PACE_OK;
}
