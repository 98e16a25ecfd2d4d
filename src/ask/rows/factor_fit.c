#include "ask/rows/factor_fit.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/yaml_member.h"
#include "cost/simplex.h"

#include <math.h>
#include <string.h>

enum { DISTINCT = 30 }; /* rows that say something of their own: neighbours in a sweep say the same many times */

double pace_fit_group_offset(const pace_fit_group *groups, unsigned count, const char *name) {
    const pace_fit_group *group = PACE_FIND(groups, count, name, name);
    return group ? group->log_offset : 0;
}

bool pace_fit_group_missing(const pace_fit_group *groups, unsigned count, const char *kind, const char *name) {
    bool of_kind = false;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(groups[i].name, name) == 0) return false;
        of_kind |= strncmp(groups[i].name, kind, strlen(kind)) == 0;
    }
    return of_kind;
}

typedef struct {
    const pace_factors *factors;
    const pace_factor_samples *samples;
    unsigned held_out;
} objective;

/* Cauchy's: squared near 0, logarithmic beyond, so that rows that take two or three times as long as their neighbours
 * hardly pull at all (Huber and Ronchetti 2009, section 4.8: redescending). */
static double loss(double error, double knee) { return knee / 2 * log1p(error * error / (knee * knee)); }

static double cost_of(const double *x, void *context) {
    const objective *o = context;
    const pace_factors *f = o->factors;
    double sum = 0, penalty = 0, rows = 0;
    f->set(f->context, x);
    for (size_t i = 0; i < o->samples->count; i += f->stride) {
        if (o->samples->fold[i] == o->held_out) continue;
        sum += loss(f->log_error(f->context, i), f->knee);
        rows++;
    }
    if (rows > DISTINCT) sum *= DISTINCT / rows;
    for (unsigned i = 0; i < f->count; i++) penalty += x[i] * x[i] / (f->expected[i] * f->expected[i]);
    return sum + f->prior * penalty;
}

void pace_factors_learn(double *x, const pace_factors *factors, const pace_factor_samples *samples, unsigned held_out,
                        double step, unsigned evaluations) {
    objective o = {factors, samples, held_out};
    pace_simplex(x, factors->count, step, evaluations, cost_of, &o);
    factors->set(factors->context, x);
}

/* The median of what is left, drawn towards none. */
static double drawn_median(double *left, size_t rows) {
    const double weight = 4; /* rows that say "none" */
    double known = (double)rows;
    return pace_median(left, rows) * known / (known + weight);
}

pace_status pace_fit_groups_learn(pace_fit_group *groups, unsigned *count, const pace_factor_samples *samples,
                                  unsigned held_out,
                                  bool (*group_of)(char out[PACE_FIT_GROUP_NAME], const void *context, size_t sample),
                                  pace_log_error_fn log_error, const void *context) {
    double *left = pace_alloc(samples->count + 1, sizeof *left);
    bool *seen = pace_alloc(samples->count + 1, sizeof *seen);
    pace_status status = left && seen ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < samples->count && *count < PACE_FIT_GROUPS_MOST; i++) {
        pace_fit_group *group = &groups[*count];
        char name[PACE_FIT_GROUP_NAME];
        size_t rows = 0;
        if (seen[i] || !group_of(group->name, context, i)) continue;
        for (size_t k = i; k < samples->count; k++) {
            if (seen[k] || !group_of(name, context, k) || strcmp(name, group->name) != 0) continue;
            seen[k] = true;
            if (samples->fold[k] != held_out) left[rows++] = -log_error(context, k);
        }
        if (rows == 0) continue;
        group->rows = (double)rows;
        group->log_offset = drawn_median(left, rows);
        ++*count;
    }
    PACE_FREE(left, seen);
    return status;
}

void pace_fit_groups_write(pace_jsonw *json, const char *key, const pace_fit_group *groups, unsigned count,
                           const char *offset) {
    pace_jsonw_key_array(json, key);
    for (unsigned i = 0; i < count; i++) {
        pace_jsonw_object(json);
        pace_jsonw_key_text(json, "name", groups[i].name);
        pace_jsonw_key_real(json, offset, groups[i].log_offset);
        pace_jsonw_key_real(json, "rows", groups[i].rows);
        pace_jsonw_object_end(json);
    }
    pace_jsonw_array_end(json);
}

pace_status pace_fit_groups_read(pace_fit_group *groups, unsigned *count, const pace_yaml *yaml, const char *key,
                                 const char *offset) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), key);
    size_t there = pace_yaml_count(list);
    if (there > PACE_FIT_GROUPS_MOST)
        return pace_yaml_fail(yaml, list, "expected at most %d %s", PACE_FIT_GROUPS_MOST, key);
    for (size_t i = 0; i < there; i++) {
        const pace_yaml_node *node = pace_yaml_item(list, i);
        PACE_TRY(pace_yaml_copy(groups[i].name, sizeof groups[i].name, yaml, node, "name"));
        PACE_TRY(pace_yaml_real(&groups[i].log_offset, yaml, node, offset, -10, 10));
        PACE_TRY(pace_yaml_real(&groups[i].rows, yaml, node, "rows", 0, 1e15));
    }
    *count = (unsigned)there;
    return PACE_OK;
}

static bool is_fold(const pace_factor_samples *samples, unsigned fold) {
    for (size_t i = 0; i < samples->count; i++)
        if (samples->fold[i] == fold) return true;
    return false;
}

/* errors[candidate * count + sample]: each sample's when its fold was held out. */
static pace_status held_out_errors(double *errors, const pace_candidates *c, const pace_factor_samples *samples) {
    for (unsigned fold = 0; fold < samples->folds; fold++) {
        if (!is_fold(samples, fold)) continue;
        for (unsigned k = 0; k < c->count; k++) {
            PACE_TRY(c->learn(c->context, fold, k));
            for (size_t i = 0; i < samples->count; i++)
                if (samples->fold[i] == fold) errors[(size_t)k * samples->count + i] = c->log_error(c->context, i);
        }
    }
    return PACE_OK;
}

static unsigned best_of(const double *errors, const pace_candidates *c, const pace_factor_samples *samples) {
    size_t count = samples->count;
    unsigned best = 0;
    for (unsigned k = 1; k < c->count; k++)
        if (pace_held_out_gain(errors + best * count, errors + k * count, samples->unit, count,
                               c->surely && best == 0) > 0)
            best = k;
    return best;
}

pace_status pace_candidates_choose(unsigned *best, pace_held_out *error, double *spread,
                                   const pace_candidates *candidates, const pace_factor_samples *samples,
                                   size_t units) {
    size_t count = samples->count;
    double *errors = pace_alloc(candidates->count * count, sizeof *errors);
    pace_status status = errors ? held_out_errors(errors, candidates, samples) : PACE_E_MEMORY;
    if (status == PACE_OK) {
        *best = best_of(errors, candidates, samples);
        status = pace_held_out_summarize(error, spread, errors + *best * count, count, units);
    }
    if (status == PACE_OK) error->formula_mape = pace_held_out_mape(errors, count);
    for (unsigned k = candidates->stepwise ? 0 : *best; status == PACE_OK && k <= *best; k++)
        status = candidates->learn(candidates->context, samples->folds, k);
    pace_free(errors);
    return status;
}
