/* The row kind "exchange": one collective among the devices of a machine. */
#include "ask/rows/exchange_answer.h"
#include "ask/rows/exchange_logs.h"
#include "ask/rows/left_out.h"
#include "ask/rows/row_kind.h"
#include "ask/rows/score.h"
#include "base/print.h"
#include "base/numbers.h"
#include "exchange/measured_ways.h"
#include "exchange/saturating_curve.h"

#include <math.h>
#include <stdio.h>

enum { DEFAULT_PROBES = 6 };

typedef struct {
    const pace_rows_options *options;
    pace_exchange_defaults defaults;
    pace_exchange_asker asker;
    PACE_VEC(pace_exchange_rows) tables;
    pace_exchange_fit own;         /* curves of the fit that name no way */
    pace_exchange_fit fit, probed; /* probed: of a few sizes of each curve, to score the others */
} exchanges;

static void drop_fits(exchanges *e) {
    pace_exchange_fit_free(&e->fit);
    pace_exchange_fit_free(&e->probed);
    pace_exchange_fit_free(&e->own);
    e->fit = e->probed = e->own = (pace_exchange_fit){0};
}

static void close_exchanges(void *state) {
    exchanges *e = state;
    PACE_VEC_FREE_EACH(&e->tables, pace_exchange_rows_free);
    drop_fits(e);
    pace_exchange_asker_free(&e->asker);
}

static pace_status open_exchanges(void *state, const pace_rows_options *options) {
    exchanges *e = state;
    pace_collective collective;
    e->options = options;
    e->asker.catalog = options->context->catalog;
    e->asker.fit = &e->fit;
    e->asker.own = &e->own;
    e->defaults = (pace_exchange_defaults){.collective = options->collective};
    if (options->collective && !pace_collective_find(&collective, options->collective))
        return pace_fail(PACE_E_USAGE, "unknown collective \"%.40s\"", options->collective);
    if (options->probes < 0) return pace_fail(PACE_E_USAGE, "probes: expected 1 or more, found %d", options->probes);
    PACE_TRY(pace_doubts_load(&e->asker.doubts, e->asker.catalog));
    if (!options->device) return PACE_OK;
    PACE_TRY(pace_machine_asked(&e->asker.machine, e->asker.catalog, options->device));
    e->asker.has_machine = true;
    e->defaults.machine = &e->asker.machine;
    return PACE_OK;
}

static pace_status load_fit(void *state, const char *path) {
    exchanges *e = state;
    PACE_TRY(pace_exchange_fit_load(&e->fit, path));
    return pace_exchange_fit_own(&e->own, &e->fit);
}

static pace_status read_table(void *state, pace_input *input) {
    exchanges *e = state;
    pace_exchange_rows rows;
    PACE_TRY(pace_exchange_rows_read(&rows, e->asker.catalog, input, &e->defaults));
    PACE_ITEMS (pace_exchange_row, row, &rows.rows) pace_exchange_row_place(&e->asker, row);
    return PACE_KEEP(&e->tables, rows, pace_exchange_rows_free(&rows));
}

static pace_row_table table_of(const void *state, size_t table) {
    const pace_exchange_rows *rows = &((const exchanges *)state)->tables.items[table];
    return (pace_row_table){&rows->csv, rows->name, rows->bytes, rows->rows.count, false};
}

static void question_of(pace_row_question *out, const void *state, size_t table, size_t question) {
    const pace_exchange_row *row = &((const exchanges *)state)->tables.items[table].rows.items[question];
    *out = (pace_row_question){row->row, *row->status ? NAN : row->time_s};
}

/* Which cells of an answered row change nothing. */
static void say_unused(pace_row_answer *out, const exchanges *e, const pace_exchange_row *row) {
    bool curves = e->fit.curves.count > 0 && !*e->asker.unfitted;
    const char *unused[] = {e->asker.unused_device ? "device" : "",
                            row->unused_elements ? "elements" : "",
                            row->unused_per_node ? "gpus_per_node" : "",
                            row->said_in_place && !curves ? "inplace" : "",
                            row->said_channels && !curves ? "channels" : "",
                            row->said_dtype && !curves ? "dtype" : "",
                            row->unused_timed ? "timed" : "",
                            curves ? "" : row->unused_variant};
    pace_row_say_unused(out, unused, PACE_COUNT(unused));
}

