/* What a row trains: a model of the catalogue, or one of its templates with the row's sizes. */
#include "ask/step_rows/step_cells.h"
#include "ask/rows/column_words.h"
#include "base/decimal.h"
#include "base/print.h"
#include "model/adapters.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SETTINGS = 16 };

typedef struct {
    pace_model_setting items[SETTINGS];
    size_t count;
} settings;

/* Sizes that columns state and models have as parameters; of two columns of one the first that a row fills counts. */
static const struct {
    const char *key;
    pace_step_column column;
} sizes[] = {{"hidden", PACE_STEP_HIDDEN},     {"layers", PACE_STEP_LAYERS},     {"heads", PACE_STEP_HEADS},
             {"head_dim", PACE_STEP_HEAD_DIM}, {"kv_heads", PACE_STEP_KV_HEADS}, {"ffn", PACE_STEP_EXPERT_FFN},
             {"shared", PACE_STEP_SHARED},     {"dense", PACE_STEP_DENSE},       {"mtp", PACE_STEP_AHEAD},
             {"q_rank", PACE_STEP_QUERY_RANK}, {"kv_rank", PACE_STEP_KEY_RANK},  {"ffn", PACE_STEP_FFN},
             {"vocab", PACE_STEP_VOCAB},       {"experts", PACE_STEP_EXPERTS},   {"topk", PACE_STEP_TOPK},
             {"image", PACE_STEP_IMAGE},       {"sliding", PACE_STEP_SLIDING}};

static bool has(double *out, const pace_step_reader *r, size_t row, pace_step_column column) {
    return pace_step_number(out, r, row, column) && *out >= 1 && *out == floor(*out);
}

static void set(settings *to, const char *key, double value) {
    for (size_t i = 0; i < to->count; i++)
        if (strcmp(to->items[i].key, key) == 0) return;
    if (to->count < SETTINGS) to->items[to->count++] = (pace_model_setting){.key = key, .value = value, .text = ""};
}

static bool takes(const pace_model_called *model, size_t size) {
    bool of_experts = sizes[size].column == PACE_STEP_EXPERT_FFN;
    return pace_model_called_takes(model, sizes[size].key) &&
           (!of_experts || pace_model_called_takes(model, "experts"));
}

/* What a row states of the sizes that a model takes. Beside a width of experts another one is that of dense layers. */
static void set_stated(settings *with, const pace_step_reader *r, size_t row, const pace_model_called *model) {
    double value;
    for (size_t i = 0; i < PACE_COUNT(sizes); i++)
        if (takes(model, i) && has(&value, r, row, sizes[i].column)) set(with, sizes[i].key, value);
    bool two = has(&value, r, row, PACE_STEP_EXPERT_FFN) && has(&value, r, row, PACE_STEP_FFN);
    if (two && pace_model_called_takes(model, "dense_ffn")) set(with, "dense_ffn", value);
    const char *window = pace_step_cell(r, row, PACE_STEP_SLIDING);
    if (*window && pace_says_no_window(window) && pace_model_called_takes(model, "sliding")) set(with, "sliding", 0);
    value = pace_model_name_image(pace_step_cell(r, row, PACE_STEP_MODEL));
    if (value > 0 && pace_model_called_takes(model, "image")) set(with, "image", value);
}

static pace_step_model *known(const pace_step_things *things, const char *key) {
    for (size_t i = 0; i < things->models.count; i++)
        if (strcmp(things->models.items[i]->key, key) == 0) return things->models.items[i];
    return NULL;
}

static pace_status add(pace_step_model **out, pace_step_things *things, const char *key) {
    pace_step_model *one = pace_alloc(1, sizeof *one);
    if (!one) return PACE_E_MEMORY;
    one->key = pace_copy_text(key, strlen(key));
    pace_status status = one->key ? PACE_PUSH(&things->models, one) : PACE_E_MEMORY;
    return PACE_GIVE(out, one, status, PACE_FREE(one->key, one));
}

static pace_status load(pace_step_model **out, pace_step_things *things, const char *name, const settings *with) {
    char key[320] = "";
    pace_append(key, sizeof key, "%.79s", name);
    for (size_t i = 0; i < with->count; i++)
        pace_append(key, sizeof key, " %.8s=%.9g", with->items[i].key, with->items[i].value);
    *out = known(things, key);
    if (*out) return PACE_OK;
    pace_step_model *one;
    PACE_TRY(add(&one, things, key));
    if (pace_model_load(&one->model, things->devices.documents, name, with->items, with->count) != PACE_OK)
        snprintf(one->failed, sizeof one->failed, "%.150s", pace_message_in_answer());
    *out = one;
    return PACE_OK;
}

