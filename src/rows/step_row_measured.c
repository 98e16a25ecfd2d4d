/* What a table measured of its steps: a time, or a rate that a step's tokens or samples turn into one. */
#include "rows/step_row.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const pace_step_rate_names[PACE_STEP_RATES] = {"tokens_per_s_per_gpu", "tokens_per_s",
                                                           "samples_per_s_per_gpu", "samples_per_s", "steps_per_s"};

bool pace_step_is_rate(const char *name) {
    for (int i = 0; i < PACE_STEP_RATES; i++)
        if (strcmp(pace_step_rate_names[i], name) == 0) return true;
    return false;
}

double pace_step_row_amount(const pace_step_row *row, const char *rate) {
    const double amounts[PACE_STEP_RATES] = {row->tokens, row->tokens * row->ranks,
                                             row->config.global_batch / row->ranks, row->config.global_batch, 1};
    for (int i = 0; i < PACE_STEP_RATES; i++)
        if (strcmp(pace_step_rate_names[i], rate) == 0) return amounts[i];
    return 0;
}

void pace_step_plain(char *out, size_t size, const char *text) {
    size_t used = 0;
    for (; *text; text++)
        if (isalnum((unsigned char)*text) && used + 1 < size) out[used++] = (char)tolower((unsigned char)*text);
    out[used] = '\0';
}

int pace_step_find_column(const pace_csv *csv, const pace_yaml_node *list) {
    char wanted[96], name[96];
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *text = pace_yaml_text(pace_yaml_item(list, i));
        if (text) pace_step_plain(wanted, sizeof wanted, text);
        for (size_t c = 0; text && c < csv->columns; c++) {
            pace_step_plain(name, sizeof name, pace_csv_name(csv, c));
            if (strcmp(name, wanted) == 0) return (int)c;
        }
    }
    return -1;
}

/* What stands behind a stem. A stem may hold its unit ("iter_s_median"). */
static bool unit_of(pace_step_reader *r, const char *rest, bool spelled) {
    static const struct {
        const char *exact, *word; /* as "_ms"; as "ms" of "time (ms)" */
        double unit_s;
    } units[] = {{"_s", "s", 1},
                 {"_s", "sec", 1},
                 {"_s", "seconds", 1},
                 {"_ms", "ms", 1e-3},
                 {"_ms", "msec", 1e-3},
                 {"_us", "us", 1e-6},
                 {"_ns", "ns", 1e-9},
                 {"_ms", "milliseconds", 1e-3},
                 {"_s_median", "smedian", 1},
                 {"_ms_median", "msmedian", 1e-3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (spelled ? strcmp(rest, units[i].word) == 0 : strcasecmp(rest, units[i].exact) == 0) {
            r->unit_s = units[i].unit_s;
            return true;
        }
    return false;
}

static bool find_exact(pace_step_reader *r, const pace_yaml_node *stems) {
    for (size_t i = 0; i < pace_yaml_count(stems); i++) {
        const char *stem = pace_yaml_text(pace_yaml_item(stems, i));
        for (size_t c = 0; stem && c < r->rows->csv.columns; c++) {
            const char *name = pace_csv_name(&r->rows->csv, c);
            if (strncasecmp(name, stem, strlen(stem)) != 0 || !unit_of(r, name + strlen(stem), false)) continue;
            r->measured = (int)c;
            return true;
        }
    }
    return false;
}

static bool find_spelled(pace_step_reader *r, const pace_yaml_node *stems) {
    char stem[96], name[96];
    for (size_t i = 0; i < pace_yaml_count(stems); i++) {
        const char *text = pace_yaml_text(pace_yaml_item(stems, i));
        if (!text) continue;
        pace_step_plain(stem, sizeof stem, text);
        bool whole = strlen(stem) > 4; /* "step" alone is a step's number, "steps" how many */
        for (size_t c = 0; c < r->rows->csv.columns; c++) {
            pace_step_plain(name, sizeof name, pace_csv_name(&r->rows->csv, c));
            if (strncmp(name, stem, strlen(stem)) != 0) continue;
            const char *rest = name + strlen(stem);
            if (!whole && (!*rest || strcmp(rest, "s") == 0)) continue;
            r->guessed_unit = !*rest;
            if (*rest && !unit_of(r, rest, true)) continue;
            r->measured = (int)c;
            return true;
        }
    }
    return false;
}

void pace_step_find_measured(pace_step_reader *r, const pace_yaml_node *names) {
    r->measured = -1;
    r->unit_s = 1;
    if (!find_exact(r, pace_yaml_get(names, "measured"))) find_spelled(r, pace_yaml_get(names, "times"));
    for (int i = 0; i < PACE_STEP_RATES; i++)
        r->rate[i] = pace_step_find_column(&r->rows->csv, pace_yaml_get(names, pace_step_rate_names[i]));
}

static bool positive(double *out, const char *text) { return pace_csv_number(out, text) && *out > 0; }

void pace_step_row_measured(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double value;
    out->measured_s = NAN;
    out->unit_s = r->unit_s;
    out->unit = r->unit_s == 1 ? "s" : r->unit_s == 1e-3 ? "ms" : r->unit_s == 1e-6 ? "us" : "ns";
    const char *text = r->measured >= 0 ? pace_csv_cell(&r->rows->csv, row, (size_t)r->measured) : "";
    if (positive(&value, text)) {
        out->measured_s = value * r->unit_s;
        if (r->guessed_unit)
            pace_step_note(out, "%.30s taken for seconds", pace_csv_name(&r->rows->csv, (size_t)r->measured));
        return;
    }
    if (*text) pace_step_note(out, "not a time that was measured: \"%.20s\"", text);
    for (int i = 0; i < PACE_STEP_RATES && out->model; i++) {
        if (r->rate[i] < 0 || !positive(&value, pace_csv_cell(&r->rows->csv, row, (size_t)r->rate[i]))) continue;
        out->measured_s = pace_step_row_amount(out, pace_step_rate_names[i]) / value;
        if (r->measured >= 0) return;
        out->unit_s = 0;
        out->unit = pace_step_rate_names[i];
        return;
    }
}
