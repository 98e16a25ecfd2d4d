/* `paceline predict --rows --kind exchange` and `paceline fit --kind exchange`. */
#include "exchange/saturating_curve.h"
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "ask/exchange_rows.h"
#include "ask/score.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { DEFAULT_PROBES = 6 };

static const pace_column answer_columns[] = {PACE_ANSWERED_TIME, PACE_ANSWERED_STATUS};

typedef struct {
    pace_exchange_rows rows;
    pace_exchange_fit fit;
    pace_machine machine;
    pace_doubts doubts;
    pace_exchange exchange; /* of the row's machine, the last one that was asked for */
    char last[96];
    char spread[96]; /* the last system that was asked how many devices its nodes have, 0 = unknown */
    int spread_over;
    int last_nodes;
    char refused[200]; /* why the last one names no machine; "" = it does */
    bool has_machine, has_exchange;
} asked;

static pace_status defaults_of(pace_exchange_defaults *out, pace_machine *machine, const pace_rows_options *options) {
    pace_collective collective;
    *out = (pace_exchange_defaults){.collective = options->collective};
    if (options->collective && !pace_collective_find(&collective, options->collective))
        return pace_fail(PACE_E_USAGE, "unknown collective \"%.40s\"", options->collective);
    if (!options->device) return PACE_OK;
    PACE_TRY(pace_machine_asked(machine, options->device));
    out->machine = machine;
    return PACE_OK;
}

/* --- predict ------------------------------------------------------------------------------------------------------ */

/* What a row's system or device column names: a machine in our own words, or one as logs name it. */
static pace_status machine_of(pace_machine *out, const pace_exchange_row *row) {
    int ranks = row->ranks_per_node * row->nodes;
    if (!*row->system) return pace_fail(PACE_E_INPUT, "no machine: expected a column \"system\" or --on");
    pace_status status = pace_machine_parse(out, row->system);
    if (status == PACE_OK && out->devices * out->nodes < ranks && out->devices < row->ranks_per_node)
        status = PACE_E_MISSING; /* a device alone */
    if (status != PACE_OK) status = pace_machine_named(out, row->system, row->nodes);
    if (status != PACE_OK && *row->device) status = pace_machine_named(out, row->device, row->nodes);
    if (status == PACE_OK && out->nodes < row->nodes) out->nodes = row->nodes;
    return status;
}

/* More ranks than a node of the row's own machine has fill whole nodes, where no column says how many there are. */
static void fill_nodes(asked *a, pace_exchange_row *row) {
    pace_machine machine;
    int ranks = row->ranks_per_node;
    if (a->has_machine || !row->nodes_guessed || row->nodes != 1 || ranks < 2 || !*row->system) return;
    if (strcmp(a->spread, row->system) != 0) {
        memcpy(a->spread, row->system, sizeof a->spread);
        bool known = pace_machine_parse(&machine, row->system) == PACE_OK ||
                     pace_machine_named(&machine, row->system, 2) == PACE_OK; /* one whose network is known */
        a->spread_over = known && machine.devices > 1 ? machine.devices : 0;
    }
    if (a->spread_over == 0 || ranks <= a->spread_over || ranks % a->spread_over) return;
    row->nodes = ranks / a->spread_over;
    row->ranks_per_node = a->spread_over;
}

/* The machine of a row, --on or its own. Systems come in runs, also those that name no machine. */
static pace_status exchange_of(asked *a, const pace_exchange_row *row) {
    pace_machine machine = a->machine;
    if (a->has_machine && a->has_exchange && a->last_nodes >= row->nodes) return PACE_OK;
    if (!a->has_machine && strcmp(a->last, row->system) == 0 && a->last_nodes >= row->nodes) {
        if (*a->refused && a->last_nodes == row->nodes) return pace_fail(PACE_E_MISSING, "%s", a->refused);
        if (a->has_exchange) return PACE_OK;
    }
    memcpy(a->last, row->system, sizeof a->last);
    a->last_nodes = row->nodes;
    *a->refused = '\0';
    pace_status status = a->has_machine ? PACE_OK : machine_of(&machine, row);
    if (a->has_machine && machine.nodes < row->nodes) machine.nodes = row->nodes; /* --on says of what kind they are */
    if (status == PACE_OK) status = pace_exchange_open(&a->exchange, &machine, PACE_LIBRARY_AUTO, NULL);
    a->has_exchange = status == PACE_OK;
    if (status == PACE_OK) a->last_nodes = machine.nodes;
    else snprintf(a->refused, sizeof a->refused, "%.199s", pace_message());
    return status;
}

