/* What a model is and needs in all: parameters, arithmetic, and the bytes it keeps for backward. */
#include "model/layer_kinds.h"
#include "model/recompute.h"

/* Elements of a sample's tensor on one rank: context parallelism splits the sequence, sequence parallelism what tensor
 * parallelism leaves whole. */
static double elements_on_rank(const pace_shape *shape, const pace_config *config, double sequence) {
    bool split = shape->sharded || (shape->sequence && config->sequence_parallel > 0);
    return pace_shape_elements(shape, sequence / config->cp) / (split ? config->tp : 1);
}

/* --- what kinds of layers keep beside their input and output ------------------------------------------------------ */

static double elements_of(const pace_model *model, const pace_layer *layer, const pace_config *config) {
    return elements_on_rank(&layer->shape, config, pace_model_sequence(model, config));
}

double pace_kept_mask(const pace_model *model, const pace_layer *layer, const pace_config *config, int element_bytes) {
    (void)element_bytes;
    return layer->option[PACE_OPTION_P] > 0 ? elements_of(model, layer, config) : 0;
}

/* The sums of squares, and their power. */
double pace_kept_squares(const pace_model *model, const pace_layer *layer, const pace_config *config,
                         int element_bytes) {
    return 2 * element_bytes * elements_of(model, layer, config);
}

/* Written out: its input in single precision in the place of its own, and what the weight multiplies for the weight's
 * gradient. */
double pace_kept_rms_norm(const pace_model *model, const pace_layer *layer, const pace_config *config,
                          int element_bytes) {
    if (config->execution != PACE_EAGER || config->fuses_norms) return 0;
    return (4 - element_bytes + (layer->frozen || config->frozen > 0 ? 0 : element_bytes)) *
           elements_of(model, layer, config);
}

/* Where each maximum was. */
double pace_kept_places(const pace_model *model, const pace_layer *layer, const pace_config *config,
                        int element_bytes) {
    (void)element_bytes;
    return 8 * elements_of(model, layer, config);
}

double pace_kept_softmax(const pace_model *model, const pace_layer *layer, const pace_config *config,
                         int element_bytes) {
    (void)element_bytes;
    return 4 * elements_of(model, layer, config);
}

static double tokens_of(const pace_model *model, const pace_shape *shape, const pace_config *config) {
    return shape->sequence ? pace_model_sequence(model, config) : shape->height * shape->width;
}

double pace_kept_attention(const pace_model *model, const pace_layer *layer, const pace_config *config,
                           int element_bytes) {
    double heads = layer->option[PACE_OPTION_HEADS] / (layer->shape.sharded ? config->tp : 1);
    double window = layer->shape.sequence ? 0 : layer->option[PACE_OPTION_WINDOW]; /* a mask hides scores, no more */
    double queries = tokens_of(model, &layer->shape, config);
    double rows = heads * queries / (layer->shape.sequence ? config->cp : 1);
    if (!pace_model_forms_scores(model, config)) return rows * 4; /* a scale per row */
    double keys = tokens_of(model, &pace_layer_input(model, layer, layer->input_count - 1)->shape, config);
    double scores = rows * (window > 0 ? window : keys);
    bool cast = pace_config_is_amp(config) || (config->wide_softmax && element_bytes < 4);
    bool dropped = layer->option[PACE_OPTION_DROPOUT] > 0;
    double softmax = cast ? 4 : element_bytes,
           given = cast || dropped ? element_bytes : 0; /* to the product behind it */
    return scores * (softmax + given + dropped);        /* and dropout's mask */
}

double pace_kept_additive_attention(const pace_model *model, const pace_layer *layer, const pace_config *config,
                                    int element_bytes) {
    double sequence = pace_model_sequence(model, config);
    return element_bytes * sequence * sequence * (pace_layer_input(model, layer, 0)->shape.channels + 1);
}

/* Four gates, the cell and its tanh. */
double pace_kept_lstm(const pace_model *model, const pace_layer *layer, const pace_config *config, int element_bytes) {
    return 6 * element_bytes * elements_of(model, layer, config) * layer->option[PACE_OPTION_LAYERS];
}

/* Transformer Engine casts inputs of products, and keeps them so for the gradients of weights. */
static bool keeps_fp8(const pace_layer *layer, const pace_config *config) {
    bool whole = config->recompute == PACE_RECOMPUTE_FULL || pace_layer_is_of_selection(layer, config);
    bool product = layer->kind == PACE_LAYER_LINEAR || layer->rule->expert_elements;
    return product && config->keeps_fp8 && pace_config_is_fp8(config) && layer->segment > 0 && !whole;
}

