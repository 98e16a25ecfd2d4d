/* A row about a step, answered. */
#include "ask/step_rows/step_fit.h"

#include "base/print.h"

#include <math.h>
#include <stdio.h>

pace_step_case pace_step_row_case(const pace_step_row *row) {
    return (pace_step_case){.model = row->model,
                            .config = row->config,
                            .framework = row->framework,
                            .attention = row->attention,
                            .spreads = row->spreads,
                            .device = row->device,
                            .exchange = row->exchange,
                            .host_bytes = row->host_bytes,
                            .approach = row->approach,
                            .may_recompute = row->may_recompute};
}

/* What a row leaves open of a step that ran lies between two ends: half of what ln of the time differs by. The least
 * is that of the end which may be shorter. */
static pace_status half_to(double *out, double *least_s, pace_step_pricer *pricer, const pace_step_case *end,
                           double time_s) {
    pace_step_solution other;
    PACE_TRY(pace_step_solve(&other, pricer, end));
    *out = log(other.time_s.median / time_s) / 2;
    *least_s = fmin(*least_s, other.time_s.least);
    return PACE_OK;
}

/* Of a step that does not fit unless some of it is recomputed: nothing to all. Of products without a precision: 16 to 8
 * bits. */
pace_status pace_step_row_solve(pace_step_solution *out, pace_step_pricer *pricer, const pace_step_row *row) {
    const pace_step_case asked = pace_step_row_case(row);
    pace_step_case kept = asked, eight = asked;
    double halves[2] = {0};
    PACE_TRY(pace_step_solve(out, pricer, &asked));
    bool open[2] = {out->recomputed && row->ran, row->may_be_fp8};
    if (!open[0] && !open[1]) return PACE_OK;
    double least_s = out->time_s.least;
    kept.may_recompute = false;
    eight.config.precision = PACE_RUN_FP8;
    if (open[0]) PACE_TRY(half_to(&halves[0], &least_s, pricer, &kept, out->time_s.median));
    if (open[1]) PACE_TRY(half_to(&halves[1], &least_s, pricer, &eight, out->time_s.median));
    PACE_TRY(pace_step_solve(out, pricer, &asked)); /* the pricer keeps the slots of its last case */
    out->time_s.least = least_s;
    out->time_s.median *= exp(halves[0] + halves[1]);
    out->time_s.spread = hypot(out->time_s.spread, hypot(halves[0], halves[1]) / PACE_NORMAL_90);
    return PACE_OK;
}

/* What a pipeline would be faster by in the most chunks that are usual lies at the end of the interval, by their closed
 * forms. */
static pace_status doubt_chunks(double *spread, pace_step_pricer *pricer, const pace_step_row *row) {
    pace_step_case asked = pace_step_row_case(row);
    pace_step_solution one, most;
    *spread = 0;
    if (!(row->may_chunk > 1)) return PACE_OK;
    PACE_TRY(pace_step_settle(&one, pricer, &asked));
    asked.config.vpp = row->may_chunk;
    PACE_TRY(pace_step_settle(&most, pricer, &asked));
    *spread = fmax(0, log(one.closed_s.median / most.closed_s.median)) / PACE_NORMAL_90;
    return PACE_OK;
}

/* A slower network, of those that others have between such nodes, lies at the end of the interval. What a fit has
 * learned, it has learned of rows on their network. */
static double doubt_network(const pace_step_plan *plan, const pace_step_row *row, const pace_doubts *doubts) {
    pace_step_factors none = pace_step_factors_none(), slower = none;
    if (!row->any_network) return 0;
    slower.between = doubts->figure[PACE_DOUBT_ROW_NETWORK];
    return log(pace_step_compose(plan, &slower).total_s / pace_step_compose(plan, &none).total_s) / PACE_NORMAL_90;
}

pace_status pace_step_solve_settled(pace_step_solution *settled, pace_step_pricer *pricer,
                                    const pace_step_case *asked) {
    pace_step_solution solution;
    PACE_TRY(pace_step_solve(&solution, pricer, asked));
    solution.recomputed = settled->recomputed;
    *settled = solution;
    return PACE_OK;
}

pace_step_factors pace_step_row_factors(const pace_step_row *row, const pace_step_factors *factors) {
    pace_step_factors own = *factors;
    if (row->matrix_factor > 0) own.matrix *= row->matrix_factor;
    if (row->attention_factor > 0) own.attention *= row->attention_factor;
    if (row->stream_factor > 0) own.stream *= row->stream_factor;
    return own;
}

