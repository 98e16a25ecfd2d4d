#include "ask/predict/predict_inputs.h"
#include "base/text.h"
#include "insight/steps/typical_step.h"
#include "machine/device_resolve.h"
#include "source/inputs.h"
#include "source/traces/trace_formats.h"
#include "source/model_inputs.h"

#include <string.h>
#include <sys/stat.h>

void pace_predict_inputs_free(pace_predict_inputs *inputs) {
    pace_forecast_free(&inputs->forecast);
    if (inputs->is_measured) pace_analysis_free(&inputs->measured);
    pace_texts_free(&inputs->paths);
    pace_warnings_free(&inputs->warnings);
    pace_free(inputs->steps);
}

/* --- traces ------------------------------------------------------------------------------------------------------ */

static bool all_have(const pace_analysis *measured, const char *steps) {
    const pace_step_choice choice = {.numbers = steps};
    size_t first, count;
    for (size_t i = 0; i < measured->traces.count; i++) {
        const pace_rank *trace = measured->traces.items[i];
        if (pace_step_choice_find(&first, &count, &choice, &trace->marks, &trace->step.names, trace->path) != PACE_OK)
            return false;
    }
    return true;
}

/* Those that analyze tries its remedies on; all where a rank lacks them. */
static pace_status choose_repeating(pace_predict_inputs *out) {
    const pace_rank *rank = pace_rank_trace(pace_analysis_slowest(&out->measured));
    pace_typical_step typical;
    PACE_TRY(pace_typical_step_of(&typical, rank));
    PACE_TRY(pace_repeating_steps(&out->steps, rank, typical.mark, SIZE_MAX));
    if (out->steps && !all_have(&out->measured, out->steps)) {
        pace_free(out->steps);
        out->steps = NULL;
    }
    return PACE_OK;
}

static pace_status read_traces(pace_predict_inputs *out, const char *const *inputs, size_t count,
                               const pace_predict_options *options) {
    pace_analyze_options reading = {.context = options->context,
                                    .step_regex = options->step_regex,
                                    .steps = options->steps,
                                    .device = options->from,
                                    .device_field = "from",
                                    .progress = options->progress};
    if (options->set.count)
        return pace_fail(PACE_E_USAGE, PACE_FIELD "set is for models, found a trace: %s", inputs[0]);
    PACE_TRY(pace_analysis_load(&out->measured, options->context->catalog, inputs, count, &reading));
    out->is_measured = true;
    if (!options->steps.numbers && options->steps.skip == 0) PACE_TRY(choose_repeating(out));
    return pace_forecast_of_analysis(&out->forecast, &out->measured, out->steps);
}

/* --- steps without times ----------------------------------------------------------------------------------------- */

static pace_status read_graph(pace_graph *graph, pace_predict_inputs *out, const pace_trace_format *format,
                              const char *path) {
    pace_read_notes notes = {0};
    PACE_TRY(pace_texts_add(&out->paths, path));
    PACE_TRY(pace_graph_read(graph, &notes, format, path));
    pace_status status = pace_graph_check(graph);
    if (status == PACE_OK && notes.warning[0])
        status = pace_warn(&out->warnings, notes.code, path, "%s", notes.warning);
    if (status != PACE_OK) pace_graph_free(graph);
    return status;
}

static pace_status forecast(pace_predict_inputs *out, pace_catalog *catalog, pace_graph *graphs, size_t count,
                            const pace_device *device, const char *mode) {
    if (device)
        return pace_forecast_of_graphs(&out->forecast, catalog, graphs, count, (const char *const *)out->paths.items,
                                       device, mode);
    for (size_t i = 0; i < count; i++) pace_graph_free(&graphs[i]);
    return pace_fail(PACE_E_USAGE,
                     "%s: does not say when anything ran: name the device it would run on with " PACE_FIELD "on",
                     out->paths.items[0]);
}

