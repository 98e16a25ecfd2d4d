#include "plan/framework.h"
#include "base/print.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static pace_status fail_at(const pace_yaml *yaml, const pace_yaml_node *node, const char *expected) {
    return pace_yaml_fail(yaml, node, "expected %s", expected);
}

static pace_status read_words(pace_framework *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    pace_config config = pace_config_default();
    static const char *const keys[] = {"execution", "attention", "precision", "recompute"};
    for (size_t i = 0; i < PACE_COUNT(keys); i++) {
        const char *word = pace_yaml_text_of(node, keys[i]);
        if (!word) return fail_at(yaml, node, keys[i]);
        PACE_TRY(pace_config_set(&config, keys[i], word));
    }
    const char *layout = pace_yaml_text_of(node, "layout");
    if (layout) PACE_TRY(pace_config_set(&config, "layout", layout));
    out->layout = config.layout;
    out->execution = config.execution;
    out->attention = config.attention;
    out->precision = config.precision;
    out->recompute = config.recompute;
    return PACE_OK;
}

static pace_status read_zero_stages(pace_framework *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const pace_yaml_node *stages = pace_yaml_get(node, "zero_stages");
    for (int i = 0; i < PACE_ZERO_STAGES; i++) out->zero_known[i] = !stages;
    PACE_YAML_EACH (one, stages) {
        double stage;
        PACE_TRY(pace_yaml_number(&stage, yaml, one));
        if (!(stage >= 0 && stage < PACE_ZERO_STAGES)) return fail_at(yaml, stages, "stages from 0 to 3");
        out->zero_known[(int)stage] = true;
    }
    return PACE_OK;
}

static pace_status read_schedules(pace_framework *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const pace_yaml_node *all = pace_yaml_get(node, "schedules");
    out->schedule_known[PACE_SCHEDULE_1F1B] = true;
    PACE_YAML_EACH (one, all) {
        pace_config config = pace_config_default();
        const char *word = pace_yaml_text(one);
        if (!word || pace_config_set(&config, "schedule", word) != PACE_OK)
            return fail_at(yaml, all, "orders of pipelines");
        out->schedule_known[config.schedule] = true;
    }
    return PACE_OK;
}

typedef struct {
    const char *key;
    double *value, scale, most;
} named_number;

/* Optional values stay as they are unless given. */
static pace_status read_numbers(const named_number *numbers, size_t count, bool optional, const pace_yaml *yaml,
                                const pace_yaml_node *node) {
    for (size_t i = 0; i < count; i++) {
        const pace_yaml_node *value = pace_yaml_get(node, numbers[i].key);
        double number;
        if (!value && optional) continue;
        if (!value) return fail_at(yaml, node, numbers[i].key);
        PACE_TRY(pace_yaml_number(&number, yaml, value));
        if (!(number >= 0 && number <= numbers[i].most)) return fail_at(yaml, value, "a number within its range");
        *numbers[i].value = number * numbers[i].scale;
    }
    return PACE_OK;
}