void pace_step_answer_of(pace_step_answer *out, const pace_step_solution *solution, const pace_step_factors *factors,
                         const pace_step_fit *fit, const pace_step_case *asked) {
    char name[PACE_FIT_GROUP_NAME];
    const pace_step_plan *plan = &solution->plan;
    pace_step_factors none = pace_step_factors_none();
    *out = (pace_step_answer){.time_s = solution->time_s,
                              .parts = pace_step_compose(plan, factors),
                              .memory_bytes = plan->memory.all_bytes,
                              .last_rank_bytes = plan->last_rank_bytes,
                              .process_bytes = plan->process_bytes > 0 ? plan->process_bytes : (double)NAN,
                              .room = pace_step_tightest(plan, 0),
                              .fitting = solution->fitting,
                              .recomputed = solution->recomputed};
    double plain_s = pace_step_compose(plan, &none).total_s;
    if (out->parts.total_s != plain_s) out->time_s.median *= out->parts.total_s / plain_s;
    if (!fit) return;
    pace_step_group_name(name, asked);
    double offset = pace_fit_group_offset(fit->groups, fit->group_count, name);
    pace_step_model_name(name, asked);
    bool known = fit->model_count > 0 && !pace_fit_group_missing(fit->models, fit->model_count, "", name);
    if (known) offset += pace_fit_group_offset(fit->models, fit->model_count, name);
    bool inside = known && !pace_step_fit_beyond(fit, asked);
    double spread = inside ? fit->model_spread : fit->spread; /* its rows say nothing of other sizes */
    double median = out->time_s.median * exp(offset), least = out->time_s.least;
    out->time_s = (pace_estimate){median, spread, PACE_RUNG_CALIBRATED, .least = least};
}

const char *const pace_step_seen_names[PACE_STEP_SEEN] = {"devices", "micro-batch", "sequence", "parameters"};

void pace_step_seen_of(double out[PACE_STEP_SEEN], const pace_model *model, const pace_config *config) {
    out[PACE_STEP_SEEN_DEVICES] = pace_config_ranks(config);
    out[PACE_STEP_SEEN_MICRO_BATCH] = config->micro_batch;
    out[PACE_STEP_SEEN_SEQUENCE] = pace_model_sequence(model, config);
    out[PACE_STEP_SEEN_PARAMETERS] = pace_model_total(model, config).parameters;
}

const char *pace_step_fit_beyond(const pace_step_fit *fit, const pace_step_case *asked) {
    char group[PACE_FIT_GROUP_NAME];
    double amounts[PACE_STEP_SEEN];
    pace_step_group_name(group, asked);
    if (pace_fit_group_missing(fit->groups, fit->group_count, "", group)) return "device, precision or task";
    pace_step_seen_of(amounts, asked->model, &asked->config);
    return pace_fit_ranges_beyond(fit->seen, pace_step_seen_names, amounts, PACE_STEP_SEEN);
}

pace_status pace_step_row_answer(pace_step_answer *out, pace_step_pricer *pricer, const pace_step_row *row,
                                 const pace_step_fit *fit) {
    pace_step_factors factors = fit ? fit->factors : pace_step_factors_none();
    pace_step_solution solution;
    double of_chunks;
    factors = pace_step_row_factors(row, &factors);
    PACE_TRY(doubt_chunks(&of_chunks, pricer, row));
    PACE_TRY(pace_step_row_solve(&solution, pricer, row));
    const pace_step_case asked = pace_step_row_case(row);
    pace_step_answer_of(out, &solution, &factors, fit, &asked);
    out->closely =
        !row->ran && out->fitting == PACE_FITS &&
        !pace_step_surely_fits(out->memory_bytes, solution.plan.device_bytes, pace_cost_doubts(pricer->cost));
    double of_network = fit ? 0 : doubt_network(&solution.plan, row, pace_cost_doubts(pricer->cost));
    out->time_s.spread =
        hypot(hypot(out->time_s.spread * row->doubt, of_network), hypot(row->unsaid_spread, of_chunks));
    if (row->guesses_work) out->time_s.least = 0;
    return PACE_OK;
}

void pace_step_group_name(char out[PACE_FIT_GROUP_NAME], const pace_step_case *asked) {
    const pace_config *config = &asked->config;
    snprintf(out, PACE_FIT_GROUP_NAME, "%s %s%s", asked->device->name, pace_config_word(config, "precision"),
             config->frozen + config->lora > 0 ? " lora"
             : config->mode != PACE_TRAINING   ? " inference"
                                               : "");
}

void pace_step_model_name(char out[PACE_FIT_GROUP_NAME], const pace_step_case *asked) {
    char group[PACE_FIT_GROUP_NAME];
    double parameters = pace_model_total(asked->model, &asked->config).parameters;
    double sequence = pace_model_sequence(asked->model, &asked->config);
    pace_step_group_name(group, asked);
    pace_snprintf(out, PACE_FIT_GROUP_NAME, "%.0f parameters, ", parameters);
    if (sequence > 0) pace_append(out, PACE_FIT_GROUP_NAME, "%.0f tokens, ", sequence);
    pace_append(out, PACE_FIT_GROUP_NAME, "%s", group);
}
