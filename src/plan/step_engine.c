#include "plan/step_engine.h"

#include "base/parallel.h"
#include "forecast/gradient_tables.h"
#include "model/lower.h"
#include "model/pipeline_stages.h"
#include "model/recorded.h"
#include "plan/folded_walk.h"
#include "plan/offload_memory.h"
#include "plan/step_frame.h"
#include "plan/step_spread.h"
#include "plan/step_least.h"

#include <math.h>
#include <string.h>

pace_status pace_step_pricer_open(pace_step_pricer *out, pace_catalog *catalog) {
    pace_step_pricer pricer = {.catalog = catalog};
    pace_status status = pace_cost_create(&pricer.cost, catalog);
    if (status == PACE_OK) status = pace_slot_cache_create(&pricer.slots);
    if (status == PACE_OK) pace_price_cache_init(&pricer.prices);
    return PACE_GIVE(out, pricer, status, pace_step_pricer_close(&pricer));
}

void pace_step_pricer_close(pace_step_pricer *pricer) {
    pace_cost_free(pricer->cost);
    pace_slot_cache_free(pricer->slots);
    pace_step_hosts_free(&pricer->hosts);
    pace_price_cache_free(&pricer->prices);
    *pricer = (pace_step_pricer){0};
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

/* Kernels and exchanges of all stages of a pipeline in a step, roughly: a few for each layer, forward and back. */
static double size_of_walk(const pace_step_case *asked) {
    const double each = 6;
    return each * (double)asked->model->layers.count * pace_config_micro_batches(&asked->config);
}

enum { LARGEST_WALK = 1 << 21 };

/* Passes over a pipeline without training follow each other without a pause: how long one takes is no period of a walk.
 * What is larger than memory should hold is answered by the closed form alone. */
const char *pace_step_why_closed(const pace_step_case *asked) {
    bool pipeline = asked->config.pp > 1;
    if (!pace_framework_is_lowered(asked->framework))
        return "published steps of this framework were compared with its closed form";
    if (pipeline && asked->config.mode == PACE_INFERENCE) return "inference in a pipeline is not walked";
    if (pipeline && size_of_walk(asked) > LARGEST_WALK) return "all stages together have too many kernels to be walked";
    return NULL;
}

bool pace_step_is_walked(const pace_step_case *asked) { return !pace_step_why_closed(asked); }

bool pace_step_has_operators(const pace_step_case *asked) {
    bool small = asked->config.pp == 1 || size_of_walk(asked) <= LARGEST_WALK;
    return asked->config.mode == PACE_TRAINING && !asked->device->is_cpu && small;
}

pace_status pace_step_usual_approach(pace_approach *out, pace_catalog *catalog) {
    return pace_approach_named(out, catalog, "ddp");
}

/* What the approach asks of a lowered step: buckets, single tensors, parameters that are pulled. */
static void take_approach(pace_config *config, const pace_approach *approach) {
    bool buckets = pace_approach_has_buckets(approach);
    if (!buckets) config->bucket_bytes = 1;
    if (!buckets) config->gradients = pace_approach_pulls(approach) ? PACE_GRADIENTS_PULLED : PACE_GRADIENTS_TENSORS;
}

/* A graph for each stage of the pipeline; one where there is none. */
typedef struct {
    pace_graph *graphs;
    const char **names;
    size_t count;
} lowered_stages;

static void free_stages(lowered_stages *stages) { PACE_FREE(stages->graphs, stages->names); }

static pace_status lower_stage(pace_graph *out, const pace_step_case *asked, const pace_config *config,
                               uint32_t stage) {
    PACE_TRY(pace_model_lower(out, asked->model, config, stage));
    if (pace_framework_is_lowered(asked->framework)) return PACE_OK;
    pace_status status = pace_step_frame_graph(out, asked->framework, config);
    if (status != PACE_OK) pace_graph_free(out);
    return status;
}

typedef struct {
    lowered_stages *stages;
    const pace_step_case *asked;
    const pace_config *config;
} stages_to_lower;

static pace_status lower_one(void *context, size_t worker, size_t stage) {
    const stages_to_lower *to = context;
    (void)worker;
    return lower_stage(&to->stages->graphs[stage], to->asked, to->config, (uint32_t)stage);
}

static pace_status lower_stages(lowered_stages *out, const pace_step_case *asked, const pace_config *config,
                                const char *name) {
    size_t stages = (size_t)config->pp;
    *out = (lowered_stages){pace_alloc(stages, sizeof *out->graphs), pace_alloc(stages, sizeof *out->names), stages};
    pace_status status = out->graphs && out->names ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < stages; i++) out->names[i] = name;
    if (status == PACE_OK) status = pace_for_each(stages, lower_one, &(stages_to_lower){out, asked, config});
    for (size_t i = 0; status != PACE_OK && out->graphs && i < stages; i++) pace_graph_free(&out->graphs[i]);
    if (status != PACE_OK) free_stages(out);
    return status;
}

