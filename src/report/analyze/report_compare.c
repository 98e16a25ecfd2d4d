/* pace_compare(): two traces, or two ranks of one run, side by side: how much longer the typical step of B is, whether
 * that is more than steps differ anyway, why, and whether a limit holds. */
#include "base/autocorrelation.h"
#include "base/print.h"
#include "insight/compare/change_cause.h"
#include "report/analyze/analyze_parts.h"
#include "report/analyze/compare_parts.h"
#include "report/engines.h"
#include "report/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the answer --------------------------------------------------------------------------------------------------- */

/* Appends how many independent steps they count as, where these are fewer. */
static void name_independent(char *out, size_t size, const pace_step_change *change) {
    size_t a = change->a.lengths_ns.count, b = change->b.lengths_ns.count;
    double of_a = (double)a / pace_values_as_one(a, change->correlation);
    double of_b = (double)b / pace_values_as_one(b, change->correlation);
    out[0] = '\0';
    if (llround(of_a) < (int64_t)a || llround(of_b) < (int64_t)b)
        pace_snprintf(out, size,
                      ", which resemble the steps before them and say no more than %.0f and %.0f independent ones",
                      of_a, of_b);
}

static void put_spread_note(pace_node *root, const pace_step_change *change) {
    char independent[128];
    size_t a = change->a.lengths_ns.count, b = change->b.lengths_ns.count;
    name_independent(independent, sizeof independent, change);
    size_t left_out = change->a.typical.left_out + change->b.typical.left_out;
    if (left_out)
        pace_node_note(root, "%zu warm-up steps and outliers are left out of both medians and spreads.", left_out);
    switch (change->verdict) {
    case PACE_CHANGE_UNKNOWN:
        pace_node_note(root, "One step each: no spread is known, so chance cannot be told apart.");
        break;
    case PACE_CHANGE_TOO_FEW:
        pace_node_note(root,
                       "%zu and %zu steps are too few to tell a change from chance: record at least 4 on each side.", a,
                       b);
        break;
    case PACE_CHANGE_CHANCE:
    case PACE_CHANGE_REAL:
        pace_node_note(
            root, "Rank-sum test (Mann-Whitney) over %zu and %zu steps%s: p = %.2g; below 0.05 counts as a change.", a,
            b, independent, change->p);
        break;
    case PACE_CHANGE_NONE: break;
    }
}

/* Why there is nothing to compare; NULL = there is. */
static const char *lacking_of(const pace_step_change *change) {
    bool a = pace_compared_ns(&change->a) > 0, b = pace_compared_ns(&change->b) > 0;
    return !a && !b           ? "neither A nor B contains any work"
           : !a               ? "A contains no work"
           : !b               ? "B contains no work"
           : change->a.broken ? "A breaks off before its first step ends"
           : change->b.broken ? "B breaks off before its first step ends"
                              : NULL;
}

static void put_headline(pace_node *root, const pace_step_change *change) {
    const char *apart = change->own ? "part from waiting for late ranks a" : "", *lacking = lacking_of(change);
    if (lacking) {
        pace_node_sentence(root, true, "Nothing to compare: %s.", lacking);
        return;
    }
    char interval[128] = "";
    pace_shown more = pace_show_change(change->ratio - 1);
    if (!isnan(change->low))
        pace_snprintf(interval, sizeof interval, ", 90 %% interval %+.1f to %s", 100 * (change->low - 1),
                      pace_show_change(change->high - 1).text);
    pace_shown of_a = pace_show_ns(pace_compared_ns(&change->a)), of_b = pace_show_ns(pace_compared_ns(&change->b));
    bool a = change->a.steps > 0, b = change->b.steps > 0;
    if (change->verdict == PACE_CHANGE_CHANCE)
        pace_node_sentence(root, true, "No significant change: a%s typical step takes %s in A and %s in B (%s%s).",
                           apart, of_a.text, of_b.text, more.text, interval);
    else if (a && b)
        pace_node_sentence(root, true, "A%s typical step takes %s in A and %s in B: %s (x%.3f%s).", apart, of_a.text,
                           of_b.text, more.text, change->ratio, interval);
    else
        pace_node_sentence(root, true,
                           "%s of A takes %s, %s of B %s: %s (x%.3f). What marks no steps is compared whole.",
                           a ? "A typical step" : "All", of_a.text, b ? "a typical step" : "all", of_b.text, more.text,
                           change->ratio);
    pace_put_tail(root, "A'", change->a.rank, &change->a.typical);
    pace_put_tail(root, "B'", change->b.rank, &change->b.typical);
    if (change->own)
        pace_node_sentence(root, true, "Ranks of one run end their steps together: A waits %s and B %s a step.",
                           pace_show_ns(change->a.waits_ns).text, pace_show_ns(change->b.waits_ns).text);
}