static pace_status read_graphs(pace_predict_inputs *out, pace_catalog *catalog, const pace_texts *paths,
                               const pace_trace_format *format, const pace_device *device) {
    pace_graph *graphs = pace_alloc(paths->count, sizeof *graphs);
    if (!graphs) return PACE_E_MEMORY;
    size_t read = 0;
    pace_status status = PACE_OK;
    for (; status == PACE_OK && read < paths->count; read++) {
        status = read_graph(&graphs[read], out, format, paths->items[read]);
        if (status != PACE_OK) break;
    }
    if (status == PACE_OK) {
        status = forecast(out, catalog, graphs, read, device, "eager");
        read = 0; /* taken */
    }
    for (size_t i = 0; i < read; i++) pace_graph_free(&graphs[i]);
    pace_free(graphs);
    return status;
}

/* --- models ------------------------------------------------------------------------------------------------------- */

static pace_status read_model(pace_predict_inputs *out, const char *name, const pace_step_case *asked) {
    out->samples = asked->config.micro_batch * pace_config_micro_batches(&asked->config);
    return pace_texts_add(&out->paths, name);
}

/* --- which it is -------------------------------------------------------------------------------------------------- */

/* "meta-llama/Llama-3.1-8B", as hubs name models: an owner, which is no folder here, and a name. */
static bool has_owner(const char *input) {
    struct stat info;
    char owner[96];
    const char *slash = strchr(input, '/');
    size_t length = slash ? (size_t)(slash - input) : 0;
    if (length == 0 || length >= sizeof owner || !pace_is_alnum(*input) || strchr(slash + 1, '/')) return false;
    memcpy(owner, input, length);
    owner[length] = '\0';
    return slash[1] && stat(owner, &info) != 0;
}

/* A file that holds a model, or a word that names no file and has no trace's suffix ("gpt3_2.7b" is a model). */
static bool names_model(const char *input) {
    struct stat info;
    const pace_trace_format *format;
    if (pace_has_suffix(input, ".json") && stat(input, &info) == 0)
        return pace_trace_format_of(&format, input) == PACE_OK && format->holds == PACE_HOLDS_MODEL;
    if (pace_is_trace_name(input) || pace_has_suffix(input, ".gz") || pace_has_suffix(input, ".zst")) return false;
    if (pace_model_is_file(input)) return true;
    return stat(input, &info) != 0 && !strpbrk(input, "*?[") && (!strchr(input, '/') || has_owner(input));
}

pace_status pace_predict_is_model(bool *out, const char *input) {
    const pace_trace_format *format;
    *out = false;
    if (strcmp(input, "-") != 0) {
        *out = names_model(input);
        return PACE_OK;
    }
    PACE_TRY(pace_trace_format_of(&format, input));
    *out = format->holds == PACE_HOLDS_MODEL;
    return PACE_OK;
}

typedef struct {
    const char **traces; /* those of the paths that have times, borrowed */
    size_t trace_count;
    const pace_trace_format *first; /* of the first path */
    size_t other;                   /* the first path that has none */
} sorted_paths;

/* A file that cannot be read is a trace here: whoever reads it says why not. */
static pace_status sort_paths(sorted_paths *out, const pace_texts *paths) {
    *out = (sorted_paths){.traces = pace_alloc(paths->count + 1, sizeof *out->traces), .other = paths->count};
    if (!out->traces) return PACE_E_MEMORY;
    for (size_t i = 0; i < paths->count; i++) {
        const pace_trace_format *format = &pace_trace_formats[0];
        if (i == 0) {
            pace_status status = pace_trace_format_of(&out->first, paths->items[0]);
            if (status != PACE_OK) {
                pace_free(out->traces);
                return status;
            }
            format = out->first;
        } else if (pace_trace_format_of(&format, paths->items[i]) != PACE_OK) {
            format = &pace_trace_formats[0];
        }
        if (format->holds == PACE_HOLDS_STEP) out->traces[out->trace_count++] = paths->items[i];
        else if (out->other == paths->count) out->other = i;
    }
    return PACE_OK;
}

