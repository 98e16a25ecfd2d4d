/* What the words of a row say of how it runs: precision, recomputation, execution, attention, sharding. Which words
 * mean what is data: catalog/columns.yaml, step, says. */
#include "base/decimal.h"
#include "base/text.h"
#include "ask/predict/step_ask.h"
#include "ask/step_rows/step_cells.h"

#include <stdio.h>
#include <string.h>

/* Switches of a trainer ("fp16", "bf16", "tf32"): the one that is on, as autocast has it where the framework runs in
 * single precision; all off is single precision. NULL = none says a thing. */
static const char *switched_precision(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    static const struct {
        pace_step_column column;
        const char *plain, *autocast;
    } switches[] = {{PACE_STEP_BF16, "bf16", "amp_bf16"},
                    {PACE_STEP_FP16, "fp16", "amp"},
                    {PACE_STEP_TF32, "tf32", "tf32"}};
    const char *said = NULL;
    for (size_t i = 0; i < PACE_COUNT(switches); i++) {
        int flag = pace_step_flag(pace_step_cell(r, row, switches[i].column));
        bool single = out->framework->precision == PACE_RUN_FP32;
        if (flag == 1) return single ? switches[i].autocast : switches[i].plain;
        if (flag == 0) said = "fp32";
    }
    return said;
}

/* "mixed" of a framework that runs in single precision is autocast. Products in 4 bits are
 * taken for fp8, which is what devices are described by. *says = false: the row has no word for it. */
static bool set_precision(pace_step_row *out, bool *says, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_PRECISION), *fp8 = pace_step_cell(r, row, PACE_STEP_FP8);
    if (*fp8 && pace_step_flag(fp8) != 0) text = pace_step_said(r->things, "precision", fp8) ? fp8 : "fp8";
    const char *said = pace_step_said(r->things, "precision", text);
    if (!said && !*text) said = pace_step_said(r->things, "precision", pace_step_cell(r, row, PACE_STEP_NOTES));
    *says = true;
    const char *switched = *text ? NULL : switched_precision(out, r, row);
    if (switched) return pace_config_set(&out->config, "precision", switched) == PACE_OK;
    if (said) {
        char key[16];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(said, "_"), said);
        bool set = pace_config_set(&out->config, "precision", key) == PACE_OK;
        if (pace_config_says_fp4(&out->config)) pace_step_note(out, "4-bit products taken for fp8");
        return set;
    }
    *says = *text;
    if (!*text) return true;
    if (pace_step_says(text, "mixed") || pace_step_says(text, "amp")) {
        bool single = out->framework->precision == PACE_RUN_FP32;
        out->config.precision = single ? PACE_RUN_AMP : out->framework->precision;
        pace_step_note(out, "assumed %s", pace_config_word(&out->config, "precision"));
        return true;
    }
    pace_step_note(out, "unknown precision \"%.40s\"", text);
    return false;
}

static void take_usual_precision(pace_step_row *out, const pace_step_reader *r) {
    const pace_step_case asked = {.config = out->config,
                                  .framework = out->framework,
                                  .model = out->model,
                                  .device = out->device};
    out->config.precision = pace_step_usual_precision(&r->things->frameworks, &asked);
    pace_step_note(out, "assumed %s", pace_config_word(&out->config, "precision"));
}

/* A table may have both: what the parameters are in, and whether products run in 8 bits. */
static void set_fp8(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *fp8 = pace_step_cell(r, row, PACE_STEP_FP8);
    if (*fp8 && pace_step_flag(fp8) != 0 && !pace_config_is_fp8(&out->config)) out->config.precision = PACE_RUN_FP8;
}