static pace_shown show_change(double ns) {
    pace_shown size = pace_show_ns(llround(fabs(ns))), shown;
    pace_snprintf(shown.text, sizeof shown.text, "%s%.*s", ns < 0 ? "-" : "+", (int)sizeof shown.text - 2, size.text);
    return shown;
}

/* Appends that something else takes the time instead. */
static void name_instead(char *out, size_t size, const pace_operator_pair *instead) {
    char name[PACE_SHOWN_NAME];
    if (instead)
        pace_append(out, size, ", against %s, which %s alone has (%s)", pace_show_name(name, instead->name),
                    instead->a ? "A" : "B", show_change(instead->b_ns - instead->a_ns).text);
}

static void name_host(char *out, size_t size, const pace_step_change *change, const pace_change_cause *cause) {
    bool itself = change->a.rank->work.host_is_device && change->b.rank->work.host_is_device;
    const char *name = cause->host ? cause->host->name : NULL;
    char shown[PACE_SHOWN_NAME];
    if (name)
        pace_append(out, size, "; most of all %s %s%s%s (%s a step)", itself ? "in" : "the device waits for",
                    *name ? "'" : "", *name ? pace_show_name(shown, name) : "a host that records nothing",
                    *name ? "'" : "", show_change(cause->host->b_ns - cause->host->a_ns).text);
    if (cause->resource == PACE_IDLE_HOST)
        pace_append(out, size, "; the host %s %.0f %s a step in A, %.0f in B", itself ? "calls" : "launches",
                    cause->a_launches, itself ? "operators that work" : "kernels and copies", cause->b_launches);
}

/* What changed most in the direction of the cell. */
static void name_cause(char *out, size_t size, const pace_step_change *change, const pace_change_cause *cause) {
    const pace_operator_pair *op = cause->op, *kernel = cause->kernel;
    char name[PACE_SHOWN_NAME];
    out[0] = '\0';
    name_host(out, size, change, cause);
    if (op)
        pace_append(out, size, "; most of all operators %s (%s a step)", pace_show_name(name, op->name),
                    show_change(op->b_ns - op->a_ns).text);
    name_instead(out, size, cause->op_instead);
    if (op && kernel && strcmp(op->name, kernel->name) == 0) return; /* the host is the device */
    if (kernel)
        pace_append(out, size, "%s %s (%s)", op ? ", of kernels" : "; most of all", pace_show_name(name, kernel->name),
                    show_change(kernel->b_ns - kernel->a_ns).text);
    name_instead(out, size, cause->kernel_instead);
}

/* A change that may be chance has none. */
static bool tells_cause(const pace_step_change *change) {
    return change->verdict != PACE_CHANGE_NONE && change->verdict != PACE_CHANGE_CHANCE;
}

