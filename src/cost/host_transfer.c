#include "cost/host_transfer.h"

#include "base/order.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

/* How an operator's figure is taken from other workloads'. */
typedef struct {
    double octaves; /* of batch size over which a workload's weight halves */
    bool median;
    bool line; /* an optimizer's over its parameters */
} location;

static const double widths[] = {0.5, 1, 2, 4, INFINITY};
enum { WIDTHS = PACE_COUNT(widths), LOCATIONS = WIDTHS * 4 };

typedef struct {
    double ln, weight;
} weighed;

typedef struct {
    double sum, squares;
    size_t count;
} residuals;

typedef struct {
    const pace_host_samples *samples;
    size_t *first, *last;   /* sample -> those of its operator and type: first to before last */
    pace_name model, inner; /* held out */
    weighed *scratch;       /* one per sample */
    residuals *by_workload;
    double *errors[PACE_TRANSFERS]; /* |error|, for medians */
    pace_transfer_score score;
    double sums[PACE_TRANSFERS], signed_sums[PACE_TRANSFERS];
    size_t within, class_pairs;
    double class_sum, log_squares;
} study;

static location nth_location(int n) { return (location){widths[n % WIDTHS], (n / WIDTHS) & 1, n / WIDTHS >= 2}; }

static const pace_host_workload *workload_of(const study *s, size_t i) {
    return &s->samples->workloads.items[s->samples->items.items[i].workload];
}

static double mean_of(const study *s, size_t i) { return s->samples->items.items[i].figure.mean_ns; }

static bool held_out(const study *s, size_t i) {
    pace_name model = workload_of(s, i)->model;
    return model == s->model || model == s->inner;
}

static double weight_of(const study *s, size_t target, size_t i, double octaves) {
    double a = workload_of(s, target)->batch, b = workload_of(s, i)->batch;
    double apart = a > 0 && b > 0 ? log2(b / a) / octaves : 0;
    return 1 / (1 + apart * apart);
}

PACE_ORDER(by_ln, weighed, PACE_UP(ln))

static double locate(weighed *items, size_t count, bool median) {
    double sum = 0, weight = 0, half = 0;
    for (size_t i = 0; i < count; i++) {
        sum += items[i].weight * items[i].ln;
        weight += items[i].weight;
    }
    if (!median) return exp(sum / weight);
    qsort(items, count, sizeof *items, by_ln);
    for (size_t i = 0; i < count; i++)
        if ((half += items[i].weight) >= weight / 2) return exp(items[i].ln);
    return exp(items[count - 1].ln);
}

/* By the line over the number of parameters; 0 = none can be laid. */
static double line_at(const study *s, size_t target) {
    pace_optimizer_line line = {0};
    for (size_t i = s->first[target]; i < s->last[target]; i++)
        if (!held_out(s, i)) pace_optimizer_line_add(&line, workload_of(s, i)->parameters, mean_of(s, i));
    return pace_optimizer_line_at(&line, workload_of(s, target)->parameters);
}

/* The figure of a sample's operator from models that are not held out; 0 = none has it. */
static double predict(const study *s, size_t target, location how) {
    const pace_host_sample *sample = &s->samples->items.items[target];
    size_t count = 0;
    bool optimizer = pace_host_name_kind(pace_names_text(&s->samples->names, sample->op)) == PACE_HOST_OPTIMIZER;
    if (how.line && optimizer && sample->type == PACE_T2 && workload_of(s, target)->parameters > 0) {
        double value = line_at(s, target);
        if (value > 0) return value;
    }
    for (size_t i = s->first[target]; i < s->last[target]; i++)
        if (!held_out(s, i) && mean_of(s, i) > 0)
            s->scratch[count++] = (weighed){log(mean_of(s, i)), weight_of(s, target, i, how.octaves)};
    return count ? locate(s->scratch, count, how.median) : 0;
}

static double predict_pooled(const study *s, size_t target) {
    pace_host_cost sum = {0};
    for (size_t i = s->first[target]; i < s->last[target]; i++)
        if (!held_out(s, i)) pace_host_cost_pool(&sum, s->samples->items.items[i].figure);
    return sum.mean_ns;
}

/* --- what the models that are left say of each other ---------------------------------------------------------- */

