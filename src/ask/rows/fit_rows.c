#include "ask/rows/fit_rows.h"
#include "base/whole_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static pace_status column_called(size_t *out, const pace_csv *csv, const char *name, size_t length) {
    int column = pace_csv_find_any_case(csv, name, length);
    if (column >= 0) {
        *out = (size_t)column;
        return PACE_OK;
    }
    return pace_fail(PACE_E_USAGE,
                     "%s: " PACE_FIELD "split: no column \"%.*s\": expected shape, device or columns with commas",
                     csv->name, (int)(length < 60 ? length : 60), name);
}

pace_status pace_split_group(uint64_t *out, const pace_kernel_rows *table, const pace_kernel_row *row,
                             const char *split) {
    uint64_t group = 0;
    if (!split || strcmp(split, "shape") == 0) group = row->shape;
    else if (strcmp(split, "device") == 0)
        group = row->device ? pace_hash(row->device->name, strlen(row->device->name)) : 0;
    else {
        const char *at = split;
        do {
            size_t length = strcspn(at, ","), column = 0;
            PACE_TRY(column_called(&column, &table->csv, at, length));
            const char *cell = pace_csv_cell(&table->csv, row->row, column);
            group = group * UINT64_C(0x9e3779b97f4a7c15) + pace_hash(cell, strlen(cell));
            at += length + (at[length] == ',');
        } while (*at);
    }
    *out = group;
    return PACE_OK;
}

typedef PACE_VEC(pace_measurement) measurements;

typedef struct {
    const pace_kernel_rows *tables;
    size_t table_count;
    const pace_fit_rows_options *options;
    bool (*keep)(void *context, size_t table, size_t question);
    void *context;
    measurements families[PACE_OP_FAMILIES];
    pace_fit_model fit;
    const pace_device *device; /* the first, and whether it is the only one */
    bool several;
} gatherer;

static pace_status gather_row(gatherer *g, pace_fit_outcome *outcome, const pace_kernel_rows *table,
                              const pace_kernel_row *row) {
    pace_sample sample;
    if (*row->status || row->part_count > 0 || row->called || !pace_sample_of(&sample, &row->op, row->device, NAN)) {
        pace_left_out_add(&outcome->left_out, &table->csv, table->csv.name, row->row,
                          *row->status          ? row->status
                          : row->part_count > 0 ? "several operations timed as one"
                          : row->called         ? "a call was timed, with the host's part of it"
                                                : "the device's rates are not known");
        return PACE_OK;
    }
    if (isnan(row->time_s)) return PACE_OK;
    uint64_t group;
    PACE_TRY(pace_split_group(&group, table, row, g->options->split));
    pace_measurement one = {.op = row->op,
                            .device = row->device,
                            .time_s = row->time_s,
                            .formula_s = NAN,
                            .group = (uint32_t)(group ^ (group >> 32)) & UINT32_C(0x7fffffff)};
    snprintf(one.source, sizeof one.source, "%s", row->source);
    if (g->device && g->device != row->device) g->several = true;
    if (!g->device) g->device = row->device;
    if (!*g->fit.unit) {
        const pace_measured_column *measured = &table->columns.measured[row->measured];
        bool time = measured->kind == PACE_MEASURED_TIME && strlen(measured->unit) < sizeof g->fit.unit;
        snprintf(g->fit.unit, sizeof g->fit.unit, "%.7s", time ? measured->unit : "s");
        g->fit.unit_s = time ? measured->unit_s : 1;
    }
    outcome->measured++;
    pace_estimate formula_s;
    if (pace_cost_op_from(&formula_s, g->options->formula, row->device, &row->op, row->source) == PACE_OK)
        one.formula_s = formula_s.median;
    return PACE_PUSH(&g->families[row->op.family], one);
}

static pace_status gather(gatherer *g, pace_fit_outcome *outcome) {
    for (size_t t = 0; t < g->table_count; t++) {
        if (g->tables[t].columns.measured_count == 0)
            return pace_fail(PACE_E_INPUT, "%s: no measured column: expected one such as latency_us, time_ms or fwd_us",
                             g->tables[t].csv.name);
        for (size_t i = 0; i < g->tables[t].rows.count; i++)
            if (!g->keep || g->keep(g->context, t, i))
                PACE_TRY(gather_row(g, outcome, &g->tables[t], &g->tables[t].rows.items[i]));
    }
    if (outcome->measured > 0) return PACE_OK;
    if (outcome->left_out.rows == 0)
        return pace_fail(PACE_E_INPUT, "%s: no row that can be learned from", g->tables[0].csv.name);
    return pace_fail(PACE_E_INPUT, "no row that can be learned from; the first: %s", outcome->left_out.first);
}

