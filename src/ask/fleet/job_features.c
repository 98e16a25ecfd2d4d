#include "ask/fleet/job_features.h"
#include "ask/predict/predict_inputs.h"
#include "ask/predict/step_ask.h"
#include "base/print.h"
#include "base/text.h"
#include "forecast/rank_batches.h"
#include "forecast/gradient_profile.h"
#include "insight/steps/rank_steps.h"
#include "model/lower.h"
#include "step/op_edit.h"

enum { MOST_SETTINGS = 64 };

/* What the launches of a step do. */
typedef struct {
    double flop, memory_bytes, input_bytes;
    double table_bytes, row_bytes; /* embeddings, and the rows of them that are looked up */
} work;

/* b tables rows lookups d */
static void add_tables(work *out, const pace_op *op) {
    double row_bytes = op->size[4] * op->element_bytes;
    if (op->pass != PACE_PASS_FORWARD) return;
    out->table_bytes += op->size[1] * op->size[2] * row_bytes;
    out->row_bytes += op->size[0] * op->size[1] * op->size[3] * row_bytes;
}

static void add_op(work *out, const pace_op *op) {
    if (op->family == PACE_OP_EMBEDDING) add_tables(out, op);
    if (pace_op_is_matrix(op->family)) out->flop += op->flop;
    else if (op->family != PACE_OP_TRANSFER) out->memory_bytes += op->read_bytes + op->write_bytes;
    else if (pace_starts(op->kind, "h2d")) out->input_bytes += op->size[0];
}

static work work_of(const pace_graph *graph) {
    work sum = {0};
    PACE_ITEMS (const pace_launch, launch, &graph->launches)
        if (launch->op != PACE_NO_OP && launch->exchange == 0) add_op(&sum, &graph->ops.items[launch->op]);
    return sum;
}

/* Times its gradients' bytes that a cNode sends and receives. */
static double traffic_share(pace_job_architecture architecture, double cnodes) {
    switch (architecture) {
    case PACE_JOB_1W1G: return 0;
    case PACE_JOB_ALLREDUCE_LOCAL:
    case PACE_JOB_ALLREDUCE_CLUSTER:
    case PACE_JOB_PEARL: return cnodes > 1 ? 4 * (cnodes - 1) / cnodes : 0;
    default: return 2;
    }
}

static void put_values(double values[PACE_JOB_COLUMNS], const work *w, const pace_model_totals *total,
                       pace_job_architecture architecture) {
    double tables = w->table_bytes < total->gradient_bytes ? w->table_bytes : total->gradient_bytes;
    double kept =
        total->gradient_bytes > 0 ? (total->weight_bytes + total->optimizer_bytes) / total->gradient_bytes : 1;
    double dense = total->gradient_bytes - tables, share = traffic_share(architecture, values[PACE_JOB_CNODES]);
    bool by_rows =
        architecture == PACE_JOB_PEARL || architecture == PACE_JOB_PS_WORKER || architecture == PACE_JOB_1WNG;
    double rows = w->row_bytes < tables && by_rows ? w->row_bytes : tables;
    values[PACE_JOB_FLOP] = w->flop;
    values[PACE_JOB_MEMORY_ACCESS_BYTES] = w->memory_bytes;
    values[PACE_JOB_INPUT_BYTES] = w->input_bytes;
    values[PACE_JOB_WEIGHT_TRAFFIC_BYTES] = share * (dense + rows);
    values[PACE_JOB_DENSE_WEIGHT_BYTES] = kept * dense;
    values[PACE_JOB_EMBEDDING_WEIGHT_BYTES] = kept * tables;
}

static pace_status read_step(double values[PACE_JOB_COLUMNS], const pace_step_asked *step,
                             pace_job_architecture architecture) {
    pace_graph graph;
    pace_model_totals total = pace_model_total(&step->model, &step->asked.config);
    PACE_TRY(pace_model_lower(&graph, &step->model, &step->asked.config, 0));
    work sum = work_of(&graph);
    pace_graph_free(&graph);
    put_values(values, &sum, &total, architecture);
    return PACE_OK;
}

pace_status pace_job_features_of_model(double values[PACE_JOB_COLUMNS], pace_catalog *catalog, const char *model,
                                       const pace_words *set, pace_job_architecture architecture) {
    pace_step_asked step = {0};
    const char *items[MOST_SETTINGS];
    char batch[48];
    size_t count = set ? set->count : 0;
    if (count + 1 > MOST_SETTINGS) return pace_fail(PACE_E_USAGE, "set: expected at most %d", MOST_SETTINGS - 1);
    for (size_t i = 0; i < count; i++) items[i] = set->items[i];
    pace_snprintf(batch, sizeof batch, "micro_batch=%.17g", values[PACE_JOB_BATCH_SIZE]);
    items[count] = batch;
    pace_words words = {items, count + 1};
    pace_status status = pace_step_model_open(&step, catalog, model, &words);
    if (status == PACE_OK) status = read_step(values, &step, architecture);
    pace_step_asked_close(&step);
    return status;
}