static void answer_row(pace_row_answer *out, void *state, size_t table, size_t question) {
    exchanges *e = state;
    const pace_exchange_rows *rows = &e->tables.items[table];
    bool measured = rows->measured >= 0, fitted = e->fit.curves.count > 0;
    out->known = pace_exchange_row_answer(&out->time_s, &e->asker, &rows->rows.items[question]) == PACE_OK;
    const char *beyond = out->known ? pace_doubts_beyond(&e->asker.used) : NULL;
    if (beyond) snprintf(out->beyond, sizeof out->beyond, "%s", beyond);
    out->unit = measured ? rows->unit : fitted ? e->fit.unit : "s";
    pace_row_answer_time(out, measured ? rows->unit_s : fitted ? e->fit.unit_s : 1);
    snprintf(out->status, sizeof out->status, "%s", out->known ? "ok" : pace_message_in_answer());
    out->unfitted = out->known && *e->asker.unfitted;
    if (out->unfitted) snprintf(out->status, sizeof out->status, "ok, the fit is not used: %s", e->asker.unfitted);
    if (out->known && e->asker.took_on)
        pace_append(out->status, sizeof out->status, "; took --on for \"%.40s\"", rows->rows.items[question].system);
    if (out->known && e->asker.more_nodes)
        pace_append(out->status, sizeof out->status, "; took the row's nodes, which are more than --on has");
    if (out->known && rows->rows.items[question].assumed_dtype)
        pace_append(out->status, sizeof out->status, "; assumed 4 bytes an element: no dtype");
    if (out->known) say_unused(out, e, &rows->rows.items[question]);
    if (out->known) pace_row_say_unmeasured(out, rows->rows.items[question].unmeasured);
}

/* NULL: the fit has the row, or it was not measured. */
static const char *why_left_out(const pace_exchange_row *row) {
    if (*row->status) return row->status;
    if (*row->unmeasured) return row->unmeasured;
    if (isnan(row->time_s)) return NULL;
    if (*row->approach) return "a framework's approach: curves are of libraries";
    if (row->ranks_per_node * row->nodes == 1) return "one rank exchanges nothing";
    return row->time_s > row->call_s ? NULL : "its time is no longer than the call of the library alone";
}

static void find_left_out(pace_left_out *out, const exchanges *e) {
    PACE_ITEMS (const pace_exchange_rows, table, &e->tables)
        PACE_ITEMS (const pace_exchange_row, row, &table->rows) {
            const char *why = why_left_out(row);
            if (why) pace_left_out_add(out, &table->csv, table->name, row->row, why);
        }
}

/* Why there is nothing to learn from, where rows say it. */
static pace_status say_first_left_out(const exchanges *e) {
    pace_left_out left_out = {0};
    find_left_out(&left_out, e);
    if (left_out.rows == 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "no row that can be learned from; the first: %s", left_out.first);
}

static pace_status learn(void *state, pace_row_keep keep, void *context) {
    exchanges *e = state;
    int probes = e->options->probes ? e->options->probes : DEFAULT_PROBES;
    drop_fits(e);
    pace_status status = pace_exchange_rows_fit(&e->fit, e->tables.items, e->tables.count, 0, keep, context);
    if (status == PACE_E_INPUT) PACE_TRY(say_first_left_out(e));
    PACE_TRY(status);
    PACE_TRY(pace_exchange_fit_own(&e->own, &e->fit));
    return pace_exchange_rows_fit(&e->probed, e->tables.items, e->tables.count, probes, keep, context);
}

static pace_status save(const void *state, const char *path) {
    return pace_exchange_fit_save(&((const exchanges *)state)->fit, path);
}

/* --- how well sizes that were held out are predicted -------------------------------------------------------------- */

static bool is_probe(const pace_exchange_fit *fit, const pace_exchange_curve *curve, double bytes) {
    for (uint32_t i = 0; i < curve->count; i++)
        if (fit->points.items[curve->first + i].bytes == bytes) return true;
    return false;
}

/* Every size of the whole curve that is no probe, predicted from the probes. */
static pace_status score_curve(pace_score *score, const exchanges *e, pace_exchange_asker *asker,
                               const pace_exchange_curve *whole, const pace_exchange_curve *probed) {
    pace_nccl_stack stack;
    const pace_exchange *model = pace_exchange_curve_model(&stack, asker, probed);
    for (uint32_t i = 0; i < whole->count; i++) {
        const pace_curve_point *point = &e->fit.points.items[whole->first + i];
        pace_estimate s;
        if (is_probe(&e->probed, probed, point->bytes)) continue;
        pace_fit_question q = {.system = probed->system,
                               .variant = probed->variant,
                               .collective = probed->collective,
                               .bytes = point->bytes,
                               .ranks_per_node = probed->ranks_per_node,
                               .nodes = probed->nodes,
                               .element_bytes = probed->element_bytes,
                               .stack = stack,
                               .model = model,
                               .doubts = &e->asker.doubts};
        if (pace_exchange_fit_time(&s, &e->probed, &q) != PACE_OK) continue; /* one size without a machine */
        pace_score_estimate(score, s, point->time_s);
    }
    return PACE_OK;
}

