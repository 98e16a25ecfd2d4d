/* What a row trains: a model of the catalogue, or one of its templates with the row's sizes. */
#include "rows/step_row.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 10 };

typedef struct {
    pace_model_setting items[SETTINGS];
    size_t count;
} settings;

/* Every model of the catalogue, so that a row's is found without building them all. */
static pace_status add_name(void *context, const pace_model *model) {
    pace_step_things *things = context;
    pace_named_model one;
    const char *name = pace_names_text(&model->names, model->name);
    pace_model_plain_name(one.plain, sizeof one.plain, name);
    snprintf(one.name, sizeof one.name, "%s", name);
    snprintf(one.family, sizeof one.family, "%s", pace_names_text(&model->names, model->family));
    return PACE_PUSH(&things->names, one);
}

static const pace_named_model *with_plain(const pace_step_things *things, const char *wanted, size_t length) {
    for (size_t i = 0; i < things->names.count; i++) {
        const pace_named_model *one = &things->names.items[i];
        if (strlen(one->plain) == length && strncmp(one->plain, wanted, length) == 0) return one;
    }
    return NULL;
}

/* As the catalogue calls it, or as tables do. */
static const pace_named_model *exactly(const pace_step_things *things, const char *wanted) {
    const pace_yaml_node *names = pace_yaml_get(pace_yaml_get(pace_yaml_root(things->columns), "step"), "names");
    const pace_named_model *found = with_plain(things, wanted, strlen(wanted));
    char name[80];
    for (size_t i = 0; !found && i < pace_yaml_count(names); i++) {
        pace_model_plain_name(name, sizeof name, pace_yaml_key(names, i));
        if (strcmp(name, wanted) != 0) continue;
        pace_model_plain_name(name, sizeof name, pace_yaml_text(pace_yaml_get(names, pace_yaml_key(names, i))));
        found = with_plain(things, name, strlen(name));
    }
    return found;
}

/* Takes a word that changes nothing off the front or the back of a name. */
static bool strip(char *wanted, const pace_step_things *things) {
    const pace_yaml_node *around = pace_yaml_get(pace_yaml_get(pace_yaml_root(things->columns), "step"), "around");
    char word[40];
    for (size_t i = 0; i < pace_yaml_count(around); i++) {
        pace_model_plain_name(word, sizeof word, pace_yaml_text(pace_yaml_item(around, i)));
        size_t length = strlen(word), whole = strlen(wanted);
        if (length == 0 || whole <= length) continue;
        if (strcmp(wanted + whole - length, word) == 0) wanted[whole - length] = '\0';
        else if (strncmp(wanted, word, length) == 0) memmove(wanted, wanted + length, whole - length + 1);
        else continue;
        return true;
    }
    return false;
}

/* "meta-llama/Llama-3.1-8B-Instruct": behind the last slash, words around it taken off until it is known. */
static const pace_named_model *named(pace_step_things *things, const char *word) {
    const char *slash = NULL, *end = strchr(word, '(');
    for (const char *c = word; *c && c != end; c++)
        if (*c == '/') slash = c;
    const pace_named_model *found = NULL;
    char wanted[80];
    pace_model_plain_name(wanted, sizeof wanted, slash ? slash + 1 : word);
    if (!*wanted || (things->names.count == 0 && pace_model_each(add_name, things) != PACE_OK)) return NULL;
    do found = exactly(things, wanted);
    while (!found && strip(wanted, things));
    return found;
}

static void set(settings *to, const char *key, double value) {
    if (to->count < SETTINGS) to->items[to->count++] = (pace_model_setting){key, value};
}

/* Which sizes a family's description lets a row set. */
static bool takes(const char *family, const char *key) {
    static const struct {
        const char *family, *keys;
    } table[] = {{"gpt", " hidden layers heads ffn vocab seq "},
                 {"llama", " hidden layers heads kv_heads ffn vocab seq "},
                 {"moe", " hidden layers heads kv_heads head_dim ffn experts topk vocab seq "},
                 {"deepseek", " layers vocab "},
                 {"mpt", " hidden layers heads vocab "},
                 {"nemotron4", " layers vocab "},
                 {"bert", " hidden layers heads ffn vocab "},
                 {"opt", " layers vocab "}};
    char word[24];
    snprintf(word, sizeof word, " %s ", key);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].family, family) == 0) return strstr(table[i].keys, word) != NULL;
    return false;
}

