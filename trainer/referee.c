#include "referee.h"

#include "base/decimal.h"
#include "base/median.h"
#include "base/scratch.h"
#include "base/shared_object.h"
#include "base/whole_file.h"
#include "here.h"
#include "run_program.h"
#include "trained_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SET = 64, MOST_STEPS = 1 << 20, LINE = 64 };

typedef struct {
    const pace_question *question;
    const char *runner;
    pace_network network; /* described, not computed here */
    const char *set[MOST_SET];
    size_t batch, steps, warm_up;
    int ranks, threads, cores;
    pace_scratch scratch;
    char described[PACE_SCRATCH_PATH + 16], result[PACE_SCRATCH_PATH + 16], said[PACE_SCRATCH_PATH + 16];
    char software[96], approach[64];
    pace_trained_part parts[4];
    size_t part_count;
    pace_training_done done;
} referee;

bool pace_referee_asked(const pace_question *question) {
    const char *runner = pace_question_text(question, "runner");
    return runner && strcmp(runner, "paceline") != 0;
}

/* --- the question ------------------------------------------------------------------------------------------------- */

static size_t number_or(const pace_question *q, const char *field, size_t usual) {
    double value = pace_question_has(q, field) ? pace_question_number(q, field) : (double)usual;
    return value >= 0 && value <= MOST_STEPS ? (size_t)value : 0;
}

static pace_status refuse_others(const referee *r) {
    size_t number;
    PACE_TRY(pace_option_word_find(&number, "train", "runner", r->runner));
    static const char *const own[] = {"approach", "overlap", "asynchronous", "servers", "port",   "fusion", "timeout",
                                      "trace",    "clock",   "data",         "loader",  "memory", "study"};
    for (size_t i = 0; i < PACE_COUNT(own); i++)
        if (pace_question_has(r->question, own[i]))
            return pace_fail(PACE_E_USAGE, "%s: it has no effect on " PACE_FIELD "runner %s, which has its own", own[i],
                             r->runner);
    return PACE_OK;
}

static pace_status read_question(referee *r) {
    const pace_question *q = r->question;
    PACE_TRY(refuse_others(r));
    if (pace_question_input_count(q) != 1)
        return pace_fail(PACE_E_USAGE, "expected one model, found %zu", pace_question_input_count(q));
    r->cores = pace_cores_here();
    r->ranks = (int)number_or(q, "ranks", 1);
    r->batch = number_or(q, "batch", 32), r->steps = number_or(q, "steps", 20), r->warm_up = number_or(q, "warm_up", 5);
    if (r->ranks < 1 || r->batch < 1 || r->steps < 1)
        return pace_fail(PACE_E_USAGE, "ranks, batch and steps: expected one or more");
    r->threads = (int)number_or(q, "threads", (size_t)(r->cores > r->ranks ? r->cores / r->ranks : 1));
    pace_network_asked asked = {.model = pace_question_input(q, 0), .batch = r->batch, .seed = 1};
    while (asked.set.count < MOST_SET && (r->set[asked.set.count] = pace_question_item(q, "set", asked.set.count)))
        asked.set.count++;
    asked.set.items = r->set;
    return pace_network_plan(&r->network, &asked);
}

/* --- the network, described --------------------------------------------------------------------------------------- */

static const char *const option_names[PACE_OPTIONS] = {[PACE_OPTION_OUT] = "out",
                                                       [PACE_OPTION_KERNEL] = "kernel",
                                                       [PACE_OPTION_KERNEL_WIDTH] = "kernel_width",
                                                       [PACE_OPTION_STRIDE] = "stride",
                                                       [PACE_OPTION_STRIDE_WIDTH] = "stride_width",
                                                       [PACE_OPTION_PAD] = "pad",
                                                       [PACE_OPTION_PAD_WIDTH] = "pad_width",
                                                       [PACE_OPTION_GROUPS] = "groups",
                                                       [PACE_OPTION_DILATION] = "dilation",
                                                       [PACE_OPTION_BIAS] = "bias",
                                                       [PACE_OPTION_TIED] = "tied",
                                                       [PACE_OPTION_CEIL] = "ceil",
                                                       [PACE_OPTION_P] = "p"};