static void put_name(pace_findings *out, const char *name) {
    if (*name) pace_found_cell_text(out, name);
    else pace_found_cell_number(out, NAN);
}

static void put_names(pace_findings *out, const pace_exchange_curve *curve) {
    put_name(out, curve->system);
    pace_found_cell_text(out, pace_collective_rows[curve->collective].name);
    put_name(out, curve->variant);
    pace_found_cell_number(out, curve->element_bytes > 0 ? (double)curve->element_bytes : NAN);
    pace_found_cell_number(out, curve->ranks_per_node * curve->nodes);
}

/* How much its measurements err; NAN = too few tell. */
static double noise_of(const exchanges *e, const pace_exchange_curve *curve) {
    double usual = e->asker.doubts.figure[PACE_DOUBT_SHAPE_NOISE];
    bool told = curve->scatter.repeats > 0 || curve->scatter.near > 0;
    return told ? hypot(usual, pace_curve_noise(&curve->scatter, &e->asker.doubts)) : NAN;
}

static pace_status put_curve(pace_findings *out, const exchanges *e, pace_exchange_asker *asker, size_t number) {
    const pace_exchange_curve *whole = &e->fit.curves.items[number], *probed = &e->probed.curves.items[number];
    pace_score score = {0};
    PACE_TRY(score_curve(&score, e, asker, whole, probed));
    put_names(out, whole);
    double figures[] = {whole->nodes,
                        whole->count,
                        probed->count,
                        (double)score.count,
                        pace_score_mape(&score),
                        score.largest,
                        pace_score_coverage(&score)};
    bool scored = score.count > 0;
    for (int i = 0; i < 7; i++) pace_found_cell_number(out, i < 4 || scored ? figures[i] : NAN);
    pace_found_cell_number(out, noise_of(e, whole));
    return PACE_OK;
}

