/* Batches of a row: as its columns say, else by the rule of all doors (step_ask.h). */
#include "ask/predict/step_ask.h"
#include "ask/step_rows/step_cells.h"
#include "ask/step_rows/step_fit.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* A column "batch size" of a table whose ranks share layers, in this row or in others: all samples of a step, as in
 * Narayanan et al. 2021, table 1. */
static bool batch_is_global(const pace_step_row *out, const pace_step_reader *r, double batch) {
    bool shared = out->config.tp * out->config.pp > 1 ||
                  (r->column[PACE_STEP_TP] >= 0 && r->column[PACE_STEP_PP] >= 0 && r->column[PACE_STEP_N_GPU] >= 0);
    return shared && batch >= out->config.dp && fmod(batch, out->config.dp) == 0;
}

/* The column's name, where that does not say whose batch it is; NULL = it does. */
static const char *nobodys_batch(const pace_step_reader *r) {
    char name[32];
    if (r->column[PACE_STEP_MICRO_BATCH] < 0 || r->column[PACE_STEP_GLOBAL_BATCH] >= 0) return NULL;
    const char *given = pace_csv_name(&r->rows->csv, (size_t)r->column[PACE_STEP_MICRO_BATCH]);
    pace_squeeze(name, sizeof name, given, "");
    bool open = strcmp(name, "batchsize") == 0 || strcmp(name, "batch") == 0 || strcmp(name, "bs") == 0;
    return open ? given : NULL;
}

/* What the row says; 0 = nothing. */
typedef struct {
    double micro, global, times; /* times: micro-batches of a step */
} said;

static said read(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double words;
    said s = {pace_step_at_least_one(r, row, PACE_STEP_MICRO_BATCH),
              pace_step_at_least_one(r, row, PACE_STEP_GLOBAL_BATCH),
              pace_step_at_least_one(r, row, PACE_STEP_GRAD_ACCUM)};
    const char *open = s.global == 0 && s.micro > 0 ? nobodys_batch(r) : NULL;
    if (open && batch_is_global(out, r, s.micro)) {
        s.global = s.micro;
        s.micro = 0;
        pace_step_note(out, "%.20s taken for the global batch", open);
    } else if (open && out->config.dp > 1) pace_step_note(out, "%.20s taken for that of each device", open);
    double sequence = pace_model_sequence(out->model, &out->config);
    if (s.global == 0 && sequence > 0 && pace_step_number(&words, r, row, PACE_STEP_TOKENS_BATCH) && words > 0) {
        if (words < 1000) words *= 1e6; /* "4M", or 4 for as many millions */
        s.global = fmax(1, round(words / sequence));
    }
    return s;
}

static bool open_pricer(pace_step_things *things) {
    if (things->has_pricer) return true;
    things->has_pricer = pace_step_pricer_open(&things->pricer, things->devices.documents) == PACE_OK;
    return things->has_pricer;
}

/* Neither is said. */
static bool choose(pace_step_row *out, pace_step_reader *r, double times) {
    pace_step_things *things = r->things;
    pace_config *config = &out->config;
    pace_step_case asked = pace_step_row_case(out);
    double most = things->frameworks.micro_batch_most;
    if (!open_pricer(things) ||
        pace_step_choose_batch(&config->micro_batch, &things->pricer, &asked, most) != PACE_OK) {
        pace_step_note(out, "%.140s", pace_message_in_answer());
        return false;
    }
    config->global_batch = config->micro_batch * config->dp * (times > 0 ? times : pace_step_usual_rounds(config));
    out->batch_assumed = true;
    pace_step_note(out, "assumed micro_batch %g%s, global_batch %g", config->micro_batch,
                   config->micro_batch > 1 ? " (the largest power of two that fits)" : "", config->global_batch);
    pace_step_doubt(out, r, PACE_DOUBT_ROW_BATCH);
    return true;
}

/* Of a global batch alone: what each rank has of it, as far as that fits. */
static double split(pace_step_row *out, pace_step_reader *r, double global) {
    pace_step_things *things = r->things;
    double samples = floor(global / out->config.dp), micro = 1;
    pace_step_case asked = pace_step_row_case(out);
    if (samples < 1 || !open_pricer(things)) return 1;
    return pace_step_split_batch(&micro, &things->pricer, &asked, samples) == PACE_OK ? micro : 1;
}

static void complete(pace_step_row *out, pace_step_reader *r, said s) {
    pace_config *config = &out->config;
    if (s.micro == 0) {
        s.micro = s.times > 0 ? floor(s.global / (config->dp * s.times)) : split(out, r, s.global);
        if (s.micro < 1) s.micro = 1;
        out->batch_assumed = s.times == 0;
        pace_step_note(out, "assumed micro_batch %g", s.micro);
    }
    if (s.global == 0) {
        s.global = s.micro * config->dp * (s.times > 0 ? s.times : pace_step_usual_rounds(config));
        if (s.times == 0 && pace_step_usual_rounds(config) > 1) pace_step_doubt(out, r, PACE_DOUBT_ROW_MICRO_BATCHES);
        if (r->column[PACE_STEP_GLOBAL_BATCH] >= 0) pace_step_note(out, "assumed global_batch %g", s.global);
    }
    if (s.micro * config->dp > s.global && s.global >= config->dp) { /* stated for two tables' sake: per device */
        s.micro = floor(s.global / config->dp);
        pace_step_note(out, "assumed micro_batch %g, for global_batch %g", s.micro, s.global);
    }
    double rounds = ceil(s.global / (s.micro * config->dp) - 1e-9);
    if (rounds * s.micro * config->dp != s.global)
        pace_step_note(out, "counted %g micro-batches for global_batch %g", rounds, s.global);
    if (s.times > 0 && s.times != rounds)
        pace_step_note(out, "global_batch %g takes %g micro-batches, not %g", s.global, rounds, s.times);
    config->micro_batch = s.micro;
    config->global_batch = rounds * s.micro * config->dp;
}

bool pace_step_row_batches(pace_step_row *out, pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    said s = read(out, r, row);
    if (s.micro > 0 || s.global > 0) complete(out, r, s);
    else if (!choose(out, r, s.times)) return false;
    out->tokens = config->global_batch * pace_model_sequence(out->model, config) / out->ranks;
    if (pace_config_check(config) == PACE_OK && pace_model_check_parallel(out->model, config) == PACE_OK) return true;
    pace_step_note(out, "%.140s", pace_message_in_answer());
    return false;
}