/* Mean |error| of every model but the held-out one from the rest; residuals by workload. */
static double try_location(study *s, pace_overhead_type type, location how) {
    double sum = 0;
    size_t count = 0;
    memset(s->by_workload, 0, s->samples->workloads.count * sizeof *s->by_workload);
    s->log_squares = 0;
    for (size_t i = 0; i < s->samples->items.count; i++) {
        const pace_host_sample *sample = &s->samples->items.items[i];
        if (sample->type != type || workload_of(s, i)->model == s->model || !(mean_of(s, i) > 0)) continue;
        s->inner = workload_of(s, i)->model;
        double predicted = predict(s, i, how), ln = predicted > 0 ? log(mean_of(s, i) / predicted) : 0;
        if (!(predicted > 0)) continue;
        residuals *workload = &s->by_workload[sample->workload];
        workload->sum += ln;
        workload->squares += ln * ln;
        workload->count++;
        s->log_squares += ln * ln;
        sum += fabs(predicted - mean_of(s, i)) / mean_of(s, i);
        count++;
    }
    s->inner = NOBODY;
    s->log_squares = count ? s->log_squares / (double)count : 0;
    return count ? sum / (double)count : INFINITY;
}

static location choose_location(study *s, pace_overhead_type type) {
    location best = {INFINITY, false, false};
    double least = INFINITY;
    for (int n = 0; n < LOCATIONS; n++) {
        double error = try_location(s, type, nth_location(n));
        if (error < least) {
            least = error;
            best = nth_location(n);
        }
    }
    try_location(s, type, best); /* its residuals */
    return best;
}

/* How many of a workload's operators say as much of its scale as knowing nothing: variance within workloads over
 * variance between them. */
static double operators_per_prior(const study *s) {
    double within = 0, between = 0, freedom = 0, workloads = 0, operators = 0;
    for (size_t w = 0; w < s->samples->workloads.count; w++) {
        const residuals *r = &s->by_workload[w];
        if (r->count < 2) continue;
        double mean = r->sum / (double)r->count;
        within += r->squares - mean * r->sum;
        freedom += (double)r->count - 1;
        between += mean * mean;
        operators += (double)r->count;
        workloads++;
    }
    if (!(workloads > 0)) return INFINITY;
    within = fmax(within, 0) / freedom;
    between = between / workloads - within * workloads / operators;
    return between > 0 ? within / between : INFINITY;
}

/* --- the held-out model ------------------------------------------------------------------------------------------ */

static void count_error(study *s, pace_transfer_kind kind, double predicted, double measured) {
    double error = (predicted - measured) / measured;
    s->errors[kind][s->score.pairs] = fabs(error);
    s->sums[kind] += fabs(error);
    s->signed_sums[kind] += error;
    s->score.error[kind].largest = fmax(s->score.error[kind].largest, fabs(error));
}

static void count_alone(study *s, const pace_host_costs *others, const pace_host_sample *sample) {
    const char *name = pace_names_text(&s->samples->names, sample->op);
    double predicted = pace_host_costs_get(others, sample->type, name, true, NULL).mean_ns;
    s->score.alone++;
    if (!(predicted > 0)) return;
    s->class_sum += fabs(predicted - sample->figure.mean_ns) / sample->figure.mean_ns;
    s->class_pairs++;
}

static pace_status pool_others(pace_host_costs *costs, const study *s) {
    PACE_TRY(pace_host_costs_init(costs));
    for (size_t i = 0; i < s->samples->items.count; i++) {
        const pace_host_sample *sample = &s->samples->items.items[i];
        if (held_out(s, i)) continue;
        pace_status status =
            pace_host_costs_add(costs, sample->type, pace_names_text(&s->samples->names, sample->op), sample->figure);
        if (status == PACE_OK) continue;
        pace_host_costs_free(costs);
        return status;
    }
    return PACE_OK;
}

/* Residuals of the held-out model's own workloads, for their scale. */
static void measure_scale(study *s, pace_overhead_type type, location how) {
    memset(s->by_workload, 0, s->samples->workloads.count * sizeof *s->by_workload);
    for (size_t i = 0; i < s->samples->items.count; i++) {
        const pace_host_sample *sample = &s->samples->items.items[i];
        double predicted =
            sample->type == type && workload_of(s, i)->model == s->model && mean_of(s, i) > 0 ? predict(s, i, how) : 0;
        if (!(predicted > 0)) continue;
        s->by_workload[sample->workload].sum += log(mean_of(s, i) / predicted);
        s->by_workload[sample->workload].count++;
    }
}