/* --- by name ------------------------------------------------------------------------------------------------------ */

/* The name with the size that stands in a column of its own ("Llama 2", "70B"), else the name alone. */
static const pace_model_called *named(const pace_step_reader *r, size_t row) {
    const char *word = pace_step_cell(r, row, PACE_STEP_MODEL), *size = pace_step_cell(r, row, PACE_STEP_PARAMS_B);
    const pace_model_called *found = NULL;
    double value;
    char both[160];
    if (!*word) return NULL;
    if (*size) {
        bool bare = pace_step_number(&value, r, row, PACE_STEP_PARAMS_B) && pace_step_size_of(size).billions == 0;
        if (bare) pace_snprintf(both, sizeof both, "%.100s-%gb", word, value);
        else snprintf(both, sizeof both, "%.100s-%.40s", word, size);
        found = pace_model_names_find(&r->things->names, both);
    }
    return found ? found : pace_model_names_find(&r->things->names, word);
}

/* A row that names a family and a size which is not that of the model found ("gpt3", 22). Mixtures are counted by what
 * is visited as well, so that theirs says little. */
static bool of_other_size(const pace_step_reader *r, size_t row, const pace_model_called *found,
                          const pace_step_model *model) {
    pace_step_size size = pace_step_size_of(pace_step_cell(r, row, PACE_STEP_PARAMS_B));
    double value, hidden;
    if (size.billions == 0 && pace_step_number(&value, r, row, PACE_STEP_PARAMS_B)) size.billions = value;
    if (!(size.billions > 0) || *model->failed || has(&hidden, r, row, PACE_STEP_HIDDEN)) return false;
    if (pace_model_called_takes(found, "experts") || strcmp(found->family, "deepseek") == 0) return false;
    pace_config plain = pace_config_default();
    double billions = pace_model_total(&model->model, &plain).parameters / 1e9;
    return billions > 1.4 * size.billions || size.billions > 1.4 * billions;
}

/* --- by sizes ----------------------------------------------------------------------------------------------------- */

/* A row that says how many parameters but not how many layers: 12 h^2 each, and the words' table. Stages of a pipeline
 * hold equally many, which a rounded size hides: "183B" on 12 stages has 72 layers rather than 73. */
static double layers_by_size(const pace_step_reader *r, size_t row, double hidden, double vocab) {
    const double rounding = 0.04;
    double billions = pace_step_size_stated(r, row).billions, stages;
    double layers = (billions * 1e9 - vocab * hidden) / (12 * hidden * hidden);
    if (has(&stages, r, row, PACE_STEP_PP) && stages > 1) {
        double even = stages * round(layers / stages);
        if (fabs(even / layers - 1) < rounding) layers = even;
    }
    return layers >= 0.5 ? round(layers) : 0;
}

/* Multiples of 8 that divide the width, the one whose heads are closest to 128 wide. */
static double usual_heads(double hidden) {
    const double most = 1 << 16;
    double best = 1;
    for (double heads = 8; heads <= fmin(hidden / 16, most); heads += 8)
        if (fmod(hidden, heads) == 0 && fabs(log(hidden / heads / 128)) < fabs(log(hidden / best / 128))) best = heads;
    return best;
}

/* Words that are left of a model's size when its layers are taken off; rounded sizes say little of small ones. */
static double vocab_by_size(const pace_step_reader *r, size_t row, double hidden, double layers) {
    double billions, vocab;
    if (!pace_step_number(&billions, r, row, PACE_STEP_PARAMS_B)) return 0;
    vocab = (billions * 1e9 - 12 * hidden * hidden * layers) / hidden;
    return vocab >= 1e5 && vocab <= 4e5 ? round(vocab / 1024) * 1024 : 0;
}

/* The variant that stands in for a model of these sizes: the first of `decoders` that fits. */
static const pace_model_called *decoder(const pace_step_reader *r, const char *word, bool experts, bool grouped) {
    const pace_model_names *names = &r->things->names;
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(names->words), "decoders");
    PACE_YAML_EACH (one, all) {
        const pace_yaml_node *words = pace_yaml_get(one, "words");
        const char *model = pace_yaml_text_of(one, "model");
        bool of_groups = pace_yaml_get(one, "grouped"), said = !words && !of_groups;
        for (size_t k = 0; !said && k < pace_yaml_count(words); k++) {
            const char *text = pace_yaml_text(pace_yaml_item(words, k));
            said = text && pace_step_says(word, text);
        }
        bool fits = pace_yaml_get(one, "experts") ? experts && said : said || (of_groups && grouped);
        if (fits && model) return pace_model_names_exact(names, model);
    }
    return NULL;
}

