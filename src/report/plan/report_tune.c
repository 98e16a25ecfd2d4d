/* The report of `paceline tune`: the table of choices, what each gains, and the file that plug-ins read. */
#include "ask/rows/collective_table.h"
#include "base/memory.h"
#include "base/print.h"
#include "report/engines.h"
#include "report/predict/predict_parts.h"
#include "report/show.h"
#include "report/table.h"
#include "report/plan/plan_parts.h"

typedef struct {
    const char *collective, *algorithm, *protocol, *choice, *against_algorithm, *against_protocol;
    int nodes, ranks, channels;
    int64_t from, to;
    double saved, low, high;
} choice_row;

PACE_TABLE(choices, "choices", "Which algorithm and protocol, by size", PACE_FOR_ALL, 0,
           {"collective", "Collective", PACE_SHOW_TEXT, PACE_OF(choice_row, collective)},
           {"nodes", NULL, PACE_SHOW_INT, PACE_OF(choice_row, nodes)},
           {"ranks", "Ranks", PACE_SHOW_INT, PACE_OF(choice_row, ranks)},
           {"from_bytes", "from", PACE_SHOW_BYTES, PACE_OF(choice_row, from)},
           {"to_bytes", "to", PACE_SHOW_BYTES, PACE_OF(choice_row, to)},
           {"algorithm", "Takes", PACE_SHOW_TEXT, PACE_OF(choice_row, algorithm)},
           {"protocol", "", PACE_SHOW_TEXT, PACE_OF(choice_row, protocol)},
           {"channels", NULL, PACE_SHOW_INT, PACE_OF(choice_row, channels)},
           {"choice", "Choice", PACE_SHOW_TEXT, PACE_OF(choice_row, choice)},
           {"against_algorithm", "Against", PACE_SHOW_TEXT, PACE_OF(choice_row, against_algorithm)},
           {"against_protocol", "", PACE_SHOW_TEXT, PACE_OF(choice_row, against_protocol)},
           {"saved_share", "saves", PACE_SHOW_SHARE, PACE_OF(choice_row, saved)},
           {"saved_low_share", "at least", PACE_SHOW_SHARE, PACE_OF(choice_row, low)},
           {"saved_high_share", NULL, PACE_SHOW_SHARE, PACE_OF(choice_row, high)});

typedef struct {
    const char *collective, *own_algorithm, *best_algorithm, *rung;
    pace_tuned_row row;
    pace_tuned_size of;
    double saved, low, high;
} size_row;

PACE_TABLE(by_size, "sizes", "By size", PACE_FOR_JSON, 0,
           {"collective", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, collective)},
           {"nodes", NULL, PACE_SHOW_INT, PACE_OF(size_row, row.nodes)},
           {"ranks", NULL, PACE_SHOW_INT, PACE_OF(size_row, row.ranks)},
           {"bytes", NULL, PACE_SHOW_INT, PACE_WHOLE_OF(size_row, of.bytes)},
           {"own_algorithm", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, own_algorithm)},
           {"own_protocol", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, of.own.protocol)},
           {"own_us", NULL, PACE_SHOW_REAL, PACE_US_OF(size_row, of.own_s)},
           {"best_algorithm", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, best_algorithm)},
           {"best_protocol", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, of.best.protocol)},
           {"best_us", NULL, PACE_SHOW_REAL, PACE_US_OF(size_row, of.best_s)},
           {"saved_share", NULL, PACE_SHOW_SHARE, PACE_OF(size_row, saved)},
           {"saved_low_share", NULL, PACE_SHOW_SHARE, PACE_OF(size_row, low)},
           {"saved_high_share", NULL, PACE_SHOW_SHARE, PACE_OF(size_row, high)},
           {"rung", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, rung)});

/* Nothing else is expected to be faster. */
static bool stands_alone(const pace_tuned_row *row) { return !row->changes && !(row->gain > 0); }

static void put_choice(pace_node *table, const pace_tuned_row *row) {
    bool lone = stands_alone(row);
    const pace_tuned_way *way = row->changes ? &row->best : &row->own, *other = row->changes ? &row->own : &row->best;
    pace_table_put(table, &(choice_row){.collective = pace_collective_rows[row->collective].name,
                                        .nodes = row->nodes,
                                        .ranks = row->ranks,
                                        .from = (int64_t)row->from_bytes,
                                        .to = row->to_bytes <= INT64_MAX ? (int64_t)row->to_bytes : PACE_NO_INT,
                                        .algorithm = way->algorithm,
                                        .protocol = way->protocol,
                                        .channels = way->channels,
                                        .choice = row->changes ? "changed" : "own",
                                        .against_algorithm = lone ? NULL : other->algorithm,
                                        .against_protocol = lone ? NULL : other->protocol,
                                        .saved = lone ? NAN : row->gain,
                                        .low = lone ? NAN : row->low,
                                        .high = lone ? NAN : row->high});
}