static pace_status read_framework(pace_framework *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    *out = (pace_framework){.loss.kept = 4, .gathered_part = 1};
    const named_number needed[] = {{"launch_us", &out->launch_s, 1e-6, 1e4},
                                   {"dispatch_us", &out->dispatch_s, 1e-6, 1e5},
                                   {"gradient_bytes", &out->gradient_bytes, 1, 8},
                                   {"state_bytes", &out->state_bytes, 1, 64},
                                   {"update_bytes", &out->update_bytes, 1, 256},
                                   {"overlap_gradients", &out->overlap_gradients, 1, 1},
                                   {"overlap_pipeline", &out->overlap_pipeline, 1, 1},
                                   {"overlap_tensor", &out->overlap_tensor, 1, 1},
                                   {"overlap_context", &out->overlap_context, 1, 1},
                                   {"overlap_expert", &out->overlap_expert, 1, 1},
                                   {"zero_stage", &out->zero_stage, 1, 3},
                                   {"sequence_parallel", &out->sequence_parallel, 1, 1},
                                   {"step_ms", &out->step_s, 1e-3, 1e4}};
    const named_number others[] = {{"adapter_launch_us", &out->adapter_launch_s, 1e-6, 1e4},
                                   {"expert_us", &out->expert_s, 1e-6, 1e5},
                                   {"gathered_module_us", &out->gathered_module_s, 1e-6, 1e5},
                                   {"update_launches", &out->update_launches, 1, 100},
                                   {"software_spread", &out->software_spread, 1, 1},
                                   {"whole_batches", &out->whole_batches, 1, 1},
                                   {"accumulates", &out->accumulates, 1, 1},
                                   {"launches_wait", &out->launches_wait, 1, 1},
                                   {"sums_whole", &out->sums_whole, 1, 1},
                                   {"bf16_gradient_bytes", &out->bf16_gradient_bytes, 1, 8},
                                   {"buffer_bytes", &out->buffer_bytes, 1, 1e11},
                                   {"context_bytes", &out->context_bytes, 1, 1e11},
                                   {"formed_state_bytes", &out->formed_state_bytes, 1, 64},
                                   {"updates_lists", &out->updates_lists, 1, 1},
                                   {"adapter_bytes", &out->adapter_bytes, 1, 8},
                                   {"wide_softmax", &out->wide_softmax, 1, 1},
                                   {"widens_packed", &out->widens_packed, 1, 1},
                                   {"workspaces", &out->workspaces, 1, 16},
                                   {"engine_workspaces", &out->engine_workspaces, 1, 16},
                                   {"grouped_workspaces", &out->grouped_workspaces, 1, 16},
                                   {"loss_kept_bytes", &out->loss.kept, 1, 64},
                                   {"loss_formed_bytes", &out->loss.formed, 1, 64},
                                   {"gathered_part", &out->gathered_part, 1, 1},
                                   {"offloads_gradients", &out->offloads_gradients, 1, 1},
                                   {"compiled_loss_bytes", &out->compiled_loss_bytes, 1, 64},
                                   {"recomputes_some", &out->recomputes_some, 1, 1},
                                   {"reruns_attention", &out->reruns_attention, 1, 1},
                                   {"selects_products", &out->selects_products, 1, 2},
                                   {"keeps_fp8", &out->keeps_fp8, 1, 1},
                                   {"routes_inside", &out->routes_inside, 1, 1},
                                   {"fuses_norms", &out->fuses_norms, 1, 1},
                                   {"parts_loss", &out->parts_loss, 1, 1},
                                   {"sums_beside", &out->sums_beside, 1, 1},
                                   {"tokens_once", &out->tokens_once, 1, 1},
                                   {"whole_experts", &out->whole_experts, 1, 1},
                                   {"sums_in_convolutions", &out->sums_in_convolutions, 1, 1},
                                   {"pixels_as_laid", &out->pixels_as_laid, 1, 1},
                                   {"nchw_until", &out->nchw_until, 1, 1000},
                                   {"from_generation", &out->from_generation, 1, 1000},
                                   {"interleaves", &out->interleaves, 1, 1},
                                   {"one_stage", &out->one_stage, 1, 1},
                                   {"ungrouped", &out->ungrouped, 1, 1},
                                   {"staged_zero", &out->staged_zero, 1, 3},
                                   {"scatter_messages", &out->scatter_messages, 1, 1}};
    const char *name = pace_yaml_text_of(node, "name");
    if (!name || strlen(name) >= sizeof out->name) return fail_at(yaml, node, "a framework with a short name");
    snprintf(out->name, sizeof out->name, "%s", name);
    out->about = pace_yaml_text_of(node, "about");
    out->release_of = pace_yaml_text_of(node, "release_of");
    PACE_TRY(read_numbers(needed, PACE_COUNT(needed), false, yaml, node));
    out->adapter_launch_s = out->launch_s;
    PACE_TRY(read_numbers(others, PACE_COUNT(others), true, yaml, node));
    PACE_TRY(read_zero_stages(out, yaml, node));
    PACE_TRY(read_schedules(out, yaml, node));
    return read_words(out, yaml, node);
}

static pace_status read_attention(pace_attention_kernel_entry *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *device = pace_yaml_text_of(node, "device");
    const char *framework = pace_yaml_text_of(node, "framework");
    const pace_yaml_node *factor = pace_yaml_get(node, "factor");
    if (!device || !framework || !factor) return fail_at(yaml, node, "device, framework and factor");
    snprintf(out->device, sizeof out->device, "%.23s", device);
    snprintf(out->framework, sizeof out->framework, "%.31s", framework);
    return pace_yaml_number(&out->factor, yaml, factor);
}