/* Experts that are weighed before their last product keep what their activation gives for the gradient of the weights,
 * and the product of both. One kernel does both of a gated unit, and forms the former anew
 * (megatron/core/transformer/moe/experts.py and core/fusions/fused_bias_swiglu.py). */
double pace_kept_experts(const pace_model *model, const pace_layer *layer, const pace_config *config,
                         int element_bytes) {
    const double *option = layer->option;
    double up = option[PACE_OPTION_GATED] > 0 ? 2 : 1;
    double input = keeps_fp8(layer, config) ? 1 : element_bytes, output = config->routes_inside ? 0 : element_bytes;
    double unweighed = config->routes_inside && up == 1 ? element_bytes : 0;
    double active = pace_config_modules(config) & PACE_MODULE_MOE_ACT ? 0 : unweighed + input;
    double split = pace_config_expert_split(config), tokens = pace_model_sequence(model, config) / config->cp;
    return tokens * split / config->tp * option[PACE_OPTION_TOPK] *
           ((input + output) * layer->shape.channels + (up * element_bytes + active) * option[PACE_OPTION_FFN] / split);
}

double pace_kept_interaction(const pace_model *model, const pace_layer *layer, const pace_config *config,
                             int element_bytes) {
    (void)config;
    double first = pace_layer_input(model, layer, 0)->shape.channels;
    double vectors = 1 + pace_layer_input(model, layer, 1)->shape.channels / first;
    return element_bytes * vectors * first;
}

/* --- totals ------------------------------------------------------------------------------------------------------- */

/* A view shares its input's memory. */
static uint32_t storage_of(const pace_model *model, uint32_t layer) {
    while (model->layers.items[layer].rule->is_view)
        layer = model->inputs.items[model->layers.items[layer].first_input];
    return layer;
}

static int widest_input(const pace_model *model, const pace_layer *layer, const int *bytes) {
    int widest = 0;
    for (uint32_t i = 0; i < layer->input_count; i++) {
        int here = bytes[model->inputs.items[layer->first_input + i]];
        if (here > widest) widest = here;
    }
    return widest;
}

void pace_model_element_bytes(int *out, const pace_model *model, const pace_config *config) {
    for (size_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        out[i] = pace_layer_element_bytes(layer, config, widest_input(model, layer, out));
    }
}

void pace_model_needs_gradients(bool *out, const pace_model *model, const pace_config *config) {
    for (size_t i = 0; i < model->layers.count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        bool trained = !layer->frozen || config->lora > 0;
        out[i] = trained && (layer->parameters > 0 || layer->option[PACE_OPTION_TIED] > 0);
        for (uint32_t k = 0; k < layer->input_count; k++)
            out[i] = out[i] || out[model->inputs.items[layer->first_input + k]];
    }
}

/* Full recomputation keeps what comes into a segment; selective, all but what attention has between its inputs and its
 * output (Korthikanti et al. 2022, section 5). */
static bool keeps_own(const pace_model *model, uint32_t number, const pace_config *config) {
    const pace_layer *layer = &model->layers.items[number];
    unsigned products = 0;
    if (pace_layer_is_of_selection(layer, config)) return layer->kind == PACE_LAYER_ATTENTION;
    if (config->recompute == PACE_RECOMPUTE_FULL) return layer->segment == 0;
    if (pace_config_modules(config)) return pace_layer_again(model, number, config, &products) != PACE_AGAIN_ALL;
    return config->recompute == PACE_RECOMPUTE_NONE || !layer->rule->recomputed;
}

/* Attention in one kernel needs its output again; so does the product behind it, and holds the same tensor. */
static bool keeps_output(const pace_model *model, const pace_layer *layer, const pace_config *config) {
    bool fused = !pace_model_forms_scores(model, config) && (layer->rule->keeps & PACE_KEEPS_FUSED);
    return fused || (layer->rule->keeps & PACE_KEEPS_OUTPUT);
}

/* Fused, a product of branches is formed with the activation before it, which backward forms anew. */
static bool is_fused_away(const pace_layer *layer, const pace_layer *input, const pace_config *config) {
    return config->execution != PACE_EAGER && layer->kind == PACE_LAYER_MULTIPLY &&
           input->kind == PACE_LAYER_ACTIVATION;
}