static void put_sizes(pace_node *table, const pace_tuned *t, const pace_tuned_row *row) {
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const pace_tuned_size *s = &t->sizes.items[i];
        pace_table_put(table, &(size_row){.collective = pace_collective_rows[row->collective].name,
                                          .row = *row,
                                          .of = *s,
                                          .own_algorithm = s->own.algorithm,
                                          .best_algorithm = s->best.algorithm,
                                          .saved = pace_tuned_saving(s->gain.median),
                                          .low = t->text ? NAN : pace_tuned_saving(pace_estimate_low(s->gain)),
                                          .high = t->text ? NAN : pace_tuned_saving(pace_estimate_high(s->gain)),
                                          .rung = pace_rung_names[s->gain.rung]});
    }
}

/* The row that gains most, of those that change or of those that stay; NULL: none. */
static const pace_tuned_row *largest(const pace_tuned *t, bool changes) {
    const pace_tuned_row *most = NULL;
    PACE_ITEMS (const pace_tuned_row, row, &t->rows)
        if (row->changes == changes && row->gain > 0 && (!most || row->gain > most->gain)) most = row;
    return most;
}

typedef struct {
    char text[48];
} words;

/* Where times of the library's choice are all that is known, nobody knows which way it went. */
static words way_words(const pace_tuned_way *way) {
    words out;
    bool own = strcmp(way->algorithm, "own") == 0;
    pace_snprintf(out.text, sizeof out.text, "%s%s%s", own ? "the library's choice" : way->algorithm,
                  *way->protocol ? " " : "", way->protocol);
    return out;
}

static void say_row(pace_node *root, const char *begin, const pace_tuned_row *row) {
    char text[200], channels[32] = "";
    if (row->best.channels != PACE_ANY)
        pace_snprintf(channels, sizeof channels, " with %d channels", row->best.channels);
    pace_snprintf(text, sizeof text, "%s of %s to %s on %d ranks, %s%s instead of %s",
                  pace_collective_rows[row->collective].name, pace_show_bytes((double)row->from_bytes).text,
                  pace_show_bytes((double)row->to_bytes).text, row->ranks, way_words(&row->best).text, channels,
                  way_words(&row->own).text);
    pace_node_sentence(root, true, "%s: %s, expected to save %.3g %% (90 %% interval %.3g to %.3g %%).", begin, text,
                       100 * row->gain, 100 * row->low, 100 * row->high);
}

static void lead(pace_node *root, const pace_tuned *t) {
    size_t changed = 0;
    for (size_t i = 0; i < t->rows.count; i++) changed += t->rows.items[i].changes;
    const pace_tuned_row *sure = largest(t, true), *unsure = largest(t, false);
    const char *whose = t->library ? "NCCL " : "the library", *line = t->library ? t->library : "";
    if (!changed)
        pace_node_sentence(root, true, "On %s %s%s's own choice stays everywhere: no gain is larger than its interval.",
                           t->machine.name, whose, line);
    else
        pace_node_sentence(root, true, "On %s %s%s's choice changes in %zu of %zu ranges of sizes.", t->machine.name,
                           whose, line, changed, t->rows.count);
    if (sure) say_row(root, "The largest change", sure);
    if (unsure) say_row(root, "The own choice stays for want of measurements", unsure);
}

/* What would settle the largest gain that lies inside its interval. */
static void say_what_settles(pace_node *root, const pace_tuned *t) {
    const pace_tuned_row *row = largest(t, false);
    if (!row) return;
    pace_node_note(root,
                   "To settle it: measure %s on %d ranks from %llu to %llu bytes with nccl-tests, as it is and with "
                   "NCCL_ALGO=%s NCCL_PROTO=%s, in a table with the columns algorithm and protocol; \"paceline fit "
                   "--kind exchange\" learns it, and --fit uses it here.",
                   pace_collective_rows[row->collective].name, row->ranks, (unsigned long long)row->from_bytes,
                   (unsigned long long)row->to_bytes, row->best.algorithm, row->best.protocol);
}

typedef struct {
    const pace_tune_options *options;
    pace_tuned *tuned;
} building;

