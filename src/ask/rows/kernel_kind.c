/* The row kind "kernel": one operation on one device. */
#include "ask/rows/fit_rows.h"
#include "ask/rows/kernel_rates.h"
#include "ask/rows/kernel_units.h"
#include "ask/rows/row_kind.h"
#include "machine/device_resolve.h"
#include "base/print.h"
#include "cost/host_costs_measure.h"
#include "machine/device.h"
#include "cost/host_costs_catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- calls of a framework's operators ----------------------------------------------------------------------------- */

/*
 * What tables hold besides a kernel where they timed a framework's operator, one call at a time on an idle device:
 * the host's way from the operator's start to its first launch (T2 of cost/host_costs.h), and the launch's to the
 * device.
 */

/* Of devices of a vendor and generation, or of CPUs. */
typedef struct {
    char vendor[16];
    int generation;
    bool is_cpu;
    pace_host_costs costs;
    pace_launch_costs launch;
} kernel_host;

typedef struct {
    PACE_VEC(kernel_host) hosts; /* read when first asked for */
    pace_doubts doubts;
} kernel_calls;

static void free_host(kernel_host *host) { pace_host_costs_free(&host->costs); }

static void kernel_calls_free(kernel_calls *calls) { PACE_VEC_FREE_EACH(&calls->hosts, free_host); }

static pace_status read_host(kernel_calls *calls, pace_catalog *catalog, const pace_device *device) {
    kernel_host host = {.is_cpu = device->is_cpu};
    host.generation = device->generation;
    snprintf(host.vendor, sizeof host.vendor, "%s", device->vendor);
    PACE_TRY(pace_host_costs_init(&host.costs));
    pace_status status =
        pace_host_costs_default(&host.costs, &host.launch, catalog, device->is_cpu ? "eager-cpu" : "eager", device);
    return status == PACE_OK ? PACE_KEEP(&calls->hosts, host, free_host(&host)) : (free_host(&host), status);
}

static pace_status host_of(const kernel_host **out, kernel_calls *calls, pace_catalog *catalog,
                           const pace_device *device) {
    for (size_t i = 0; i < calls->hosts.count; i++) {
        *out = &calls->hosts.items[i];
        if ((*out)->is_cpu != device->is_cpu || (*out)->generation != device->generation) continue;
        if (strcmp((*out)->vendor, device->vendor) == 0) return PACE_OK;
    }
    if (calls->hosts.count == 0) PACE_TRY(pace_doubts_load(&calls->doubts, catalog));
    PACE_TRY(read_host(calls, catalog, device));
    *out = &calls->hosts.items[calls->hosts.count - 1];
    return PACE_OK;
}

/* Adds the call of `op`, an operator by its table's word, to what its kernel takes. The spread is that of both. */
static pace_status kernel_calls_add(pace_estimate *time_s, kernel_calls *calls, pace_catalog *catalog,
                                    const pace_device *device, const char *op) {
    const kernel_host *host;
    PACE_TRY(host_of(&host, calls, catalog, device));
    double ns = pace_host_costs_get(&host->costs, PACE_T2, *op ? op : NULL, true, NULL).mean_ns + host->launch.lag_ns;
    double call_s = ns * 1e-9,
           spread = calls->doubts.figure[device->is_cpu ? PACE_DOUBT_HOST_CPU : PACE_DOUBT_HOST_CATALOG];
    double kernel_s = time_s->median;
    time_s->median = kernel_s + call_s;
    time_s->spread = hypot(kernel_s * time_s->spread, call_s * spread) / time_s->median;
    return PACE_OK;
}

/* --- rows about kernels ------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_rows_options *options;
    pace_device_catalog catalog;
    pace_cost *cost;
    kernel_calls calls;
    PACE_VEC(pace_kernel_rows) tables;
    const pace_device *device; /* of rows that name none */
    char fit_unit[8];          /* "" = there is no fit */
    double fit_unit_s;
    pace_fit_model fit;
    bool learned; /* `fit` is not in `cost` yet */
    pace_fit_outcome outcome;
} kernels;

static void drop_fit(kernels *k) {
    if (k->learned) pace_fit_free(&k->fit);
    pace_fit_outcome_free(&k->outcome);
    k->learned = false;
}

static void close_kernels(void *state) {
    kernels *k = state;
    PACE_VEC_FREE_EACH(&k->tables, pace_kernel_rows_free);
    drop_fit(k);
    kernel_calls_free(&k->calls);
    pace_cost_free(k->cost);
    pace_device_catalog_free(&k->catalog);
}

static pace_status open_kernels(void *state, const pace_rows_options *options) {
    kernels *k = state;
    k->options = options;
    PACE_TRY(pace_device_catalog_load(&k->catalog, options->context->catalog));
    if (options->device) PACE_TRY(pace_device_to_run_on(&k->device, &k->catalog, options->device));
    return pace_cost_create(&k->cost, options->context->catalog);
}