static bool keeps_input_of(const pace_model *model, const pace_layer *layer, uint32_t from, const pace_config *config) {
    if (is_fused_away(layer, &model->layers.items[from], config)) return false;
    if (pace_layer_is_dropped(model, from, config)) return false;
    bool whole = config->recompute == PACE_RECOMPUTE_FULL && layer->segment > 0;
    if (whole || pace_layer_is_of_selection(layer, config)) return model->layers.items[from].segment != layer->segment;
    if (layer->frozen && layer->kind == PACE_LAYER_LINEAR) return false; /* only the gradient of its weight needs it */
    return layer->rule->keeps & PACE_KEEPS_INPUT;
}

/* Which outputs are kept, in their own precision and in 8 bits, and how many copies of them in half precision. */
typedef struct {
    bool *kept, *in_fp8;
    unsigned *cast;
} kept_flags;

/* The first product of an adapter, which alone is trained. */
static bool is_adapter(const pace_layer *layer, const pace_config *config) {
    return config->lora > 0 && layer->kind == PACE_LAYER_LINEAR && !layer->frozen &&
           layer->shape.channels == config->lora;
}

/* PEFT's adapters are in single precision beside weights in half (its autocast_adapter_dtype), and each casts its input
 * for itself (its tuners_utils.py, _cast_input_dtype), which autocast casts back. */
static unsigned adapter_copies(const pace_layer *layer, const pace_config *config) {
    if (!config->wide_adapters || !is_adapter(layer, config)) return 0;
    if (pace_config_is_amp(config)) return 1;
    return pace_config_parameter_bytes(config) == 2 ? 2 : 0;
}

/* Autocast hands what computes in half precision a copy of what is wider, and keeps that: weights' copies are shared
 * (torch.autocast's cache), others each product makes for itself where no compiler sees that they are alike. */
static void keep_input(kept_flags *flags, const pace_layer *layer, const pace_config *config, uint32_t from,
                       const int *bytes) {
    bool again = config->recompute == PACE_RECOMPUTE_FULL && layer->segment > 0;
    bool cast = pace_config_is_amp(config) && layer->rule->autocast == PACE_AUTOCAST_HALF && bytes[from] > 2;
    unsigned copies = adapter_copies(layer, config);
    if (copies > 0 && !again && !pace_layer_is_of_selection(layer, config)) flags->cast[from] += copies;
    else if (!cast || again || pace_layer_is_of_selection(layer, config)) flags->kept[from] = true;
    else if (config->execution == PACE_EAGER || flags->cast[from] == 0) flags->cast[from]++;
}

/* What a layer needs of itself and of its inputs; `products` as of pace_layer_is_selected(). */
static void mark_kept(kept_flags *flags, const pace_model *model, const pace_config *config, uint32_t i, bool learns,
                      unsigned *products, const int *bytes) {
    const pace_layer *layer = &model->layers.items[i];
    bool in_fp8 = layer->kind == PACE_LAYER_LINEAR && keeps_fp8(layer, config);
    if (learns && keeps_own(model, i, config) && keeps_output(model, layer, config)) flags->kept[i] = true;
    if (i == 0 || model->layers.items[i - 1].segment != layer->segment) *products = 0;
    if (pace_layer_is_selected(layer, config, products)) flags->kept[i] = true;
    for (uint32_t k = 0; k < layer->input_count; k++) {
        uint32_t from = model->inputs.items[layer->first_input + k];
        if (!learns || !keeps_input_of(model, layer, from, config)) continue;
        if (in_fp8) flags->in_fp8[storage_of(model, from)] = true;
        else keep_input(flags, layer, config, storage_of(model, from), bytes);
    }
}

static void count_kept(pace_model_kept *out, kept_flags *flags, const int *bytes, const bool *learns,
                       const pace_model *model, const pace_config *config) {
    double sequence = pace_model_sequence(model, config);
    unsigned products = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        const pace_layer *layer = &model->layers.items[i];
        mark_kept(flags, model, config, i, learns[i], &products, bytes);
        if (learns[i] && keeps_own(model, i, config) && layer->rule->kept_extra)
            out->beside_bytes[i] = layer->rule->kept_extra(model, layer, config, bytes[i]);
    }
    for (uint32_t i = 0; i < out->count; i++)
        out->output_bytes[i] = ((flags->kept[i] ? bytes[i] : 0) + flags->in_fp8[i] + 2 * flags->cast[i]) *
                               elements_on_rank(&model->layers.items[i].shape, config, sequence);
}

