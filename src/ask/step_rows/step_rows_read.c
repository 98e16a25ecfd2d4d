#include "ask/rows/column_finder.h"
#include "ask/rows/column_words.h"
#include "ask/step_rows/step_cells.h"
#include "ask/step_rows/step_row_worded.h"
#include "machine/place.h"

/* In the order of pace_step_column. */
static const char *const keys[PACE_STEP_COLUMNS] = {
    "device",     "machine",      "model",        "family",      "framework",
    "release",    "task",         "mode",         "precision",   "fp8",
    "fp16",       "bf16",         "tf32",         "recompute",   "recompute_method",
    "sharding",   "fsdp",         "execution",    "compile",     "graphs",
    "layout",     "notes",        "n_gpu",        "nodes",       "gpus_per_node",
    "node_gbit",  "params_b",     "hidden",       "layers",      "heads",
    "head_dim",   "kv_heads",     "ffn",          "vocab",       "image",
    "seq",        "experts",      "topk",         "expert_ffn",  "shared",
    "dense",      "mtp",          "q_rank",       "kv_rank",     "sliding",
    "tp",         "pp",           "vpp",          "cp",          "ep",
    "dp",         "micro_batch",  "global_batch", "grad_accum",  "zero_stage",
    "zero_group", "dist_opt",     "seq_par",      "flash",       "schedule",
    "power",      "tokens_batch", "train_tokens", "train_steps", "suite"};

static void mark(bool *taken, const int *columns, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (columns[i] >= 0) taken[columns[i]] = true;
}

/* Columns that have none of the catalogue's names as they stand, by their words. */
static pace_status find_by_words(pace_step_reader *r, const pace_yaml_node *names) {
    pace_column_words words;
    bool *taken = pace_alloc(r->rows->csv.columns + 1, sizeof *taken);
    if (!taken) return PACE_E_MEMORY;
    mark(taken, r->column, PACE_STEP_COLUMNS);
    mark(taken, r->field, PACE_CONFIG_FIELDS);
    mark(taken, r->rate, PACE_STEP_RATES);
    mark(taken, r->run, PACE_STEP_RUNS);
    mark(taken, &r->measured, 1);
    pace_status status = pace_column_words_open(&words, names, &r->rows->csv, taken);
    pace_free(taken);
    PACE_TRY(status);
    for (int i = 0; i < PACE_STEP_COLUMNS; i++)
        if (r->column[i] < 0) r->column[i] = pace_column_words_find(&words, pace_yaml_get(names, keys[i]));
    pace_step_find_measured_words(r, names, &words);
    pace_column_words_free(&words);
    return PACE_OK;
}

/* A column that has one name as it stands does not answer to another's without "total" or "number of": "gpu" is the
 * device, though "total_gpu" would be its number. */
static void find_by_names(pace_step_reader *r, const pace_yaml_node *names) {
    for (int i = 0; i < PACE_STEP_COLUMNS; i++)
        r->column[i] = pace_find_column_whole(&r->rows->csv, pace_yaml_get(names, keys[i]));
    for (int i = 0; i < PACE_STEP_COLUMNS; i++) {
        int bare = r->column[i] < 0 ? pace_find_column(&r->rows->csv, pace_yaml_get(names, keys[i])) : -1;
        if (bare >= 0 && !pace_step_column_read(r, bare)) r->column[i] = bare;
    }
}

static pace_status find_columns(pace_step_reader *r) {
    static const pace_step_column counted[] = {PACE_STEP_N_GPU, PACE_STEP_NODES, PACE_STEP_DP},
                                  shared[] = {PACE_STEP_TP, PACE_STEP_PP};
    const pace_yaml_node *names = pace_yaml_get(pace_yaml_root(r->things->columns), "step");
    find_by_names(r, names);
    pace_step_find_fields(r);
    pace_step_find_measured(r, names);
    PACE_TRY(find_by_words(r, names));
    for (size_t i = 0; i < PACE_COUNT(shared); i++) r->shares_model |= r->column[shared[i]] >= 0;
    r->distributed = r->shares_model;
    for (size_t i = 0; i < PACE_COUNT(counted); i++) r->distributed |= r->column[counted[i]] >= 0;
    if (r->column[PACE_STEP_MODEL] >= 0 || r->column[PACE_STEP_HIDDEN] >= 0 || r->column[PACE_STEP_PARAMS_B] >= 0)
        return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected a column \"model\", or \"hidden\", \"layers\", \"heads\", \"seq\"",
                     r->rows->csv.name);
}