/* The configuration still has what the framework does unless given. */
static void set_recompute(pace_step_row *out, const pace_step_reader *r, size_t row) {
    int usual = out->config.recompute;
    const char *text = pace_step_cell(r, row, PACE_STEP_RECOMPUTE), *notes = pace_step_cell(r, row, PACE_STEP_NOTES);
    const char *said = pace_step_said(r->things, "recompute", text);
    pace_config *config = &out->config;
    double layers;
    config->recompute = PACE_RECOMPUTE_NONE;
    bool counted = pace_step_number(&layers, r, row, PACE_STEP_RECOMPUTE) && layers > 1;
    if (pace_step_flag(text) >= 0) config->recompute = pace_step_flag(text) ? PACE_RECOMPUTE_FULL : PACE_RECOMPUTE_NONE;
    else if (said && pace_config_set(config, "recompute", said) == PACE_OK) counted = false;
    else if (counted) config->recompute = PACE_RECOMPUTE_FULL;
    else if (*text) pace_step_note(out, "unknown recompute \"%.30s\", taken for none", text);
    if (config->recompute == PACE_RECOMPUTE_SELECTIVE && pace_config_modules_in(text))
        config->recompute_modules = (int)pace_config_modules_in(text);
    if (pace_step_says(text, "seqpar")) config->sequence_parallel = 1;
    if (*text) return;
    said = pace_step_said(r->things, "recompute_notes", notes);
    if (said && pace_config_set(config, "recompute", said) == PACE_OK) return;
    out->may_recompute = true;
    if (r->column[PACE_STEP_RECOMPUTE] >= 0 || usual == PACE_RECOMPUTE_NONE || config->mode != PACE_TRAINING) return;
    config->recompute = usual;
    pace_step_note(out, "assumed %s recomputation", pace_config_word(config, "recompute"));
    pace_step_doubt(out, r, PACE_DOUBT_ROW_RECOMPUTE);
}

const char *pace_step_row_execution(const pace_step_reader *r, size_t row) {
    const char *run = pace_step_cell(r, row, PACE_STEP_EXECUTION), *notes = pace_step_cell(r, row, PACE_STEP_NOTES);
    const char *compile = pace_step_cell(r, row, PACE_STEP_COMPILE);
    if (*compile) return pace_step_flag(compile) == 0 || pace_step_says(compile, "eager") ? "eager" : "compiled";
    return pace_step_said(r->things, "execution", *run ? run : notes);
}

/* A word that its column does not know. */
static void note_unknown(pace_step_row *out, const pace_step_reader *r, size_t row, pace_step_column column) {
    const char *text = pace_step_cell(r, row, column);
    if (*text)
        pace_step_note(out, "unknown %.20s \"%.30s\"", pace_csv_name(&r->rows->csv, (size_t)r->column[column]), text);
}

static void set_execution(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *said = pace_step_row_execution(r, row), *run = pace_step_cell(r, row, PACE_STEP_EXECUTION);
    const char *compile = pace_step_cell(r, row, PACE_STEP_COMPILE);
    if (*compile && pace_step_flag(compile) < 0 && !pace_step_said(r->things, "execution", compile))
        pace_step_note(out, "unknown compile \"%.30s\", taken for compiled", compile);
    if (said) out->config.execution = strcmp(said, "eager") == 0 ? PACE_EAGER : PACE_COMPILED;
    else if (!pace_step_says(run, "graph")) note_unknown(out, r, row, PACE_STEP_EXECUTION);
    else out->config.execution = PACE_CUDA_GRAPH;
}

/* Which parts are device graphs: a column says, or how the step runs does ("reduce-overhead"). */
static void set_graphs(pace_step_row *out, const pace_step_reader *r, size_t row) {
    static const pace_step_column columns[] = {PACE_STEP_GRAPHS, PACE_STEP_COMPILE, PACE_STEP_EXECUTION};
    const char *text = pace_step_cell(r, row, PACE_STEP_GRAPHS), *said = NULL;
    for (size_t i = 0; i < PACE_COUNT(columns) && !said; i++)
        said = pace_step_said(r->things, i ? "execution_graphs" : "graphs", pace_step_cell(r, row, columns[i]));
    if (pace_step_flag(text) >= 0) said = pace_step_flag(text) ? "blocks" : "none";
    if (*text && !said) note_unknown(out, r, row, PACE_STEP_GRAPHS);
    if (!said) return;
    pace_config captured = out->config;
    if (strcmp(said, "step") == 0) captured.execution = PACE_CUDA_GRAPH;
    else if (pace_config_set(&captured, "graphs", said) != PACE_OK) return;
    out->config = captured;
}

