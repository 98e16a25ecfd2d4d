/*
 * The report of `paceline models`: the models of the catalogue as a table, or one model layer by layer.
 */
#include "model/model_catalog.h"
#include "model/model_settings.h"
#include "report/engines.h"
#include "report/predict/predict_parts.h"
#include "report/show.h"
#include "report/table.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *family;
    pace_model_totals total;
    int64_t parameters, multiply_adds, layers, sequence;
} model_row;

PACE_TABLE(models, "models", "Models", PACE_FOR_ALL, 0, {"name", "Model", PACE_SHOW_TEXT, PACE_OF(model_row, name)},
           {"family", NULL, PACE_SHOW_TEXT, PACE_OF(model_row, family)},
           {"parameters", "Parameters", PACE_SHOW_INT, PACE_OF(model_row, parameters)},
           {"multiply_adds", "Multiply-adds", PACE_SHOW_INT, PACE_OF(model_row, multiply_adds)},
           {"activation_bytes", "Activations", PACE_SHOW_BYTES, PACE_OF(model_row, total.activation_bytes)},
           {"layers", "Layers", PACE_SHOW_INT, PACE_OF(model_row, layers)},
           {"sequence", "Sequence", PACE_SHOW_INT, PACE_OF(model_row, sequence)});

typedef struct {
    const char *name, *kind, *shape;
    int64_t parameters, multiply_adds;
} layer_row;

PACE_TABLE(layers, "layers", "Layers", PACE_FOR_ALL, 0, {"name", "Layer", PACE_SHOW_TEXT, PACE_OF(layer_row, name)},
           {"kind", "Kind", PACE_SHOW_TEXT, PACE_OF(layer_row, kind)},
           {"shape", "Output", PACE_SHOW_TEXT, PACE_OF(layer_row, shape)},
           {"parameters", "Parameters", PACE_SHOW_INT, PACE_OF(layer_row, parameters)},
           {"multiply_adds", "Multiply-adds", PACE_SHOW_INT, PACE_OF(layer_row, multiply_adds)});

static int64_t count_of(double value) { return value > 0 ? (int64_t)value : PACE_NO_INT; }

typedef struct {
    pace_node *table;
    const pace_config *config;
} model_list;

static pace_status add_model(void *context, const pace_model *model) {
    model_list *list = context;
    pace_model_totals total = pace_model_total(model, list->config);
    pace_table_put(list->table, &(model_row){.name = pace_names_text(&model->names, model->name),
                                             .family = pace_names_text(&model->names, model->family),
                                             .total = total,
                                             .parameters = (int64_t)total.parameters,
                                             .multiply_adds = (int64_t)total.multiply_adds,
                                             .layers = (int64_t)model->layers.count,
                                             .sequence = count_of(pace_model_sequence(model, list->config))});
    return PACE_OK;
}

static void explain(pace_node *root, const pace_config *config) {
    pace_node_note(
        root,
        "Per sample. Multiply-adds: one forward pass, causal attention counted in full. Activations: what %s "
        "training keeps for backward, with %s attention.",
        pace_config_word(config, "precision"), pace_config_word(config, "attention"));
}

/* Every model as settings that are no model's own configure it. */
static pace_status describe_all(pace_report *report, pace_catalog *catalog, const pace_words *set) {
    pace_node *root = pace_report_root(report);
    pace_config config = pace_config_default();
    pace_model_settings settings;
    PACE_TRY(pace_model_settings_read(&settings, &config, catalog, set));
    pace_status status = pace_config_check(&config);
    if (status == PACE_OK && config.lora > 0)
        status = pace_fail(PACE_E_USAGE, PACE_FIELD "set lora: adapters need a model's name");
    const pace_model_setting *own = settings.items.count ? &settings.items.items[0] : NULL;
    if (status == PACE_OK && own) status = pace_setting_hint_give(&own->hint, NULL, own->key, own->text);
    if (status == PACE_OK && own)
        status = pace_fail(PACE_E_USAGE, PACE_FIELD "set %.80s: a model's parameter needs a model's name", own->key);
    pace_model_settings_free(&settings);
    PACE_TRY(status);
    pace_node_sentence(root, true,
                       "\"paceline models NAME\" lists the layers of one of these models, \"paceline predict "
                       "NAME --on DEVICE\" tells how long its training step takes.");
    model_list list = {.config = &config};
    list.table = pace_open_table(root, &models, 0);
    PACE_TRY(pace_model_each(catalog, add_model, &list));
    explain(root, &config);
    return PACE_OK;
}

static const char *shape_text(const pace_shape *shape, double sequence) {
    static _Thread_local char text[96];
    int used = shape->sequence ? snprintf(text, sizeof text, "%.0f x ", sequence) : 0;
    used += snprintf(text + used, sizeof text - (size_t)used, "%.0f", shape->channels);
    if (shape->height > 1 || shape->width > 1)
        snprintf(text + used, sizeof text - (size_t)used, " x %.0f x %.0f", shape->height, shape->width);
    return text;
}