static void take_sample(study *s, size_t i, location how, double prior, double spread, const pace_host_costs *others) {
    const pace_host_sample *sample = &s->samples->items.items[i];
    double measured = mean_of(s, i), predicted = predict(s, i, how);
    if (!(predicted > 0)) {
        count_alone(s, others, sample);
        return;
    }
    const residuals *workload = &s->by_workload[sample->workload];
    double rest = (double)workload->count - 1, ln = log(measured / predicted);
    double scale = rest > 0 ? exp((workload->sum - ln) / (rest + prior)) : 1; /* of the other operators */
    count_error(s, PACE_TRANSFER_POOLED, predict_pooled(s, i), measured);
    count_error(s, PACE_TRANSFER_OTHERS, predicted, measured);
    count_error(s, PACE_TRANSFER_SCALED, predicted * scale, measured);
    s->within += fabs(ln) <= PACE_NORMAL_90 * spread;
    s->score.spread += ln * ln;
    s->score.pairs++;
}

static pace_status hold_out(study *s, pace_overhead_type type, pace_name model) {
    pace_host_costs others;
    s->model = model;
    s->inner = NOBODY;
    PACE_TRY(pool_others(&others, s));
    location how = choose_location(s, type);
    double prior = operators_per_prior(s), spread = sqrt(s->log_squares);
    measure_scale(s, type, how);
    for (size_t i = 0; i < s->samples->items.count; i++)
        if (s->samples->items.items[i].type == type && workload_of(s, i)->model == model && mean_of(s, i) > 0)
            take_sample(s, i, how, prior, spread, &others);
    pace_host_costs_free(&others);
    return PACE_OK;
}

static void finish_type(study *s) {
    size_t pairs = s->score.pairs;
    for (int k = 0; pairs && k < PACE_TRANSFERS; k++) {
        qsort(s->errors[k], pairs, sizeof **s->errors, pace_ascending);
        s->score.error[k].median = (s->errors[k][(pairs - 1) / 2] + s->errors[k][pairs / 2]) / 2;
        s->score.error[k].mean = s->sums[k] / (double)pairs;
        s->score.error[k].signed_mean = s->signed_sums[k] / (double)pairs;
        s->score.error[k].within = k == PACE_TRANSFER_OTHERS ? (double)s->within / (double)pairs : NAN;
    }
    if (pairs) s->score.spread = sqrt(s->score.spread / (double)pairs);
    s->score.class_error = s->class_pairs ? s->class_sum / (double)s->class_pairs : NAN;
}

static pace_status measure_type(pace_transfer_score *out, study *s, pace_overhead_type type) {
    s->score = (pace_transfer_score){0};
    memset(s->sums, 0, sizeof s->sums);
    memset(s->signed_sums, 0, sizeof s->signed_sums);
    s->within = s->class_pairs = 0;
    s->class_sum = 0;
    for (size_t w = 0; w < s->samples->workloads.count; w++) {
        size_t before = 0;
        while (s->samples->workloads.items[before].model != s->samples->workloads.items[w].model) before++;
        if (before == w) PACE_TRY(hold_out(s, type, s->samples->workloads.items[w].model));
    }
    finish_type(s);
    *out = s->score;
    return PACE_OK;
}

static bool make_room(study *s) {
    size_t count = s->samples->items.count;
    if (!PACE_MAKE(s->first, 2 * count + 1) || !PACE_MAKE(s->scratch, count + 1) ||
        !PACE_MAKE(s->by_workload, s->samples->workloads.count + 1) ||
        !PACE_MAKE(s->errors[0], count * PACE_TRANSFERS + 1))
        return false;
    s->last = s->first + count;
    for (int k = 1; k < PACE_TRANSFERS; k++) s->errors[k] = s->errors[0] + (size_t)k * count;
    for (size_t i = 0, end; i < count; i = end) {
        const pace_host_sample *items = s->samples->items.items;
        for (end = i; end < count && items[end].type == items[i].type && items[end].op == items[i].op; end++)
            s->first[end] = i;
        for (size_t k = i; k < end; k++) s->last[k] = end;
    }
    return true;
}

pace_status pace_transfer_measure(pace_transfer_score out[PACE_OVERHEAD_TYPES], const pace_host_samples *samples) {
    study s = {.samples = samples};
    pace_transfer_score scores[PACE_OVERHEAD_TYPES];
    size_t pairs = 0;
    pace_status status = make_room(&s) ? PACE_OK : PACE_E_MEMORY;
    for (int type = 0; status == PACE_OK && type < PACE_OVERHEAD_TYPES; type++) {
        status = measure_type(&scores[type], &s, (pace_overhead_type)type);
        pairs += s.score.pairs;
    }
    PACE_FREE(s.first, s.scratch, s.by_workload, s.errors[0]);
    if (status == PACE_OK && pairs == 0)
        status = pace_fail(PACE_E_INPUT, "expected host overheads of two models or more with operators in common");
    if (status == PACE_OK) memcpy(out, scores, sizeof scores);
    return status;
}
