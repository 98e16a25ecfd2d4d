/* pace_predict(): the step as it is, walked anew, and under every what-if. */
#include "ask/predict/prediction.h"
#include "ask/predict/prediction_model.h"
#include "ask/predict/prediction_settle.h"
#include "base/print.h"
#include "forecast/exchange_delay.h"
#include "forecast/forecast_estimate.h"
#include "forecast/saving_bound.h"
#include "report/engines.h"
#include "report/predict/predict_parts.h"
#include "report/analyze/analyze_parts.h"
#include "report/show.h"
#include "report/timeline.h"

#include <math.h>

/* --- the report -------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *label, *rung;
    pace_estimate step_s;
    int64_t compute_ns, memory_ns, exposed_ns, idle_ns;
    double speedup;
} scenario_row;

PACE_TABLE(scenarios, "scenarios", "The step and each change", PACE_FOR_ALL, 0,
           {"scenario", "what if", PACE_SHOW_TEXT, PACE_OF(scenario_row, label)},
           {"step_ns", "step", PACE_SHOW_NS, PACE_NS_OF(scenario_row, step_s)},
           {"low_ns", "low", PACE_SHOW_NS, PACE_LOW_NS_OF(scenario_row, step_s)},
           {"high_ns", "high", PACE_SHOW_NS, PACE_HIGH_NS_OF(scenario_row, step_s)},
           {"speedup", "speed-up", PACE_SHOW_REAL, PACE_OF(scenario_row, speedup)},
           {"compute_ns", "compute", PACE_SHOW_NS, PACE_OF(scenario_row, compute_ns)},
           {"memory_ns", "memory", PACE_SHOW_NS, PACE_OF(scenario_row, memory_ns)},
           {"exposed_ns", "exposed", PACE_SHOW_NS, PACE_OF(scenario_row, exposed_ns)},
           {"idle_ns", "idle", PACE_SHOW_NS, PACE_OF(scenario_row, idle_ns)},
           {"rung", NULL, PACE_SHOW_TEXT, PACE_OF(scenario_row, rung)});

static void put_scenario(pace_node *table, const pace_prediction *p, size_t number) {
    pace_estimate step_s = p->results[number].step_s;
    pace_matrix m = pace_forecast_matrix(&p->results[number]);
    pace_table_put(table,
                   &(scenario_row){
                       .label = p->scenarios.items.items[number].label,
                       .rung = pace_rung_names[step_s.rung],
                       .step_s = step_s,
                       .compute_ns = pace_matrix_columns(&m, PACE_COMPUTE_BOUND, PACE_COMPUTE_BOUND),
                       .memory_ns = pace_matrix_columns(&m, PACE_MEMORY_BOUND, PACE_COPY),
                       .exposed_ns = pace_matrix_columns(&m, PACE_EXPOSED_COMMUNICATION, PACE_EXPOSED_COMMUNICATION),
                       .idle_ns = pace_matrix_columns(&m, PACE_IDLE_HOST, PACE_IDLE_OTHER),
                       .speedup = step_s.median > 0 ? p->results[0].step_s.median / step_s.median : (double)NAN,
                   });
}

static void put_called(pace_node *root, const pace_prediction *p) {
    for (size_t i = 0; i < p->result_count; i++) {
        const pace_scenario *scenario = &p->scenarios.items.items[i];
        bool own = i == 0 || scenario->device; /* others run on the first's */
        if (own && scenario->has_exchange) pace_put_called_note(root, &scenario->exchange.machine);
    }
}

/* Whether kernels of a recording are priced on another device. */
static bool moves_kernels(const pace_prediction *p) {
    bool moves = false;
    for (size_t i = 1; i < p->result_count; i++) moves |= p->scenarios.items.items[i].device != NULL;
    return p->inputs.is_measured && moves;
}