static void put_cause(pace_node *root, const pace_step_change *change, const pace_change_cause *cause, bool alike) {
    char names[640], stage[48] = "", rest[96];
    pace_node *node = pace_node_object(root, "cause", NULL, PACE_FOR_JSON);
    bool known = alike && cause->cell_ns != 0;
    pace_node_text(node, "stage", known ? pace_stage_names[cause->stage] : NULL);
    pace_node_text(node, "resource", known ? pace_resource_names[cause->resource] : NULL);
    pace_node_int(node, "change_ns", cause->cell_ns);
    pace_node_text(node, "operator", known && cause->op ? cause->op->name : NULL);
    pace_node_text(node, "kernel", known && cause->kernel ? cause->kernel->name : NULL);
    pace_node_text(node, "host_operator", known && cause->host ? cause->host->name : NULL);
    pace_node_real(node, "host_operator_change_ns", known && cause->host ? cause->host->b_ns - cause->host->a_ns : NAN);
    pace_node_real(node, "a_launches", cause->a_launches);
    pace_node_real(node, "b_launches", cause->b_launches);
    if (!known || !tells_cause(change)) return;
    name_cause(names, sizeof names, change, cause);
    if (cause->resource != PACE_IDLE_INPUT)
        pace_snprintf(stage, sizeof stage, " in the %s stage", pace_stage_names[cause->stage]);
    bool outweighs = llabs(cause->cell_ns) > llabs(cause->step_ns);
    pace_snprintf(rest, sizeof rest, outweighs ? ", the rest of the step %s" : " of the step's %s",
                  show_change((double)(cause->step_ns - (outweighs ? cause->cell_ns : 0))).text);
    pace_node_sentence(root, false, "What %s most is %s%s: %s%s%s.", change->own ? "differs" : "changed",
                       pace_resource_words(cause->resource), stage, show_change((double)cause->cell_ns).text, rest,
                       names);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *side, *path, *rank;
    int64_t typical_ns, least_ns, most_ns, steps, left_out;
    double spread;
} side_row;

PACE_TABLE(sides, "sides", "What is compared", PACE_FOR_ALL, 0, {"side", "", PACE_SHOW_TEXT, PACE_OF(side_row, side)},
           {"path", "trace", PACE_SHOW_TEXT, PACE_OF(side_row, path)},
           {"rank", "rank", PACE_SHOW_TEXT, PACE_OF(side_row, rank)},
           {"typical_ns", "typical step", PACE_SHOW_NS, PACE_OF(side_row, typical_ns)},
           {"least_ns", "least", PACE_SHOW_NS, PACE_OF(side_row, least_ns)},
           {"most_ns", "most", PACE_SHOW_NS, PACE_OF(side_row, most_ns)},
           {"spread", "spread", PACE_SHOW_SHARE, PACE_OF(side_row, spread)},
           {"steps", "steps", PACE_SHOW_INT, PACE_OF(side_row, steps)},
           {"left_out", "left out", PACE_SHOW_INT, PACE_OF(side_row, left_out)});

static void put_side(pace_node *table, const char *name, const pace_step_side *side) {
    char rank[PACE_RANK_NAME];
    size_t count = side->lengths_ns.count;
    int64_t least = INT64_MAX, most = 0;
    PACE_ITEMS (const int64_t, length, &side->lengths_ns) {
        if (*length < least) least = *length;
        if (*length > most) most = *length;
    }
    const pace_rank *trace = pace_rank_trace(side->rank);
    bool named = trace->step.rank >= 0 || side->rank->trace; /* else it is called by its path, which stands beside it */
    pace_table_put(table, &(side_row){.side = name,
                                      .path = trace->path,
                                      .rank = named ? pace_rank_name(rank, side->rank) : NULL,
                                      .typical_ns = pace_compared_ns(side),
                                      .least_ns = count ? least : PACE_NO_INT,
                                      .most_ns = count ? most : PACE_NO_INT,
                                      .spread = count > 1 ? side->spread : NAN,
                                      .steps = (int64_t)count,
                                      .left_out = (int64_t)side->typical.left_out});
}

typedef struct {
    const char *resource;
    int64_t a_ns, b_ns, change_ns;
} resource_row;

PACE_TABLE(resources, "resources", "The typical step by resource", PACE_FOR_ALL, 0,
           {"resource", "resource", PACE_SHOW_WORD, PACE_OF(resource_row, resource)},
           {"a_ns", "A", PACE_SHOW_NS, PACE_OF(resource_row, a_ns)},
           {"b_ns", "B", PACE_SHOW_NS, PACE_OF(resource_row, b_ns)},
           {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(resource_row, change_ns)});