/* A trace says all that the graph of its run does, and when: of both, in whichever order, the traces are read. */
static pace_status read_traces_alone(pace_predict_inputs *out, const pace_texts *paths, const sorted_paths *sorted,
                                     const pace_predict_options *options) {
    const char *other = paths->items[sorted->other];
    PACE_TRY(pace_warn(&out->warnings, PACE_WARN_INPUT_LEFT_OUT, other,
                       "%s: has no times, and is left out: the trace beside it has its operators and times", other));
    return read_traces(out, sorted->traces, sorted->trace_count, options);
}

static pace_status read_files(pace_predict_inputs *out, const char *const *inputs, size_t count,
                              const pace_device *device, const pace_predict_options *options) {
    pace_texts paths = {0};
    sorted_paths sorted = {0};
    pace_status status = pace_paths_expand(&paths, inputs, count);
    if (status == PACE_OK) status = sort_paths(&sorted, &paths);
    if (status == PACE_OK) {
        if (sorted.trace_count == paths.count) status = read_traces(out, inputs, count, options);
        else if (sorted.trace_count) status = read_traces_alone(out, &paths, &sorted, options);
        else status = read_graphs(out, options->context->catalog, &paths, sorted.first, device);
        pace_free(sorted.traces);
    }
    pace_texts_free(&paths);
    return status;
}

pace_status pace_predict_inputs_have_times(bool *out, const char *const *inputs, size_t count) {
    pace_texts paths = {0};
    sorted_paths sorted = {0};
    bool model;
    *out = false;
    PACE_TRY(pace_predict_is_model(&model, inputs[0]));
    if (model) return PACE_OK;
    pace_status status = pace_paths_expand(&paths, inputs, count);
    if (status == PACE_OK) status = sort_paths(&sorted, &paths);
    if (status == PACE_OK) *out = sorted.trace_count > 0;
    if (status == PACE_OK) pace_free(sorted.traces);
    pace_texts_free(&paths);
    return status;
}

pace_status pace_predict_inputs_read(pace_predict_inputs *out, const char *const *inputs, size_t count,
                                     const pace_device *device, const pace_step_case *model,
                                     const pace_predict_options *options) {
    pace_predict_inputs read = {0};
    pace_status status =
        model ? read_model(&read, inputs[0], model) : read_files(&read, inputs, count, device, options);
    if (status != PACE_OK) {
        pace_predict_inputs_free(&read);
        return status;
    }
    *out = read;
    if (out->is_measured) out->forecast.measured = &out->measured; /* it moved with the rest */
    return PACE_OK;
}

/* Times that graphs bring along: of how many launches. */
static size_t count_times(const pace_forecast *forecast) {
    size_t timed = 0;
    PACE_ITEMS (const pace_forecast_rank, rank, &forecast->ranks)
        PACE_ITEMS (const pace_launch, launch, &rank->graph.launches) timed += launch->duration_ns > 0;
    return timed;
}

pace_status pace_predict_inputs_place(pace_predict_inputs *inputs, pace_device_catalog *devices, const char *from) {
    if (inputs->is_measured) return PACE_OK;
    const char *path = inputs->paths.items[0];
    size_t timed = count_times(&inputs->forecast);
    if (!timed && from) return pace_fail(PACE_E_USAGE, "from: has no effect on '%s', which has no times", path);
    if (from) return pace_device_resolve(&inputs->forecast.device, devices, from, 0);
    if (!timed) return PACE_OK;
    return pace_warn(&inputs->warnings, PACE_WARN_DEVICE_ASSUMED, path,
                     "%s: times of %zu kernels and exchanges are recorded, but not on which device: they are taken for "
                     "those of %s; --from names the device that they are of",
                     path, timed, inputs->forecast.device->name);
}