/* Unless given, as the framework has it. */
static void set_layout(pace_step_row *out, const pace_step_reader *r, size_t row) {
    static const pace_step_column columns[] = {PACE_STEP_LAYOUT, PACE_STEP_NOTES, PACE_STEP_FRAMEWORK};
    const char *text = pace_step_cell(r, row, PACE_STEP_LAYOUT), *said = NULL;
    for (size_t i = 0; !said && i < PACE_COUNT(columns); i++)
        said = pace_step_said(r->things, "layout", pace_step_cell(r, row, columns[i]));
    if (pace_step_flag(text) >= 0) said = pace_step_flag(text) ? "nhwc" : "nchw";
    else if (*text && !pace_step_said(r->things, "layout", text)) note_unknown(out, r, row, PACE_STEP_LAYOUT);
    if (said && pace_config_set(&out->config, "layout", said) == PACE_OK) out->says_layout = true;
}

static void set_mode(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *mode = pace_step_cell(r, row, PACE_STEP_MODE);
    if (pace_step_says(mode, "inf") || pace_step_says(mode, "forward")) out->config.mode = PACE_INFERENCE;
    else if (!pace_step_says(mode, "train") && !pace_step_says(mode, "tun")) note_unknown(out, r, row, PACE_STEP_MODE);
}

/* Words that are split over ranks are attended to in one kernel: products and a softmax see the keys of one rank. */
static void split_attention(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double ranks;
    if (out->config.attention != PACE_ATTENTION_MATH || !pace_step_number(&ranks, r, row, PACE_STEP_CP) || ranks < 2)
        return;
    out->config.attention = PACE_ATTENTION_FUSED;
    pace_step_note(out, "assumed attention in one kernel: cp splits words");
}

/* A kernel that a row names may be slower on its device than that of its framework, or made for the device where that
 * of its framework is not. */
static void set_attention_kernel(pace_step_row *out, const pace_step_reader *r, size_t row) {
    static const pace_step_column columns[] = {PACE_STEP_FLASH, PACE_STEP_NOTES, PACE_STEP_FRAMEWORK};
    for (size_t i = 0; i < PACE_COUNT(columns); i++) {
        const char *of = pace_step_said(r->things, "attention_kernel", pace_step_cell(r, row, columns[i]));
        if (!of) continue;
        double named = pace_frameworks_attention(&r->things->frameworks, out->device->name, of);
        out->attention = strcmp(of, "made") == 0 ? 1 : fmax(out->attention, named);
    }
}

/* Of a list in `says`, notes and the framework's words. */
static const char *said_beside(const pace_step_reader *r, size_t row, const char *list) {
    const char *said = pace_step_said(r->things, list, pace_step_cell(r, row, PACE_STEP_NOTES));
    return said ? said : pace_step_said(r->things, list, pace_step_cell(r, row, PACE_STEP_FRAMEWORK));
}

/* Where no column says, notes and the framework's words do. */
static void set_loss(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *said = said_beside(r, row, "loss_notes");
    if (!said || out->config.cross_entropy != PACE_CROSS_ENTROPY_USUAL) return;
    if (pace_config_set(&out->config, "cross_entropy", said) == PACE_OK)
        pace_step_note(out, "took cross_entropy %s", said);
}

/* Where no column says, notes and the framework's words do. */
static void set_attention(pace_step_row *out, const pace_step_reader *r, size_t row) {
    set_attention_kernel(out, r, row);
    const char *text = pace_step_cell(r, row, PACE_STEP_FLASH), *said = pace_step_said(r->things, "attention", text);
    if (!*text) said = said_beside(r, row, "attention_notes");
    if (pace_step_flag(text) >= 0)
        out->config.attention = pace_step_flag(text) ? PACE_ATTENTION_FUSED : PACE_ATTENTION_MATH;
    else if (said) out->config.attention = strcmp(said, "math") == 0 ? PACE_ATTENTION_MATH : PACE_ATTENTION_FUSED;
    else if (*text) note_unknown(out, r, row, PACE_STEP_FLASH);
    else split_attention(out, r, row);
}