/* The first scenario on another device whose recorded exchanges keep their times; 0 = none. */
static size_t keeps_exchanges(const pace_prediction *p) {
    for (size_t i = 1; p->inputs.is_measured && i < p->result_count; i++) {
        const pace_forecast_result *result = &p->results[i];
        const pace_device *device = p->scenarios.items.items[i].device;
        size_t exchanges = result->families[PACE_FORECAST_EXCHANGES].launches;
        if (device && device != p->inputs.forecast.device && exchanges && !result->edits.moved_exchanges) return i;
    }
    return 0;
}

static void note_exchanges(pace_node *root, const pace_prediction *p) {
    size_t at = keeps_exchanges(p);
    if (!at) return;
    const pace_scenario *scenario = &p->scenarios.items.items[at];
    pace_node_note(root, "\"%.60s\": exchanges between ranks keep the time that was recorded: %s.", scenario->label,
                   scenario->has_exchange
                       ? "the recording does not say what they exchange, or the catalogue not over which links"
                       : "name a machine with its links, such as dgx-h100, to move them as well");
}

static void put_scenarios(pace_node *root, const pace_prediction *p) {
    bool measured = p->inputs.is_measured, changed = p->result_count > 1;
    const char *title =
        measured  ? changed ? "The recorded step, replayed and under each change" : "The recorded step, replayed"
        : changed ? "The step as asked and under each change"
                  : "The step as asked";
    pace_node *table = pace_open_table_as(root, &scenarios, 0, title);
    for (size_t i = 0; i < p->result_count; i++) put_scenario(table, p, i);
    pace_node_note(root, "low–high is a 90 %% prediction interval.%s%s",
                   changed ? " Speed-up is relative to the first row." : "",
                   moves_kernels(p)
                       ? " Kernels that were recorded are moved to another device by the ratio of two estimates."
                       : "");
    note_exchanges(root, p);
}

/* Which steps the measured one is the mean of, where that is not what analyze calls a step. */
static pace_status note_steps(pace_node *root, const pace_prediction *p) {
    enum { LITTLE_PERCENT = 5 };
    pace_typical_step typical;
    if (p->inputs.steps)
        pace_node_note(
            root,
            "The measured step is the mean of steps %s: warm-up, a lone pause and what lies beyond them are left "
            "out. --steps chooses others.",
            p->inputs.steps);
    if (p->inputs.steps) return PACE_OK;
    PACE_TRY(pace_typical_step_of(&typical, pace_analysis_slowest(&p->inputs.measured)));
    double typical_s = (double)(typical.to_ns - typical.from_ns) / 1e9;
    double measured_s = pace_forecast_measured_ns(&p->inputs.forecast) / 1e9;
    if (typical.mark != SIZE_MAX && fabs(measured_s / typical_s - 1) * 100 > LITTLE_PERCENT)
        pace_node_note(
            root, "The measured step is the mean of all steps; the typical one, of which analyze speaks, takes %s.",
            pace_show_ns(pace_ns(typical_s)).text);
    return PACE_OK;
}

static void put_measured(pace_node *root, const pace_prediction *p) {
    double measured_s = pace_forecast_measured_ns(&p->inputs.forecast) / 1e9, walked_s = p->results[0].step_s.median;
    double error = p->replay_error;
    if (p->first_uses > 0)
        pace_node_sentence(
            root, true,
            "The device's part of the trace takes %s as recorded; replayed without %zu first use%s, which a "
            "repeated step does not make, all of it takes %s.",
            pace_show_ns(pace_ns(measured_s)).text, p->first_uses, p->first_uses == 1 ? "" : "s",
            pace_show_ns(pace_ns(walked_s)).text);
    else
        pace_node_sentence(root, true,
                           "The measured step takes %s; replayed from one figure per operator it takes %s (%s).",
                           pace_show_ns(pace_ns(measured_s)).text, pace_show_ns(pace_ns(walked_s)).text,
                           pace_show_change(error).text);
    pace_node *step = pace_node_object(root, "step", NULL, PACE_FOR_JSON);
    pace_node_text(step, "steps", p->inputs.steps);
    pace_node_int(step, "measured_ns", pace_ns(measured_s));
    pace_node_int(step, "walked_ns", pace_ns(walked_s));
    pace_node_real(step, "walk_error", error);
}