static void refuse(pace_step_row *out, const pace_step_reader *r, const char *word) {
    const char *why = pace_model_names_refusal(&r->things->names, word);
    const char *closest = pace_model_names_closest(&r->things->names, word);
    if (!*word) pace_step_note(out, "hidden is missing");
    else if (why) pace_step_note(out, "unknown model \"%.40s\": %.80s", word, why);
    else pace_step_note(out, "unknown model \"%.40s\", and no hidden", word);
    if (*word && !why && *closest) pace_step_note(out, "the closest name is \"%.40s\"", closest);
}

/* Layers and words that the row leaves out, from its number of parameters. */
static bool complete(pace_step_sizes *size, pace_step_row *out, const pace_step_reader *r, size_t row) {
    double vocab = 50257, value;
    bool words = has(&vocab, r, row, PACE_STEP_VOCAB);
    if (has(&value, r, row, PACE_STEP_LAYERS)) size->layers = value;
    bool stated = size->layers > 0;
    if (!stated) {
        size->layers = layers_by_size(r, row, size->hidden, vocab);
        if (size->layers == 0) {
            pace_step_note(out, "layers is missing");
            return false;
        }
        pace_step_note(out, "assumed %g layers, from the size", size->layers);
    }
    if (stated && !words && vocab_by_size(r, row, size->hidden, size->layers) > 0) {
        vocab = vocab_by_size(r, row, size->hidden, size->layers);
        pace_step_note(out, "assumed vocab %g, from the size", vocab);
    }
    size->vocab = vocab;
    return true;
}

/* Sizes alone: a template of the catalogue. */
static const pace_model_called *by_sizes(pace_step_row *out, const pace_step_reader *r, size_t row, settings *with) {
    pace_step_sizes size = {0};
    double heads, groups, value, seq;
    const char *word = pace_step_cell(r, row, PACE_STEP_MODEL);
    bool wide = has(&size.hidden, r, row, PACE_STEP_HIDDEN);
    bool known = wide || (!pace_model_names_refusal(&r->things->names, word) &&
                          pace_step_sizes_guess(&size, out, r, pace_step_size_stated(r, row)));
    if (!known) {
        refuse(out, r, word);
        return NULL;
    }
    if (!complete(&size, out, r, row)) return NULL;
    if (!has(&seq, r, row, PACE_STEP_SEQ)) seq = 2048;
    if (!has(&heads, r, row, PACE_STEP_HEADS)) {
        heads = usual_heads(size.hidden);
        pace_step_note(out, "assumed %g heads", heads);
        pace_step_doubt(out, r, PACE_DOUBT_ROW_HEADS);
    }
    bool experts = size.experts > 1 || (has(&value, r, row, PACE_STEP_EXPERTS) && value > 1);
    bool grouped = has(&groups, r, row, PACE_STEP_KV_HEADS) && groups < heads;
    const pace_model_called *model = decoder(r, word, experts, grouped);
    if (!model) return NULL;
    const struct {
        const char *key;
        double value;
    } derived[] = {
        {"hidden", size.hidden},   {"layers", size.layers}, {"heads", heads}, {"vocab", size.vocab}, {"seq", seq},
        {"experts", size.experts}, {"topk", size.topk},     {"ffn", size.ffn}};
    set_stated(with, r, row, model);
    for (size_t i = 0; i < PACE_COUNT(derived); i++)
        if (derived[i].value > 0 && pace_model_called_takes(model, derived[i].key))
            set(with, derived[i].key, derived[i].value);
    return model;
}

/* "7B", "70 billion", "": a number of parameters and nothing else. */
static bool is_size_alone(const char *word) {
    size_t letters = 0;
    for (; *word; word++) letters += pace_is_alpha(*word) != 0;
    return letters <= 1;
}