static void set_sharding(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_SHARDING), *zero = pace_step_cell(r, row, PACE_STEP_ZERO_STAGE);
    const char *fsdp = pace_step_cell(r, row, PACE_STEP_FSDP);
    size_t digit = strcspn(zero, "0123456789"); /* "2", "ZeRO-3", "stage 1" */
    char plain[96];
    pace_squeeze(plain, sizeof plain, text, "");
    const char *said = pace_step_said(r->things, "zero", plain);
    double ranks;
    pace_config *config = &out->config;
    bool staged = zero[digit] && zero[digit] <= '3' && *zero != '-' && !pace_is_alnum(zero[digit + 1]);
    if (*zero && !staged && pace_step_flag(zero) < 0) pace_step_note(out, "unknown zero_stage \"%.20s\"", zero);
    out->says_zero = staged || said;
    if (staged) config->zero_stage = zero[digit] - '0';
    else if (pace_step_flag(fsdp) == 1 || (pace_step_number(&ranks, r, row, PACE_STEP_FSDP) && ranks > 1))
        config->zero_stage = 3;
    else if (pace_step_says(text, "fsdp=")) config->zero_stage = strstr(text, "=0") ? 1 : 3;
    else if (said && pace_number_parse(&ranks, said)) config->zero_stage = ranks;
    else if (pace_step_flag(pace_step_cell(r, row, PACE_STEP_DIST_OPT)) >= 0)
        config->zero_stage = pace_step_flag(pace_step_cell(r, row, PACE_STEP_DIST_OPT));
    const char *parallel = pace_step_cell(r, row, PACE_STEP_SEQ_PAR);
    if (pace_step_flag(parallel) >= 0) config->sequence_parallel = pace_step_flag(parallel);
    else if (*parallel && !(pace_step_number(&ranks, r, row, PACE_STEP_SEQ_PAR) && ranks >= 0))
        pace_step_note(out, "unknown sequence_parallel \"%.20s\"", parallel);
    if (pace_step_number(&ranks, r, row, PACE_STEP_ZERO_GROUP)) config->zero_group = ranks;
}

static void set_schedule(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_SCHEDULE);
    static const char *const usual[] = {"1f1b", "interleave", "pipedream"};
    bool known = pace_step_flag(text) >= 0;
    for (size_t i = 0; i < PACE_COUNT(usual); i++) known |= pace_step_says(text, usual[i]);
    if (pace_step_says(text, "gpipe") || pace_step_says(text, "afab")) out->config.schedule = PACE_SCHEDULE_GPIPE;
    if (pace_step_says(text, "zb") || pace_step_says(text, "zero")) out->config.schedule = PACE_SCHEDULE_ZERO_BUBBLE;
    if (pace_step_says(text, "zbv") || pace_step_says(text, "zb-v")) out->config.schedule = PACE_SCHEDULE_ZB_V;
    bool v = pace_step_says(text, "dualpipev") || pace_step_says(text, "dualpipe-v");
    if (v) out->config.schedule = PACE_SCHEDULE_DUALPIPE_V;
    if (!known && out->config.schedule == PACE_SCHEDULE_1F1B) note_unknown(out, r, row, PACE_STEP_SCHEDULE);
    if (!v && pace_step_says(text, "dualpipe")) out->config.schedule = PACE_SCHEDULE_DUALPIPE;
}

