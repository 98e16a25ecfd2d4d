#include "ask/predict/graph_inputs.h"
#include "ask/predict/predict_inputs.h"
#include "ask/predict/step_ask.h"
#include "model/lower.h"
#include "model/model_settings.h"
#include "source/inputs.h"
#include "source/traces/trace_formats.h"

#include <string.h>

void pace_graph_inputs_free(pace_graph_inputs *inputs) {
    for (size_t i = 0; i < inputs->items.count; i++) {
        pace_free(inputs->items.items[i].name);
        pace_graph_free(&inputs->items.items[i].graph);
    }
    PACE_VEC_FREE(&inputs->items);
    pace_warnings_free(&inputs->warnings);
}

/* Takes the graph, whatever comes of it. */
static pace_status keep(pace_graph_inputs *out, const char *name, uint64_t bytes, pace_graph *graph) {
    pace_graph_input item = {pace_copy_text(name, strlen(name)), bytes, *graph};
    pace_status status = item.name ? PACE_PUSH(&out->items, item) : PACE_E_MEMORY;
    if (status == PACE_OK) return PACE_OK;
    pace_free(item.name);
    pace_graph_free(graph);
    return status;
}

/* One rank of each stage of a pipeline. */
static pace_status read_model(pace_graph_inputs *out, const char *name, const pace_convert_options *options) {
    pace_step_asked step = {0};
    pace_status status = pace_step_model_open(&step, options->context->catalog, name, &options->set);
    if (status == PACE_OK && !pace_settings_name_batch(&options->set))
        status = pace_warn(
            &out->warnings, PACE_WARN_BATCH_ASSUMED, name,
            "no batch was given: a micro-batch of %.0f was taken, where predict takes what fits its device; the "
            "setting micro_batch says another",
            step.asked.config.micro_batch);
    for (uint32_t stage = 0; status == PACE_OK && stage < step.asked.config.pp; stage++) {
        pace_graph graph;
        status = pace_model_lower(&graph, step.asked.model, &step.asked.config, stage);
        if (status == PACE_OK) status = keep(out, name, 0, &graph);
    }
    pace_step_asked_close(&step);
    return status;
}

static pace_status keep_ranks(pace_graph_inputs *out, const pace_analysis *measured, pace_forecast *forecast) {
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        const pace_rank *trace = measured->traces.items[i];
        pace_graph graph = forecast->ranks.items[i].graph;
        forecast->ranks.items[i].graph = (pace_graph){0};
        PACE_TRY(keep(out, trace->path, trace->bytes, &graph));
    }
    return pace_warnings_add(&out->warnings, &measured->warnings);
}

static pace_status read_traces(pace_graph_inputs *out, const char *const *inputs, size_t count,
                               const pace_convert_options *options) {
    pace_analysis measured;
    pace_forecast forecast;
    pace_analyze_options reading = {.context = options->context,
                                    .step_regex = options->step_regex,
                                    .steps = options->steps,
                                    .progress = options->progress};
    PACE_TRY(pace_analysis_load(&measured, options->context->catalog, inputs, count, &reading));
    pace_status status = pace_forecast_of_analysis(&forecast, &measured, NULL);
    if (status == PACE_OK) {
        out->steps = forecast.ranks.items[0].steps;
        status = keep_ranks(out, &measured, &forecast);
        pace_forecast_free(&forecast);
    }
    pace_analysis_free(&measured);
    return status;
}

static pace_status read_graphs(pace_graph_inputs *out, const char *const *inputs, size_t count) {
    pace_texts paths = {0};
    pace_status status = pace_paths_find(&paths, &out->warnings, inputs, count);
    for (size_t i = 0; status == PACE_OK && i < paths.count; i++) {
        pace_graph graph;
        pace_read_notes notes = {0};
        const pace_trace_format *format;
        status = pace_trace_format_of(&format, paths.items[i]);
        if (status == PACE_OK) status = pace_graph_read(&graph, &notes, format, paths.items[i]);
        if (status == PACE_OK) status = keep(out, paths.items[i], notes.bytes, &graph);
        if (status == PACE_OK && notes.warning[0])
            status = pace_warn(&out->warnings, notes.code, paths.items[i], "%s", notes.warning);
    }
    pace_texts_free(&paths);
    return status;
}

/* `what` NULL = they are recorded. */
static pace_status refuse_steps_of(const char *what, const pace_convert_options *options) {
    const char *said = options->step_regex      ? "step_regex"
                       : options->steps.numbers ? "steps"
                       : options->steps.skip    ? "skip"
                                                : NULL;
    if (!what || !said) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: has no effect on %s, whose steps are not recorded", said, what);
}

static pace_status read_recorded(pace_graph_inputs *out, const char *const *inputs, size_t count,
                                 const pace_convert_options *options) {
    bool times;
    if (options->set.count)
        return pace_fail(PACE_E_USAGE, PACE_FIELD "set is for models, found a trace: %s", inputs[0]);
    PACE_TRY(pace_predict_inputs_have_times(&times, inputs, count));
    if (!times) PACE_TRY(refuse_steps_of("an execution trace", options));
    return times ? read_traces(out, inputs, count, options) : read_graphs(out, inputs, count);
}

pace_status pace_graph_inputs_read(pace_graph_inputs *out, const char *const *inputs, size_t count,
                                   const pace_convert_options *options) {
    bool model;
    pace_graph_inputs read = {0};
    PACE_TRY(pace_predict_is_model(&model, inputs[0]));
    if (model && count > 1) return pace_fail(PACE_E_USAGE, "expected one model, found also '%.80s'", inputs[1]);
    PACE_TRY(refuse_steps_of(model ? "a model" : NULL, options));
    pace_status status = model ? read_model(&read, inputs[0], options) : read_recorded(&read, inputs, count, options);
    return PACE_GIVE(out, read, status, pace_graph_inputs_free(&read));
}