static void put_predicted(pace_node *root, const pace_prediction *p) {
    const pace_estimate *step_s = &p->results[0].step_s;
    pace_step_rate rate = {.mfu = NAN};
    if (p->is_model) rate = pace_put_step_takes(root, &p->step, *step_s);
    else
        pace_node_sentence(root, true, "The step would take %s (%s to %s) on %s.",
                           pace_show_ns(pace_ns(step_s->median)).text, pace_show_ns(pace_estimate_low_ns(*step_s)).text,
                           pace_show_ns(pace_estimate_high_ns(*step_s)).text, p->inputs.forecast.device->name);
    if (p->inputs.steps)
        pace_node_note(root,
                       "The measured step is the mean of the usual steps %s; warm-up, outliers and what lies beyond "
                       "them are left out. --steps chooses others.",
                       p->inputs.steps);
    pace_node *step = pace_node_object(root, "step", NULL, PACE_FOR_JSON);
    pace_node_text(step, "steps", p->inputs.steps);
    pace_node_int(step, "measured_ns", PACE_NO_INT);
    pace_node_int(step, "walked_ns", pace_ns(step_s->median / p->fit_factor - p->results[0].exchange.skew_s));
    pace_node_real(step, "walk_error", NAN);
    if (p->is_model) {
        pace_node_real(step, "device_tokens_per_s", rate.of_tokens ? rate.per_s : (double)NAN);
        pace_node_real(step, "mfu_share", rate.mfu);
    }
    if (p->is_cut)
        pace_node_sentence(root, false,
                           "Its %g micro-batches have too many launches to be walked one by one: a few were, and what "
                           "they repeat was counted. What the host spends its time on is told of these.",
                           pace_config_micro_batches(&p->step.asked.config));
    if (p->is_framed)
        pace_node_sentence(root, false,
                           "That is the closed form's answer. The walk of %s's operators, whose timeline and what-ifs "
                           "stand below, takes %s, and each what-if is moved by the ratio of the two, %.3f.",
                           p->step.asked.framework->name, pace_show_ns(pace_ns(step_s->median / p->fit_factor)).text,
                           p->fit_factor);
    if (p->is_framed) pace_node_real(step, "fit_factor", p->fit_factor);
    if (!p->fits.step_path || p->is_framed) return;
    pace_node_sentence(root, false,
                       "%s makes the step %.3f times as long as the walk, which takes %s by formula. The "
                       "timeline, matrix and path below are the walk's.",
                       p->fits.step_path, p->fit_factor, pace_show_ns(pace_ns(step_s->median / p->fit_factor)).text);
    pace_node_real(step, "fit_factor", p->fit_factor);
}

/* Which device a short name means, and how many of a machine's have a part in a recorded step. */
static void put_places(pace_node *root, const pace_prediction *p) {
    size_t ranks = p->inputs.measured.traces.count;
    for (size_t i = 1; i < p->result_count; i++) {
        const pace_scenario *one = &p->scenarios.items.items[i];
        if (!one->device || strncmp(one->label, "on ", 3) != 0) continue;
        double devices = one->has_exchange ? (double)one->machine.devices * one->machine.nodes : 1;
        if (p->inputs.is_measured && devices > (double)ranks)
            pace_node_sentence(root, true, "\"%.60s\" uses %zu of its %g devices (%s): as many as ranks were recorded.",
                               one->label, ranks, devices, one->device->name);
        else if (!strstr(one->label, one->device->name))
            pace_node_sentence(root, false, "\"%.60s\" means %s.", one->label, one->device->name);
    }
}

/* Less than this share is no change to speak of: hundredths show it as 1.00. */
#define LEAST_CHANGE 0.005

/* Of steps with more or fewer samples, both: a step that takes longer may be the faster one for each. Of a step that
 * takes no time, nothing is defined. */