static void add_layers(pace_node *root, const pace_model *model, double sequence) {
    pace_node *table = pace_open_table(root, &layers, 0);
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        pace_table_put(table, &(layer_row){pace_names_text(&model->names, layer->name), layer->word,
                                           shape_text(&layer->shape, sequence), count_of(layer->parameters),
                                           count_of(pace_layer_multiply_adds(layer, sequence))});
    }
}

static void add_totals(pace_node *root, const pace_model *model, const pace_model_totals *total, double sequence) {
    pace_node *object = pace_node_object(root, "model", NULL, PACE_FOR_JSON);
    pace_node_text(object, "name", pace_names_text(&model->names, model->name));
    pace_node_text(object, "family", pace_names_text(&model->names, model->family));
    pace_node_text(object, "about", pace_names_text(&model->names, model->about));
    pace_node_text(object, "source", pace_names_text(&model->names, model->source));
    pace_node_int(object, "sequence", count_of(sequence));
    pace_node_int(object, "parameters", (int64_t)total->parameters);
    pace_node_int(object, "parameter_tensors", (int64_t)total->tensors);
    pace_node_int(object, "multiply_adds", (int64_t)total->multiply_adds);
    pace_node_real(object, "activation_bytes", total->activation_bytes);
    pace_node_real(object, "weight_bytes", total->weight_bytes);
    pace_node_real(object, "gradient_bytes", total->gradient_bytes);
    pace_node_real(object, "optimizer_bytes", total->optimizer_bytes);
}

/* Counts are written as 64-bit integers. */
static const double most_counted = 9e18;

static pace_status describe_model(pace_node *root, const char *name, const pace_model *model,
                                  const pace_config *config) {
    pace_model_totals total = pace_model_total(model, config);
    double sequence = pace_model_sequence(model, config);
    if (!(total.parameters < most_counted && total.multiply_adds < most_counted))
        return pace_fail(PACE_E_LIMIT, "%s: expected less than %g multiply-adds, found %g", name, most_counted,
                         total.multiply_adds);
    pace_node_sentence(root, true,
                       "%s: %s parameters, %s multiply-adds forward, %s of "
                       "activations per sample",
                       pace_names_text(&model->names, model->name), pace_show_count(total.parameters).text,
                       pace_show_count(total.multiply_adds).text, pace_show_bytes(total.activation_bytes).text);
    pace_node_sentence(root, false, "%s.", pace_names_text(&model->names, model->about));
    if (model->left_out)
        pace_node_sentence(root, false, "Left out: %s.", pace_names_text(&model->names, model->left_out));
    pace_put_decoder_alone(root, model);
    add_totals(root, model, &total, sequence);
    add_layers(root, model, sequence);
    explain(root, config);
    pace_node_note(root, "Source: %s.", pace_names_text(&model->names, model->source));
    return PACE_OK;
}

/* One model in the configuration that a prediction of it has. */
static pace_status describe_one(pace_report *report, pace_catalog *catalog, const char *name, const pace_words *set) {
    pace_step_asked step = {0};
    pace_status status = pace_step_model_open(&step, catalog, name, set);
    if (status == PACE_OK) status = pace_config_check(&step.asked.config);
    if (status == PACE_OK) status = pace_model_check_parallel(step.asked.model, &step.asked.config);
    if (status == PACE_OK)
        status = describe_model(pace_report_root(report), name, step.asked.model, &step.asked.config);
    pace_step_asked_close(&step);
    return status;
}

/* Layers are the same however many ranks, samples or optimizers there are. */
static pace_status check_set(const pace_words *set) {
    static const char *const of_layers[] = {"precision", "attention",   "sequence",          "tp",
                                            "cp",        "recompute",   "recompute_modules", "sequence_parallel",
                                            "lora",      "lora_layers", "quantized"};
    for (size_t i = 0; pace_config_key(i); i++) {
        const char *key = pace_config_key(i);
        bool acts = false;
        for (size_t k = 0; k < PACE_COUNT(of_layers); k++) acts |= strcmp(key, of_layers[k]) == 0;
        if (!acts && pace_settings_name(set, (const char *const[]){key, NULL}))
            return pace_fail(PACE_E_USAGE,
                             "set: %s has no effect on a model's layers; it is for predict, plan and convert", key);
    }
    return PACE_OK;
}

pace_status pace_models(pace_report **out, pace_context *context, const char *name, const pace_words *set) {
    pace_report *report = NULL;
    const char *framework = set ? pace_framework_asked(set) : NULL;
    if (framework)
        return pace_fail(PACE_E_USAGE, "--set framework=%.80s: expected with `paceline predict MODEL --on` alone",
                         framework);
    PACE_TRY(check_set(set));
    PACE_TRY(pace_report_new(&report, "models", name ? "Model" : "Models"));
    pace_status status =
        name ? describe_one(report, context->catalog, name, set) : describe_all(report, context->catalog, set);
    return pace_report_give(out, report, status);
}