static pace_status put_curves(pace_findings *out, const exchanges *e) {
    static const pace_column columns[] = {
        {"system", "System", PACE_SHOW_TEXT},      {"collective", "Collective", PACE_SHOW_TEXT},
        {"variant", "Variant", PACE_SHOW_TEXT},    {"element_bytes", "Element B", PACE_SHOW_INT},
        {"ranks", "Ranks", PACE_SHOW_INT},         {"nodes", "Nodes", PACE_SHOW_INT},
        {"sizes", "Sizes", PACE_SHOW_INT},         {"probes", NULL, PACE_SHOW_INT},
        {"held_out", "Held out", PACE_SHOW_INT},   {"mape", "MAPE", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE},   {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
        {"noise_share", "Noise", PACE_SHOW_SHARE},
    };
    pace_found_table(out, "curves", "Error on sizes that were held out", PACE_COLUMNS(columns));
    pace_exchange_asker asker = e->asker; /* it remembers the machine of the last curve */
    for (size_t i = 0; i < e->fit.curves.count; i++) PACE_TRY(put_curve(out, e, &asker, i));
    return PACE_OK;
}

static void put_saturating_curve(pace_findings *out, const exchanges *e, const pace_exchange_curve *curve) {
    const pace_curve_point *points = &e->fit.points.items[curve->first];
    double factor = pace_bus_factor(curve->collective, curve->ranks_per_node * curve->nodes);
    pace_saturating_curve s;
    pace_score score = {0};
    if (!pace_saturating_fit(&s, points, curve->count, factor)) return;
    for (uint32_t p = 0; p < curve->count; p++)
        pace_score_add(&score, pace_saturating_s(&s, points[p].bytes, factor), points[p].time_s, false);
    put_names(out, curve);
    PACE_FOUND_NUMBERS(out, s.floor_s * 1e6, s.from, s.to, s.height, s.middle, s.slope, s.base,
                       s.full_bytes_per_s / 1e9, pace_score_mape(&score));
}

/* The curve of eight parameters, fitted on all sizes, beside the measurements. */
static void put_saturating_curves(pace_findings *out, const exchanges *e) {
    static const pace_column columns[] = {
        {"system", "System", PACE_SHOW_TEXT},
        {"collective", "Collective", PACE_SHOW_TEXT},
        {"variant", "Variant", PACE_SHOW_TEXT},
        {"element_bytes", "Element B", PACE_SHOW_INT},
        {"ranks", "Ranks", PACE_SHOW_INT},
        {"floor_us", "Floor µs", PACE_SHOW_REAL},
        {"from_log2_bytes", NULL, PACE_SHOW_REAL},
        {"to_log2_bytes", NULL, PACE_SHOW_REAL},
        {"height", NULL, PACE_SHOW_REAL},
        {"middle_log2_bytes", NULL, PACE_SHOW_REAL},
        {"slope", NULL, PACE_SHOW_REAL},
        {"base", NULL, PACE_SHOW_REAL},
        {"full_GB_per_s", "Full GB/s", PACE_SHOW_REAL},
        {"mape", "MAPE", PACE_SHOW_SHARE},
    };
    pace_found_table_for_programs(out, "saturating_curves", "As a curve of eight parameters, fitted on all sizes",
                                  PACE_COLUMNS(columns));
    for (size_t i = 0; i < e->fit.curves.count; i++) put_saturating_curve(out, e, &e->fit.curves.items[i]);
}

static void warn_of_noise(pace_findings *out, const exchanges *e) {
    double most = 0;
    size_t noisy = 0;
    PACE_ITEMS (const pace_exchange_curve, curve, &e->fit.curves) {
        double noise = noise_of(e, curve);
        if (!(noise > e->asker.doubts.figure[PACE_DOUBT_CURVE_NOISY])) continue;
        most = pace_most(most, noise);
        noisy++;
    }
    if (noisy > 0)
        pace_found_warn(
            out, PACE_WARN_CURVES_NOISY,
            "%zu of %zu curve%s scatter%s, by up to %.0f %%, from run to run or from size to size: the intervals of "
            "answers by them are as wide; more iterations or repeated runs would narrow them",
            noisy, e->fit.curves.count, pace_plural(e->fit.curves.count), noisy == 1 ? "s" : "", 100 * most);
}

static pace_status describe(pace_findings *out, const void *state) {
    const exchanges *e = state;
    const char *file = e->options->fit_path;
    pace_left_out left_out = {0};
    bool held = false;
    find_left_out(&left_out, e);
    pace_found_left_out(out, &left_out);
    warn_of_noise(out, e);
    pace_found_text(out, "file", file);
    pace_found_int(out, "curves_fitted", e->fit.curves.count);
    pace_found_say(out, PACE_FOUND_ANSWER, "Fitted %zu curve%s of %zu size%s%s%s.", e->fit.curves.count,
                   pace_plural(e->fit.curves.count), e->fit.points.count, pace_plural(e->fit.points.count),
                   file ? ", written to " : "", file ? file : "");
    PACE_TRY(put_curves(out, e));
    put_saturating_curves(out, e);
    for (size_t i = 0; i < e->fit.curves.count; i++)
        held = held || e->fit.curves.items[i].count > e->probed.curves.items[i].count;
    pace_found_say(out, PACE_FOUND_NOTE, "%s",
                   held ? "Held out: all sizes but the probes, predicted from the probes alone. The fit that is "
                          "kept has all sizes."
                        : "Too few sizes to hold any out: how far off the fit is was not measured.");
    return PACE_OK;
}

/* --- whose table this is ------------------------------------------------------------------------------------------ */

/* A collective in a row beside a size or ranks, or both of these. */
static int claims(const pace_columns *columns, const pace_csv *csv) {
    static const char *const size[] = {"bytes", "elements", NULL}, *const ranks[] = {"ranks", "per_node", "nodes",
                                                                                     NULL};
    bool sized = pace_columns_present(columns, "exchange", csv, size) > 0;
    bool ranked = pace_columns_present(columns, "exchange", csv, ranks) > 0;
    const pace_yaml_node *names = pace_yaml_get(pace_yaml_get(pace_yaml_root(columns->yaml), "exchange"), "collective");
    for (size_t c = 0; (sized || ranked) && c < csv->columns && csv->rows > 0; c++) {
        char name[PACE_PLAIN_NAME];
        pace_collective exchange;
        pace_plain_name(name, pace_csv_name(csv, c));
        if (pace_word_listed(names, name) && pace_collective_find(&exchange, pace_csv_cell(csv, 0, c))) return 10;
    }
    return sized && ranked ? 10 : 0;
}

static bool is_log(const char *head) { return pace_log_kind_of(head) != PACE_LOG_NONE; }

const pace_row_kind pace_exchange_kind = {.name = "exchange",
                                          .title = "Fit of exchanges",
                                          .claims = claims,
                                          .is_log = is_log,
                                          .size = sizeof(exchanges),
                                          .open = open_exchanges,
                                          .close = close_exchanges,
                                          .load = load_fit,
                                          .read = read_table,
                                          .table = table_of,
                                          .question = question_of,
                                          .answer = answer_row,
                                          .learn = learn,
                                          .save = save,
                                          .describe = describe};