static void say_speedup(char out[120], const pace_prediction *p) {
    const pace_forecast_result *end = &p->results[p->result_count - 1];
    double longer = end->step_s.median / p->results[0].step_s.median;
    double samples = pace_saving_samples(p->scenarios.items.items[p->result_count - 1].batch, &end->edits);
    *out = '\0';
    if (!(longer > 0) || !isfinite(longer)) return;
    bool same = fabs(longer - 1) < LEAST_CHANGE;
    if (samples == 1 && same) pace_snprintf(out, 120, ", as long as without it");
    else if (samples == 1)
        pace_snprintf(out, 120, ": %.2f times as %s%s", longer > 1 ? longer : 1 / longer, longer > 1 ? "long" : "fast",
                      pace_prediction_within_replay(p, longer) ? ", which is less than the replay is off by" : "");
    else
        pace_snprintf(out, 120, ": %s times as long for %s times as many samples, each %.2f times as fast",
                      pace_show_real(longer).text, pace_show_real(samples).text, samples / longer);
}

static void put_headline(pace_node *root, const pace_prediction *p) {
    const pace_forecast_result *end = &p->results[p->result_count - 1];
    char speedup[120];
    if (p->inputs.is_measured) put_measured(root, p);
    else put_predicted(root, p);
    say_speedup(speedup, p);
    if (p->result_count > 1)
        pace_node_sentence(root, true, "With \"%.60s\" it would take %s (%s to %s)%s.",
                           p->scenarios.items.items[p->result_count - 1].label,
                           pace_show_ns(pace_ns(end->step_s.median)).text,
                           pace_show_ns(pace_estimate_low_ns(end->step_s)).text,
                           pace_show_ns(pace_estimate_high_ns(end->step_s)).text, speedup);
    put_places(root, p);
    if (p->is_model && !p->inputs.is_measured) pace_put_unsaid(root, &p->step);
}

/* Each rank as measured and walked anew. */
static void put_ranks(pace_node *root, const pace_prediction *p) {
    static const pace_column columns[] = {
        {"rank", "rank", PACE_SHOW_INT},
        {"measured_ns", "measured", PACE_SHOW_NS},
        {"walked_ns", "replayed", PACE_SHOW_NS},
    };
    const pace_analysis *walked = &p->results[0].analysis;
    if (!p->inputs.is_measured) return;
    pace_node *table =
        pace_node_table(root, "ranks", "Ranks, measured and replayed",
                        p->inputs.measured.traces.count > 1 ? PACE_FOR_ALL : PACE_FOR_JSON, PACE_COLUMNS(columns), 16);
    for (size_t i = 0; i < p->inputs.measured.traces.count && i < walked->traces.count; i++) {
        int64_t rank = p->inputs.measured.traces.items[i]->step.rank;
        pace_table_row(table);
        if (rank >= 0) pace_table_int(table, rank);
        else pace_table_none(table);
        pace_table_int(table, llround(pace_forecast_rank_measured_ns(&p->inputs.forecast.ranks.items[i])));
        pace_table_int(table, llround(pace_mean_step_ns(walked->traces.items[i], 0)));
    }
}

typedef struct {
    const char *name;
    pace_forecast_family of;
    int64_t kernel_ns;
    double spread;
} family_row;

#define BY_RUNG(rung) PACE_SHOW_INT, PACE_OF(family_row, of.by_rung[PACE_RUNG_##rung])

PACE_TABLE(families, "families", "Where the kernel times come from", PACE_FOR_ALL, 0,
           {"family", "kernels", PACE_SHOW_TEXT, PACE_OF(family_row, name)},
           {"launches", "launches", PACE_SHOW_INT, PACE_OF(family_row, of.launches)},
           {"kernel_ns", "time", PACE_SHOW_NS, PACE_OF(family_row, kernel_ns)},
           {"spread", "spread", PACE_SHOW_SHARE, PACE_OF(family_row, spread)},
           {"measured", "measured", BY_RUNG(MEASURED)}, {"calibrated", "calibrated", BY_RUNG(CALIBRATED)},
           {"learned", "learned", BY_RUNG(LEARNED)}, {"formula", "formula", BY_RUNG(FORMULA)},
           {"roofline", "roofline", BY_RUNG(ROOFLINE)},
           {"unknown", "amount unknown", PACE_SHOW_INT, PACE_OF(family_row, of.unknown)});