/* What a device's memory holds besides, whatever the framework; none unless given. */
static pace_status read_held(pace_frameworks *out) {
    const pace_yaml_node *held = pace_yaml_get(pace_yaml_root(out->yaml), "held");
    static const char *const keys[] = {"workspace",     "workspace_hopper", "context",
                                       "communicators", "workspace_engine", "cached"};
    double bytes[PACE_COUNT(keys)] = {0};
    for (size_t i = 0; held && i < PACE_COUNT(keys); i++) {
        const pace_yaml_node *value = pace_yaml_get(pace_yaml_get(held, keys[i]), "bytes");
        if (!value) return fail_at(out->yaml, held, keys[i]);
        PACE_TRY(pace_yaml_number(&bytes[i], out->yaml, value));
        if (!(bytes[i] >= 0)) return fail_at(out->yaml, value, "bytes");
    }
    for (size_t i = 0; i < out->count; i++) {
        out->items[i].workspace_bytes[0] = bytes[0], out->items[i].workspace_bytes[1] = bytes[1];
        if (out->items[i].context_bytes == 0) out->items[i].context_bytes = bytes[2];
        out->items[i].communicator_bytes = bytes[3];
        out->items[i].engine_bytes = bytes[4];
        out->items[i].cached_bytes = bytes[5];
    }
    return PACE_OK;
}

/* Of cross entropies that a question names; parts, native, in_place, linear, as pace_cross_entropy has them. */
static pace_status read_losses(pace_frameworks *out) {
    const pace_yaml_node *losses = pace_yaml_get(pace_yaml_root(out->yaml), "losses");
    static const char *const keys[PACE_CROSS_ENTROPIES] = {NULL, "parts", "native", "in_place", "linear"};
    for (size_t i = 1; losses && i < PACE_COUNT(keys); i++) {
        const pace_yaml_node *one = pace_yaml_get(losses, keys[i]);
        pace_loss_bytes loss;
        if (!one) return fail_at(out->yaml, losses, keys[i]);
        const named_number bytes[] = {{"kept", &loss.kept, 1, 64}, {"formed", &loss.formed, 1, 64}};
        PACE_TRY(read_numbers(bytes, PACE_COUNT(bytes), false, out->yaml, one));
        for (size_t k = 0; k < out->count; k++) out->items[k].losses[i] = loss;
    }
    return PACE_OK;
}

static pace_status read_all(pace_frameworks *out) {
    const pace_yaml_node *root = pace_yaml_root(out->yaml), *list = pace_yaml_get(root, "frameworks");
    if (pace_yaml_count(list) < 1 || pace_yaml_count(list) > PACE_FRAMEWORKS_MOST)
        return fail_at(out->yaml, list ? list : root, "1 to 24 frameworks");
    for (; out->count < pace_yaml_count(list); out->count++)
        PACE_TRY(read_framework(&out->items[out->count], out->yaml, pace_yaml_item(list, out->count)));
    PACE_TRY(read_held(out));
    PACE_TRY(read_losses(out));
    const pace_yaml_node *attention = pace_yaml_get(root, "attention");
    if (pace_yaml_count(attention) > PACE_FRAMEWORKS_MOST) return fail_at(out->yaml, attention, "at most 24 kernels");
    for (; out->attention_count < pace_yaml_count(attention); out->attention_count++)
        PACE_TRY(read_attention(&out->attention[out->attention_count], out->yaml,
                                pace_yaml_item(attention, out->attention_count)));
    const struct {
        const char *key, *expected;
        double *into;
    } figures[] = {{"micro_batch_most", "micro_batch_most: {value: ...}", &out->micro_batch_most},
                   {"mixed_parameters", "mixed_parameters: {value: ...}", &out->mixed_parameters},
                   {"plan_tokens", "plan_tokens: {value: ...}", &out->plan_tokens},
                   {"plan_clicks", "plan_clicks: {value: ...}", &out->plan_clicks},
                   {"plan_samples", "plan_samples: {value: ...}", &out->plan_samples},
                   {"plan_tie", "plan_tie: {value: ...}", &out->plan_tie},
                   {"plan_spread", "plan_spread: {value: ...}", &out->plan_spread}};
    for (size_t i = 0; i < PACE_COUNT(figures); i++) {
        const pace_yaml_node *value = pace_yaml_get(pace_yaml_get(root, figures[i].key), "value");
        if (!value) return fail_at(out->yaml, root, figures[i].expected);
        PACE_TRY(pace_yaml_number(figures[i].into, out->yaml, value));
    }
    return PACE_OK;
}

