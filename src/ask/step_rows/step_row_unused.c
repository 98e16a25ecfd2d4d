/* Cells of a row about a step that change nothing in its answer, because another cell counts or because their word is
 * unknown: the status names them, a rule for each column. */
#include "ask/step_rows/step_cells.h"
#include "ask/step_rows/step_row.h"
#include "base/text.h"

#include <string.h>

static bool asks_fsdp(const pace_step_reader *r, size_t row) {
    double ranks;
    return pace_step_flag(pace_step_cell(r, row, PACE_STEP_FSDP)) == 1 ||
           (pace_step_number(&ranks, r, row, PACE_STEP_FSDP) && ranks > 1);
}

static bool is_switch(const pace_step_reader *r, size_t row, pace_step_column column) {
    double ranks;
    return pace_step_flag(pace_step_cell(r, row, column)) >= 0 || pace_step_number(&ranks, r, row, column);
}

static bool is_fsdp_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    if (!is_switch(r, number, PACE_STEP_FSDP)) return true;
    return !asks_fsdp(r, number) && row->config.zero_stage == 3;
}

static bool is_dist_opt_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    int flag = pace_step_flag(pace_step_cell(r, number, PACE_STEP_DIST_OPT));
    return flag < 0 || (flag == 1) != (row->config.zero_stage >= 1);
}

static bool is_zero_group_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    double ranks;
    (void)row;
    return !pace_step_number(&ranks, r, number, PACE_STEP_ZERO_GROUP);
}

/* No more power than the device takes; single precision does not reach all limits. */
static bool is_power_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    double limit, full = row->device->tdp_w;
    if (!pace_step_number(&limit, r, number, PACE_STEP_POWER) || !(full > 0)) return true;
    return limit > full || (limit < full && row->matrix_factor == 1);
}

static bool is_task_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    (void)row;
    return !pace_step_said(r->things, "task", pace_step_cell(r, number, PACE_STEP_TASK));
}

/* Neither a stage of ZeRO nor a degree of parallelism. */
static bool is_sharding_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    static const char *const degrees[] = {"tp", "pp", "vpp", "cp", "ep", "dp"};
    const char *text = pace_step_cell(r, number, PACE_STEP_SHARDING);
    char plain[96];
    (void)row;
    for (size_t i = 0; i < PACE_COUNT(degrees); i++)
        if (pace_step_degree(text, degrees[i]) > 0) return false;
    pace_squeeze(plain, sizeof plain, text, "");
    return !pace_step_says(text, "fsdp") && !pace_step_said(r->things, "zero", plain);
}

/* A switch of a precision that another cell decides, or that is none. */
static bool is_precision_unused(const pace_step_row *row, const pace_step_reader *r, size_t number,
                                pace_step_column column, const char *word) {
    int flag = pace_step_flag(pace_step_cell(r, number, column));
    const char *taken = pace_config_word(&row->config, "precision");
    bool amp = column == PACE_STEP_FP16 && row->config.precision == PACE_RUN_AMP;
    bool narrower = pace_config_is_fp8(&row->config);
    return flag < 0 || (flag == 1 && !amp && !narrower && !pace_step_says(taken, word));
}

static bool is_fp16_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    return is_precision_unused(row, r, number, PACE_STEP_FP16, "fp16");
}

static bool is_bf16_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    return is_precision_unused(row, r, number, PACE_STEP_BF16, "bf16");
}

static bool is_tf32_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    return is_precision_unused(row, r, number, PACE_STEP_TF32, "tf32");
}

/* Other sizes decide. Tables count parameters with and without embeddings. */
static bool is_size_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    const double alike = 2;
    double said = pace_step_size_stated(r, number).billions;
    return !(said > 0) || said * 1e9 > alike * pace_model_total(row->model, &row->config).parameters;
}

static bool is_image_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    double value;
    (void)row;
    return !pace_step_number(&value, r, number, PACE_STEP_IMAGE);
}

/* Beside a number of samples. */
static bool is_words_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    const double alike = 1.1;
    double words, samples, sequence = pace_model_sequence(row->model, &row->config);
    if (!(sequence > 0) || !pace_step_number(&words, r, number, PACE_STEP_TOKENS_BATCH)) return true;
    if (words < 1000) words *= 1e6;
    if (!pace_step_number(&samples, r, number, PACE_STEP_GLOBAL_BATCH)) return false;
    return words > alike * samples * sequence || samples * sequence > alike * words;
}

/* Most releases run steps as others do. Where a table's rows are from says more than that. */
static bool is_release_unused(const pace_step_row *row, const pace_step_reader *r, size_t number) {
    (void)number;
    return !row->framework->release_of &&
           strcmp(pace_csv_name(&r->rows->csv, (size_t)r->column[PACE_STEP_RELEASE]), "source") != 0;
}

static const struct {
    pace_step_column column;
    const char *name;
    bool (*is_unused)(const pace_step_row *row, const pace_step_reader *reader, size_t number);
} rules[] = {{PACE_STEP_TASK, "task", is_task_unused},
             {PACE_STEP_SHARDING, "sharding", is_sharding_unused},
             {PACE_STEP_FSDP, "fsdp", is_fsdp_unused},
             {PACE_STEP_DIST_OPT, "dist_opt", is_dist_opt_unused},
             {PACE_STEP_ZERO_GROUP, "zero_group", is_zero_group_unused},
             {PACE_STEP_POWER, "power_limit", is_power_unused},
             {PACE_STEP_FP16, "fp16", is_fp16_unused},
             {PACE_STEP_BF16, "bf16", is_bf16_unused},
             {PACE_STEP_TF32, "tf32", is_tf32_unused},
             {PACE_STEP_PARAMS_B, "params_b", is_size_unused},
             {PACE_STEP_IMAGE, "image_size", is_image_unused},
             {PACE_STEP_TOKENS_BATCH, "global_batch_tokens", is_words_unused},
             {PACE_STEP_RELEASE, "release", is_release_unused}};

void pace_step_row_unused(pace_step_row *out, const pace_step_reader *r, size_t row) {
    bool replicas = out->config.dp * out->config.cp > 1;
    if (replicas && asks_fsdp(r, row) && out->config.zero_stage != 3)
        pace_step_note(out, "fsdp asks for zero_stage 3: zero_stage %g counts", out->config.zero_stage);
    for (size_t i = 0; i < PACE_COUNT(rules); i++) {
        const char *text = pace_step_cell(r, row, rules[i].column);
        if (*text && rules[i].is_unused(out, r, row)) pace_step_note(out, "no effect: %s %.20s", rules[i].name, text);
    }
}
