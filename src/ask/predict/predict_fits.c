#include "ask/predict/predict_fits.h"
#include "ask/rows/exchange_stack.h"
#include "ask/rows/fit_rows.h"
#include "ask/rows/fit_system.h"
#include "exchange/measured_ways.h"

#include <string.h>

/* Fits that are JSON, by their schema; `belongs` says which question uses one that predictions of a step do not. */
static const struct {
    const char *schema, *name, *kind, *belongs;
} documents[] = {
    {"paceline.step-fit/1", "steps", "step", NULL},
    {"paceline.scaling-fit/1", "scaling", "scaling", "predict --kind scaling --rows TABLE"},
    {"paceline.exchange-fit/1", "exchanges", "exchange", NULL},
    {"paceline.job-fit/1", "jobs", "job", "fleet, or predict --kind job"},
};

static pace_status find_schema(void *out, const pace_yaml *yaml) {
    const char *schema = pace_yaml_text_of(pace_yaml_root(yaml), "schema");
    int *number = out;
    for (*number = 0; *number < (int)(PACE_COUNT(documents)); ++*number)
        if (schema && strcmp(schema, documents[*number].schema) == 0) return PACE_OK;
    return pace_yaml_fail(yaml, pace_yaml_root(yaml),
                          "expected a fit as paceline fit writes it, found the schema \"%.40s\"",
                          schema ? schema : "none");
}

/* The first character: '{' of a document, 'P' of a fit of kernels (cost/fit.h), which is no text. */
static pace_status first_of(char *out, const char *path) {
    char head[512] = "";
    pace_input *input;
    size_t got;
    PACE_TRY(pace_input_peek(&input, path));
    pace_status status = pace_input_read(input, head, sizeof head, &got);
    pace_input_free(input);
    *out = head[0];
    return status;
}

static pace_status add_document(pace_predict_fits *out, const char *path) {
    int number;
    PACE_TRY(pace_yaml_read_file(&number, path, find_schema));
    const char *name = documents[number].name;
    if (documents[number].belongs)
        return pace_fail(PACE_E_USAGE, "fit: %s is a fit of %s, which belongs to %s", path, name,
                         documents[number].belongs);
    bool of_steps = strcmp(documents[number].kind, "step") == 0;
    const char **kept = of_steps ? &out->step_path : &out->exchanges_path;
    if (*kept) return pace_fail(PACE_E_USAGE, "fit: expected one fit of %s, found %s after %s", name, path, *kept);
    *kept = path;
    if (of_steps) return pace_step_fit_load(&out->step, path);
    PACE_TRY(pace_exchange_fit_load(&out->exchanges, path));
    return pace_exchange_fit_own(&out->chosen, &out->exchanges);
}

pace_status pace_predict_fit_of_kind(const char *path, const char *kind) {
    const char *found = "kernel";
    char first;
    int number;
    PACE_TRY(first_of(&first, path));
    if (first != '{' && first != 'P') return PACE_OK; /* its reader says what is wrong */
    if (first == '{') {
        PACE_TRY(pace_yaml_read_file(&number, path, find_schema));
        found = documents[number].kind;
    }
    if (strcmp(found, kind) == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "fit: %s is a fit of kind %s: expected one of kind %s, of which the question is",
                     path, found, kind);
}

pace_status pace_predict_fits_open(pace_predict_fits *out, const pace_words *files) {
    *out = (pace_predict_fits){0};
    for (size_t i = 0; i < files->count; i++) {
        char first;
        PACE_TRY(first_of(&first, files->items[i]));
        if (first != '{' && first != 'P')
            return pace_fail(PACE_E_INPUT, "%s: expected a fit as paceline fit writes it", files->items[i]);
        PACE_TRY(first == '{' ? add_document(out, files->items[i]) : PACE_PUSH(&out->kernels, files->items[i]));
    }
    return PACE_OK;
}

void pace_predict_fits_free(pace_predict_fits *fits) {
    PACE_ITEMS (pace_own_curves *, curves, &fits->curves) pace_free(*curves);
    PACE_VEC_FREE(&fits->kernels, &fits->curves);
    pace_exchange_fit_free(&fits->exchanges);
    pace_exchange_fit_free(&fits->chosen);
}

pace_status pace_predict_fits_join(pace_predict_fits *fits, pace_catalog *catalog, pace_exchange *exchange) {
    const char *system;
    pace_own_curves *curves;
    if (!fits || !fits->exchanges_path) return PACE_OK;
    PACE_TRY(pace_fit_system_of(&system, &fits->exchanges, catalog, &exchange->machine, true));
    if (!PACE_MAKE(curves, 1)) return PACE_E_MEMORY;
    pace_status status = PACE_PUSH(&fits->curves, curves);
    if (status != PACE_OK) {
        pace_free(curves);
        return status;
    }
    pace_nccl_stack said = pace_exchange_stack_of_curves(&fits->exchanges, system, exchange->stack);
    pace_own_curves_open(curves, &fits->exchanges, &fits->chosen, system, pace_exchange_stack_beside_curves(said));
    exchange->measured = &curves->is;
    return PACE_OK;
}

void pace_curves_told_add(pace_curves_told *told, const pace_own_curves *curves) {
    if (!curves) return;
    told->told += curves->told, told->untold += curves->untold;
    if (curves->untold) told->why = curves->why;
}

pace_status pace_predict_fits_told(pace_warnings *to, const pace_predict_fits *fits, const pace_curves_told *told) {
    if (!fits->exchanges_path) return PACE_OK;
    if (!told->told)
        return pace_fail(PACE_E_USAGE, "fit: %s has no effect: %s", fits->exchanges_path,
                         told->untold ? told->why : "no exchange is priced by its curves");
    if (!told->untold) return PACE_OK;
    return pace_warn(to, PACE_WARN_EXTRAPOLATED, fits->exchanges_path,
                     "the curves do not tell all that is exchanged, and closed forms do: %s", told->why);
}

pace_status pace_predict_fits_kernels(const pace_predict_fits *fits, pace_cost *cost) {
    for (size_t i = 0; fits && i < fits->kernels.count; i++) {
        pace_fit_model fit;
        PACE_TRY(pace_fit_load(&fit, fits->kernels.items[i]));
        PACE_TRY(pace_cost_add_fit(cost, &fit));
    }
    return PACE_OK;
}

void pace_predict_fits_note(pace_predict_fits *fits, const pace_cost *cost) {
    if (fits) fits->kernels_told |= pace_cost_fits_told(cost);
}

pace_status pace_predict_fits_check(const pace_predict_fits *fits) {
    if (fits->kernels.count == 0 || fits->kernels_told) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "fit: has no effect: %s knows no kernel of this step on the device it is asked about",
                     fits->kernels.items[0]);
}

pace_status pace_predict_fits_warn(pace_warnings *to, const pace_predict_fits *fits, const pace_step_case *asked) {
    if (!fits->step_path) return PACE_OK;
    const char *beyond = pace_step_fit_beyond(&fits->step, asked);
    if (!beyond) return PACE_OK;
    return pace_warn(to, PACE_WARN_EXTRAPOLATED, fits->step_path,
                     "the fit has no rows like this step (%s): its factors are carried over from the nearest rows",
                     beyond);
}

pace_estimate pace_predict_fits_step(const pace_predict_fits *fits, const pace_step_solution *solution,
                                     const pace_step_case *asked) {
    pace_step_answer answer;
    if (!fits->step_path) return solution->time_s;
    pace_step_answer_of(&answer, solution, &fits->step.factors, &fits->step, asked);
    return answer.time_s;
}