/* Adapters whose rank no column says are not counted, but what they leave frozen. */
static void set_adapters(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *task = pace_step_cell(r, row, PACE_STEP_TASK), *model = pace_step_cell(r, row, PACE_STEP_MODEL);
    bool adapts = pace_step_says(task, "lora") || pace_step_says(model, "lora");
    bool packed = pace_step_says(task, "qlora") || pace_step_says(model, "qlora");
    const char *rank = strchr(task, '='); /* "LoRA r=16" */
    if (adapts && out->config.lora == 0 && rank && pace_is_digit(rank[1]))
        pace_number_read(&out->config.lora, rank + 1);
    if (packed && out->config.lora > 0 && !out->config.quantized) out->config.quantized = PACE_QUANTIZED_NF4_TWICE;
    if (packed && !out->config.quantized)
        pace_step_note(out, "QLoRA's weights of 4 bits are counted and multiplied in 16");
    if (!adapts || out->config.mode != PACE_TRAINING || out->config.lora > 0 || out->config.frozen > 0) return;
    out->config.frozen = 1;
    pace_step_note(out, "adapters not counted: no column lora has their rank");
    pace_step_doubt(out, r, PACE_DOUBT_ROW_ADAPTERS);
}

/* Where notes say so, or the framework does. */
static void widen_unpacked(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *notes = pace_step_cell(r, row, PACE_STEP_NOTES);
    bool widens = out->framework->widens_packed > 0 || pace_step_said(r->things, "unpacked_notes", notes);
    if (!widens || !pace_step_widen_packed(&out->config)) return;
    pace_step_note(out, "took %s: what is not packed is in single precision",
                   pace_config_word(&out->config, "precision"));
}

/* Whether parts of the step, or all of it, can be captured as the rest of the row has it. */
static bool can_capture(const pace_step_row *row) {
    return pace_config_check_parts(&row->config) == PACE_OK &&
           pace_model_check_graphs(row->model, &row->config) == PACE_OK &&
           pace_framework_check_graphs(row->framework, &row->config, row->device) == PACE_OK;
}

/* The closed form of others' steps knows no graphs: they run as `usual`. */
static void drop_graph(pace_step_row *out, int usual) {
    bool lowered = pace_framework_is_lowered(out->framework);
    if (out->config.execution != PACE_CUDA_GRAPH || (lowered && can_capture(out))) return;
    pace_step_note(out,
                   lowered ? "not counted: execution graph" : "no effect unless framework=pytorch: execution graph");
    out->config.execution = usual;
}

static void drop_parts(pace_step_row *out) {
    if (!out->config.graphs || can_capture(out)) return;
    pace_step_note(out, "not counted: device graphs of %s", pace_config_word(&out->config, "graphs"));
    out->config.graphs = PACE_GRAPHS_NONE;
}

/* Megatron's methods: so many first layers of a chunk, or all in groups of so many, of which the first one's input is
 * kept. */
static void set_recompute_method(pace_step_row *out, const pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    const char *method = pace_step_cell(r, row, PACE_STEP_RECOMPUTE_METHOD);
    bool groups = pace_step_says(method, "uniform");
    if (!groups && !pace_step_says(method, "block")) note_unknown(out, r, row, PACE_STEP_RECOMPUTE_METHOD);
    else if (config->recompute != PACE_RECOMPUTE_FULL)
        pace_step_note(out, "recompute_method has no effect without recompute=full");
    if (config->recompute != PACE_RECOMPUTE_FULL || !groups) return;
    if (config->recompute_layers > 1)
        pace_step_note(out, "not counted: recomputation in groups of %.0f layers", config->recompute_layers);
    config->recompute_layers = 0;
}

bool pace_step_row_words(pace_step_row *out, const pace_step_reader *r, size_t row) {
    int usual = out->config.execution;
    bool says;
    set_mode(out, r, row);
    set_recompute(out, r, row);
    set_execution(out, r, row);
    set_graphs(out, r, row);
    set_layout(out, r, row);
    set_attention(out, r, row);
    set_sharding(out, r, row);
    set_schedule(out, r, row);
    bool known = set_precision(out, &says, r, row);
    pace_step_row_fields(out, r, row);
    set_recompute_method(out, r, row);
    set_loss(out, r, row);
    set_fp8(out, r, row);
    drop_graph(out, usual);
    drop_parts(out);
    set_adapters(out, r, row);
    if (!says) take_usual_precision(out, r);
    widen_unpacked(out, r, row);
    return known;
}