static pace_status find_host_update(pace_config *config, pace_catalog *catalog, const pace_step_case *asked) {
    pace_doubts doubts;
    if (config->offload != PACE_OFFLOAD_OPTIMIZER) return PACE_OK;
    PACE_TRY(pace_doubts_load(&doubts, catalog));
    config->host_update_ns = pace_step_host_update_ns(config, asked->exchange, &doubts);
    return PACE_OK;
}

/* A pipeline drains before its update: what a step finds left of the one before is the host's lead alone. */
enum { PIPELINE_REPEATS = 2 };

pace_status pace_step_forecast(pace_forecast *out, pace_catalog *catalog, const pace_step_case *asked,
                               const char *name) {
    lowered_stages stages;
    pace_config config = asked->config;
    pace_gradient_tables tables = {0};
    bool framed = !pace_framework_is_lowered(asked->framework);
    if (framed) config = pace_step_frame_config(asked->framework, &config);
    else if (asked->approach) take_approach(&config, asked->approach);
    PACE_TRY(find_host_update(&config, catalog, asked));
    PACE_TRY(lower_stages(&stages, asked, &config, name));
    pace_status status = pace_forecast_of_graphs(out, catalog, stages.graphs, stages.count, stages.names, asked->device,
                                                 pace_execution_modes[config.execution]);
    bool pipeline = stages.count > 1;
    free_stages(&stages);
    PACE_TRY(status);
    if (asked->fitted) pace_cost_borrow_fits(out->cost, asked->fitted);
    const pace_recorded *recorded = asked->model->recorded;
    if (pipeline) out->repeats = PIPELINE_REPEATS;
    out->rounds = pace_config_micro_batches(&asked->config);
    if (recorded)
        status = pace_cost_add_timed(out->cost, &recorded->device, recorded->kernels.items, recorded->kernels.count);
    if (status == PACE_OK && framed) status = pace_step_frame_forecast(out, asked->framework);
    if (status == PACE_OK && asked->attention > 0) out->shares.slower_attention = asked->attention - 1;
    if (status == PACE_OK) status = pace_gradient_tables_of(&tables, asked->model, &config);
    if (status == PACE_OK) out->tables = tables;
    else pace_forecast_free(out);
    return status;
}

static pace_status open_scenario(pace_scenario *out, pace_catalog *catalog, const pace_step_case *asked) {
    pace_scenario_init(out, "as asked");
    out->device = asked->device;
    out->ranks_per_node = asked->ranks_per_node;
    if (asked->slowness > 0) out->slowness = asked->slowness;
    if (!asked->exchange) return PACE_OK;
    out->has_exchange = true;
    out->has_approach = asked->approach != NULL;
    if (!asked->approach) {
        out->exchange = *asked->exchange;
        return PACE_OK;
    }
    out->approach = *asked->approach;
    PACE_TRY(pace_approach_open(&out->exchange, catalog, asked->approach, &asked->exchange->machine));
    out->exchange.measured = asked->exchange->measured;
    return PACE_OK;
}