static void put_matrices(pace_node *root, const pace_matrix *a, const pace_matrix *b) {
    pace_node *table = pace_open_table(root, &resources, 0);
    pace_matrix difference;
    for (int r = 0; r < PACE_RESOURCES; r++) {
        int64_t sa = 0, sb = 0;
        for (int s = 0; s < PACE_STAGES; s++) {
            sa += a->cell_ns[s][r], sb += b->cell_ns[s][r];
            difference.cell_ns[s][r] = b->cell_ns[s][r] - a->cell_ns[s][r];
        }
        pace_table_put(table, &(resource_row){pace_resource_names[r], sa, sb, sb - sa});
    }
    int64_t longer = pace_matrix_total(a) > pace_matrix_total(b) ? pace_matrix_total(a) : pace_matrix_total(b);
    pace_put_matrix(root, "a_matrix", "A: stage by resource", PACE_FOR_ALL, a);
    pace_node_scale(root, longer);
    pace_put_matrix(root, "b_matrix", "B: stage by resource", PACE_FOR_ALL, b);
    pace_node_scale(root, longer);
    pace_put_matrix(root, "change_matrix", NULL, PACE_FOR_JSON, &difference);
}

typedef struct {
    const char *name;
    double a_calls, b_calls; /* NAN: the side has no such operator */
    int64_t a_ns, b_ns, change_ns;
    double ratio;
} name_row;

static const pace_table_column name_columns[] = {{"name", "name", PACE_SHOW_TEXT, PACE_OF(name_row, name)},
                                                 {"a_calls", "A calls", PACE_SHOW_COUNT, PACE_OF(name_row, a_calls)},
                                                 {"a_ns", "A time", PACE_SHOW_NS, PACE_OF(name_row, a_ns)},
                                                 {"b_calls", "B calls", PACE_SHOW_COUNT, PACE_OF(name_row, b_calls)},
                                                 {"b_ns", "B time", PACE_SHOW_NS, PACE_OF(name_row, b_ns)},
                                                 {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(name_row, change_ns)},
                                                 {"ratio", "B / A", PACE_SHOW_REAL, PACE_OF(name_row, ratio)},
                                                 {0}};
static const pace_table operators = {"operators", "Operators per step, largest change first", PACE_FOR_ALL, 15,
                                     .columns = name_columns};
static const pace_table kernels = {"kernels", "Kernels per step, largest change first", PACE_FOR_ALL, 10,
                                   .columns = name_columns};

static void put_pairs(pace_node *root, const pace_table *declared, const pace_operator_pairs *pairs,
                      const pace_step_change *change) {
    pace_node *table = pace_open_table(root, declared, 0);
    PACE_ITEMS (const pace_operator_pair, p, pairs) {
        name_row row = {.name = *p->name ? p->name : "(no operator recorded)",
                        .a_calls = p->a ? pace_per_step(&change->a, (int64_t)p->a->calls) : NAN,
                        .b_calls = p->b ? pace_per_step(&change->b, (int64_t)p->b->calls) : NAN,
                        .a_ns = p->a ? llround(p->a_ns) : PACE_NO_INT,
                        .b_ns = p->b ? llround(p->b_ns) : PACE_NO_INT,
                        .ratio = p->a_ns > 0 && p->b_ns > 0 ? p->b_ns / p->a_ns : NAN};
        row.change_ns = (p->b ? row.b_ns : 0) - (p->a ? row.a_ns : 0);
        pace_table_put(table, &row);
    }
}

/* --- the limit ---------------------------------------------------------------------------------------------------- */

/* Where steps of a side have two levels: how much longer B takes in the worse case. Two sides of two levels each are
 * compared level by level. NAN = both have one, or what ranks do themselves is compared. */
static double worst_ratio(const pace_step_change *change) {
    const pace_step_shift *a = &change->a.shift, *b = &change->b.shift;
    if ((!a->found && !b->found) || change->own) return NAN;
    double a_first = a->found ? (double)a->before_ns : (double)pace_compared_ns(&change->a);
    double b_first = b->found ? (double)b->before_ns : (double)pace_compared_ns(&change->b);
    double a_last = a->found ? (double)a->after_ns : a_first, b_last = b->found ? (double)b->after_ns : b_first;
    if (a->found && b->found) return fmax(b_first / a_first, b_last / a_last);
    return fmax(b_first, b_last) / fmin(a_first, a_last);
}