static pace_status use_fit(kernels *k, pace_fit_model *fit) {
    memcpy(k->fit_unit, fit->unit, sizeof k->fit_unit);
    k->fit_unit_s = fit->unit_s;
    if (!k->device && *fit->device) k->device = pace_device_find(&k->catalog, fit->device, 0);
    return pace_cost_add_fit(k->cost, fit);
}

static pace_status load_fit(void *state, const char *path) {
    pace_fit_model fit;
    PACE_TRY(pace_fit_load(&fit, path));
    return use_fit(state, &fit);
}

static pace_status read_table(void *state, pace_input *input) {
    kernels *k = state;
    pace_kernel_rows rows;
    PACE_TRY(pace_kernel_rows_read(&rows, input, &k->catalog, k->device));
    pace_status status = pace_kernel_units_settle(&rows, k->catalog.documents);
    if (status != PACE_OK) {
        pace_kernel_rows_free(&rows);
        return status;
    }
    return PACE_KEEP(&k->tables, rows, pace_kernel_rows_free(&rows));
}

static pace_row_table table_of(const void *state, size_t table) {
    const pace_kernel_rows *rows = &((const kernels *)state)->tables.items[table];
    return (pace_row_table){&rows->csv, rows->csv.name, rows->csv.bytes, rows->rows.count,
                            rows->columns.measured_count > 1};
}

static const pace_kernel_row *row_of(const void *state, size_t table, size_t question) {
    return &((const kernels *)state)->tables.items[table].rows.items[question];
}

static void question_of(pace_row_question *out, const void *state, size_t table, size_t question) {
    const pace_kernel_row *row = row_of(state, table, question);
    *out = (pace_row_question){row->row, *row->status ? NAN : row->time_s};
}

/* To ten digits: no answer is known better, and fewer are written and read in half the time. */
static double rounded(double value) {
    if (!(value > 1e-12 && value < 1e12)) return value;
    double scale = pow(10, 9 - floor(log10(value)));
    return scale >= 1 ? round(value * scale) / scale : value;
}

static void set_values(pace_row_answer *out, const kernels *k, const pace_kernel_rows *rows,
                       const pace_kernel_row *row) {
    const pace_columns *columns = &rows->columns;
    const pace_measured_column fit_unit = {.unit_s = *k->fit_unit ? k->fit_unit_s : 1};
    const pace_measured_column of_row = {.unit_s = row->unit_s};
    const pace_measured_column *in = columns->measured_count > 0 ? &columns->measured[row->measured] : &fit_unit;
    double time_s[] = {out->time_s.median, pace_estimate_low(out->time_s), pace_estimate_high(out->time_s)};
    bool rate = in->kind != PACE_MEASURED_TIME; /* the longest time is the lowest rate */
    out->unit = columns->measured_count > 0 ? in->unit : *k->fit_unit ? k->fit_unit : "s";
    if (columns->measured_count > 1) out->asked = pace_csv_name(&rows->csv, (size_t)in->column);
    if (row->unit) out->unit = row->unit, in = &of_row;
    for (int i = 0; out->known && i < 3; i++)
        out->values[i] = rounded(pace_kernel_time_in_unit(in, &row->op, time_s[rate && i > 0 ? 3 - i : i]));
}

static pace_status ready(kernels *k) {
    if (!k->learned) return PACE_OK;
    k->learned = false;
    return use_fit(k, &k->fit);
}

/* By formula a device is asked for no arithmetic that it lacks; measured rows may tell how it does without. */
static pace_status check_rate(const kernels *k, const pace_kernel_row *row, pace_rung rung) {
    pace_op_family family = row->op.family;
    bool computes = family == PACE_OP_GEMM || family == PACE_OP_CONVOLUTION || family == PACE_OP_ATTENTION;
    if (!computes || rung < PACE_RUNG_FORMULA || pace_cost_emulates(k->cost, row->device, &row->op)) return PACE_OK;
    return pace_device_check_precision(row->device, row->op.precision);
}

static bool is_emulated(const kernels *k, const pace_kernel_row *row, const pace_row_answer *answer) {
    return answer->known && answer->time_s.rung >= PACE_RUNG_FORMULA && row->part_count == 0 &&
           pace_cost_emulates(k->cost, row->device, &row->op);
}

static pace_status price(pace_estimate *out_s, kernels *k, const pace_kernel_rows *rows, const pace_kernel_row *row) {
    PACE_TRY(ready(k));
    PACE_TRY(pace_kernel_row_price(out_s, k->cost, rows, row));
    PACE_TRY(check_rate(k, row, out_s->rung));
    if (!row->called) return PACE_OK;
    const char *op = pace_csv_at(&rows->csv, row->row, rows->columns.op);
    return kernel_calls_add(out_s, &k->calls, k->options->context->catalog, row->device, op);
}