/* Forward and backward of the last step, but for what nothing hides of exchanges. */
static double forward_backward_s(const pace_forecast_result *result) {
    const pace_analysis *analysis = &result->analysis;
    const pace_rank *rank = pace_analysis_slowest(analysis);
    int64_t sum = 0;
    if (rank->marks.items.count == 0) return 0;
    const pace_mark *mark = &rank->marks.items.items[rank->marks.items.count - 1];
    pace_matrix matrix = pace_rank_matrix(rank, mark->from_ns, mark->to_ns);
    for (int stage = 0; stage < PACE_STAGES; stage++)
        for (int r = 0; stage != PACE_STAGE_UPDATE && r < PACE_RESOURCES; r++)
            if (r != PACE_EXPOSED_COMMUNICATION) sum += matrix.cell_ns[stage][r];
    return (double)sum / 1e9;
}

/* What a case is walked under, and how it is called. */
typedef struct {
    pace_catalog *catalog;
    const pace_step_case *asked;
    const pace_scenario *scenario;
    const char *name;
    pace_operators operators; /* of what is left out nothing is shown */
} walk_question;

/* *steady = false: the step has no rounds that are alike, and is to be walked with more. */
static pace_status walk_with(pace_forecast *forecast, pace_forecast_result *out, bool *steady, uint32_t *queued,
                             const walk_question *q, const pace_pipeline_fold *fold, bool fills) {
    pace_step_case less = *q->asked;
    less.config.global_batch = less.config.micro_batch * less.config.dp * fold->less.micro_batches;
    less.config.operators = q->operators;
    PACE_TRY(pace_step_forecast(forecast, q->catalog, &less, q->name));
    *steady = true;
    forecast->rounds = pace_config_micro_batches(&q->asked->config);
    pace_status status = fold->times ? pace_folded_walk_find(steady, forecast, queued, q->asked, fold, fills) : PACE_OK;
    if (status == PACE_OK && *steady) status = pace_forecast_run(out, forecast, q->scenario);
    if (status == PACE_OK && *steady && out->unsteady) {
        *steady = false;
        pace_forecast_result_free(out);
    }
    if (status != PACE_OK || !*steady) pace_forecast_free(forecast);
    return status;
}

static pace_status walk_less(pace_forecast *forecast, pace_forecast_result *out, bool *steady, const walk_question *q,
                             const pace_step_plan *plan) {
    bool fills = pace_folded_walk_fills(plan);
    uint32_t queued = 0;
    *steady = false;
    for (unsigned i = 0; !*steady && i < PACE_FOLD_TRIES; i++) {
        pace_pipeline_fold fold = pace_folded_walk_of(q->asked, i, queued);
        bool too_short = false;
        if (fold.times && fills && queued > 0) PACE_TRY(pace_folded_walk_is_short(&too_short, q->asked, &fold, queued));
        if (fold.times && !too_short) PACE_TRY(walk_with(forecast, out, steady, &queued, q, &fold, fills));
    }
    return PACE_OK;
}

pace_status pace_step_walk_folded(pace_forecast *forecast, pace_forecast_result *out, bool *folded,
                                  pace_catalog *catalog, const pace_step_case *asked, const pace_step_plan *plan,
                                  const pace_scenario *scenario, const char *name, pace_operators operators) {
    return walk_less(forecast, out, folded, &(walk_question){catalog, asked, scenario, name, operators}, plan);
}

static pace_status walk_case(pace_forecast_result *out, const walk_question *q, const pace_step_plan *plan) {
    const pace_pipeline_fold whole = {.less = pace_config_pipeline(&q->asked->config), .round = 1};
    pace_forecast forecast;
    bool steady;
    uint32_t queued;
    PACE_TRY(walk_less(&forecast, out, &steady, q, plan));
    if (!steady) PACE_TRY(walk_with(&forecast, out, &steady, &queued, q, &whole, false));
    pace_forecast_free(&forecast);
    return PACE_OK;
}