static pace_status read_spreads(pace_step_spreads *out, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *spreads = pace_yaml_get(root, "spreads");
    const struct {
        const char *key;
        double *into;
    } keys[] = {{"matrix", &out->matrix},   {"attention", &out->attention},
                {"stream", &out->stream},   {"inside", &out->inside},
                {"between", &out->between}, {"launch", &out->launch},
                {"step", &out->step},       {"rest", &out->rest}};
    for (size_t i = 0; i < PACE_COUNT(keys); i++) {
        const pace_yaml_node *value = pace_yaml_get(spreads, keys[i].key);
        if (!value) return fail_at(yaml, spreads ? spreads : root, "spreads of all parts of a step");
        PACE_TRY(pace_yaml_number(keys[i].into, yaml, value));
        if (!(*keys[i].into > 0 && *keys[i].into <= 2)) return fail_at(yaml, value, "a spread above 0, at most 2");
    }
    return PACE_OK;
}

pace_status pace_frameworks_load(pace_frameworks *out, pace_catalog *catalog) {
    pace_frameworks read = {0};
    PACE_TRY(pace_catalog_document(&read.yaml, catalog, "steps.yaml"));
    PACE_TRY(read_all(&read));
    PACE_TRY(read_spreads(&read.spreads, read.yaml));
    *out = read;
    return PACE_OK;
}

double pace_frameworks_attention(const pace_frameworks *frameworks, const char *device, const char *framework) {
    for (size_t i = 0; i < frameworks->attention_count; i++) {
        const pace_attention_kernel_entry *entry = &frameworks->attention[i];
        if (strcmp(entry->framework, framework) == 0 && strncmp(device, entry->device, strlen(entry->device)) == 0)
            return entry->factor;
    }
    return 1;
}

static bool contains(const char *text, const char *word) {
    for (size_t length = strlen(word); *text; text++) {
        size_t i = 0;
        while (i < length && pace_lower(text[i]) == word[i]) i++;
        if (i == length) return true;
    }
    return false;
}

/* The words of one framework, its name first; NULL behind the last. */
static const char *word_of(const pace_frameworks *frameworks, size_t framework, size_t number) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(frameworks->yaml), "frameworks");
    const pace_yaml_node *words = pace_yaml_get(pace_yaml_item(list, framework), "words");
    if (number == 0) return frameworks->items[framework].name;
    return number <= pace_yaml_count(words) ? pace_yaml_text(pace_yaml_item(words, number - 1)) : NULL;
}

/* A release has its words beside those of its framework. */
static const pace_framework *containing(const pace_frameworks *frameworks, const char *text) {
    const pace_framework *found = NULL;
    size_t longest = 0; /* "torchtitan" is more than "torch" */
    const char *known;
    for (size_t i = 0; i < frameworks->count; i++)
        for (size_t k = 0; (known = word_of(frameworks, i, k)); k++) {
            if (k > 0 && frameworks->items[i].release_of) break;
            if (strlen(known) <= longest || !contains(text, known)) continue;
            longest = strlen(known);
            found = &frameworks->items[i];
        }
    return found;
}

const pace_framework *pace_frameworks_find(const pace_frameworks *frameworks, const char *word) {
    const pace_framework *found = containing(frameworks, word);
    return found ? found : &frameworks->items[0];
}

static const char *closest(const pace_frameworks *frameworks, const char *name) {
    const char *best = frameworks->items[0].name, *known;
    for (size_t i = 0; i < frameworks->count; i++)
        for (size_t k = 0; (known = word_of(frameworks, i, k)); k++) best = pace_word_nearer(name, best, known);
    return best;
}

static pace_status fail_unknown(const pace_frameworks *frameworks, const char *name) {
    char known[400] = "";
    for (size_t i = 0; i < frameworks->count; i++)
        pace_list(known, sizeof known, ", ", "%s", frameworks->items[i].name);
    return pace_fail(PACE_E_USAGE, "framework: expected one of %s, found '%.60s'; the closest is '%s'", known, name,
                     closest(frameworks, name));
}