/* The means of a rank's steps. */
static void measure(pace_job_recorded *out, const pace_rank *rank) {
    double sum[PACE_RESOURCES] = {0}, steps = 0;
    for (size_t i = 0; i < rank->marks.items.count; i++) {
        int64_t by_resource[PACE_RESOURCES];
        pace_step_by_resource(by_resource, rank, i);
        for (int r = 0; r < PACE_RESOURCES; r++) sum[r] += 1e-9 * (double)by_resource[r];
        steps += rank->marks.items.items[i].to_ns > rank->marks.items.items[i].from_ns;
    }
    if (steps == 0) return;
    for (int r = 0; r < PACE_RESOURCES; r++) out->step_s += sum[r] / steps;
    out->components_s[PACE_COMPONENT_INPUT] = sum[PACE_COPY] / steps;
    out->components_s[PACE_COMPONENT_COMPUTE] = sum[PACE_COMPUTE_BOUND] / steps;
    out->components_s[PACE_COMPONENT_MEMORY] = sum[PACE_MEMORY_BOUND] / steps;
    out->components_s[PACE_COMPONENT_WEIGHTS] = (sum[PACE_EXPOSED_COMMUNICATION] + sum[PACE_IDLE_RANK]) / steps;
    out->idle_s = (sum[PACE_IDLE_HOST] + sum[PACE_IDLE_INPUT] + sum[PACE_IDLE_OTHER]) / steps;
}

/* Of the time of kernels, which are no exchanges: that of those that say what they do. */
static double known_share(const pace_forecast_rank *of) {
    double known_ns = 0, all_ns = 0;
    for (size_t i = 0; i < of->graph.launches.count; i++) {
        const pace_launch *launch = &of->graph.launches.items[i];
        if (launch->exchange || !(of->measured_ns[i] > 0)) continue;
        const pace_op *op = launch->op == PACE_NO_OP ? NULL : &of->graph.ops.items[launch->op];
        all_ns += of->measured_ns[i];
        if (op && (op->family == PACE_OP_TRANSFER || op->flop + op->read_bytes + op->write_bytes > 0))
            known_ns += of->measured_ns[i];
    }
    return all_ns > 0 ? known_ns / all_ns : 0;
}

static pace_status count_gradients(pace_model_totals *out, const pace_rank *rank) {
    pace_gradient_profile profile;
    PACE_TRY(pace_gradient_profile_of_rank(&profile, rank));
    for (size_t i = 0; i < profile.count; i++) out->gradient_bytes += profile.bytes[i];
    out->weight_bytes = out->gradient_bytes;
    pace_gradient_profile_free(&profile);
    return PACE_OK;
}

static pace_status count_samples(double *batch, const pace_forecast *forecast, const char *path) {
    pace_batch_size found;
    PACE_TRY(pace_rank_batches_first(&found, forecast, 0));
    int64_t samples = found.samples * (int64_t)found.passes;
    if (!(*batch > 0)) *batch = (double)samples;
    if (!(*batch > 0)) return pace_fail(PACE_E_INPUT, "%s: the shapes tell no batch: say batch_size=N", path);
    if (samples > 0 && *batch != (double)samples)
        return pace_fail(PACE_E_INPUT, "%s: batch_size: a step has %lld samples, found %g said", path,
                         (long long)samples, *batch);
    return PACE_OK;
}

static pace_status read_recorded(double values[PACE_JOB_COLUMNS], pace_job_recorded *recorded,
                                 const pace_predict_inputs *inputs, const char *path,
                                 pace_job_architecture architecture) {
    pace_model_totals total = {0};
    if (!inputs->is_measured || inputs->forecast.ranks.count != 1)
        return pace_fail(PACE_E_INPUT, "%s: expected the trace of one worker, with times", path);
    const pace_forecast_rank *of = &inputs->forecast.ranks.items[0];
    const pace_rank *rank = pace_analysis_slowest(&inputs->measured);
    double steps = of->steps > 0 ? (double)of->steps : 1;
    work sum = work_of(&of->graph);
    PACE_TRY(count_samples(&values[PACE_JOB_BATCH_SIZE], &inputs->forecast, path));
    PACE_TRY(count_gradients(&total, rank));
    sum.flop /= steps;
    sum.memory_bytes /= steps;
    sum.input_bytes /= steps;
    sum.table_bytes /= steps;
    sum.row_bytes /= steps;
    put_values(values, &sum, &total, architecture);
    measure(recorded, rank);
    recorded->known_share = known_share(of);
    pace_snprintf(recorded->device, sizeof recorded->device, "%s",
                  rank->work.host_is_device ? "a CPU"
                  : rank->device            ? rank->device->name
                                            : "");
    return PACE_OK;
}

pace_status pace_job_features_of_trace(double values[PACE_JOB_COLUMNS], pace_job_recorded *recorded,
                                       pace_context *context, const char *path, pace_job_architecture architecture) {
    pace_predict_options reading = {.context = context};
    pace_predict_inputs inputs;
    *recorded = (pace_job_recorded){0};
    PACE_TRY(pace_predict_inputs_read(&inputs, &path, 1, NULL, NULL, &reading));
    pace_status status = read_recorded(values, recorded, &inputs, path, architecture);
    if (status == PACE_OK) {
        recorded->warnings = inputs.warnings;
        inputs.warnings = (pace_warnings){0};
    }
    pace_predict_inputs_free(&inputs);
    return status;
}