static pace_status walk(pace_step_solution *out, pace_catalog *catalog, const pace_step_case *asked) {
    pace_forecast_result result;
    pace_scenario scenario;
    pace_status status = open_scenario(&scenario, catalog, asked);
    const char *name = pace_names_text(&asked->model->names, asked->model->name);
    pace_operators operators = asked->unfolded ? PACE_OPERATORS_ALL : PACE_OPERATORS_OUTERMOST;
    if (status == PACE_OK)
        status = walk_case(&result, &(walk_question){catalog, asked, &scenario, name, operators}, &out->plan);
    pace_scenario_free(&scenario);
    if (status == PACE_OK) {
        out->walked = true;
        out->folded = pace_analysis_slowest(&result.analysis)->fold.times;
        out->time_s = result.step_s;
        out->time_s.least = out->closed_s.least;
        out->used = result.used;
        out->exchange = result.exchange;
        if (out->exchange.ranks > 1 && !(out->exchange.exchange_s > 0)) /* buckets: the lanes know the others' */
            out->exchange.exchange_s = out->plan.gradient_s + out->plan.expert_gradient_s;
        out->forward_backward_s = forward_backward_s(&result);
        pace_forecast_result_free(&result);
    }
    return status;
}

/* --- the closed form ---------------------------------------------------------------------------------------------- */

static pace_status place_of(pace_step_place *out, pace_step_pricer *pricer, const pace_step_case *asked) {
    double devices = asked->exchange ? asked->exchange->machine.devices : 1;
    *out = (pace_step_place){.cost = pricer->cost,
                             .device = asked->device,
                             .exchange = asked->exchange,
                             .prices = &pricer->prices,
                             .node_ranks = asked->ranks_per_node ? asked->ranks_per_node : devices,
                             .host_bytes =
                                 asked->exchange ? asked->exchange->machine.host_memory_bytes : asked->host_bytes};
    if (!pace_framework_is_lowered(asked->framework)) return PACE_OK;
    return pace_step_hosts_get(&out->host, pricer->catalog, &pricer->hosts, asked->config.execution, asked->device);
}

static pace_status plan_with(pace_step_plan *out, pace_step_pricer *pricer, const pace_step_case *asked) {
    pace_step_place place;
    const pace_step_slots *slots;
    PACE_TRY(place_of(&place, pricer, asked));
    PACE_TRY(pace_step_slots_get(&slots, pricer->slots, asked->model, &asked->config, &place));
    PACE_TRY(pace_step_plan_make(out, slots, asked->framework, &asked->config, &place, asked->attention));
    PACE_TRY(pace_offload_check(out, &place));
    return pace_step_turns_s(&out->turns_s, out);
}

/* What a case holds, without its times. */
static pace_status weigh_with(pace_step_plan *out, pace_step_pricer *pricer, const pace_step_case *asked) {
    pace_step_place place;
    const pace_step_slots *slots;
    PACE_TRY(pace_config_check(&asked->config));
    PACE_TRY(place_of(&place, pricer, asked));
    PACE_TRY(pace_step_slots_sized(&slots, pricer->slots, asked->model, &asked->config, &place));
    PACE_TRY(pace_step_plan_outline(out, slots, asked->framework, &asked->config, &place, asked->attention, NULL));
    return pace_offload_check(out, &place);
}

const char *const pace_step_fitting_names[] = {"yes", "maybe", "no"};

pace_step_fitting pace_step_fits(double need, double has, const pace_doubts *doubts) {
    if (!(has > 0) || need <= has) return PACE_FITS;
    return need < doubts->figure[PACE_DOUBT_MEMORY] * has ? PACE_MAY_FIT : PACE_TOO_LARGE;
}

pace_step_room pace_step_tightest(const pace_step_plan *plan, double more_bytes) {
    if (plan->host_has_bytes > 0 && plan->host_bytes > plan->host_has_bytes)
        return (pace_step_room){plan->host_bytes, plan->host_has_bytes, true};
    return (pace_step_room){plan->memory.all_bytes + more_bytes, plan->device_bytes, false};
}

/* What a host holds is counted to the byte. */
static pace_step_fitting fitting_of(const pace_step_plan *plan, double more_bytes, const pace_doubts *doubts) {
    pace_step_room room = pace_step_tightest(plan, more_bytes);
    return room.of_host ? PACE_TOO_LARGE : pace_step_fits(room.need_bytes, room.has_bytes, doubts);
}

bool pace_step_surely_fits(double need, double has, const pace_doubts *doubts) {
    return !(has > 0) || need * doubts->figure[PACE_DOUBT_MEMORY] <= has;
}