static const char *kind_of(const pace_layer *layer) {
    return layer->kind == PACE_LAYER_ACTIVATION ? "activation"
           : layer->kind == PACE_LAYER_LOSS     ? "loss"
           : layer->kind == PACE_LAYER_INPUT    ? "input"
                                                : layer->word;
}

static void put_layer(pace_jsonw *json, const pace_network *n, size_t i) {
    const pace_layer *layer = &n->model.layers.items[i];
    pace_jsonw_compact(json);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "name", n->names[i]);
    pace_jsonw_key_text(json, "kind", kind_of(layer));
    pace_jsonw_key_text(json, "word", layer->word);
    pace_jsonw_key_real(json, "channels", layer->shape.channels);
    pace_jsonw_key_real(json, "height", layer->shape.height);
    pace_jsonw_key_real(json, "width", layer->shape.width);
    pace_jsonw_key_array(json, "inputs");
    for (uint32_t k = 0; k < layer->input_count; k++) pace_jsonw_int(json, n->described.inputs[layer->first_input + k]);
    pace_jsonw_array_end(json);
    pace_jsonw_key_object(json, "options");
    for (int k = 0; k < PACE_OPTIONS; k++)
        if (option_names[k] && isfinite(layer->option[k])) pace_jsonw_key_real(json, option_names[k], layer->option[k]);
    pace_jsonw_object_end(json);
    pace_jsonw_object_end(json);
}

static pace_status put_network(pace_sink *sink, void *context) {
    const pace_network *n = context;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 2, "paceline.network/1");
    pace_jsonw_key_array(&json, "layers");
    for (size_t i = 0; i < n->model.layers.count; i++) put_layer(&json, n, i);
    pace_jsonw_array_end(&json);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static void make_folder_names(referee *r) {
    pace_snprintf(r->described, sizeof r->described, "%s/network.json", r->scratch.path);
    pace_snprintf(r->result, sizeof r->result, "%s/result.txt", r->scratch.path);
    pace_snprintf(r->said, sizeof r->said, "%s/said.txt", r->scratch.path);
}

static pace_status run_script(referee *r) {
    static const char script[] = "paceline-referee.py";
    const char *python = getenv("PACELINE_PYTHON"), *optimizer = pace_config_word(&r->network.config, "optimizer");
    char path[2048], reason[200] = "", text[6][24];
    double rate = pace_question_number(r->question, "rate");
    if (!python || !*python) python = "python3";
    if (!pace_shared_object_find(path, sizeof path, NULL, script))
        return pace_fail(PACE_E_MISSING, "runner: %s is not where Paceline's modules are%s", script,
                         pace_shared_object_elsewhere());
    const size_t numbers[] = {(size_t)r->ranks, r->batch, r->steps, r->warm_up, (size_t)r->threads};
    for (size_t i = 0; i < PACE_COUNT(numbers); i++) pace_snprintf(text[i], sizeof text[i], "%zu", numbers[i]);
    pace_snprintf(text[5], sizeof text[5], "%.9g", rate > 0 ? rate : strcmp(optimizer, "adam") == 0 ? 0.001 : 0.01);
    const char *const words[] = {python,     path,      "--runner",    r->runner, "--network", r->described,
                                 "--result", r->result, "--ranks",     text[0],   "--batch",   text[1],
                                 "--steps",  text[2],   "--warm-up",   text[3],   "--threads", text[4],
                                 "--rate",   text[5],   "--optimizer", optimizer, NULL};
    int code = pace_program_run(words, r->said);
    if (code < 0) return pace_fail(PACE_E_MISSING, "runner: %s cannot be started", python);
    if (code == 0) return PACE_OK;
    pace_program_reason(reason, sizeof reason, r->said);
    return pace_fail(code == 4 ? PACE_E_MISSING : code == 2 ? PACE_E_USAGE : PACE_E_IO, "%s", reason);
}

/* --- its figures -------------------------------------------------------------------------------------------------- */