pace_status pace_model_kept_find(pace_model_kept *out, const pace_model *model, const pace_config *config) {
    size_t count = model->layers.count;
    int *bytes = pace_alloc(count + 1, sizeof *bytes);
    bool *learns = pace_alloc(count + 1, sizeof *learns);
    kept_flags flags = {pace_alloc(count + 1, sizeof *flags.kept), pace_alloc(count + 1, sizeof *flags.in_fp8),
                        pace_alloc(count + 1, sizeof *flags.cast)};
    pace_model_kept kept = {pace_alloc(count + 1, sizeof *kept.output_bytes),
                            pace_alloc(count + 1, sizeof *kept.beside_bytes), (uint32_t)count};
    bool flagged = flags.kept && flags.in_fp8 && flags.cast;
    bool made = bytes && learns && flagged && kept.output_bytes && kept.beside_bytes;
    if (made) pace_model_element_bytes(bytes, model, config);
    if (made) pace_model_needs_gradients(learns, model, config);
    if (made) count_kept(&kept, &flags, bytes, learns, model, config);
    PACE_FREE(bytes, learns, flags.kept, flags.in_fp8, flags.cast);
    return PACE_GIVE(out, kept, made ? PACE_OK : PACE_E_MEMORY, pace_model_kept_free(&kept));
}

void pace_model_kept_free(pace_model_kept *kept) { PACE_FREE(kept->output_bytes, kept->beside_bytes); }

double pace_model_kept_of(const pace_model_kept *kept, uint32_t first, uint32_t last) {
    double sum = 0;
    for (uint32_t i = first; i <= last && i < kept->count; i++) sum += kept->beside_bytes[i];
    for (uint32_t i = first; i <= last && i < kept->count; i++) sum += kept->output_bytes[i];
    return sum;
}

double pace_model_kept_bytes(const pace_model *model, const pace_config *config, uint32_t first, uint32_t last) {
    pace_model_kept kept;
    if (pace_model_kept_find(&kept, model, config) != PACE_OK) return 0;
    double sum = pace_model_kept_of(&kept, first, last);
    pace_model_kept_free(&kept);
    return sum;
}

double pace_model_scores(const pace_model *model, const pace_config *config, uint32_t first, uint32_t last) {
    double sum = 0, sequence = pace_model_sequence(model, config);
    for (uint32_t i = first; i <= last && i < model->layers.count; i++)
        if (model->layers.items[i].rule->kept_extra == pace_kept_softmax)
            sum += elements_on_rank(&model->layers.items[i].shape, config, sequence);
    return sum;
}

double pace_optimizer_states(const pace_config *config) {
    const double in_8_bits = (1 + 4.0 / 256) / pace_config_parameter_bytes(config);
    switch ((pace_optimizer)config->optimizer) {
    case PACE_SGD:
    case PACE_ADAFACTOR: /* of a matrix a row and a column: next to nothing */
    case PACE_NO_UPDATE: return 0;
    case PACE_MOMENTUM:
    case PACE_LION: return 1;
    case PACE_ADAM:
    case PACE_ADAMW:
    case PACE_LAMB: return 2;
    case PACE_ADAMW_8BIT: return 2 * in_8_bits;
    }
    return 0;
}

pace_model_totals pace_model_total(const pace_model *model, const pace_config *config) {
    pace_model_totals total = {0};
    double sequence = pace_model_sequence(model, config), held = pace_config_parameter_bytes(config);
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        total.parameters += layer->parameters;
        total.tensors += layer->tensors;
        if (!layer->frozen) total.trained += layer->parameters;
        double packed = layer->rule->expert_elements ? layer->rule->expert_elements(layer) : layer->parameters;
        if (layer->packed > 0) total.weight_bytes += packed * (layer->packed - held);
        if (layer->training_only) continue;
        total.multiply_adds += pace_layer_multiply_adds(layer, sequence);
    }
    total.activation_bytes = pace_model_kept_bytes(model, config, 0, UINT32_MAX);
    total.weight_bytes += total.parameters * held;
    total.gradient_bytes = total.trained * held;
    total.optimizer_bytes = total.trained * held * pace_optimizer_states(config);
    return total;
}
