#include "rows/step_row.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const keys[PACE_STEP_COLUMNS] = {
    "device",    "machine",  "model",     "family",      "framework",    "task",       "mode",
    "precision", "fp8",      "recompute", "sharding",    "execution",    "n_gpu",      "gpus_per_node",
    "node_gbit", "params_b", "hidden",    "layers",      "heads",        "kv_heads",   "ffn",
    "vocab",     "seq",      "experts",   "topk",        "tp",           "pp",         "vpp",
    "cp",        "ep",       "dp",        "micro_batch", "global_batch", "grad_accum", "zero_stage",
    "dist_opt",  "seq_par",  "tokens"};

/* --- cells -------------------------------------------------------------------------------------------------------- */

const char *pace_step_cell(const pace_step_reader *reader, size_t row, pace_step_column column) {
    static const char *const silent[] = {"na", "n/a", "-", "nan", "null"};
    if (reader->column[column] < 0) return "";
    const char *text = pace_csv_cell(&reader->rows->csv, row, (size_t)reader->column[column]);
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcasecmp(text, silent[i]) == 0) return "";
    return text;
}

bool pace_step_number(double *out, const pace_step_reader *reader, size_t row, pace_step_column column) {
    const char *text = pace_step_cell(reader, row, column);
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value)) return false;
    while (*end == ' ') end++;
    if (*end && *end != '(' && !(column == PACE_STEP_PARAMS_B && (*end == 'B' || *end == 'b'))) return false;
    *out = value;
    return true;
}

void pace_step_note(pace_step_row *row, const char *format, ...) {
    size_t used = strlen(row->status);
    va_list arguments;
    if (used > 0 && used + 3 < sizeof row->status) used += (size_t)sprintf(row->status + used, "; ");
    va_start(arguments, format);
    vsnprintf(row->status + used, sizeof row->status - used, format, arguments);
    va_end(arguments);
}

bool pace_step_says(const char *text, const char *word) {
    for (; *text; text++)
        if (strncasecmp(text, word, strlen(word)) == 0) return true;
    return false;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

static int find(const pace_csv *csv, const pace_yaml_node *list) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *name = pace_yaml_text(pace_yaml_item(list, i));
        for (size_t c = 0; name && c < csv->columns; c++)
            if (strcasecmp(pace_csv_name(csv, c), name) == 0) return (int)c;
    }
    return -1;
}

/* "iter_ms" of the stem "iter"; a stem may hold its unit ("iter_s_median"). */
static bool is_measured(pace_step_reader *r, const char *name, const char *stem) {
    static const struct {
        const char *word;
        double unit_s;
    } units[] = {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}, {"_s_median", 1}, {"_ms_median", 1e-3}};
    size_t length = strlen(stem);
    if (strncasecmp(name, stem, length) != 0) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(name + length, units[i].word) == 0) {
            r->unit_s = units[i].unit_s;
            snprintf(r->unit, sizeof r->unit, "%.*s", (int)strcspn(units[i].word + 1, "_"), units[i].word + 1);
            return true;
        }
    return false;
}

static void find_measured(pace_step_reader *r, const pace_yaml_node *stems) {
    r->measured = -1;
    r->unit_s = 1;
    strcpy(r->unit, "s");
    for (size_t i = 0; i < pace_yaml_count(stems); i++) {
        const char *stem = pace_yaml_text(pace_yaml_item(stems, i));
        for (size_t c = 0; stem && c < r->rows->csv.columns; c++)
            if (is_measured(r, pace_csv_name(&r->rows->csv, c), stem)) {
                r->measured = (int)c;
                return;
            }
    }
}

static pace_status find_columns(pace_step_reader *r) {
    static const pace_step_column sharing[] = {PACE_STEP_N_GPU, PACE_STEP_TP, PACE_STEP_PP, PACE_STEP_DP};
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load(&yaml, "columns.yaml"));
    const pace_yaml_node *names = pace_yaml_get(pace_yaml_root(yaml), "step");
    for (int i = 0; i < PACE_STEP_COLUMNS; i++) r->column[i] = find(&r->rows->csv, pace_yaml_get(names, keys[i]));
    find_measured(r, pace_yaml_get(names, "measured"));
    pace_yaml_free(yaml);
    for (size_t i = 0; i < sizeof sharing / sizeof *sharing; i++) r->distributed |= r->column[sharing[i]] >= 0;
    if (r->column[PACE_STEP_MODEL] >= 0 || r->column[PACE_STEP_HIDDEN] >= 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected a column \"model\", or \"hidden\", \"layers\", \"heads\", \"seq\"",
                     r->rows->csv.name);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static bool positive(double *out, const char *text) { return pace_csv_number(out, text) && *out > 0; }