/* Longer by more than the limit, unless steps of one kind differ as much; or in the worse of two levels. */
static void put_check(pace_node *root, size_t *missed, const pace_step_change *change, double limit) {
    char name[64], text[256];
    bool longer = change->ratio > 1 + limit, chance = change->verdict == PACE_CHANGE_CHANCE;
    bool unknown = isnan(change->ratio);
    double worst = unknown ? NAN : worst_ratio(change);
    bool level = worst > 1 + limit && !(chance && change->a.shift.found && change->b.shift.found);
    *missed = unknown || (longer && !chance) || level;
    pace_snprintf(name, sizeof name, "step time at most +%g %%", 100 * limit);
    if (unknown) pace_snprintf(text, sizeof text, "there is nothing to compare");
    else
        pace_snprintf(text, sizeof text, "%s in A, %s in B: %+.2f %%, %s",
                      pace_show_ns(pace_compared_ns(&change->a)).text, pace_show_ns(pace_compared_ns(&change->b)).text,
                      100 * (change->ratio - 1), pace_change_verdict_names[change->verdict]);
    if (!isnan(worst))
        pace_append(text, sizeof text, "; %+.2f %% in the worse of the levels that steps have", 100 * (worst - 1));
    pace_put_check(pace_open_checks(root), name, !*missed, text);
    if (*missed && (!longer || chance) && level)
        pace_node_sentence(root, false,
                           "The limit of +%g %% is exceeded by a change within %s: where it takes longest B takes "
                           "%+.1f %%.",
                           100 * limit, change->b.shift.found ? "B" : "A", 100 * (worst - 1));
    else if (*missed) pace_node_sentence(root, false, "The limit of +%g %% is exceeded.", 100 * limit);
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static void put_figures(pace_report *report, const pace_step_change *change) {
    pace_node *root = pace_report_root(report);
    pace_node_int(root, "a_step_ns", pace_typical_ns(&change->a));
    pace_node_int(root, "b_step_ns", pace_typical_ns(&change->b));
    pace_node_int(root, "a_compared_ns", pace_compared_ns(&change->a));
    pace_node_int(root, "b_compared_ns", pace_compared_ns(&change->b));
    pace_node_real(root, "ratio", change->ratio);
    pace_node_real(root, "ratio_low", change->low);
    pace_node_real(root, "ratio_high", change->high);
    pace_node_real(root, "p_value", change->p);
    pace_node_real(root, "step_correlation", change->correlation);
    pace_node_text(root, "verdict", pace_change_verdict_names[change->verdict]);
}

/* Two analyses, or one twice, until the report takes them over. */
typedef struct {
    pace_analysis *a, *b;
    bool taken;
} pair;

/* Whether what ranks wait for each other is known alike on both sides. */
static bool same_ranks(const pair *of) {
    return of->a->ranks.count == of->b->ranks.count || !(of->a->ranks_missing || of->b->ranks_missing);
}

typedef struct {
    pace_operator_pairs operators, kernels;
    pace_host_gaps gaps;
} name_pairs;

static void free_names(name_pairs *names) {
    pace_operator_pairs_free(&names->operators);
    pace_operator_pairs_free(&names->kernels);
    PACE_VEC_FREE(&names->gaps);
}

static pace_status find_names(name_pairs *out, const pace_step_change *change) {
    name_pairs names = {0};
    pace_status status = pace_operator_pairs_of(&names.operators, change, PACE_BY_OPERATOR, NULL);
    if (status == PACE_OK) status = pace_operator_pairs_of(&names.kernels, change, PACE_BY_KERNEL, NULL);
    if (status == PACE_OK) status = pace_host_gaps_of(&names.gaps, change);
    return PACE_GIVE(out, names, status, free_names(&names));
}

/* What ranks without a trace did is not known, on one side alone. */
static void put_missing(pace_node *root, const pace_step_change *change, const pair *of) {
    pace_node_sentence(
        root, true, "A has traces of %zu rank%s and B of %zu: waiting for ranks without a trace looks like exchange%s.",
        of->a->ranks.count, of->a->ranks.count == 1 ? "" : "s", of->b->ranks.count,
        tells_cause(change) ? ", so the cause does not tell the two apart" : "");
}

/* Two traces of different ranks, of one run or of two. */
static void put_other_ranks(pace_node *root, const pace_step_change *change, const pair *of) {
    int64_t a = pace_rank_trace(change->a.rank)->step.rank, b = pace_rank_trace(change->b.rank)->step.rank;
    if (of->a == of->b || a == b || a < 0 || b < 0) return;
    int64_t ranks_a = change->a.rank->step.world_size, ranks_b = change->b.rank->step.world_size;
    bool other_jobs = ranks_a > 0 && ranks_b > 0 && ranks_a != ranks_b;
    if (other_jobs && of->a->ranks.count == 1 && of->b->ranks.count == 1)
        pace_node_sentence(root, true, "A is rank %" PRId64 " and B rank %" PRId64 ", whose work may differ.", a, b);
    else if (other_jobs || !same_ranks(of))
        pace_node_sentence(root, true,
                           "A is rank %" PRId64 " and B rank %" PRId64
                           ", whose work may differ: --rank and --with-rank choose others.",
                           a, b);
    else if (of->a->ranks_missing && of->b->ranks_missing)
        pace_node_sentence(
            root, true,
            "A is rank %" PRId64 " and B rank %" PRId64
            ". If they are of one run, they end their steps together: 'paceline compare FOLDER --rank %" PRId64
            " --with-rank %" PRId64 "' tells what each does itself.",
            a, b, a, b);
}

/* Of several ranks or devices one is compared; for the latest of them the others wait. */
static void put_which(pace_node *root, const char *side, const pace_analysis *analysis, const pace_rank *rank) {
    char name[PACE_RANK_NAME];
    if (analysis->ranks.count < 2 || analysis->asked) return;
    if (rank == analysis->latest.rank)
        pace_node_sentence(root, false, "%s is of %s, for which the others of %zu wait.", side,
                           pace_rank_name(name, rank), analysis->ranks.count);
    else pace_node_note(root, "%s is the slowest of %zu: %s.", side, analysis->ranks.count, pace_rank_name(name, rank));
}

/* The answer: how much, why, and whether the limit holds. */
static pace_status put_answer(pace_report *report, size_t *missed, const pair *of, const pace_step_change *change,
                              const name_pairs *names, const pace_compare_options *options) {
    pace_node *root = pace_report_root(report);
    bool alike;
    put_headline(root, change);
    put_figures(report, change);
    if (!same_ranks(of)) put_missing(root, change, of);
    put_other_ranks(root, change, of);
    pace_put_step_shift(root, "A: ", &change->a.shift, change->a.rank);
    pace_put_step_shift(root, "B: ", &change->b.shift, change->b.rank);
    put_which(root, "A", of->a, change->a.rank);
    put_which(root, "B", of->b, change->b.rank);
    PACE_TRY(pace_put_unlike(root, &alike, change, of->a, of->b, options->reading.context->catalog));
    pace_change_cause cause;
    PACE_TRY(pace_change_cause_find(&cause, change, &names->gaps, same_ranks(of)));
    put_cause(root, change, &cause, alike);
    pace_change_cause_free(&cause);
    put_spread_note(root, change);
    if (change->a.rank->work.host_is_device != change->b.rank->work.host_is_device)
        pace_node_note(
            root,
            "%s has no device work: the self time of its operators is compared with the device work of the other.",
            change->a.rank->work.host_is_device ? "A" : "B");
    if (options->has_limit) put_check(root, missed, change, options->limit);
    return PACE_OK;
}

static void put_evidence(pace_node *root, const pace_step_change *change, const name_pairs *names) {
    pace_node *table = pace_open_table(root, &sides, 0);
    put_side(table, "A", &change->a);
    put_side(table, "B", &change->b);
    put_matrices(root, &change->a.typical.matrix, &change->b.typical.matrix);
    put_pairs(root, &operators, &names->operators, change);
    put_pairs(root, &kernels, &names->kernels, change);
}

static pace_status build(pace_report *report, size_t *missed, const pair *of, const pace_step_change *change,
                         const pace_compare_options *options) {
    name_pairs names;
    PACE_TRY(find_names(&names, change));
    pace_status status = put_answer(report, missed, of, change, &names, options);
    if (status == PACE_OK) put_evidence(pace_report_root(report), change, &names);
    free_names(&names);
    PACE_TRY(status);
    PACE_TRY(pace_put_exchange_pairs(pace_report_root(report), change, options->reading.context->catalog));
    PACE_TRY(pace_put_fused_pairs(pace_report_root(report), change));
    return pace_put_call_tree(pace_report_root(report), change);
}

static pace_status build_of(pace_report *report, size_t *missed, pair *of, const pace_step_change *change,
                            const pace_compare_options *options) {
    pace_report_show_rows(report, options->reading.rows_shown);
    PACE_TRY(build(report, missed, of, change, options));
    PACE_TRY(pace_put_compared_timeline(pace_report_root(report), change, of->a, of->b));
    of->taken = true;
    return pace_report_status(report);
}

/* A warning about all of one side says which side it is. */
static pace_status name_side(pace_warnings *own, const pace_warnings *other, const char *side) {
    pace_warnings named = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < own->count; i++) {
        const pace_held_warning *one = &own->items[i];
        bool known = one->place || pace_warnings_hold(other, one);
        status = pace_warn(&named, one->code, one->place, "%s%s", known ? "" : side, one->text);
    }
    if (status == PACE_OK) {
        pace_warnings before = *own;
        *own = named;
        named = before;
    }
    pace_warnings_free(&named);
    return status;
}