static pace_status add_times(referee *r, const char *name, double *values, size_t count) {
    static const double level = 0.9;
    pace_training_done *d = &r->done;
    pace_median_interval m;
    if (strcmp(name, "loss") == 0) {
        d->first_loss = values[0], d->last_loss = values[count - 1];
        return PACE_OK;
    }
    PACE_TRY(pace_series_median_of(&m, values, count, level));
    if (strcmp(name, "step") == 0) d->step_s = m.median, d->step_low_s = m.low, d->step_high_s = m.high;
    else
        r->parts[r->part_count++] = (pace_trained_part){.name = strcmp(name, "forward") == 0    ? "forward"
                                                                : strcmp(name, "backward") == 0 ? "backward"
                                                                                                : "update",
                                                        .median_s = m.median,
                                                        .low_s = m.low,
                                                        .high_s = m.high,
                                                        .share = m.median / d->step_s};
    return PACE_OK;
}

static pace_status read_times(referee *r, const char *name, const char *text) {
    double *values = pace_alloc(r->steps + 1, sizeof *values), value;
    size_t count = 0;
    if (!values) return PACE_E_MEMORY;
    while (count < r->steps && (text = pace_number_read(&value, text + strspn(text, " ")))) values[count++] = value;
    pace_status status = count ? add_times(r, name, values, count) : PACE_OK;
    pace_free(values);
    return status;
}

static pace_status read_line(referee *r, char *line) {
    char *text = strchr(line, ' ');
    if (!text) return PACE_OK;
    *text++ = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (strcmp(line, "software") == 0) pace_snprintf(r->software, sizeof r->software, "%s", text);
    else if (strcmp(line, "approach") == 0) pace_snprintf(r->approach, sizeof r->approach, "%s", text);
    else if (strcmp(line, "parameters") == 0) pace_number_parse(&r->done.parameters, text);
    else if (r->part_count < 3 || strcmp(line, "loss") == 0) return read_times(r, line, text);
    return PACE_OK;
}

static pace_status read_result(referee *r) {
    size_t room = LINE + 32 * r->steps;
    char *line = pace_alloc(room, 1);
    FILE *file = line ? fopen(r->result, "r") : NULL;
    pace_status status = line ? PACE_OK : PACE_E_MEMORY;
    while (status == PACE_OK && file && fgets(line, (int)room, file)) status = read_line(r, line);
    pace_free(line);
    if (file) fclose(file);
    if (status != PACE_OK || r->done.step_s > 0) return status;
    return pace_fail(PACE_E_IO, "runner: %s told no times", r->runner);
}

static pace_status answer(pace_answer **out, referee *r) {
    pace_training_done *d = &r->done;
    double samples = (double)r->batch * r->ranks;
    d->size = sizeof *d;
    d->command = pace_question_command(r->question, &d->command_count);
    d->model = pace_names_text(&r->network.model.names, r->network.model.name);
    d->optimizer = pace_config_word(&r->network.config, "optimizer");
    d->software = r->software, d->runner = r->runner, d->data = "synthetic";
    d->approach = *r->approach ? r->approach : NULL;
    d->ranks = r->ranks, d->threads = r->threads, d->oversubscribed = r->ranks * r->threads > r->cores;
    d->batch = r->batch, d->steps = r->steps, d->warm_up = r->warm_up;
    d->samples_per_s = samples / d->step_s;
    d->samples_per_s_low = samples / d->step_high_s, d->samples_per_s_high = samples / d->step_low_s;
    d->accuracy = NAN, d->memory_bytes = NAN;
    d->parts = r->parts, d->part_count = r->part_count;
    return pace_training_answer(out, d);
}

static pace_status run(pace_answer **out, referee *r) {
    PACE_TRY(read_question(r));
    PACE_TRY(pace_scratch_open(&r->scratch));
    make_folder_names(r);
    PACE_TRY(pace_whole_file_write(r->described, put_network, &r->network));
    PACE_TRY(run_script(r));
    PACE_TRY(read_result(r));
    return answer(out, r);
}

pace_status pace_train_referee(pace_answer **out, const pace_question *question) {
    referee *r = pace_alloc(1, sizeof *r);
    if (!r) return PACE_E_MEMORY;
    r->question = question, r->runner = pace_question_text(question, "runner");
    pace_status status = run(out, r);
    pace_scratch_close(&r->scratch);
    pace_network_close(&r->network);
    pace_free(r);
    return status;
}