static void read_measured(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double value;
    out->measured_s = NAN;
    out->unit_s = r->unit_s;
    out->unit = r->unit_s == 1 ? "s" : r->unit_s == 1e-3 ? "ms" : r->unit_s == 1e-6 ? "us" : "ns";
    const char *text = r->measured >= 0 ? pace_csv_cell(&r->rows->csv, row, (size_t)r->measured) : "";
    if (positive(&value, text)) {
        out->measured_s = value * r->unit_s;
        return;
    }
    if (*text && !positive(&value, text)) pace_step_note(out, "not a time that was measured: \"%.20s\"", text);
    if (!pace_step_number(&value, r, row, PACE_STEP_TOKENS) || !(value > 0)) return;
    out->measured_s = out->tokens / value;
    if (r->measured >= 0) return;
    out->unit_s = 0;
    out->unit = "tokens_per_s_per_gpu";
}

static pace_status add_row(pace_step_reader *r, size_t row) {
    pace_step_row out = {.row = (uint32_t)row};
    bool known = pace_step_row_device(&out, r, row) && pace_step_row_model(&out, r, row) &&
                 pace_step_row_config(&out, r, row) && pace_step_row_place(&out, r, row);
    if (!known) out.model = NULL;
    read_measured(&out, r, row);
    return PACE_PUSH(&r->rows->rows, out);
}

static pace_status open_things(pace_step_things **out) {
    pace_step_things *things = pace_alloc(1, sizeof *things);
    if (!things) return PACE_E_MEMORY;
    *out = things;
    PACE_TRY(pace_device_catalog_load(&things->devices));
    PACE_TRY(pace_machine_catalog_load(&things->machines));
    return pace_frameworks_load(&things->frameworks);
}

static void close_things(pace_step_things *things) {
    if (!things) return;
    for (size_t i = 0; i < things->models.count; i++) {
        pace_model_free(&things->models.items[i]->model);
        pace_free(things->models.items[i]->key);
        pace_free(things->models.items[i]);
    }
    for (size_t i = 0; i < things->places.count; i++) {
        pace_free(things->places.items[i]->key);
        pace_free(things->places.items[i]);
    }
    PACE_VEC_FREE(&things->names);
    PACE_VEC_FREE(&things->models);
    PACE_VEC_FREE(&things->places);
    pace_frameworks_free(&things->frameworks);
    pace_machine_catalog_free(&things->machines);
    pace_device_catalog_free(&things->devices);
    pace_free(things);
}

void pace_step_rows_free(pace_step_rows *rows) {
    pace_csv_free(&rows->csv);
    PACE_VEC_FREE(&rows->rows);
    close_things(rows->things);
    rows->things = NULL;
}

const pace_frameworks *pace_step_rows_frameworks(const pace_step_rows *rows) { return &rows->things->frameworks; }

pace_status pace_step_rows_read(pace_step_rows *out, pace_input *input, const pace_step_defaults *defaults) {
    pace_step_rows rows = {0};
    pace_step_reader r = {.rows = &rows, .defaults = defaults};
    pace_status status = pace_csv_read(&rows.csv, input);
    if (status == PACE_OK) status = open_things(&rows.things);
    r.things = rows.things;
    if (status == PACE_OK) status = find_columns(&r);
    for (size_t i = 0; status == PACE_OK && i < rows.csv.rows; i++) status = add_row(&r, i);
    if (status != PACE_OK) pace_step_rows_free(&rows);
    else *out = rows;
    return status;
}

pace_status pace_step_rows_open(pace_step_rows *out, const char *path, const pace_step_defaults *defaults) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_step_rows_read(out, input, defaults);
    pace_input_free(input);
    return status;
}