/* The released decoder that a bare size usually means; NULL without one, or where the row says more than its size. */
static const pace_model_called *usual(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const pace_model_names *names = &r->things->names;
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(pace_yaml_root(names->words), "size"), "usual");
    pace_step_size size = pace_step_size_stated(r, row);
    const double alike = 1e-9; /* "350M" in billions */
    double value, billions;
    bool more = has(&value, r, row, PACE_STEP_HIDDEN) || has(&value, r, row, PACE_STEP_LAYERS) || size.experts > 1 ||
                size.active > 0 || !is_size_alone(pace_step_cell(r, row, PACE_STEP_MODEL));
    for (size_t i = 0; !more && i < pace_yaml_count(all); i++) {
        const pace_model_called *model = pace_model_names_exact(names, pace_yaml_text(pace_yaml_item(all, i)));
        if (!model || !pace_number_parse(&billions, pace_yaml_key(all, i)) ||
            fabs(size.billions / billions - 1) > alike)
            continue;
        pace_step_note(out, "assumed %.40s, from the size", pace_yaml_text(pace_yaml_item(all, i)));
        pace_step_doubt(out, r, PACE_DOUBT_ROW_SIZE);
        return model;
    }
    return NULL;
}

/* Whether a stated size says no more than the others: heads of the usual width, as many keys as queries, no experts. */
static bool is_implied(const pace_step_reader *r, size_t row, pace_step_column column, double value) {
    double hidden, heads;
    if (column == PACE_STEP_EXPERTS) return value == 1;
    if (column == PACE_STEP_KV_HEADS) return has(&heads, r, row, PACE_STEP_HEADS) && value == heads;
    return column == PACE_STEP_HEAD_DIM && has(&hidden, r, row, PACE_STEP_HIDDEN) &&
           has(&heads, r, row, PACE_STEP_HEADS) && value * heads == hidden;
}

/* Sizes that the model has no parameter for. */
static void note_unused_sizes(pace_step_row *out, const pace_step_reader *r, size_t row,
                              const pace_model_called *model) {
    double value;
    for (size_t i = 0; i < PACE_COUNT(sizes); i++) {
        if (takes(model, i) || !has(&value, r, row, sizes[i].column)) continue;
        if (sizes[i].column == PACE_STEP_TOPK) pace_step_note(out, "no effect without experts: topk %g", value);
        else if (!is_implied(r, row, sizes[i].column, value))
            pace_step_note(out, "no effect on %.40s: %s %g", model->model, sizes[i].key, value);
    }
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static bool take(pace_step_model **model, pace_step_row *out, pace_step_reader *r, const char *name,
                 const settings *with) {
    if (load(model, r->things, name, with) == PACE_OK) return true;
    pace_step_note(out, "%.100s", pace_message_in_answer());
    return false;
}

static pace_status adapted_of(pace_step_model **out, pace_step_things *things, const pace_step_row *row) {
    size_t plain = 0;
    char key[400];
    while (&things->models.items[plain]->model != row->model) plain++; /* it is one of them */
    pace_snprintf(key, sizeof key, "%.300s lora=%g %s %s", things->models.items[plain]->key, row->config.lora,
                  pace_config_word(&row->config, "lora_layers"), pace_config_word(&row->config, "quantized"));
    *out = known(things, key);
    if (*out) return PACE_OK;
    PACE_TRY(add(out, things, key));
    if (pace_model_adapt(&(*out)->model, row->model, &row->config) != PACE_OK)
        snprintf((*out)->failed, sizeof(*out)->failed, "%.150s", pace_message_in_answer());
    return PACE_OK;
}

bool pace_step_row_adapt(pace_step_row *out, pace_step_reader *r) {
    pace_step_model *model;
    if (!(out->config.lora > 0)) return true;
    bool known = adapted_of(&model, r->things, out) == PACE_OK;
    if (!known || *model->failed) {
        pace_step_note(out, "%.140s", known ? model->failed : pace_message_in_answer());
        return false;
    }
    out->model = &model->model;
    return true;
}

bool pace_step_row_model(pace_step_row *out, pace_step_reader *r, size_t row) {
    const pace_model_called *found = named(r, row);
    settings with = {0};
    pace_step_model *model = NULL;
    if (found) {
        set_stated(&with, r, row, found);
        if (!take(&model, out, r, found->model, &with)) return false;
        if (of_other_size(r, row, found, model)) found = NULL, with.count = 0;
    }
    if (!found) {
        found = usual(out, r, row);
        if (found) set_stated(&with, r, row, found);
        else found = by_sizes(out, r, row, &with);
        if (!found || !take(&model, out, r, found->model, &with)) return false;
    }
    if (*model->failed) {
        pace_step_note(out, "%.140s", model->failed);
        return false;
    }
    note_unused_sizes(out, r, row, found);
    out->model = &model->model;
    return true;
}