static void put_tables(pace_node *root, const pace_tuned *t) {
    pace_node *table = pace_open_table(root, &choices, 0);
    for (size_t i = 0; i < t->rows.count; i++) put_choice(table, &t->rows.items[i]);
    table = pace_open_table(root, &by_size, 0);
    for (size_t i = 0; i < t->rows.count; i++) put_sizes(table, t, &t->rows.items[i]);
}

/* Choices that were measured on a host: nothing is expected, and the spread of times is unknown. */
static pace_status build_table(pace_report *report, void *context) {
    const building *b = context;
    const pace_tuned *t = b->tuned;
    const pace_tuned_row *most = largest(t, true);
    pace_node *root = pace_report_root(report);
    pace_report_add_input(report, b->options->table, 0);
    pace_node_text(root, "machine", t->host);
    pace_node_text(root, "library", "paceline");
    pace_node_text(root, "dialect", "collective");
    pace_node_sentence(root, true, "%zu choices by size for libpaceline_collective, made on %s.", t->rows.count,
                       t->host);
    if (most)
        pace_node_sentence(root, true,
                           "Most is saved in %s of %d ranks from %s on: %s takes %.3g %% less than the built-in choice "
                           "in the mean over the measured sizes.",
                           pace_collective_rows[most->collective].name, most->ranks,
                           pace_show_bytes((double)most->from_bytes).text, most->best.algorithm, 100 * most->gain);
    else if (!t->sizes.count)
        pace_node_sentence(root, true,
                           "The table does not say what they save: paceline-tune-collective writes it beside them.");
    put_tables(root, t);
    PACE_TRY(pace_put_assumptions(root, b->options->context->catalog, &t->used,
                                  (pace_estimate){1, 0, PACE_RUNG_MEASURED, 0}));
    pace_node_note(root,
                   "Bytes are those of the whole vector. Saved: against the built-in choice, which may be the same "
                   "way; the least of some rounds each. Communicators read the table where "
                   "PACELINE_COLLECTIVE_TABLE or the user's configuration has it (docs/collective.md).");
    return PACE_OK;
}

static pace_status build(pace_report *report, void *context) {
    const building *b = context;
    const pace_tuned *t = b->tuned;
    pace_node *root = pace_report_root(report);
    if (b->options->fit_path) pace_report_add_input(report, b->options->fit_path, 0);
    pace_node_text(root, "machine", t->machine.name);
    pace_node_text(root, "library", t->library ? t->library : "measured");
    pace_node_text(root, "dialect", t->dialect->name);
    lead(root, t);
    put_tables(root, t);
    PACE_TRY(pace_put_assumptions(root, b->options->context->catalog, &t->used,
                                  (pace_estimate){1, t->widest, PACE_RUNG_FORMULA, 0}));
    pace_node_note(root,
                   "Choice \"own\": the library's own choice stays, because nothing is faster, or because the "
                   "gain of the fastest other choice (against) is smaller than its interval. \"changed\": the "
                   "whole interval is a gain. Sizes outside the table stay the library's, and so do channels, unless "
                   "the fit has curves that were measured with a number of them (column channels).");
    say_what_settles(root, t);
    pace_node_note(root, "With -o FILE.csv the changes are written as %s reads them: %s.", t->dialect->name,
                   t->dialect->use);
    pace_put_machine_note(root, &t->machine);
    return PACE_OK;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static pace_status write_file(void *context, pace_sink *sink) {
    pace_tune_file_write(sink, context);
    return PACE_OK;
}

static void free_tuned(void *context) {
    pace_tuned_free(context);
    pace_free(context);
}

static pace_status tune_table(pace_report **out, const pace_tune_options *options) {
    pace_tuned tuned = {.widest = 0};
    building b = {options, &tuned};
    pace_status status = pace_collective_table_read(&tuned, options->table);
    if (status == PACE_OK)
        status = pace_report_build(out, "tune", "Choices of libpaceline_collective", build_table, &b);
    pace_tuned_free(&tuned);
    return status;
}

pace_status pace_tune(pace_report **out, const pace_tune_options *options) {
    if (options->table) return tune_table(out, options);
    pace_tuned *tuned = pace_alloc(1, sizeof *tuned);
    pace_report *report = NULL;
    if (!tuned) return PACE_E_MEMORY;
    building b = {options, tuned};
    pace_status status = pace_tune_ask(tuned, options);
    if (status == PACE_OK)
        status = pace_report_build(&report, "tune", "Choices for a communication library", build, &b);
    if (status != PACE_OK) {
        free_tuned(tuned);
        return status;
    }
    pace_report_set_stream(report, write_file, tuned, free_tuned);
    *out = report;
    return PACE_OK;
}