bool pace_fit_family_worse(const pace_fit_family *family) {
    return family->score.held_out > 0 && family->score.gain < 0;
}

static pace_status learn_family(gatherer *g, pace_fit_family *family) {
    measurements *rows = &g->families[family->family];
    pace_learned learned;
    PACE_TRY(pace_learned_fit(&learned, &family->score, rows->items, rows->count, g->options->seed));
    bool keep = !pace_fit_family_worse(family);
    family->learned = keep && rows->count >= PACE_LEARN_LEAST;
    pace_status status = keep ? PACE_PUSH(&g->fit.families, learned) : PACE_OK;
    if (!keep || status != PACE_OK) pace_learned_free(&learned);
    return status;
}

static pace_status learn_families(gatherer *g, pace_fit_outcome *outcome) {
    size_t worse = 0, learned = 0;
    for (int f = 0; f < PACE_OP_FAMILIES; f++) {
        measurements *rows = &g->families[f];
        if (rows->count == 0) continue;
        pace_fit_family family = {.family = (pace_op_family)f, .rows = rows->count};
        PACE_TRY(learn_family(g, &family));
        worse += pace_fit_family_worse(&family), learned += family.learned;
        PACE_TRY(PACE_PUSH(&outcome->families, family));
    }
    if (learned == 0 && worse > 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: nothing is learned: a fit of these %zu rows tells those held out worse than the formula "
                         "does",
                         g->tables[0].csv.name, outcome->measured);
    if (learned == 0)
        return pace_fail(PACE_E_INPUT, "%s: too few rows: expected at least %d of one family, found %zu measured",
                         g->tables[0].csv.name, PACE_LEARN_LEAST, outcome->measured);
    return PACE_OK;
}

pace_status pace_fit_rows(pace_fit_model *out, pace_fit_outcome *outcome, const pace_kernel_rows *tables,
                          size_t table_count, const pace_fit_rows_options *options,
                          bool (*keep)(void *context, size_t table, size_t question), void *context) {
    gatherer g = {.tables = tables, .table_count = table_count, .options = options, .keep = keep, .context = context};
    pace_fit_outcome found = {0};
    pace_status status = gather(&g, &found);
    if (status == PACE_OK) status = learn_families(&g, &found);
    for (int f = 0; f < PACE_OP_FAMILIES; f++) PACE_VEC_FREE(&g.families[f]);
    if (status != PACE_OK) {
        pace_fit_free(&g.fit);
        pace_fit_outcome_free(&found);
        return status;
    }
    g.fit.figures = pace_cost_mark(options->formula);
    if (g.device && !g.several) memcpy(g.fit.device, g.device->name, sizeof g.fit.device);
    *out = g.fit;
    *outcome = found;
    return PACE_OK;
}

void pace_fit_outcome_free(pace_fit_outcome *outcome) { PACE_VEC_FREE(&outcome->families); }

static pace_status read_fit(void *out, pace_input *input) {
    enum { LARGEST_FIT = 1 << 30 };
    char *bytes;
    size_t length;
    PACE_TRY(pace_input_read_all(&bytes, &length, input, LARGEST_FIT));
    pace_status status = pace_fit_parse(out, pace_input_name(input), (unsigned char *)bytes, length);
    pace_free(bytes);
    return status;
}

pace_status pace_fit_load(pace_fit_model *out, const char *path) { return pace_input_read_file(out, path, read_fit); }

typedef struct {
    unsigned char *bytes;
    size_t length;
} fit_bytes;

static pace_status put_bytes(pace_sink *sink, void *context) {
    const fit_bytes *fit = context;
    pace_sink_bytes(sink, fit->bytes, fit->length);
    return PACE_OK;
}

pace_status pace_fit_save(const pace_fit_model *fit, const char *path) {
    fit_bytes whole;
    PACE_TRY(pace_fit_write(&whole.bytes, &whole.length, fit));
    pace_status status = pace_whole_file_write(path, put_bytes, &whole);
    pace_free(whole.bytes);
    return status;
}