static const char *family_name(int f) {
    return f == PACE_FORECAST_EXCHANGES ? "communication" : pace_op_family_name((pace_op_family)f);
}

/* What the kernels' times rest on, for the last scenario: the families that matter, and what is not known. */
static void put_families(pace_node *root, const pace_forecast_result *result) {
    pace_node *table = pace_open_table(root, &families, 0);
    for (int f = 0; f < PACE_FORECAST_FAMILIES; f++) {
        const pace_forecast_family *family = &result->families[f];
        double spread = family->kernel_ns > 0 ? family->spread_ns / family->kernel_ns : 0;
        if (family->launches > 0)
            pace_table_put(table, &(family_row){family_name(f), *family, llround(family->kernel_ns), spread});
    }
}

typedef struct {
    const char *name;
    size_t calls;
} unknown_row;

PACE_TABLE(unknown_operators, "unknown_operators", "Operators whose work is unknown", PACE_FOR_JSON, 0,
           {"operator", NULL, PACE_SHOW_TEXT, PACE_OF(unknown_row, name)},
           {"calls", NULL, PACE_SHOW_INT, PACE_OF(unknown_row, calls)});

/* Operators of the first rank that work on the device without saying how much. */
static void put_unknown(pace_node *root, const pace_prediction *p, const pace_forecast_result *result) {
    const pace_forecast *forecast = &p->inputs.forecast;
    const pace_graph *graph = &(forecast->offloaded.count ? forecast->offloaded : forecast->ranks).items[0].graph;
    pace_node *table = pace_open_table(root, &unknown_operators, 0);
    pace_unknown_op most = {0};
    PACE_ITEMS (const pace_unknown_op, op, &graph->unknown) {
        if (op->count > most.count) most = *op;
        pace_table_put(table, &(unknown_row){pace_names_text(&graph->names, op->name), op->count});
    }
    pace_forecast_family all = {0};
    for (int f = 0; f < PACE_FORECAST_FAMILIES; f++) {
        all.guessed += result->families[f].guessed;
        all.guessed_of_tensors += result->families[f].guessed_of_tensors;
        all.guessed_ns += result->families[f].guessed_ns;
        all.kernel_ns += result->families[f].kernel_ns;
    }
    if (most.count == 0 || all.guessed == 0) return;
    pace_node_note(
        root,
        "%zu kernels, %.1f %% of the kernel time, belong to operators of unknown work (most often %.60s): %zu are "
        "estimated from the tensors they touch, %zu as a typical kernel, all with a wide interval.",
        all.guessed, 100 * all.guessed_ns / all.kernel_ns, pace_names_text(&graph->names, most.name),
        all.guessed_of_tensors, all.guessed - all.guessed_of_tensors);
}

/* Operators that a file of overheads does not know take what its others take, or nothing. */
static void warn_of_host_costs(pace_report *report, const size_t count[PACE_HOST_LEVELS], size_t sum) {
    size_t unknown = count[PACE_HOST_CLASS] + count[PACE_HOST_TYPICAL] + count[PACE_HOST_NOTHING];
    if (unknown)
        pace_report_warn(
            report, PACE_WARN_EXTRAPOLATED, "overheads",
            "the overheads know %zu of %zu operators: %zu take the mean of their class or of all, %zu take "
            "none",
            sum - unknown, sum, unknown - count[PACE_HOST_NOTHING], count[PACE_HOST_NOTHING]);
}

