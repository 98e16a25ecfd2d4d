#include "cost/host_samples.h"

#include "base/order.h"

#include <string.h>

pace_status pace_host_samples_init(pace_host_samples *samples) {
    *samples = (pace_host_samples){0};
    return pace_names_init(&samples->names);
}

void pace_host_samples_free(pace_host_samples *samples) {
    pace_names_free(&samples->names);
    PACE_VEC_FREE(&samples->workloads, &samples->items);
    *samples = (pace_host_samples){0};
}

/* Files hold a workload's rows together, so the last one is tried first. */
static pace_status find_workload(uint32_t *out, pace_host_samples *samples, const char *model, double batch) {
    pace_name name;
    PACE_TRY(pace_names_add(&name, &samples->names, model, strlen(model)));
    for (size_t i = samples->workloads.count; i-- > 0;) {
        const pace_host_workload *workload = &samples->workloads.items[i];
        *out = (uint32_t)i;
        if (workload->model == name && workload->batch == batch) return PACE_OK;
    }
    *out = (uint32_t)samples->workloads.count;
    return PACE_PUSH(&samples->workloads, ((pace_host_workload){.model = name, .batch = batch}));
}

pace_status pace_host_samples_add(pace_host_samples *samples, const char *model, double batch, pace_overhead_type type,
                                  const char *op, pace_host_cost figure) {
    pace_host_sample sample = {.type = type, .figure = figure};
    if (!(figure.count > 0)) return PACE_OK;
    PACE_TRY(find_workload(&sample.workload, samples, model, batch));
    if (op) PACE_TRY(pace_names_add(&sample.op, &samples->names, op, strlen(op)));
    return PACE_PUSH(&samples->items, sample);
}

PACE_ORDER(by_operator, pace_host_sample, PACE_UP(type) PACE_UP(op) PACE_UP(workload))

/* Several rows of one operator in one workload are one (ranks of a run, parts of a file). */
static void merge(pace_host_samples *samples) {
    size_t kept = 0;
    PACE_ITEMS (pace_host_sample, sample, &samples->items) {
        pace_host_sample *last = kept ? &samples->items.items[kept - 1] : NULL;
        if (last && by_operator(last, sample) == 0) pace_host_cost_pool(&last->figure, sample->figure);
        else samples->items.items[kept++] = *sample;
    }
    samples->items.count = kept;
}

static bool is_named(const pace_host_samples *samples, const pace_host_sample *sample, const char *plain) {
    char text[PACE_HOST_NAME_LENGTH];
    pace_host_name_plain(text, pace_names_text(&samples->names, sample->op));
    return strcmp(text, plain) == 0;
}

/* Gradients are accumulated once per parameter and step, and the optimizer steps once. */
static void count_parameters(pace_host_samples *samples) {
    for (size_t w = 0; w < samples->workloads.count; w++) {
        double gradients = 0, steps = 0;
        PACE_ITEMS (const pace_host_sample, sample, &samples->items) {
            if (sample->workload != w || sample->type != PACE_T2) continue;
            const char *name = pace_names_text(&samples->names, sample->op);
            if (pace_is_optimizer_step(name)) steps += sample->figure.count;
            else if (is_named(samples, sample, "AccumulateGrad")) gradients += sample->figure.count;
        }
        samples->workloads.items[w].parameters = steps > 0 ? gradients / steps : 0;
    }
}

void pace_host_samples_finish(pace_host_samples *samples) {
    PACE_SORT(&samples->items, by_operator);
    merge(samples);
    count_parameters(samples);
}