/* The same with what starts the row's exchanges. Beside curves a guessed host counts for nothing: theirs is in them. */
static pace_status ready(asked *a, const pace_exchange_row *row, bool beside_curves) {
    bool guessed = row->stack == PACE_STACK_UNSAID || row->stack == PACE_STACK_OLDER;
    PACE_TRY(exchange_of(a, row));
    a->exchange.stack = beside_curves && guessed ? PACE_STACK_CURRENT : row->stack;
    return PACE_OK;
}

static pace_status by_formula(pace_estimate *out, asked *a, const pace_exchange_row *row) {
    pace_exchange_question q = {row->collective, row->bytes, row->ranks_per_node, row->nodes,
                                PACE_ANY,        PACE_ANY,   row->element_bytes};
    PACE_TRY(ready(a, row, false));
    if (*row->algorithm) PACE_TRY(pace_exchange_name_algorithm(&q.algorithm, &a->exchange, row->algorithm));
    if (*row->protocol) PACE_TRY(pace_exchange_name_protocol(&q.protocol, &a->exchange, row->protocol));
    return pace_exchange_time(out, &a->exchange, &q);
}

/* An algorithm or protocol that no curve was measured with is a question for the closed form. */
static bool was_measured(const asked *a, const char *word) {
    bool found = *word == '\0';
    for (size_t i = 0; i < a->fit.curves.count && !found; i++)
        found = strcasestr(a->fit.curves.items[i].variant, word) != NULL;
    return found;
}

static pace_status predict_row(pace_estimate *out, asked *a, const pace_exchange_row *row) {
    char refused[200];
    if (!was_measured(a, row->algorithm) || !was_measured(a, row->protocol)) return by_formula(out, a, row);
    if (a->fit.curves.count == 0) return by_formula(out, a, row);
    bool modelled = ready(a, row, true) == PACE_OK;
    pace_fit_question q = {.system = *row->system ? row->system : NULL,
                           .variant = row->variant,
                           .collective = row->collective,
                           .bytes = row->bytes,
                           .ranks_per_node = row->ranks_per_node,
                           .nodes = row->nodes,
                           .element_bytes = row->element_bytes,
                           .stack = row->stack,
                           .model = modelled ? &a->exchange : NULL,
                           .doubts = &a->doubts};
    if (pace_exchange_fit_time(out, &a->fit, &q) == PACE_OK) return PACE_OK;
    snprintf(refused, sizeof refused, "%.199s", pace_message());
    if (modelled && by_formula(out, a, row) == PACE_OK) return PACE_OK;
    return pace_fail(PACE_E_MISSING, "%s", refused);
}

static void add_answer(pace_answered_rows *rows, asked *a, const pace_exchange_row *row) {
    bool measured = a->rows.measured >= 0, fitted = a->fit.curves.count > 0;
    double unit_s = measured ? a->rows.unit_s : fitted ? a->fit.unit_s : 1, values[3];
    const char *unit = measured ? a->rows.unit : fitted ? a->fit.unit : "s", *status = "ok";
    pace_estimate s = {0};
    bool known = row->bytes > 0 && row->ranks_per_node > 0 && predict_row(&s, a, row) == PACE_OK;
    if (!known) status = *row->status ? row->status : row->bytes > 0 ? pace_message() : "expected a size above 0";
    pace_answered_values(values, s, unit_s);
    pace_answered_time(rows, known ? values : NULL, unit, s.rung);
    pace_table_text(rows->table, status);
}

static pace_status put_rows(pace_report *report, asked *a) {
    pace_answered_rows rows;
    PACE_TRY(pace_answered_begin(&rows, report, &a->rows.csv, answer_columns, COUNT(answer_columns)));
    for (size_t i = 0; i < a->rows.rows.count; i++) {
        pace_exchange_row *row = &a->rows.rows.items[i];
        fill_nodes(a, row);
        pace_answered_row(&rows, row->row);
        add_answer(&rows, a, row);
    }
    return pace_answered_end(&rows, report);
}