pace_status pace_frameworks_named(const pace_framework **out, const pace_frameworks *frameworks, const char *name) {
    const pace_framework *found = containing(frameworks, name);
    if (!found) return fail_unknown(frameworks, name);
    *out = found;
    return PACE_OK;
}

const pace_framework *pace_frameworks_released(const pace_frameworks *frameworks, const pace_framework *of,
                                               const char *text, const pace_device *device) {
    const char *known;
    for (size_t i = 0; i < frameworks->count; i++) {
        const pace_framework *one = &frameworks->items[i];
        bool runs = device && device->generation >= one->from_generation;
        if (!one->release_of || strcmp(one->release_of, of->name) != 0 || !runs) continue;
        for (size_t k = 1; (known = word_of(frameworks, i, k)); k++)
            if (contains(text, known)) return one;
    }
    return of;
}

bool pace_framework_stages_zero(const pace_framework *framework, const pace_config *config) {
    return config->pp == 1 || framework->staged_zero == 0 || config->zero_stage <= framework->staged_zero;
}

bool pace_framework_lacks(char *out, size_t size, const pace_framework *framework, const pace_config *config) {
    bool staged = config->pp > 1, shards = config->zero_stage > 0;
    if (size) *out = '\0';
    if (staged && framework->one_stage > 0) pace_list(out, size, ", ", "stages of a pipeline (pp)");
    if (config->vpp > 1 && !(framework->interleaves > 0)) pace_list(out, size, ", ", "chunks of stages (vpp)");
    if (!framework->zero_known[(int)config->zero_stage] && shards)
        pace_list(out, size, ", ", "ZeRO %g", config->zero_stage);
    else if (!pace_framework_stages_zero(framework, config))
        pace_list(out, size, ", ", "ZeRO %g beside a pipeline", config->zero_stage);
    if (shards && config->zero_group > 0 && framework->ungrouped > 0)
        pace_list(out, size, ", ", "ZeRO over a part of the replicas (zero_group)");
    return size && *out;
}

void pace_framework_defaults(pace_config *config, const pace_framework *framework) {
    config->recompute_modules = framework->reruns_attention > 0 ? PACE_MODULE_CORE_ATTN : 0;
    config->selects_products = (unsigned)framework->selects_products;
    config->keeps_fp8 = framework->keeps_fp8 > 0;
    config->routes_inside = framework->routes_inside > 0;
    config->wide_adapters = framework->adapter_bytes > 2;
    config->wide_softmax = framework->wide_softmax > 0;
    config->pixels_as_laid = framework->pixels_as_laid > 0;
    config->fuses_norms = framework->fuses_norms > 0;
    config->parts_loss = framework->parts_loss > 0;
    config->sums_beside = framework->sums_beside > 0;
    config->tokens_once = framework->tokens_once > 0;
    config->whole_experts = framework->whole_experts > 0;
    config->sums_in_convolutions = framework->sums_in_convolutions > 0;
    config->layout = framework->layout;
    config->execution = framework->execution;
    config->attention = framework->attention;
    config->zero_stage = framework->zero_stage;
    config->sequence_parallel = framework->sequence_parallel;
}

void pace_framework_lay_out(pace_config *config, const pace_framework *framework, const pace_device *device) {
    bool newer = framework->nchw_until > 0 && device->generation > framework->nchw_until;
    if (newer && config->layout == PACE_LAYOUT_NCHW) config->layout = PACE_LAYOUT_NHWC;
}

pace_status pace_framework_check_graphs(const pace_framework *framework, const pace_config *config,
                                        const pace_device *device) {
    bool blocks = config->graphs == PACE_GRAPHS_ATTENTION || config->graphs == PACE_GRAPHS_BLOCKS;
    bool step = config->execution == PACE_CUDA_GRAPH;
    if ((config->graphs || step) && device->is_cpu)
        return pace_fail(PACE_E_USAGE, "%s: %s is a CPU, whose host launches nothing",
                         step ? "execution graph" : "graphs", device->name);
    if (!blocks || config->execution != PACE_COMPILED || !pace_framework_is_lowered(framework)) return PACE_OK;
    return pace_fail(
        PACE_E_USAGE,
        "graphs %s: expected execution eager, found compiled, which fuses across blocks: its graphs are of "
        "passes",
        pace_config_word(config, "graphs"));
}