static void answer_row(pace_row_answer *out, void *state, size_t table, size_t question) {
    kernels *k = state;
    const pace_kernel_rows *rows = &k->tables.items[table];
    const pace_kernel_row *row = row_of(state, table, question);
    const char *status = row->status;
    if (pace_kernel_row_can_ask(row)) {
        out->known = price(&out->time_s, k, rows, row) == PACE_OK;
        if (!out->known) status = pace_message_in_answer();
        else if (!*status) status = "ok";
    }
    const char *beyond = out->known && *k->fit_unit ? pace_kernel_row_beyond(k->cost, rows, row) : NULL;
    if (beyond) snprintf(out->beyond, sizeof out->beyond, "%s", beyond);
    snprintf(out->status, sizeof out->status, "%s", status);
    if (is_emulated(k, row, out))
        pace_append(out->status, sizeof out->status, "; in %s products run as in single precision here",
                    pace_precision_key(row->op.precision));
    bool fitted = out->known && (out->time_s.rung == PACE_RUNG_LEARNED || out->time_s.rung == PACE_RUNG_MEASURED);
    const char *unused[] = {fitted && row->order_known ? "" : row->ordered, row->windowed, row->shaped, row->timed};
    if (out->known) pace_row_say_unused(out, unused, 4);
    set_values(out, k, rows, row);
}

static pace_status group_of(uint64_t *out, const void *state, size_t table, size_t question, const char *by) {
    PACE_TRY(pace_split_group(out, &((const kernels *)state)->tables.items[table], row_of(state, table, question), by));
    *out = pace_row_spread_bits(*out);
    return PACE_OK;
}

static double work_of(const char **class_name, const void *state, size_t table, size_t question) {
    const pace_op *op = &row_of(state, table, question)->op;
    bool computes = op->family == PACE_OP_GEMM || op->family == PACE_OP_CONVOLUTION || op->family == PACE_OP_ATTENTION;
    *class_name = op->kind;
    return computes ? op->flop : op->read_bytes + op->write_bytes;
}

static const char *split_of(const kernels *k) { return k->options->split ? k->options->split : "shape"; }

/* Whether a learned family has rows of one group alone, so that none was held out; `all`: whether each has. */
static bool any_unscored(const pace_fit_outcome *outcome, bool all) {
    size_t learned = 0, unscored = 0;
    PACE_ITEMS (const pace_fit_family, family, &outcome->families) {
        learned += family->learned;
        unscored += family->learned && family->score.held_out == 0;
    }
    return unscored > 0 && (!all || unscored == learned);
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    kernels *k = state;
    drop_fit(k);
    pace_cost_free(k->cost);
    k->cost = NULL;
    PACE_TRY(pace_cost_create(&k->cost, k->options->context->catalog));
    pace_fit_rows_options how = {k->options->split, k->options->seed, k->cost};
    PACE_TRY(pace_fit_rows(&k->fit, &k->outcome, k->tables.items, k->tables.count, &how, keep, context));
    k->learned = true;
    if (k->options->seed && any_unscored(&k->outcome, true))
        return pace_fail(PACE_E_USAGE,
                         "seed: has no effect: the rows are of one group (split: %s), of which none can be "
                         "held out",
                         split_of(k));
    return PACE_OK;
}

static pace_status save(const void *state, const char *path) {
    return pace_fit_save(&((const kernels *)state)->fit, path);
}

static void put_family(pace_findings *out, const pace_fit_family *family) {
    const pace_learned_score *score = &family->score;
    double formula = score->held_out > 0 && isfinite(score->formula_mape) ? score->formula_mape : NAN;
    double figures[] = {score->gmae, score->mape, score->signed_mean, score->largest, score->coverage};
    pace_found_cell_text(out, pace_op_family_name(family->family));
    pace_found_cell_number(out, (double)family->rows);
    pace_found_cell_number(out, (double)score->held_out);
    pace_found_cell_number(out, formula);
    for (size_t i = 0; i < PACE_COUNT(figures); i++)
        pace_found_cell_number(out, score->held_out > 0 ? figures[i] : NAN);
}

static size_t count_fitted(pace_findings *out, const pace_fit_outcome *outcome) {
    char few[512] = "", worse[512] = "";
    size_t fitted = 0;
    PACE_ITEMS (const pace_fit_family, family, &outcome->families) {
        if (family->learned) fitted += family->rows;
        else if (pace_fit_family_worse(family))
            pace_list(worse, sizeof worse, ", ", "%s (typically by %.1f %%)", pace_op_family_name(family->family),
                      100 * expm1(-family->score.gain));
        else pace_list(few, sizeof few, ", ", "%s %zu", pace_op_family_name(family->family), family->rows);
    }
    if (*few)
        pace_found_warn(out, PACE_WARN_TOO_FEW_ROWS,
                        "families with too few rows to learn from (at least %d) tell their rows' own sizes alone: %s",
                        PACE_LEARN_LEAST, few);
    if (*worse)
        pace_found_warn(out, PACE_WARN_TOO_FEW_ROWS,
                        "families whose rows, held out, are told worse than by the formula are left out: %s", worse);
    return fitted;
}