/* Whose figures the host costs are. */
static void put_host_costs(pace_node *root, const pace_prediction *p) {
    const size_t *count = p->host_levels;
    size_t sum = 0;
    bool measured =
        p->inputs.is_measured && !p->shared && !(pace_prediction_of_host(p) && p->inputs.forecast.offloaded.count);
    pace_node *node = pace_node_object(root, "host_costs", NULL, PACE_FOR_JSON);
    pace_node_text(node, "source", p->shared ? "shared" : measured ? "measured" : "catalogue");
    for (int level = 0; level < PACE_HOST_LEVELS; level++) {
        pace_node_int(node, pace_host_level_names[level], (int64_t)count[level]);
        sum += count[level];
    }
    if (p->shared) warn_of_host_costs(pace_node_report(root), count, sum);
    if (!measured && sum)
        pace_node_note(
            root,
            "Host costs are %s: of %zu operators, %zu are found by name, %zu by a similar name, %zu by class; %zu "
            "use a typical cost, %zu have none.",
            p->shared ? "shared" : "the catalogue's", sum, count[PACE_HOST_OWN], count[PACE_HOST_ALIKE],
            count[PACE_HOST_CLASS], count[PACE_HOST_TYPICAL], count[PACE_HOST_NOTHING]);
}

/* The whole step, where its path is known, else what was walked of it. */
static pace_status draw_step(void *context, pace_timeline *timeline) {
    const pace_forecast_result *drawn;
    PACE_TRY(pace_prediction_drawn(&drawn, context));
    const pace_rank *slowest = pace_analysis_slowest(&drawn->analysis);
    if (slowest->fold.times == 0) return pace_draw_timeline(timeline, &drawn->analysis, slowest, &drawn->path);
    pace_critical walked;
    PACE_TRY(pace_critical_find_path(&walked, &drawn->analysis, slowest));
    pace_status status = pace_draw_timeline(timeline, &drawn->analysis, slowest, &walked);
    pace_critical_free(&walked);
    pace_timeline_note(timeline,
                       "The step has too many launches to be drawn: %g of its micro-batches, which repeat what those "
                       "do that are drawn, are left out.",
                       slowest->fold.times * 1.0);
    return status;
}

static pace_status write_trace(void *context, const pace_report *report, pace_sink *sink) {
    const pace_forecast_result *drawn;
    PACE_TRY(pace_prediction_drawn(&drawn, context));
    return pace_write_analysis_trace((void *)&drawn->analysis, report, sink); /* read only */
}

static void free_prediction(void *prediction) {
    pace_prediction_close(prediction);
    pace_free(prediction);
}

static void put_timeline(pace_node *root, pace_prediction *p) {
    const pace_forecast_result *end = &p->results[p->result_count - 1];
    const pace_critical *path = &end->path;
    int64_t from_ns = pace_rank_shown_ns(pace_analysis_slowest(&end->analysis), path->from_ns);
    if (path->to_ns > path->from_ns)
        pace_node_timeline(root, "Timeline", from_ns, from_ns + path->to_ns - path->from_ns, draw_step, p, NULL);
}