static pace_status add_row(pace_step_reader *r, size_t row) {
    pace_step_row out = {.row = (uint32_t)row,
                         .doubt = 1,
                         .matrix_factor = 1,
                         .attention_factor = 1,
                         .stream_factor = 1,
                         .approach = &r->things->approach,
                         .spreads = r->things->frameworks.spreads};
    bool known = pace_step_row_check(&out, r, row) && pace_step_row_device(&out, r, row) &&
                 pace_step_row_model(&out, r, row) && pace_step_row_config(&out, r, row) &&
                 pace_step_row_place(&out, r, row) && pace_step_row_batches(&out, r, row);
    if (!known) out.model = NULL;
    else pace_step_row_unsaid(&out, r, row);
    pace_step_row_measured(&out, r, row);
    return PACE_PUSH(&r->rows->rows, out);
}

static pace_status open_things(pace_step_things **out, pace_catalog *catalog) {
    pace_step_things *things = pace_alloc(1, sizeof *things);
    if (!things) return PACE_E_MEMORY;
    *out = things;
    PACE_TRY(pace_catalog_document(&things->columns, catalog, "columns.yaml"));
    PACE_TRY(pace_doubts_load(&things->doubts, catalog));
    PACE_TRY(pace_model_names_load(&things->names, catalog));
    PACE_TRY(pace_device_catalog_load(&things->devices, catalog));
    PACE_TRY(pace_machine_catalog_load(&things->machines, catalog));
    PACE_TRY(pace_step_usual_approach(&things->approach, catalog));
    return pace_frameworks_load(&things->frameworks, catalog);
}

/* The device of --on: of a machine, or one by itself, with its figures. */
static pace_status find_default(pace_step_things *things, const char *on) {
    pace_machine machine;
    bool joined;
    pace_status status = pace_place_asked(&things->on_device, &machine, &joined, &things->devices, on);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, "on");
}

static void close_things(pace_step_things *things) {
    if (!things) return;
    for (size_t i = 0; i < things->models.count; i++) {
        pace_model_free(&things->models.items[i]->model);
        PACE_FREE(things->models.items[i]->key, things->models.items[i]);
    }
    for (size_t i = 0; i < things->places.count; i++) {
        PACE_FREE(things->places.items[i]->key, things->places.items[i]);
    }
    pace_step_worded_free(things);
    if (things->has_pricer) pace_step_pricer_close(&things->pricer);
    pace_model_names_free(&things->names);
    PACE_VEC_FREE(&things->models, &things->places);
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

pace_status pace_step_rows_read(pace_step_rows *out, pace_catalog *catalog, pace_input *input,
                                const pace_step_defaults *defaults) {
    pace_step_rows rows = {0};
    pace_step_reader r = {.rows = &rows, .defaults = defaults};
    pace_status status = pace_csv_read(&rows.csv, input);
    if (status == PACE_OK) status = open_things(&rows.things, catalog);
    r.things = rows.things;
    if (status == PACE_OK && defaults->machine) status = find_default(rows.things, defaults->machine);
    if (status == PACE_OK) status = find_columns(&r);
    for (size_t i = 0; status == PACE_OK && i < rows.csv.rows; i++) status = add_row(&r, i);
    if (status == PACE_OK) pace_step_rows_count_steps(&rows);
    return PACE_GIVE(out, rows, status, pace_step_rows_free(&rows));
}
