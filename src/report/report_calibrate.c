/* The report of `paceline calibrate`: what was measured, how well, and what the machine can do. */
#include "report/report.h"

#include "paceline/calibrate.h"

#include <math.h>

static const pace_column family_columns[] = {
    {"family", "Family", PACE_SHOW_TEXT},
    {"source", "By", PACE_SHOW_TEXT},
    {"points", "Points", PACE_SHOW_INT},
    {"measured", "Measured", PACE_SHOW_INT},
    {"kept", "Kept", PACE_SHOW_INT},
    {"skipped", "Skipped", PACE_SHOW_INT},
    {"best_flop_per_s", "Best FLOP/s", PACE_SHOW_RATE},
    {"best_bytes_per_s", "Best B/s", PACE_SHOW_RATE},
    {"median_spread", "Spread", PACE_SHOW_SHARE},
    {"duration_ns", "Time", PACE_SHOW_NS},
};

static const pace_column list_columns[] = {
    {"family", "Family", PACE_SHOW_TEXT},
    {"source", "By", PACE_SHOW_TEXT},
    {"points", "Points", PACE_SHOW_INT},
    {"expected_ns", "About", PACE_SHOW_NS},
};

static const pace_column figure_columns[] = {
    {"figure", "Figure", PACE_SHOW_TEXT},
    {"value", "Value (SI)", PACE_SHOW_REAL},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void real_or_none(pace_node *table, double value) {
    if (value > 0) pace_table_real(table, value);
    else pace_table_none(table);
}

static void put_family(pace_node *table, const pace_calibrated_family *f, bool list) {
    pace_table_row(table);
    pace_table_text(table, f->family);
    pace_table_text(table, f->source);
    pace_table_int(table, (int64_t)f->points);
    if (!list) {
        pace_table_int(table, (int64_t)f->measured);
        pace_table_int(table, (int64_t)f->kept);
        pace_table_int(table, (int64_t)f->skipped);
        real_or_none(table, f->best_flop_per_s);
        real_or_none(table, f->best_bytes_per_s);
        if (f->measured + f->kept) pace_table_real(table, f->median_spread);
        else pace_table_none(table);
    }
    pace_table_int(table, llround(1e9 * f->seconds));
}

static void put_families(pace_node *root, const pace_calibration *c) {
    pace_node *table = pace_node_table(root, "families", c->list ? "What would be measured" : "What was measured",
                                       PACE_FOR_ALL, c->list ? list_columns : family_columns,
                                       c->list ? COUNT(list_columns) : COUNT(family_columns), 0);
    for (size_t i = 0; i < c->family_count; i++) put_family(table, &c->families[i], c->list);
}

static void put_figures(pace_node *root, const pace_calibration *c) {
    if (c->figure_count == 0) return;
    pace_node *table =
        pace_node_table(root, "figures", "What the device can do", PACE_FOR_ALL, PACE_COLUMNS(figure_columns), 0);
    for (size_t i = 0; i < c->figure_count; i++) {
        pace_table_row(table);
        pace_table_text(table, c->figures[i].key);
        pace_table_real(table, c->figures[i].value);
    }
}

static void put_head(pace_node *root, const pace_calibration *c) {
    size_t points = 0, measured = 0, kept = 0;
    double seconds = 0;
    for (size_t i = 0; i < c->family_count; i++) {
        points += c->families[i].points;
        measured += c->families[i].measured;
        kept += c->families[i].kept;
        seconds += c->families[i].seconds;
    }
    if (c->list) pace_node_sentence(root, true, "%zu points, about %.0f s", points, ceil(seconds));
    else
        pace_node_sentence(root, true, "%s: %zu of %zu points measured, %zu kept, in %.0f s", c->device, measured,
                           points, kept, c->seconds);
    pace_node_text(root, "device", c->device);
    pace_node_text(root, "processor", c->processor);
    pace_node_text(root, "software", c->software);
    pace_node_int(root, "threads", c->threads);
    pace_node_int(root, "points", (int64_t)points);
    pace_node_text(root, "rows_path", c->rows_path);
    pace_node_text(root, "entry_path", c->entry_path);
}

pace_status pace_calibration_report(pace_report **out, const pace_calibration *calibration) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, "calibrate", "Calibration"));
    pace_report_set_command(report, calibration->command, calibration->command_count);
    pace_node *root = pace_report_root(report);
    put_head(root, calibration);
    put_families(root, calibration);
    put_figures(root, calibration);
    if (!calibration->list)
        pace_node_note(root, "Spread: standard deviation of ln(time) between batches; figures are of warm caches.");
    for (size_t i = 0; i < calibration->note_count; i++) pace_node_note(root, "%s", calibration->notes[i]);
    pace_status status = pace_report_status(report);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}