static pace_status build(pace_report *report, pace_prediction *p, const pace_predict_options *options) {
    pace_node *root = pace_report_root(report);
    pace_forecast_result *end = &p->results[p->result_count - 1];
    const pace_rank *slowest = pace_analysis_slowest(&end->analysis);
    bool waits = p->evidence.lacks == PACE_EVIDENCE_UNEXPLAINED;
    if (*p->gap)
        pace_report_lead(report, waits ? PACE_WARN_WAITS_UNEXPLAINED : PACE_WARN_KERNELS_MISSING,
                         "Not sure: %s. What is predicted has only what was recorded.", p->gap);
    if (p->is_model && !p->step.asked.device->is_cpu) PACE_TRY(pace_put_fit(report, &p->step));
    PACE_TRY(pace_put_what_if_fit(report, p, options->context));
    put_headline(root, p);
    if (p->inputs.is_measured) PACE_TRY(note_steps(root, p));
    if (p->is_model) pace_say_found(report, p->step.asked.model, &p->step.asked.config);
    pace_put_step_values(report, p->results[0].step_s);
    pace_put_curves_note(root, &p->fits);
    if (p->is_model && !p->step.asked.device->is_cpu)
        pace_put_closed_form(report, &p->step, options->on.items[0], p->results[0].step_s.median / p->fit_factor);
    if (options->approach || p->results[0].exchange.ranks > 1)
        pace_put_gradients(report, &p->scenarios.items.items[0], &p->results[0]);
    if (p->is_model && options->on.count > 1 && pace_config_ranks(&p->step.asked.config) == 1)
        pace_node_note(root, "One device of each machine is compared; --set dp, tp or pp takes more.");
    if (p->is_model && !p->step.asked.device->is_cpu)
        PACE_TRY(pace_put_stages(report, &p->results[0].analysis, &p->step));
    pace_put_stage_memory(report, &p->memory, p->is_model ? p->step.settled.plan.device_bytes : 0);
    put_scenarios(root, p);
    put_called(root, p);
    const pace_forecast *forecast = &p->inputs.forecast;
    const pace_graph *graph = &(forecast->offloaded.count ? forecast->offloaded : forecast->ranks).items[0].graph;
    pace_put_edits(report, graph, p->scenarios.items.items, p->results, p->result_count);
    put_ranks(root, p);
    const pace_matrix matrix = pace_forecast_matrix(end);
    pace_put_matrix(root, "matrix", "Where the time of the predicted step goes", PACE_FOR_ALL, &matrix);
    if (p->is_model && p->step.asked.config.pp > 1)
        pace_node_note(root, "The matrix is of the stage that waits least, rank %lld.", (long long)slowest->step.rank);
    if (p->is_model && !p->step.asked.device->is_cpu)
        pace_put_step_memory(root, &p->step.settled.plan, p->results[0].exchange.merging.most_bytes);
    put_families(root, end);
    put_unknown(root, p, end);
    PACE_TRY(pace_put_assumptions(root, options->context->catalog, &end->used, end->step_s));
    put_host_costs(root, p);
    put_timeline(root, p);
    PACE_TRY(pace_put_path(root, &end->path, &end->analysis, slowest, false));
    return pace_report_status(report);
}

/* The report has the prediction, which it draws from. */
static pace_status report_of(pace_report **out, pace_prediction *p, const pace_predict_options *options) {
    const pace_analysis *const one[] = {&p->inputs.measured};
    pace_status status = pace_new_report(out, "predict", "What the step would be", one, p->inputs.is_measured);
    if (status != PACE_OK) {
        free_prediction(p);
        return status;
    }
    pace_report_set_trace(*out, write_trace, p, free_prediction);
    for (size_t i = 0; i < p->inputs.paths.count; i++) pace_report_add_input(*out, p->inputs.paths.items[i], 0);
    pace_report_warn_all(*out, &p->inputs.warnings);
    return build(*out, p, options);
}

static pace_status check_fits(pace_prediction *p) {
    pace_curves_told told = {0};
    pace_predict_fits_note(&p->fits, p->step.pricer.cost);
    PACE_TRY(pace_predict_fits_check(&p->fits));
    if (p->step.asked.exchange) pace_curves_told_add(&told, pace_own_curves_of(p->step.asked.exchange));
    return pace_predict_fits_told(&p->inputs.warnings, &p->fits, &told);
}

pace_status pace_predict(pace_report **out, const char *const *paths, size_t path_count,
                         const pace_predict_options *options) {
    if (path_count == 0) return pace_fail(PACE_E_USAGE, "expected at least one trace or a model, found none");
    pace_prediction *p;
    pace_report *report = NULL;
    if (!PACE_MAKE(p, 1)) return PACE_E_MEMORY;
    pace_status status = pace_prediction_open(p, paths, path_count, options);
    bool walked = status == PACE_OK && !(p->is_model && !p->is_framed && !pace_step_is_walked(&p->step.asked));
    if (walked) status = pace_prediction_run(p, paths, path_count, options);
    if (walked && status == PACE_OK) {
        status = report_of(&report, p, options);
        return pace_report_give(out, report, status);
    }
    if (status == PACE_OK) status = pace_predict_step(&report, &p->step, &p->fits, options);
    if (status == PACE_OK) status = pace_predict_fits_warn(&p->inputs.warnings, &p->fits, &p->step.asked);
    if (status == PACE_OK) status = check_fits(p);
    if (status == PACE_OK) pace_report_warn_all(report, &p->inputs.warnings);
    free_prediction(p);
    return pace_report_give(out, report, status);
}
