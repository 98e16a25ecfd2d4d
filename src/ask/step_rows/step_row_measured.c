/* What a table measured of its steps: a time, a multiple of it (days of a training run), or a rate that a step's
 * tokens, samples or operations turn into one. */
#include "ask/rows/column_finder.h"
#include "ask/rows/column_words.h"
#include "ask/rows/counted_steps.h"
#include "ask/rows/measured_cell.h"
#include "ask/step_rows/step_cells.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* --- rates -------------------------------------------------------------------------------------------------------- */

/* What a rate counts, of one device or of all, how often a second, and what of it is 1 in the column. */
typedef enum {
    OF_TOKENS,
    OF_SAMPLES,
    OF_STEPS,
    OF_MODEL_FLOP,
    OF_HARDWARE_FLOP,
    OF_MODEL_PEAK,
    OF_HARDWARE_PEAK
} counted;

static const struct {
    const char *name;
    counted what;
    bool all;       /* devices together */
    double seconds; /* tokens a day: 86400 */
    double one;     /* TFLOP/s: 1e12 */
} rates[PACE_STEP_RATES] = {{"tokens_per_s_per_gpu", OF_TOKENS, false, 1, 1},
                            {"tokens_per_s", OF_TOKENS, true, 1, 1},
                            {"samples_per_s_per_gpu", OF_SAMPLES, false, 1, 1},
                            {"samples_per_s", OF_SAMPLES, true, 1, 1},
                            {"steps_per_s", OF_STEPS, true, 1, 1},
                            {"steps_per_min", OF_STEPS, true, 60, 1},
                            {"steps_per_hour", OF_STEPS, true, 3600, 1},
                            {"samples_per_min", OF_SAMPLES, true, 60, 1},
                            {"tokens_per_day", OF_TOKENS, true, 86400, 1},
                            {"tflops_per_gpu", OF_MODEL_FLOP, false, 1, 1e12},
                            {"hardware_tflops_per_gpu", OF_HARDWARE_FLOP, false, 1, 1e12},
                            {"tflops", OF_MODEL_FLOP, true, 1, 1e12},
                            {"pflops", OF_MODEL_FLOP, true, 1, 1e15},
                            {"mfu_pct", OF_MODEL_PEAK, false, 1, 0.01},
                            {"hfu_pct", OF_HARDWARE_PEAK, false, 1, 0.01}};

static int rate_of(const char *name) {
    for (int i = 0; i < PACE_STEP_RATES; i++)
        if (strcmp(rates[i].name, name) == 0) return i;
    return -1;
}

bool pace_step_is_rate(const char *name) { return rate_of(name) >= 0; }

static double causal_square(const pace_layer *layer, double sequence) {
    double span = pace_layer_span(layer, sequence);
    return span * (layer->option[PACE_OPTION_SLIDING] > 0 ? span : sequence);
}

/* Multiply-adds of a sample that the mask leaves out: half a square of all tokens or of a window. */
static double causal_half(const pace_step_row *row) {
    double sum = 0, sequence = pace_model_sequence(row->model, &row->config);
    PACE_ITEMS (const pace_layer, layer, &row->model->layers)
        if (layer->kind == PACE_LAYER_ATTENTION && layer->option[PACE_OPTION_CAUSAL] > 0)
            sum += layer->multiply_adds[2] * causal_square(layer, sequence) / 2;
    return sum;
}

/* Forward, and backward twice as much (once where weights are frozen): causal attention counted in full, as is usual
 * (Chowdhery et al. 2022, appendix B). What is run again counts for the hardware: full recomputation is a forward pass;
 * selective runs nothing again where attention is one kernel. */
static double flop(const pace_step_row *row, bool hardware) {
    const pace_config *config = &row->config;
    double counted_once =
        pace_model_total(row->model, config).multiply_adds - (row->half_causal ? causal_half(row) : 0);
    double forward = 2 * counted_once * config->global_batch;
    return forward * (pace_config_passes(config) + (hardware && config->recompute == PACE_RECOMPUTE_FULL));
}

/* Megatron's own figures count what is recomputed, as those of its time did (Narayanan et al. 2021, equation 3); later
 * ones, and utilization, the model's. */
static bool counts_recomputation(const pace_step_row *row, counted what) {
    return what == OF_HARDWARE_FLOP || what == OF_HARDWARE_PEAK ||
           (what == OF_MODEL_FLOP && row->framework->recompute == PACE_RECOMPUTE_FULL);
}