static pace_status open_asked(asked *a, const char *path, const pace_rows_options *options) {
    pace_exchange_defaults defaults;
    PACE_TRY(defaults_of(&defaults, &a->machine, options));
    a->has_machine = defaults.machine != NULL;
    PACE_TRY(pace_doubts_load(&a->doubts));
    if (options->fit_path) PACE_TRY(pace_exchange_fit_load(&a->fit, options->fit_path));
    PACE_TRY(pace_exchange_rows_open(&a->rows, path, &defaults));
    if (a->rows.csv.columns > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected a table of questions; a log is for paceline fit", a->rows.name);
}

pace_status pace_predict_exchange_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = open_asked(&a, path, options);
    if (status == PACE_OK) status = pace_answered_report(&report, options, a.rows.name, a.rows.bytes);
    if (status == PACE_OK) status = put_rows(report, &a);
    pace_exchange_rows_free(&a.rows);
    pace_exchange_fit_free(&a.fit);
    return pace_report_give(out, report, status);
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

static const pace_column curve_columns[] = {
    {"system", "System", PACE_SHOW_TEXT},    {"collective", "Collective", PACE_SHOW_TEXT},
    {"ranks", "Ranks", PACE_SHOW_INT},       {"nodes", "Nodes", PACE_SHOW_INT},
    {"sizes", "Sizes", PACE_SHOW_INT},       {"probes", "Probes", PACE_SHOW_INT},
    {"held_out", "Held out", PACE_SHOW_INT}, {"mape", "MAPE", PACE_SHOW_SHARE},
    {"largest", "Largest", PACE_SHOW_SHARE}, {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
};

typedef struct {
    pace_exchange_rows *tables;
    size_t count;
    pace_exchange_fit whole, probed;
    pace_doubts doubts;
} fitted;

static bool is_probe(const pace_exchange_fit *fit, const pace_exchange_curve *curve, double bytes) {
    for (uint32_t i = 0; i < curve->count; i++)
        if (fit->points.items[curve->first + i].bytes == bytes) return true;
    return false;
}

/* Every size of the whole curve that is no probe, predicted from the probes. */
static pace_status score_curve(pace_score *score, const fitted *f, const pace_exchange_curve *whole,
                               const pace_exchange_curve *probed) {
    for (uint32_t i = 0; i < whole->count; i++) {
        const pace_curve_point *point = &f->whole.points.items[whole->first + i];
        pace_estimate s;
        if (is_probe(&f->probed, probed, point->bytes)) continue;
        pace_fit_question q = {.system = probed->system,
                               .variant = probed->variant,
                               .collective = probed->collective,
                               .bytes = point->bytes,
                               .ranks_per_node = probed->ranks_per_node,
                               .nodes = probed->nodes,
                               .element_bytes = probed->element_bytes,
                               .doubts = &f->doubts};
        PACE_TRY(pace_exchange_fit_time(&s, &f->probed, &q));
        bool within = point->time_s >= pace_estimate_low(s) && point->time_s <= pace_estimate_high(s);
        pace_score_add(score, s.median, point->time_s, within);
    }
    return PACE_OK;
}

static pace_status put_curve(pace_node *table, const fitted *f, size_t number) {
    const pace_exchange_curve *whole = &f->whole.curves.items[number], *probed = &f->probed.curves.items[number];
    pace_score score = {0};
    PACE_TRY(score_curve(&score, f, whole, probed));
    pace_table_row(table);
    pace_table_text(table, whole->system);
    pace_table_text(table, pace_collective_names[whole->collective]);
    pace_table_int(table, whole->ranks_per_node * whole->nodes);
    pace_table_int(table, whole->nodes);
    pace_table_int(table, whole->count);
    pace_table_int(table, probed->count);
    pace_table_int(table, (int64_t)score.count);
    double figures[] = {pace_score_mape(&score), score.largest, pace_score_coverage(&score)};
    for (int i = 0; i < 3; i++) {
        if (score.count > 0) pace_table_real(table, figures[i]);
        else pace_table_none(table);
    }
    return PACE_OK;
}

/* The curve of eight parameters, fitted on all sizes, beside the measurements. */
static void put_saturating(pace_node *root, const fitted *f) {
    static const pace_column saturating_columns[] = {
        {"system", "System", PACE_SHOW_TEXT},
        {"collective", "Collective", PACE_SHOW_TEXT},
        {"ranks", "Ranks", PACE_SHOW_INT},
        {"floor_us", "Floor us", PACE_SHOW_REAL},
        {"from_log2_bytes", NULL, PACE_SHOW_REAL},
        {"to_log2_bytes", NULL, PACE_SHOW_REAL},
        {"height", NULL, PACE_SHOW_REAL},
        {"middle_log2_bytes", NULL, PACE_SHOW_REAL},
        {"slope", NULL, PACE_SHOW_REAL},
        {"base", NULL, PACE_SHOW_REAL},
        {"full_GB_per_s", "Full GB/s", PACE_SHOW_REAL},
        {"mape", "MAPE", PACE_SHOW_SHARE},
    };
    pace_node *table = pace_node_table(root, "saturating_curves", "As a curve of eight parameters, fitted on all sizes",
                                       PACE_FOR_JSON, PACE_COLUMNS(saturating_columns), 0);
    for (size_t i = 0; i < f->whole.curves.count; i++) {
        const pace_exchange_curve *curve = &f->whole.curves.items[i];
        const pace_curve_point *points = &f->whole.points.items[curve->first];
        double factor = pace_bus_factor(curve->collective, curve->ranks_per_node * curve->nodes);
        pace_saturating_curve s;
        pace_score score = {0};
        if (!pace_saturating_fit(&s, points, curve->count, factor)) continue;
        for (uint32_t p = 0; p < curve->count; p++)
            pace_score_add(&score, pace_saturating_s(&s, points[p].bytes, factor), points[p].time_s, false);
        pace_table_row(table);
        pace_table_text(table, curve->system);
        pace_table_text(table, pace_collective_names[curve->collective]);
        pace_table_int(table, curve->ranks_per_node * curve->nodes);
        double figures[] = {
            s.floor_s * 1e6,        s.from, s.to, s.height, s.middle, s.slope, s.base, s.full_bytes_per_s / 1e9,
            pace_score_mape(&score)};
        for (size_t k = 0; k < COUNT(figures); k++) pace_table_real(table, figures[k]);
    }
}

static size_t left_out(const fitted *f, const char **why) {
    size_t count = 0;
    for (size_t t = 0; t < f->count; t++)
        for (size_t i = 0; i < f->tables[t].rows.count; i++) {
            const pace_exchange_row *row = &f->tables[t].rows.items[i];
            if (*row->status && count++ == 0) *why = row->status;
        }
    return count;
}

static pace_status build_fit(pace_report *report, const fitted *f, const pace_rows_options *options) {
    pace_node *root = pace_report_root(report);
    const char *why = "";
    size_t out = left_out(f, &why);
    for (size_t i = 0; i < f->count; i++) pace_report_add_input(report, f->tables[i].name, f->tables[i].bytes);
    if (out > 0) pace_report_warn(report, "%zu rows were left out; the first: %s", out, why);
    pace_node_text(root, "file", options->fit_path);
    pace_node_int(root, "curves_fitted", (int64_t)f->whole.curves.count);
    pace_node_sentence(root, true, "Fitted %zu curve%s of %zu sizes%s%s.", f->whole.curves.count,
                       f->whole.curves.count == 1 ? "" : "s", f->whole.points.count,
                       options->fit_path ? ", written to " : "", options->fit_path ? options->fit_path : "");
    pace_node *table = pace_node_table(root, "curves", "Error on sizes that were held out", PACE_FOR_ALL,
                                       PACE_COLUMNS(curve_columns), 0);
    for (size_t i = 0; i < f->whole.curves.count; i++) PACE_TRY(put_curve(table, f, i));
    put_saturating(root, f);
    bool held = false;
    for (size_t i = 0; i < f->whole.curves.count; i++)
        held = held || f->whole.curves.items[i].count > f->probed.curves.items[i].count;
    pace_node_note(root, held ? "Held out: all sizes but the probes, predicted from the probes alone. The fit that is "
                                "kept has all sizes."
                              : "Too few sizes to hold any out: how far off the fit is was not measured.");
    return pace_report_status(report);
}

static pace_status run_fit(pace_report **report, fitted *f, const char *const *paths, size_t count,
                           const pace_rows_options *options) {
    pace_exchange_defaults defaults;
    pace_machine machine;
    PACE_TRY(defaults_of(&defaults, &machine, options));
    if (options->probes < 0 || options->probes == 1)
        return pace_fail(PACE_E_USAGE, "--probes: expected 2 or more, found %d", options->probes);
    f->tables = pace_alloc(count, sizeof *f->tables);
    if (!f->tables) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        PACE_TRY(pace_exchange_rows_open(&f->tables[i], paths[i], &defaults));
        f->count++;
    }
    PACE_TRY(pace_doubts_load(&f->doubts));
    PACE_TRY(pace_exchange_rows_fit(&f->whole, f->tables, count, 0));
    PACE_TRY(pace_exchange_rows_fit(&f->probed, f->tables, count, options->probes ? options->probes : DEFAULT_PROBES));
    if (options->fit_path) PACE_TRY(pace_exchange_fit_save(&f->whole, options->fit_path));
    PACE_TRY(pace_report_new(report, "fit", "Fit of exchanges"));
    pace_report_set_command(*report, options->command, options->command_count);
    return build_fit(*report, f, options);
}

pace_status pace_fit_exchange(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_rows_options *options) {
    fitted f = {0};
    pace_report *report = NULL;
    pace_status status = run_fit(&report, &f, paths, path_count, options);
    for (size_t i = 0; i < f.count; i++) pace_exchange_rows_free(&f.tables[i]);
    pace_free(f.tables);
    pace_exchange_fit_free(&f.whole);
    pace_exchange_fit_free(&f.probed);
    return pace_report_give(out, report, status);
}