typedef pace_status (*plan_fn)(pace_step_plan *out, pace_step_pricer *pricer, const pace_step_case *asked);

/* Unless the question rules recomputation out, a step that does not fit is recomputed whole. */
static pace_status plan_case(pace_step_solution *out, pace_step_case *asked, pace_step_pricer *pricer, plan_fn plan) {
    PACE_TRY(pace_config_check_device(&asked->config, asked->device));
    PACE_TRY(plan(&out->plan, pricer, asked));
    bool whole = asked->config.recompute == PACE_RECOMPUTE_FULL;
    if (!asked->may_recompute || whole || asked->config.mode != PACE_TRAINING ||
        pace_step_fits(out->plan.memory.all_bytes, out->plan.device_bytes, pace_cost_doubts(pricer->cost)) !=
            PACE_TOO_LARGE)
        return PACE_OK;
    asked->unassumed_recompute = asked->config.recompute;
    asked->config.recompute = PACE_RECOMPUTE_FULL;
    asked->assumes_recompute = out->recomputed = true;
    return plan(&out->plan, pricer, asked);
}

/* Replicas are alike but for jitter: a step waits for the slowest, whatever the framework. */
static double skew_s(const pace_step_case *asked, double alone_s) {
    bool exchanges = pace_config_trains(&asked->config);
    if (!exchanges || !asked->approach) return 0;
    double jitter;
    pace_gradient_ranks ranks = {asked->exchange ? &asked->exchange->machine : NULL, asked->ranks_per_node,
                                 (int64_t)(asked->config.dp * asked->config.cp), (int64_t)asked->config.tp,
                                 pace_config_micro_batches(&asked->config)};
    return pace_gradients_skew_among(&jitter, asked->approach, &ranks, alone_s);
}

static bool has_experts(const pace_step_slots *slots) {
    for (unsigned i = 0; i < slots->count; i++)
        if (slots->parts[i].part.expert_parameters > 0) return true;
    return false;
}

/* By formula, with what is less known of it: a device that is a part, experts. */
static double closed_spread(pace_doubts_used *used, const pace_step_plan *plan, const pace_step_pricer *pricer,
                            const pace_step_case *asked, pace_rung rung) {
    double form = pace_step_spread(plan, &asked->spreads),
           times = pace_cost_doubts(pricer->cost)->figure[PACE_DOUBT_STEP_EXPERTS];
    double experts = has_experts(plan->slots) ? form * sqrt(times * times - 1) : 0;
    double part = pace_cost_part_spread(pricer->cost, asked->device, rung);
    used->added[PACE_DOUBT_STEP_EXPERTS] = experts;
    used->added[PACE_DOUBT_DEVICE_PART] = part;
    return sqrt(form * form + experts * experts + part * part);
}

static void close_form(pace_step_solution *out, const pace_step_pricer *pricer, const pace_step_case *asked) {
    pace_step_factors none = pace_step_factors_none();
    pace_step_time parts = pace_step_compose(&out->plan, &none);
    pace_rung rung = out->plan.slots->rung > PACE_RUNG_FORMULA ? out->plan.slots->rung : PACE_RUNG_FORMULA;
    double exchanged_s = parts.tensor_s + parts.context_s + parts.expert_s + parts.pipeline_s + parts.data_s;
    out->closed_skew_s = skew_s(asked, parts.total_s - exchanged_s);
    double median = parts.total_s + out->closed_skew_s;
    double spread = closed_spread(&out->used, &out->plan, pricer, asked, rung);
    out->closed_s = (pace_estimate){median, spread, rung, .least = pace_step_peak_s(&out->plan)};
}

/* --- both --------------------------------------------------------------------------------------------------------- */

bool pace_step_closes(const pace_step_case *asked) {
    return (!asked->approach || pace_approach_has_buckets(asked->approach)) && !(asked->slowness > 0) &&
           asked->ranks_per_node == 0;
}