double pace_step_row_amount(const pace_step_row *row, const char *rate) {
    int i = rate_of(rate);
    if (i < 0) return 0;
    counted what = rates[i].what;
    double amount = 0;
    if (what == OF_TOKENS) amount = row->tokens * row->ranks;
    else if (what == OF_SAMPLES) amount = row->config.global_batch;
    else if (what == OF_STEPS) amount = row->steps_of_each ? row->ranks : 1;
    else amount = flop(row, counts_recomputation(row, what));
    if (what == OF_MODEL_PEAK || what == OF_HARDWARE_PEAK)
        amount /= row->device->flop_per_s[pace_config_matrix_precision(&row->config)];
    return amount * rates[i].seconds / rates[i].one / (rates[i].all ? 1 : row->ranks);
}

/* --- names of columns --------------------------------------------------------------------------------------------- */

/* "step_time_s", "Iteration time (ms)"; of `stems` those of so many letters or more also without a unit, for
 * seconds. */
static bool find_time(pace_step_reader *r, const pace_yaml_node *names, const char *stems, size_t bare_from) {
    pace_unit_column found = pace_find_unit_column(&r->rows->csv, pace_yaml_get(names, stems), r->things->columns,
                                                   pace_yaml_get(names, "units"), bare_from);
    r->measured = found.column;
    if (found.unit > 0) r->unit_s = found.unit;
    r->guessed_unit = found.column >= 0 && !(found.unit > 0);
    return found.column >= 0;
}

static const struct {
    const char *key;
    double unit_s;
} ratios[] = {{"s_per_step", 1}, {"ms_per_step", 1e-3}, {"min_per_step", 60}};
enum { RATIOS = PACE_COUNT(ratios) };

/* Whole names: "s/it", "ms per step". */
static bool find_ratio(pace_step_reader *r, const pace_yaml_node *names) {
    for (size_t i = 0; i < RATIOS; i++) {
        r->measured = pace_find_column_whole(&r->rows->csv, pace_yaml_get(names, ratios[i].key));
        if (r->measured < 0) continue;
        r->unit_s = ratios[i].unit_s;
        return true;
    }
    return false;
}

static const struct {
    const char *name;
    double seconds;
    bool each_device;
} runs[PACE_STEP_RUNS] = {{"train_days", 86400, false},
                          {"train_hours", 3600, false},
                          {"train_minutes", 60, false},
                          {"gpu_hours", 3600, true},
                          {"gpu_days", 86400, true}};

void pace_step_find_measured(pace_step_reader *r, const pace_yaml_node *names) {
    r->measured = -1;
    r->unit_s = 1;
    if (!find_time(r, names, "measured", SIZE_MAX) && !find_ratio(r, names))
        find_time(r, names, "times", 5); /* "step" alone is a step's number */
    for (int i = 0; i < PACE_STEP_RATES; i++)
        r->rate[i] = pace_find_column_whole(&r->rows->csv, pace_yaml_get(names, rates[i].name));
    for (int i = 0; i < PACE_STEP_RUNS; i++)
        r->run[i] = pace_find_column_whole(&r->rows->csv, pace_yaml_get(names, runs[i].name));
}

static void find_time_words(pace_step_reader *r, const pace_yaml_node *names, pace_column_words *words) {
    const pace_yaml_node *units = pace_yaml_get(names, "units");
    size_t unit;
    for (size_t i = 0; i < RATIOS && r->measured < 0; i++) {
        r->measured = pace_column_words_find(words, pace_yaml_get(names, ratios[i].key));
        if (r->measured >= 0) r->unit_s = ratios[i].unit_s;
    }
    if (r->measured >= 0) return;
    r->measured = pace_column_words_find_unit(&unit, words, pace_yaml_get(names, "times"), units);
    if (r->measured >= 0 && pace_yaml_number(&r->unit_s, r->things->columns, pace_yaml_item(units, unit)) != PACE_OK)
        r->measured = -1;
}