static pace_status name_sides(pair *of) {
    if (of->a == of->b) return PACE_OK;
    PACE_TRY(name_side(&of->a->warnings, &of->b->warnings, "A: "));
    return name_side(&of->b->warnings, &of->a->warnings, "B: ");
}

static pace_status report_change(pace_report **out, size_t *missed, pair *of, const pace_rank *rank_b,
                                 const pace_compare_options *options) {
    const pace_analysis *const both[] = {of->a, of->b};
    pace_step_change change;
    pace_report *report;
    PACE_TRY(name_sides(of));
    PACE_TRY(pace_step_change_find(&change, pace_analysis_slowest(of->a), rank_b, of->a == of->b));
    pace_status status = pace_new_report(&report, "compare", "Two traces side by side", both, of->a == of->b ? 1 : 2);
    if (status == PACE_OK) status = pace_report_give(out, report, build_of(report, missed, of, &change, options));
    pace_step_change_free(&change);
    return status;
}

static pace_status compare_ranks(pace_report **out, size_t *missed, const char *path,
                                 const pace_compare_options *options) {
    pair of = {0};
    const pace_rank *other;
    if (options->with_rank == options->reading.rank)
        return pace_fail(PACE_E_USAGE, "with_rank: expected another than " PACE_FIELD "rank, found %" PRId64 " twice",
                         options->with_rank);
    PACE_TRY(pace_load_analysis(&of.a, &path, 1, &options->reading));
    of.b = of.a;
    pace_status status = pace_analysis_rank(&other, of.a, "with_rank", options->with_rank);
    if (status == PACE_OK) status = report_change(out, missed, &of, other, options);
    if (!of.taken) pace_free_analysis(of.a);
    return status;
}