static pace_status load(pace_step_model **out, pace_step_things *things, const char *name, const settings *with) {
    char key[256];
    size_t used = (size_t)snprintf(key, sizeof key, "%.79s", name);
    for (size_t i = 0; i < with->count && used < sizeof key; i++)
        used += (size_t)snprintf(key + used, sizeof key - used, " %.8s=%.9g", with->items[i].key, with->items[i].value);
    for (size_t i = 0; i < things->models.count; i++)
        if (strcmp(things->models.items[i]->key, key) == 0) {
            *out = things->models.items[i];
            return PACE_OK;
        }
    pace_step_model *one = pace_alloc(1, sizeof *one);
    if (!one) return PACE_E_MEMORY;
    one->key = pace_copy_text(key, strlen(key));
    pace_status status = one->key ? PACE_PUSH(&things->models, one) : PACE_E_MEMORY;
    if (status != PACE_OK) {
        pace_free(one->key);
        pace_free(one);
        return status;
    }
    if (pace_model_load(&one->model, name, with->items, with->count) != PACE_OK)
        snprintf(one->failed, sizeof one->failed, "%.150s", pace_message());
    *out = one;
    return PACE_OK;
}

/* A row that says how many parameters but not how many layers: 12 h^2 each, and the words' table. */
static double layers_by_size(const pace_step_reader *r, size_t row, double hidden, double vocab) {
    double billions;
    if (!pace_step_number(&billions, r, row, PACE_STEP_PARAMS_B)) return 0;
    double layers = round((billions * 1e9 - vocab * hidden) / (12 * hidden * hidden));
    return layers >= 1 ? layers : 0;
}