void pace_step_find_measured_words(pace_step_reader *r, const pace_yaml_node *names, pace_column_words *words) {
    if (r->measured < 0) find_time_words(r, names, words);
    for (int i = 0; i < PACE_STEP_RATES; i++)
        if (r->rate[i] < 0) r->rate[i] = pace_column_words_find(words, pace_yaml_get(names, rates[i].name));
    for (int i = 0; i < PACE_STEP_RUNS; i++)
        if (r->run[i] < 0) r->run[i] = pace_column_words_find(words, pace_yaml_get(names, runs[i].name));
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* "1.5e-3", "1,234", "38 %"; "4 (8)" is 4. */
static bool positive(double *out, const pace_step_reader *r, size_t row, int column) {
    if (column < 0) return false;
    const char *cell = pace_csv_cell(&r->rows->csv, row, (size_t)column);
    if (pace_csv_number(out, cell)) return *out > 0;
    const char *unit = pace_cell_number(out, cell);
    return unit && (!*unit || *unit == '(' || strcmp(unit, "%") == 0);
}

/* Of a model without words there are no tokens, of a device without a peak no shares of it. */
static bool has_amount(const pace_step_row *row, int i) {
    double amount = row->model ? pace_step_row_amount(row, rates[i].name) : 1;
    return amount > 0 && isfinite(amount);
}

static void refuse(pace_step_row *out, const pace_step_reader *r, int column, bool rate, const char *text) {
    pace_measured_refuse(out->unmeasured, pace_csv_name(&r->rows->csv, (size_t)column), rate, text);
    pace_step_note(out, "%s", out->unmeasured);
}

/* Which rate the cell of a rate's column holds: that of the column, or of its own unit. -1 = none. */
static int rate_in(double *out, pace_step_row *row, const pace_step_reader *r, size_t number, int i) {
    if (positive(out, r, number, r->rate[i])) return i;
    const char *cell = pace_csv_cell(&r->rows->csv, number, (size_t)r->rate[i]), *unit = pace_cell_number(out, cell);
    if (!unit && !pace_measured_cell_is_silent(cell)) refuse(row, r, r->rate[i], true, cell);
    if (!unit || !*unit) return unit ? i : -1;
    const pace_yaml_node *step = pace_yaml_get(pace_yaml_root(r->things->columns), "step");
    for (int k = 0; k < PACE_STEP_RATES; k++)
        if (pace_column_words_mean(step, unit, pace_yaml_get(step, rates[k].name))) return has_amount(row, k) ? k : -1;
    pace_snprintf(row->unmeasured, sizeof row->unmeasured, "unknown unit \"%.30s\"", unit);
    pace_step_note(row, "%s", row->unmeasured);
    return -1;
}

static void take_rate(pace_step_row *out, int i) {
    out->unit_s = 0;
    out->unit = rates[i].name;
}

/* By a rate of the same row, whether a time without a unit is in milliseconds, as timm's "train_step_time". */
static double guess_unit(pace_step_row *out, const pace_step_reader *r, size_t row, double value) {
    double rate;
    for (int i = 0; i < PACE_STEP_RATES && out->model; i++) {
        if (!has_amount(out, i) || !positive(&rate, r, row, r->rate[i])) continue;
        double seconds = pace_step_row_amount(out, rates[i].name) / rate;
        return fabs(log(1e-3 * value / seconds)) < fabs(log(value / seconds)) ? 1e-3 : 1;
    }
    return 1;
}

/* The first rate that the row has, else the first that the table asks for. */
static void measured_rate(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double value, rate = 0;
    int asked = -1, found = -1;
    for (int i = PACE_STEP_RATES - 1; i >= 0; i--) {
        if (r->rate[i] < 0) continue;
        if (!has_amount(out, i)) {
            pace_step_note(out, "%s says nothing of this model", rates[i].name);
            continue;
        }
        asked = i;
        int own = rate_in(&value, out, r, row, i);
        if (own >= 0) found = own, rate = value;
    }
    int i = found >= 0 ? found : asked;
    if (i < 0) return;
    if (r->measured < 0) take_rate(out, i);
    if (found < 0 || !out->model) return;
    value = rate;
    bool share =
        (rates[i].what == OF_MODEL_PEAK || rates[i].what == OF_HARDWARE_PEAK) && value <= 1; /* 0.43, not 43 % */
    out->measured_s = pace_step_row_amount(out, rates[i].name) / (share ? 100 * value : value);
    if (!(out->measured_s > 0) || !isfinite(out->measured_s)) out->measured_s = NAN;
}

static bool counts_steps(const pace_step_row *row) {
    int i = row->model && row->unit_s == 0 && row->measured_s > 0 ? rate_of(row->unit) : -1;
    return i >= 0 && rates[i].what == OF_STEPS;
}

static double gain(const void *table, size_t from, size_t to) {
    const pace_step_row *rows = table, *few = &rows[from], *many = &rows[to];
    bool same = few->model == many->model && few->device == many->device && few->framework == many->framework &&
                few->config.micro_batch == many->config.micro_batch && few->config.tp == many->config.tp &&
                few->config.pp == many->config.pp &&
                few->config.global_batch / few->ranks == many->config.global_batch / many->ranks;
    if (!same || !counts_steps(few) || !counts_steps(many) || !(many->ranks > few->ranks)) return 0;
    return few->measured_s / many->measured_s;
}

void pace_step_rows_count_steps(pace_step_rows *rows) {
    if (!pace_counts_each_step(rows->rows.count, gain, rows->rows.items)) return;
    PACE_ITEMS (pace_step_row, row, &rows->rows) {
        int i = row->model && row->unit_s == 0 ? rate_of(row->unit) : -1;
        if (i < 0 || rates[i].what != OF_STEPS) continue;
        row->steps_of_each = true;
        row->measured_s *= row->ranks;
        if (row->ranks > 1) pace_step_note(row, "steps of each device taken as counted");
    }
}

/* Steps of a whole training run: stated, or its tokens over a step's. 0 without. */
static double run_steps(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    double value;
    if (pace_step_number(&value, r, row, PACE_STEP_TRAIN_STEPS) && value >= 1) return value;
    if (!pace_step_number(&value, r, row, PACE_STEP_TRAIN_TOKENS) || !(value > 0) || !(out->tokens > 0)) return 0;
    if (value < 1e5) value *= 1e9; /* billions, which is what such columns count in */
    return value / (out->tokens * out->ranks);
}

static bool has_run(const pace_step_reader *r, size_t row) {
    double value;
    for (int i = 0; i < PACE_STEP_RUNS; i++)
        if (r->run[i] >= 0 && positive(&value, r, row, r->run[i])) return true;
    return false;
}

static bool measured_run(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double value;
    for (int i = 0; i < PACE_STEP_RUNS; i++) {
        if (r->run[i] < 0) continue;
        if (r->measured >= 0 && !positive(&value, r, row, r->run[i])) continue;
        double steps = run_steps(out, r, row);
        if (!(steps > 0)) {
            pace_step_note(out, "%s needs train_tokens or train_steps: a step's seconds stand instead", runs[i].name);
            return false;
        }
        out->unit = runs[i].name;
        out->unit_s = runs[i].seconds / steps / (runs[i].each_device ? out->ranks : 1);
        if (positive(&value, r, row, r->run[i])) out->measured_s = value * out->unit_s;
        pace_step_doubt(out, r, PACE_DOUBT_ROW_RUN);
        return true;
    }
    return false;
}

void pace_step_row_measured(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double value;
    out->measured_s = NAN;
    out->unit_s = r->unit_s;
    out->unit = r->unit_s == 60     ? "min"
                : r->unit_s == 1    ? "s"
                : r->unit_s == 1e-3 ? "ms"
                : r->unit_s == 1e-6 ? "us"
                                    : "ns";
    if (positive(&value, r, row, r->measured)) {
        if (r->guessed_unit && guess_unit(out, r, row, value) < 1) out->unit_s = 1e-3, out->unit = "ms";
        out->measured_s = value * out->unit_s;
        if (r->guessed_unit)
            pace_step_note(out, "%.30s taken for %s", pace_csv_name(&r->rows->csv, (size_t)r->measured),
                           out->unit_s < 1 ? "milliseconds" : "seconds");
        return;
    }
    const char *text = r->measured >= 0 ? pace_csv_cell(&r->rows->csv, row, (size_t)r->measured) : "";
    pace_measured_cell told = pace_measured_time(&value, r->things->columns, text, 0);
    if (told == PACE_CELL_MEASURED) out->measured_s = value;
    if (told == PACE_CELL_REFUSED) refuse(out, r, r->measured, false, text);
    if (told != PACE_CELL_SILENT) return;
    if (r->measured < 0 && out->model && measured_run(out, r, row)) return;
    measured_rate(out, r, row);
    if (isnan(out->measured_s) && r->measured >= 0 && out->model && has_run(r, row)) measured_run(out, r, row);
}