pace_status pace_step_check_walk(const pace_step_solution *settled, const pace_step_pricer *pricer,
                                 const pace_step_case *asked, pace_estimate walked_s) {
    double closed_s = settled->closed_s.median, gap = fabs(closed_s / walked_s.median - 1);
    double low_s = pace_estimate_low(walked_s), high_s = pace_estimate_high(walked_s);
    bool inside = closed_s >= low_s && closed_s <= high_s;
    bool shared = asked->config.pp > 1 || asked->config.zero_stage > 0;
    pace_doubt known = shared ? PACE_DOUBT_CLOSED_FORM_SHARED : PACE_DOUBT_CLOSED_FORM;
    if (!pace_step_closes(asked) || inside || gap <= pace_cost_doubts(pricer->cost)->figure[known]) return PACE_OK;
    return pace_fail(PACE_E_INTERNAL,
                     "self-check: the walk makes the step %.6g s (%.6g to %.6g s), its closed form %.6g s: please "
                     "report the question",
                     walked_s.median, low_s, high_s, closed_s);
}

pace_status pace_step_settle(pace_step_solution *out, pace_step_pricer *pricer, pace_step_case *asked) {
    pace_step_solution solution = {0};
    PACE_TRY(plan_case(&solution, asked, pricer, plan_with));
    solution.fitting = fitting_of(&solution.plan, 0, pace_cost_doubts(pricer->cost));
    close_form(&solution, pricer, asked);
    solution.time_s = solution.closed_s;
    *out = solution;
    return PACE_OK;
}

pace_status pace_step_weigh(pace_step_solution *out, pace_step_pricer *pricer, const pace_step_case *asked) {
    pace_step_solution solution = {0};
    pace_step_case settled = *asked;
    PACE_TRY(plan_case(&solution, &settled, pricer, weigh_with));
    solution.fitting = fitting_of(&solution.plan, 0, pace_cost_doubts(pricer->cost));
    *out = solution;
    return PACE_OK;
}

/* Whether the case's stages hold the same as those of the one before: only what replicas divide may differ. */
static bool has_same_stages(const pace_step_outlined *before, const pace_step_case *asked) {
    pace_config config = asked->config;
    const pace_config *other = &before->plan.config;
    bool copies = config.offload == PACE_OFFLOAD_ACTIVATIONS || other->offload == PACE_OFFLOAD_ACTIVATIONS;
    if (before->model != asked->model || before->plan.framework != asked->framework || copies) return false;
    config.zero_stage = other->zero_stage;
    config.zero_group = other->zero_group;
    config.offload = other->offload;
    return memcmp(&config, other, sizeof config) == 0; /* padding that differs costs time alone */
}

static pace_status outline(pace_step_plan *plan, pace_step_pricer *pricer, const pace_step_case *asked,
                           const pace_step_place *place) {
    const pace_step_slots *slots;
    bool alike = has_same_stages(&pricer->outlined, asked);
    PACE_TRY(pace_step_slots_sized(&slots, pricer->slots, asked->model, &asked->config, place));
    PACE_TRY(pace_step_plan_outline(plan, slots, asked->framework, &asked->config, place, asked->attention,
                                    alike ? &pricer->outlined.plan : NULL));
    if (!alike) pricer->outlined = (pace_step_outlined){asked->model, *plan};
    return PACE_OK;
}

pace_status pace_step_screen(pace_step_solution *out, pace_step_pricer *pricer, const pace_step_case *asked,
                             const pace_step_limits *limits) {
    pace_step_plan *plan = &out->plan;
    pace_step_place place;
    PACE_TRY(pace_config_check_device(&asked->config, asked->device));
    PACE_TRY(place_of(&place, pricer, asked));
    PACE_TRY(outline(plan, pricer, asked, &place));
    PACE_TRY(pace_offload_screen(plan, &place));
    const pace_doubts *doubts = pace_cost_doubts(pricer->cost);
    out->fitting = fitting_of(plan, 0, doubts);
    double limit_s =
        pace_step_surely_fits(plan->memory.all_bytes, plan->device_bytes, doubts) ? limits->sure_s : limits->close_s;
    out->closed_s.median = INFINITY;
    if (out->fitting != PACE_FITS) return PACE_OK;
    PACE_TRY(pace_step_slots_passes(&plan->slots, pricer->slots, asked->model, &asked->config, &place));
    if (pace_step_least_s(plan) > limit_s) return PACE_OK;
    PACE_TRY(pace_step_slots_get(&plan->slots, pricer->slots, asked->model, &asked->config, &place));
    PACE_TRY(pace_step_plan_finish(plan, &place));
    PACE_TRY(pace_step_turns_s(&plan->turns_s, plan));
    close_form(out, pricer, asked);
    return PACE_OK;
}