/* Multiples of 8 that divide the width, the one whose heads are closest to 128 wide. */
static double usual_heads(double hidden) {
    double best = 1;
    for (double heads = 8; heads <= hidden / 16; heads += 8)
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

static bool has(double *out, const pace_step_reader *r, size_t row, pace_step_column column) {
    return pace_step_number(out, r, row, column) && *out >= 1 && *out == floor(*out);
}

/* Billions of parameters in a name: "my-model-7B", "350m". 0 without, and for mixtures ("8x7b", "30B-A3B"), whose
 * layers it does not tell. */
static double billions_in(const char *text) {
    double found = 0;
    for (const char *c = text; *c; c++) {
        if (!isdigit((unsigned char)*c)) continue;
        bool starts = c == text || (!isdigit((unsigned char)c[-1]) && c[-1] != '.');
        char *end, before = c == text ? ' ' : c[-1];
        double value = strtod(c, &end);
        char unit = (char)tolower((unsigned char)*end);
        bool ends = unit && !isalnum((unsigned char)end[1]);
        if (starts && ends && (unit == 'b' || unit == 'm')) {
            bool mixture = tolower((unsigned char)before) == 'x' || tolower((unsigned char)before) == 'a';
            if (mixture) return 0;
            if (found == 0) found = unit == 'b' ? value : value / 1e3;
        }
        c = end > c ? end - 1 : c;
    }
    return found;
}

/* A decoder of about that size: layers of 12 h^2 parameters, 128 times as wide as there are of them, which is what
 * GPT-3, Llama and Megatron have within a quarter; heads of 128. */
static bool by_billions(pace_step_row *out, double billions, double *hidden, double *layers) {
    if (!(billions >= 0.01 && billions <= 3000)) return false;
    *hidden = 1024 * fmax(1, round(cbrt(billions * 1e9 * 128 / 12) / 1024));
    if (billions < 1) *hidden = 256 * fmax(1, round(cbrt(billions * 1e9 * 64 / 12) / 256));
    *layers = fmax(1, round(billions * 1e9 / (12 * *hidden * *hidden)));
    pace_step_note(out, "assumed a decoder of %g billion parameters: %g layers of %g", billions, *layers, *hidden);
    out->doubt = 1.6;
    return true;
}

static bool guess_sizes(pace_step_row *out, const pace_step_reader *r, size_t row, double *hidden, double *layers) {
    const char *word = pace_step_cell(r, row, PACE_STEP_MODEL);
    double billions = 0;
    double experts;
    if (pace_step_number(&experts, r, row, PACE_STEP_EXPERTS) && experts > 1) return false;
    if (!pace_step_number(&billions, r, row, PACE_STEP_PARAMS_B)) billions = billions_in(word);
    return by_billions(out, billions, hidden, layers);
}

/* Sizes alone: a template of the catalogue. Experts make it "moe", grouped queries or a gated layer "llama". */
static bool by_sizes(pace_step_row *out, const pace_step_reader *r, size_t row, const char **name, settings *with) {
    double hidden, layers = 0, heads, value, vocab = 50257, seq;
    const char *word = pace_step_cell(r, row, PACE_STEP_MODEL);
    if (!has(&hidden, r, row, PACE_STEP_HIDDEN) && !guess_sizes(out, r, row, &hidden, &layers)) {
        if (*word) pace_step_note(out, "unknown model \"%.40s\", and no hidden", word);
        else pace_step_note(out, "hidden is missing");
        return false;
    }
    if (!has(&seq, r, row, PACE_STEP_SEQ)) {
        seq = 2048;
        pace_step_note(out, "assumed seq 2048");
    }
    has(&vocab, r, row, PACE_STEP_VOCAB);
    if (!has(&value, r, row, PACE_STEP_LAYERS) && layers == 0) {
        layers = layers_by_size(r, row, hidden, vocab);
        if (layers == 0) {
            pace_step_note(out, "layers is missing");
            return false;
        }
        pace_step_note(out, "assumed %g layers, from the size", layers);
    } else if (layers == 0) layers = value;
    if (!*pace_step_cell(r, row, PACE_STEP_VOCAB) && vocab_by_size(r, row, hidden, layers) > 0) {
        vocab = vocab_by_size(r, row, hidden, layers);
        pace_step_note(out, "assumed vocab %g, from the size", vocab);
    }
    if (!has(&heads, r, row, PACE_STEP_HEADS)) {
        heads = usual_heads(hidden);
        pace_step_note(out, "assumed %g heads", heads);
    }
    bool experts = has(&value, r, row, PACE_STEP_EXPERTS) && value > 1;
    double groups = heads;
    bool grouped = has(&groups, r, row, PACE_STEP_KV_HEADS) && groups < heads;
    *name = experts ? "qwen3-30b-a3b" : grouped || pace_step_says(word, "llama") ? "llama2-7b" : "gpt";
    double kv_heads = grouped ? groups : heads, ffn = *name[0] == 'l' ? 0 : 4 * hidden;
    set(with, "hidden", hidden);
    set(with, "layers", layers);
    set(with, "heads", heads);
    set(with, "seq", seq);
    set(with, "vocab", vocab);
    if (*name[0] != 'g') set(with, "kv_heads", kv_heads);
    if (has(&value, r, row, PACE_STEP_FFN)) ffn = value;
    if (ffn == 0) ffn = round(8 * hidden / 3 / 256) * 256; /* gated: three products instead of two */
    set(with, "ffn", ffn);
    if (!experts) return true;
    has(&value, r, row, PACE_STEP_EXPERTS);
    set(with, "experts", value);
    set(with, "topk", has(&value, r, row, PACE_STEP_TOPK) ? value : 2);
    if (with->count < SETTINGS) set(with, "head_dim", hidden / heads);
    return true;
}

/* A name of the catalogue, with the sizes that the row states. */
static void by_name(const pace_step_reader *r, size_t row, const pace_named_model *found, settings *with) {
    static const struct {
        const char *key;
        pace_step_column column;
    } sizes[] = {{"hidden", PACE_STEP_HIDDEN},     {"layers", PACE_STEP_LAYERS}, {"heads", PACE_STEP_HEADS},
                 {"kv_heads", PACE_STEP_KV_HEADS}, {"ffn", PACE_STEP_FFN},       {"vocab", PACE_STEP_VOCAB}};
    double value;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (takes(found->family, sizes[i].key) && has(&value, r, row, sizes[i].column)) set(with, sizes[i].key, value);
}

bool pace_step_row_model(pace_step_row *out, pace_step_reader *r, size_t row) {
    const pace_named_model *found = named(r->things, pace_step_cell(r, row, PACE_STEP_MODEL));
    settings with = {0};
    const char *name = found ? found->name : NULL;
    pace_step_model *model;
    if (found) by_name(r, row, found, &with);
    else if (!by_sizes(out, r, row, &name, &with)) return false;
    if (load(&model, r->things, name, &with) != PACE_OK) {
        pace_step_note(out, "%.100s", pace_message());
        return false;
    }
    if (*model->failed) {
        pace_step_note(out, "%.140s", model->failed);
        return false;
    }
    out->model = &model->model;
    return true;
}