static pace_status describe(pace_findings *out, const void *state) {
    static const pace_column columns[] = {
        {"family", "Family", PACE_SHOW_TEXT},
        {"rows", "Rows", PACE_SHOW_INT},
        {"held_out", "Held out", PACE_SHOW_INT},
        {"formula_mape", "MAPE by formula", PACE_SHOW_SHARE},
        {"gmae", "GMAE", PACE_SHOW_SHARE},
        {"mape", "MAPE", PACE_SHOW_SHARE},
        {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE},
        {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
    };
    const kernels *k = state;
    const pace_fit_outcome *outcome = &k->outcome;
    const char *split = split_of(k), *file = k->options->fit_path;
    size_t fitted = count_fitted(out, outcome);
    pace_found_left_out(out, &outcome->left_out);
    if (any_unscored(outcome, false))
        pace_found_warn(
            out, PACE_WARN_TOO_FEW_ROWS,
            "families whose rows are of one group (split: %s) cannot be held out: nothing tells how far off "
            "the fit is, and its interval is a guess",
            split);
    pace_found_int(out, "rows", outcome->measured);
    pace_found_int(out, "rows_left_out", outcome->left_out.rows);
    pace_found_text(out, "split", split);
    pace_found_text(out, "file", file);
    pace_found_say(out, PACE_FOUND_ANSWER, "Learned from %zu measurement%s%s%s.", fitted, pace_plural(fitted),
                   file ? ", written to " : "", file ? file : "");
    pace_found_table(out, "families", "Error on rows that were held out", PACE_COLUMNS(columns));
    for (size_t i = 0; i < outcome->families.count; i++) put_family(out, &outcome->families.items[i]);
    pace_found_say(out, PACE_FOUND_NOTE,
                   "A tenth of the groups (split: %s) is scored, another tenth sets intervals and stops the trees; of "
                   "fewer than %d rows each tenth is held out in turn. The fit that is kept saw all rows. GMAE = "
                   "exp(mean ln(|error| + 0.0004)).",
                   split, PACE_LEARN_FEW);
    return PACE_OK;
}

static pace_status remark(pace_findings *out, const void *state) {
    const kernels *k = state;
    for (size_t t = 0; t < k->tables.count; t++)
        for (unsigned i = 0; i < k->tables.items[t].columns.measured_count; i++) {
            const pace_measured_column *measured = &k->tables.items[t].columns.measured[i];
            if (!measured->guessed_unit) continue;
            pace_found_warn(out, PACE_WARN_UNIT_ASSUMED,
                            "column \"%.40s\" names no unit: taken as %s, which fits the rows best",
                            pace_csv_name(&k->tables.items[t].csv, (size_t)measured->column), measured->unit);
        }
    return PACE_OK;
}

/* A column "type" may be of precisions or of operations. */
static bool names_operation(const pace_columns *columns, const pace_csv *csv) {
    pace_op_words words = {0};
    pace_collective exchange;
    int column = columns->op >= 0 && !columns->op_is_hint ? columns->op : columns->dtype;
    const char *op = column >= 0 && csv->rows > 0 ? pace_csv_cell(csv, 0, (size_t)column) : "";
    return *op && !pace_columns_dtype(&words.op, columns, op) && !pace_collective_find(&exchange, op) &&
           pace_columns_op(&words, columns, op);
}

static int claims(const pace_columns *columns, const pace_csv *csv) {
    if (names_operation(columns, csv)) return 50;
    const pace_layout *layout = pace_columns_layout(columns, PACE_OP_UNKNOWN, PACE_COMPOUND_NONE, NULL);
    if (layout && layout->family == PACE_OP_EMBEDDING) return 40; /* B, E, T, D and L are of look-ups, not of layers */
    return layout ? 20 : 0;
}

const pace_row_kind pace_kernel_kind = {.name = "kernel",
                                        .claims = claims,
                                        .size = sizeof(kernels),
                                        .open = open_kernels,
                                        .close = close_kernels,
                                        .load = load_fit,
                                        .read = read_table,
                                        .table = table_of,
                                        .question = question_of,
                                        .answer = answer_row,
                                        .remark = remark,
                                        .group = group_of,
                                        .work = work_of,
                                        .learn = learn,
                                        .save = save,
                                        .describe = describe};
