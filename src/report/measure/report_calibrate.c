/* The report of `paceline calibrate`: what was measured, how well, and what the machine can do. */
#include "report/answer.h"
#include "report/table.h"
#include "paceline/calibrate.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_calibrated_family of;
    double best_flop_per_s, best_bytes_per_s, median_spread;
    int64_t duration_ns;
} family_row;

PACE_TABLE(measurements, "families", "What was measured", PACE_FOR_ALL, 0,
           {"family", "Family", PACE_SHOW_TEXT, PACE_OF(family_row, of.family)},
           {"source", "By", PACE_SHOW_TEXT, PACE_OF(family_row, of.source)},
           {"points", "Points", PACE_SHOW_INT, PACE_OF(family_row, of.points)},
           {"measured", "Measured", PACE_SHOW_INT, PACE_OF(family_row, of.measured)},
           {"kept", "Kept", PACE_SHOW_INT, PACE_OF(family_row, of.kept)},
           {"skipped", "Skipped", PACE_SHOW_INT, PACE_OF(family_row, of.skipped)},
           {"best_flop_per_s", "Best FLOP/s", PACE_SHOW_RATE, PACE_OF(family_row, best_flop_per_s)},
           {"best_bytes_per_s", "Best B/s", PACE_SHOW_RATE, PACE_OF(family_row, best_bytes_per_s)},
           {"median_spread", "Spread", PACE_SHOW_SHARE, PACE_OF(family_row, median_spread)},
           {"duration_ns", "Time", PACE_SHOW_NS, PACE_OF(family_row, duration_ns)});

PACE_TABLE(plan, "families", "What will be measured", PACE_FOR_ALL, 0,
           {"family", "Family", PACE_SHOW_TEXT, PACE_OF(family_row, of.family)},
           {"source", "By", PACE_SHOW_TEXT, PACE_OF(family_row, of.source)},
           {"points", "Points", PACE_SHOW_INT, PACE_OF(family_row, of.points)},
           {"expected_ns", "About", PACE_SHOW_NS, PACE_OF(family_row, duration_ns)});

static void put_families(pace_node *root, const pace_calibration *c) {
    pace_node *table = pace_open_table(root, c->list ? &plan : &measurements, 0);
    for (size_t i = 0; i < c->family_count; i++) {
        const pace_calibrated_family *f = &c->families[i];
        pace_table_put(table, &(family_row){.of = *f,
                                            .best_flop_per_s = pace_known(f->best_flop_per_s),
                                            .best_bytes_per_s = pace_known(f->best_bytes_per_s),
                                            .median_spread = f->measured + f->kept ? f->median_spread : NAN,
                                            .duration_ns = llround(1e9 * f->seconds)});
    }
}

PACE_TABLE(figures, "figures", "What the device can do", PACE_FOR_ALL, 0,
           {"figure", "Figure", PACE_SHOW_TEXT, PACE_OF(pace_calibrated_figure, key)},
           {"value", "Value (SI)", PACE_SHOW_REAL, PACE_OF(pace_calibrated_figure, value)});

static void put_figures(pace_node *root, const pace_calibration *c) {
    if (c->figure_count) pace_put_table(root, &figures, c->figures, c->figure_count, sizeof *c->figures);
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

static pace_status build(pace_report *report, void *context) {
    const pace_calibration *calibration = context;
    pace_report_set_command(report, calibration->command, calibration->command_count);
    pace_node *root = pace_report_root(report);
    put_head(root, calibration);
    if (calibration->stopped) pace_report_lead(report, PACE_WARN_STOPPED_EARLY, "%s", calibration->stopped);
    if (calibration->stopped && calibration->entry_path) pace_report_deny(report);
    put_families(root, calibration);
    put_figures(root, calibration);
    if (!calibration->list)
        pace_node_note(root, "Spread: standard deviation of ln(time) between batches. Caches are warm.");
    for (size_t i = 0; i < calibration->note_count; i++) pace_node_note(root, "%s", calibration->notes[i]);
    return PACE_OK;
}

pace_status pace_calibration_answer(pace_answer **out, const pace_calibration *calibration) {
    pace_report *report;
    pace_calibration known = {0};
    memcpy(&known, calibration, calibration->size < sizeof known ? calibration->size : sizeof known);
    PACE_TRY(pace_report_build(&report, "calibrate", "Calibration", build, &known));
    return pace_answer_of_report(out, report, true);
}