static pace_status compare_traces(pace_report **out, size_t *missed, const char *const *paths_of,
                                  const pace_compare_options *options) {
    pair of = {0};
    pace_analyze_options of_b = options->reading;
    if (options->has_with_rank) of_b.has_rank = true, of_b.rank = options->with_rank, of_b.rank_field = "with_rank";
    PACE_TRY(pace_load_analysis(&of.a, paths_of, 1, &options->reading));
    pace_status status = pace_load_analysis(&of.b, paths_of + 1, 1, &of_b);
    if (status == PACE_OK) {
        status = report_change(out, missed, &of, pace_analysis_slowest(of.b), options);
        if (!of.taken) pace_free_analysis(of.b);
    }
    if (!of.taken) pace_free_analysis(of.a);
    return status;
}

pace_status pace_compare(pace_report **out, size_t *missed, const char *const *inputs, size_t count,
                         const pace_compare_options *options) {
    *missed = 0;
    if (count == 2) return compare_traces(out, missed, inputs, options);
    if (count == 1 && options->reading.has_rank && options->has_with_rank)
        return compare_ranks(out, missed, inputs[0], options);
    return pace_fail(PACE_E_USAGE,
                     "expected two traces, or one with " PACE_FIELD "rank and " PACE_FIELD "with_rank, found %zu",
                     count);
}