static void widen_by(pace_estimate *time_s, pace_doubts_used *used, pace_doubt doubt, double spread) {
    if (used) used->added[doubt] = spread;
    time_s->spread = hypot(time_s->spread, spread);
}

static void widen(pace_estimate *time_s, pace_doubts_used *used, const pace_step_pricer *pricer, pace_doubt doubt) {
    widen_by(time_s, used, doubt, pace_cost_doubts(pricer->cost)->figure[doubt]);
}

void pace_step_doubt_kernels(pace_estimate *time_s, pace_doubts_used *used, const pace_step_pricer *pricer,
                             const pace_step_case *asked) {
    bool said = asked->config.attention != PACE_ATTENTION_USUAL;
    if (!said && pace_model_forms_scores(asked->model, &asked->config))
        widen(time_s, used, pricer, PACE_DOUBT_STEP_ATTENTION);
    if (asked->model->left_out) widen(time_s, used, pricer, PACE_DOUBT_STEP_LEFT_OUT);
    if (!asked->device->is_cpu && asked->device->generation == 0) widen(time_s, used, pricer, PACE_DOUBT_STEP_MAKER);
    if (asked->config.offload == PACE_OFFLOAD_OPTIMIZER) widen(time_s, used, pricer, PACE_DOUBT_STEP_OFFLOAD);
    if (asked->config.deterministic > 0) widen(time_s, used, pricer, PACE_DOUBT_STEP_DETERMINISTIC);
    if (asked->config.defer_logits > 0 || asked->config.cross_entropy == PACE_CROSS_ENTROPY_LINEAR)
        widen(time_s, used, pricer, PACE_DOUBT_STEP_LOSS);
    if (pace_device_widens_half(asked->device, pace_config_matrix_precision(&asked->config)))
        widen(time_s, used, pricer, PACE_DOUBT_STEP_HALF);
    widen_by(time_s, used, PACE_DOUBT_STEP_SOFTWARE, asked->framework->software_spread);
}

static void widen_times(pace_estimate *time_s, pace_doubts_used *used, const pace_step_pricer *pricer,
                        pace_doubt doubt) {
    double times = pace_cost_doubts(pricer->cost)->figure[doubt];
    if (used) used->added[doubt] = time_s->spread * sqrt(times * times - 1);
    time_s->spread *= times;
}

void pace_step_doubt_assumed(pace_estimate *time_s, pace_doubts_used *used, const pace_step_pricer *pricer,
                             const pace_step_case *asked) {
    if (asked->assumes_tables) widen_times(time_s, used, pricer, PACE_DOUBT_SPREAD_TABLES);
    if (pace_config_says_fp4(&asked->config)) widen_times(time_s, used, pricer, PACE_DOUBT_STEP_FOUR_BITS);
}

pace_status pace_step_solve(pace_step_solution *out, pace_step_pricer *pricer, const pace_step_case *asked) {
    pace_step_solution solution;
    pace_step_case settled = *asked;
    PACE_TRY(pace_step_settle(&solution, pricer, &settled));
    if (pace_step_is_walked(&settled)) PACE_TRY(walk(&solution, pricer->catalog, &settled));
    if (solution.walked) PACE_TRY(pace_step_check_walk(&solution, pricer, &settled, solution.time_s));
    double merging = solution.exchange.merging.most_bytes;
    if (merging > 0) solution.fitting = fitting_of(&solution.plan, merging, pace_cost_doubts(pricer->cost));
    pace_step_doubt_kernels(&solution.time_s, &solution.used, pricer, &settled);
    pace_step_doubt_assumed(&solution.time_s, &solution.used, pricer, &settled);
    *out = solution;
    return PACE_OK;
}
