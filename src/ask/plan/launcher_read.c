#include "ask/plan/launcher_read.h"

#include "ask/plan/launch_words.h"
#include "ask/plan/layer_pattern.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml_member.h"
#include "model/hub_config.h"

#include <string.h>

enum { TEXT = 320, DOCUMENT = 4096 };

typedef struct {
    pace_launcher_settings *out;
    pace_catalog *catalog;
    const pace_yaml_node *launcher;
    const pace_launch_words *words;
    const char *path;
    double nodes, devices_of_node;
    double sharded;     /* ranks that parameters are divided among; 0 = not said */
    bool nodes_unknown; /* only who starts it knows: "--nnodes $SLURM_NNODES" */
    char size[80];
} reader;

/* --- words of the file and keys of the catalogue ------------------------------------------------------------------ */

/* "micro_batch_size" of "--micro-batch-size". */
static void key_name(char out[TEXT], const char *key) {
    while (*key == '-') key++;
    pace_snprintf(out, TEXT, "%s", key);
    for (; *out; out++)
        if (*out == '-') *out = '_';
}

/* "--micro-batch-size" is micro_batch_size, and "stage" is "zero_optimization.stage", too. */
static bool is_key(const char *name, const char *key) {
    char plain[TEXT];
    key_name(plain, key);
    size_t length = strlen(plain), whole = strlen(name);
    if (whole < length || strcmp(name + whole - length, plain) != 0) return false;
    return whole == length || name[whole - length - 1] == '.';
}

/* The number of a word's key in a map of the catalogue; false where the map has none. */
static bool find_key(size_t *number, const pace_yaml_node *map, const pace_launch_word *word) {
    for (*number = 0; *number < pace_yaml_count(map); ++*number)
        if (is_key(word->name, pace_yaml_key(map, *number))) return true;
    return false;
}

static bool states(const reader *r, const char *what);

/* Whether the file states any of the keys that a launcher asks for. */
static bool may_be(const reader *r, const pace_yaml_node *entry) {
    const pace_yaml_node *known_by = pace_yaml_get(entry, "known_by");
    PACE_YAML_EACH (one, known_by)
        if (states(r, pace_yaml_text(one))) return true;
    return !known_by;
}

/* The launcher that understands most words. */
static pace_status choose(reader *r) {
    const pace_yaml *yaml;
    const pace_yaml_node *all;
    size_t most = 0, number;
    PACE_TRY(pace_catalog_document(&yaml, r->catalog, "launchers.yaml"));
    PACE_TRY(pace_yaml_member(&all, yaml, pace_yaml_root(yaml), "launchers"));
    PACE_YAML_EACH (entry, all) {
        size_t understood = 0;
        const pace_yaml_node *reads = pace_yaml_get(entry, "reads");
        for (size_t k = 0; k < r->words->items.count; k++)
            understood += find_key(&number, reads, &r->words->items.items[k]);
        if (understood > most && may_be(r, entry)) most = understood, r->launcher = entry;
    }
    if (most > 0) return PACE_OK;
    return pace_fail(
        PACE_E_INPUT,
        "%s: expected arguments of Megatron-LM or of Hugging Face's Trainer, torchtitan's TOML, DeepSpeed's "
        "JSON or YAML of one of these, of NeMo, axolotl, LLaMA-Factory, LitGPT, LLM Foundry, nanotron or torchtune, "
        "found no setting of any",
        r->path);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool is_true(const char *value) {
    return !*value || pace_same_word(value, "true") || pace_same_word(value, "yes");
}

/* What leaves the choice to the program. */
static bool is_unsaid(const char *value) {
    static const char *const words[] = {"auto", "null", "none", "false", "no"};
    if (strcmp(value, "-1") == 0 || strcmp(value, "~") == 0) return true;
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (pace_same_word(value, words[i])) return true;
    return false;
}

static pace_status put_setting(pace_launcher_settings *s, const char *key, const char *value) {
    char text[TEXT];
    size_t length = strlen(key);
    pace_snprintf(text, sizeof text, "%s=%s", key, value);
    for (size_t i = 0; i < s->settings.count; i++)
        if (strncmp(s->settings.items[i], key, length) == 0 && s->settings.items[i][length] == '=') {
            pace_free(s->settings.items[i]); /* the last counts */
            s->settings.items[i] = s->settings.items[--s->settings.count];
            break;
        }
    return pace_texts_add(&s->settings, text);
}

/* What is no setting, but tells how to come by some. */
static bool take_aside(reader *r, const char *key, const char *value) {
    pace_launcher_settings *s = r->out;
    const struct {
        const char *key;
        double *number;
    } asides[] = {{"local_batch", &s->local_batch},
                  {"stage_batch", &s->stage_batch},
                  {"layers_of_chunk", &s->layers_of_chunk},
                  {"accumulation", &s->accumulation},
                  {"copies", &s->copies},
                  {"sharded_in_node", &s->sharded_in_node},
                  {"recomputed_layers", &s->recomputed_layers},
                  {"recomputes_block", &s->recomputes_block},
                  {"devices", &s->devices},
                  {"nodes", &r->nodes},
                  {"devices_of_node", &r->devices_of_node},
                  {"sharded", &r->sharded}};
    for (size_t i = 0; i < PACE_COUNT(asides); i++)
        if (strcmp(key, asides[i].key) == 0) return pace_number_parse(asides[i].number, value);
    if (strcmp(key, "model") == 0) pace_snprintf(s->model, sizeof s->model, "%s", value);
    else if (strcmp(key, "size") == 0) pace_snprintf(r->size, sizeof r->size, "%s", value);
    else return false;
    return true;
}

static pace_status put(reader *r, const char *key, const char *value) {
    return take_aside(r, key, value) ? PACE_OK : put_setting(r->out, key, value);
}

/* Of several words, "full_shard auto_wrap", the first that the map has. */
static const char *translate(const pace_yaml_node *map, const char *value) {
    const char *means = pace_yaml_text_of(map, value);
    char word[64];
    if (means) return means;
    if (is_true(value)) return pace_yaml_text_of(map, "");
    while (*value && !means) {
        size_t length = strcspn(value, " ,");
        pace_snprintf(word, sizeof word, "%.*s", (int)length, value);
        means = length ? pace_yaml_text_of(map, word) : NULL;
        value += length + (value[length] != '\0');
    }
    return means;
}

/* What changes a step and no setting follows. */
static pace_status note(pace_texts *list, const char *name, const char *value) {
    char text[TEXT];
    pace_snprintf(text, sizeof text, "%s%s%s", name, *value ? " " : "", value);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0) return PACE_OK;
    return pace_texts_add(list, text);
}

static pace_status note_uncounted(reader *r, const char *name, const char *value) {
    return note(&r->out->uncounted, name, value);
}

/* "8_192", as TOML, YAML and Python write it: the same without what parts its digits. */
static void join_digits(char out[TEXT], const char *value) {
    size_t length = 0;
    bool digits = pace_is_digit(*value) && value[strspn(value, "0123456789_")] == '\0';
    for (; *value && length + 1 < TEXT; value++)
        if (!digits || *value != '_') out[length++] = *value;
    out[length] = '\0';
}

/* Modules of recomputation, of which a program may have more than a setting knows. */
static pace_status put_modules(reader *r, const char *name, const char *key, const char *value) {
    pace_config config = pace_config_default();
    char known[TEXT];
    pace_config_modules_text(known, sizeof known, pace_config_modules_in(value));
    if (pace_config_set(&config, key, value) != PACE_OK) PACE_TRY(note_uncounted(r, name, value));
    return *known ? put(r, key, known) : PACE_OK;
}

static pace_status take_value(reader *r, const char *name, const char *key, const pace_yaml_node *how,
                              const char *written) {
    const char *form = pace_yaml_text(how);
    char value[TEXT];
    double number;
    join_digits(value, written);
    if (pace_yaml_is_map(how) && translate(how, value)) return put(r, key, translate(how, value));
    if (*value && is_unsaid(value)) return PACE_OK;
    if (pace_yaml_is_map(how)) return PACE_OK;
    if (form && strcmp(form, "text") == 0) return put(r, key, value);
    if (form && strcmp(form, "modules") == 0) return put_modules(r, name, key, value);
    if (*value == '$' && (strcmp(key, "nodes") == 0 || pace_starts(key, "devices"))) {
        r->nodes_unknown = true;
        return PACE_OK;
    }
    if (!*value || *value == '$')
        return pace_fail(PACE_E_INPUT, "%s: %s: expected a value, found %s%.60s%s", r->path, name,
                         *value ? "\"" : "nothing", value,
                         *value ? "\", a variable that the file does not set, or sets to several values" : "");
    if (!pace_number_parse(&number, value) || number < 0)
        return pace_fail(PACE_E_INPUT, "%s: %s: expected a number of 0 or more, found \"%.60s\"", r->path, name, value);
    return put(r, key, value);
}

/* Whether the maps of a key have no such word. */
static bool is_unknown(const pace_yaml_node *meaning, const char *value) {
    PACE_YAML_EACH (how, meaning)
        if (!pace_yaml_is_map(how) || translate(how, value)) return false;
    return !*value || !is_unsaid(value);
}

static pace_status take_word(reader *r, const char *key, const pace_yaml_node *meaning, const char *value) {
    if (is_unknown(meaning, value)) return note_uncounted(r, key, value);
    PACE_YAML_EACH (one, meaning) PACE_TRY(take_value(r, key, pace_yaml_key_of(one), one, value));
    return PACE_OK;
}

/* All words in the order of the catalogue's keys. */
static pace_status take_words(reader *r) {
    const pace_yaml_node *reads = pace_yaml_get(r->launcher, "reads");
    size_t number;
    for (size_t key = 0; key < pace_yaml_count(reads); key++)
        PACE_ITEMS (const pace_launch_word, word, &r->words->items)
            if (find_key(&number, reads, word) && number == key) {
                PACE_TRY(take_word(r, pace_yaml_key(reads, key), pace_yaml_item(reads, key), word->value));
                if (word->doubtful) PACE_TRY(note(&r->out->doubtful, pace_yaml_key(reads, key), word->value));
            }
    return PACE_OK;
}

static pace_status check_uncounted(reader *r, const pace_launch_word *word) {
    const pace_yaml_node *map = pace_yaml_get(r->launcher, "uncounted");
    size_t number;
    if (!find_key(&number, map, word)) return PACE_OK;
    const char *usual = pace_yaml_text(pace_yaml_item(map, number));
    if (usual && pace_same_word(word->value, usual)) return PACE_OK;
    return note_uncounted(r, pace_yaml_key(map, number), word->value);
}

/* Whether a word of that name changes a step whatever program reads it, and this one's launcher does not know it. */
static pace_status check_unread(reader *r, const pace_yaml_node *telling, const pace_launch_word *word) {
    size_t number;
    const char *dot = strrchr(word->name, '.'), *name = dot ? dot + 1 : word->name;
    bool tells =
        !word->assigned && !is_unsaid(word->value) && strcmp(word->value, "1") != 0 && strcmp(word->value, "0") != 0;
    if (!tells || find_key(&number, pace_yaml_get(r->launcher, "reads"), word) ||
        find_key(&number, pace_yaml_get(r->launcher, "uncounted"), word))
        return PACE_OK;
    PACE_YAML_EACH (one, telling)
        if (pace_same_word(name, pace_yaml_text(one))) return note_uncounted(r, word->name, word->value);
    return PACE_OK;
}

/* The key whose name a word has but for a slip or two, where the file does not state the key itself; NULL = none. */
static const char *misspelt(const reader *r, const pace_launch_word *word) {
    enum { LEAST = 8, SLIPS = 2 };
    const pace_yaml_node *reads = pace_yaml_get(r->launcher, "reads");
    const char *dot = strrchr(word->name, '.'), *name = dot ? dot + 1 : word->name;
    for (size_t i = 0; !word->assigned && strlen(name) >= LEAST && i < pace_yaml_count(reads); i++) {
        const char *key = pace_yaml_key(reads, i);
        char plain[TEXT];
        key_name(plain, key);
        if (strlen(plain) >= LEAST && pace_word_edits(name, plain) <= SLIPS && !states(r, key)) return key;
    }
    return NULL;
}

static pace_status check_misspelt(reader *r, const pace_launch_word *word) {
    size_t number;
    char text[TEXT];
    if (find_key(&number, pace_yaml_get(r->launcher, "reads"), word) ||
        find_key(&number, pace_yaml_get(r->launcher, "uncounted"), word))
        return PACE_OK;
    const char *key = misspelt(r, word);
    if (!key) return PACE_OK;
    pace_snprintf(text, sizeof text, "%.80s%s(is %s meant?)", word->value, *word->value ? " " : "", key);
    return note_uncounted(r, word->name, text);
}

static pace_status check_words(reader *r) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, r->catalog, "launchers.yaml"));
    const pace_yaml_node *telling = pace_yaml_get(pace_yaml_root(yaml), "telling");
    PACE_ITEMS (const pace_launch_word, word, &r->words->items) {
        PACE_TRY(check_uncounted(r, word));
        PACE_TRY(check_unread(r, telling, word));
        PACE_TRY(check_misspelt(r, word));
    }
    return PACE_OK;
}

/* Groups of layers of which only the first one's input is kept. */
static pace_status check_groups(reader *r) {
    const char *recompute = pace_launcher_says(r->out, "recompute");
    char layers[32];
    bool groups = recompute && strcmp(recompute, "full") == 0 && !(r->out->recomputes_block > 0);
    if (!groups || r->out->recomputed_layers <= 1) return PACE_OK;
    pace_snprintf(layers, sizeof layers, "%.0f", r->out->recomputed_layers);
    return note_uncounted(r, "recomputation in groups of layers,", layers);
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* "num_layers", and "activation=swiglu" where it must have this value. */
static bool states(const reader *r, const char *what) {
    char key[TEXT];
    const char *equals = strchr(what, '=');
    pace_snprintf(key, sizeof key, "%.*s", (int)strcspn(what, "="), what);
    PACE_ITEMS (const pace_launch_word, word, &r->words->items)
        if (is_key(word->name, key) && (!equals || pace_same_word(word->value, equals + 1))) return true;
    return false;
}

/* Whether the file states every flag that a type is known by. */
static bool states_all(const reader *r, const pace_yaml_node *flags) {
    PACE_YAML_EACH (one, flags)
        if (!states(r, pace_yaml_text(one))) return false;
    return true;
}

static const pace_yaml_node *sizes_of(const reader *r) {
    const pace_yaml_node *sizes = pace_yaml_get(r->launcher, "sizes");
    PACE_YAML_EACH (one, sizes)
        if (states_all(r, pace_yaml_get(one, "says"))) return one;
    return NULL;
}

/* "micro_batch_size" of "model.data.micro_batch_size". */
static const char *last_part(const pace_launch_word *word) {
    const char *dot = strrchr(word->name, '.');
    return dot ? dot + 1 : word->name;
}

/* Whether a later word of the file has this one's name. */
static bool is_said_again(const reader *r, size_t word) {
    const char *name = last_part(&r->words->items.items[word]);
    for (size_t i = word + 1; i < r->words->items.count; i++)
        if (strcmp(last_part(&r->words->items.items[i]), name) == 0) return true;
    return false;
}

/* A list of layers as its two numbers; what is no such list stays, for its type to refuse. */
static void put_pattern(char document[DOCUMENT], const char *value) {
    pace_layer_pattern pattern;
    double number;
    if (pace_layer_pattern_read(&pattern, value))
        pace_append(document, DOCUMENT, "moe_layer_freq: 1\nmoe_dense_layers: %d\nmoe_layer_every: %d\n", pattern.dense,
                    pattern.every);
    else if (pace_number_parse(&number, value)) pace_append(document, DOCUMENT, "moe_layer_freq: %.40s\n", value);
    else pace_append(document, DOCUMENT, "moe_layer_freq: a list in another order\n");
}

/* Its numbers, flags and layers as a configuration of the hub's. */
static void as_hub_config(char document[DOCUMENT], const reader *r, const pace_yaml_node *sizes) {
    const pace_yaml_node *assumed = pace_yaml_get(sizes, "assumed");
    double number;
    pace_snprintf(document, DOCUMENT, "model_type: %s\n", pace_yaml_text_of(sizes, "type"));
    PACE_YAML_EACH (one, assumed) {
        const char *key = pace_yaml_key_of(one), *value = pace_yaml_text(one);
        if (states(r, key)) continue;
        pace_append(document, DOCUMENT, "%s: %s\n", key, value);
        pace_list(r->out->assumed, sizeof r->out->assumed, ", ", "%s %s", key, value);
    }
    for (size_t i = 0; i < r->words->items.count; i++) {
        const pace_launch_word *word = &r->words->items.items[i];
        const char *value = is_true(word->value)                   ? "true"
                            : pace_same_word(word->value, "false") ? "false"
                                                                   : word->value;
        bool flag = pace_same_word(value, "true") || pace_same_word(value, "false");
        if (is_said_again(r, i)) continue;
        if (strcmp(last_part(word), "moe_layer_freq") == 0) put_pattern(document, value);
        else if (flag || pace_number_parse(&number, value))
            pace_append(document, DOCUMENT, "%.80s: %.40s\n", last_part(word), value);
    }
}

/* The model that the file's sizes describe; none where they do not suffice. */
static pace_status describe(reader *r) {
    char document[DOCUMENT], text[TEXT];
    pace_hub_config config = {0};
    pace_yaml *yaml = NULL;
    const pace_yaml_node *sizes = sizes_of(r);
    if (!sizes) return PACE_OK;
    as_hub_config(document, r, sizes);
    pace_status status = pace_yaml_parse(&yaml, r->path, document, strlen(document));
    if (status == PACE_OK) status = pace_hub_config_read(&config, r->catalog, yaml);
    for (size_t i = 0; status == PACE_OK && i < config.settings.count; i++) {
        pace_snprintf(text, sizeof text, "%s=%.17g", config.settings.items[i].key, config.settings.items[i].value);
        status = pace_texts_add(&r->out->model_sizes, text);
    }
    if (status == PACE_OK) r->out->described = config.model;
    else {
        const char *why = strstr(pace_message_marked(), ": "); /* behind a place in the document that was made */
        pace_snprintf(r->out->undescribed, sizeof r->out->undescribed, "%s", why ? why + 2 : pace_message_marked());
    }
    pace_hub_config_free(&config);
    pace_yaml_free(yaml);
    return status == PACE_E_MEMORY ? status : PACE_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* As many as its groups multiply to, where it says how many ranks share parameters; groups that it does not name have
 * one rank. */
static double devices_of_groups(const reader *r) {
    static const char *const groups[] = {"tp", "pp", "cp"};
    double devices = r->sharded * (r->out->copies > 0 ? r->out->copies : 1), ranks;
    for (size_t i = 0; i < PACE_COUNT(groups); i++) {
        const char *says = pace_launcher_says(r->out, groups[i]);
        if (says && pace_number_parse(&ranks, says)) devices *= ranks;
    }
    return devices;
}

static pace_status read_words(reader *r) {
    pace_launcher_settings *s = r->out;
    PACE_TRY(choose(r));
    const char *framework = pace_yaml_text(pace_yaml_item(pace_yaml_get(r->launcher, "frameworks"), 0));
    if (!framework) framework = pace_yaml_text_of(r->launcher, "as");
    s->launcher = pace_yaml_text_of(r->launcher, "name");
    pace_snprintf(s->framework, sizeof s->framework, "framework=%.40s", framework ? framework : "");
    const pace_yaml_node *fixed = pace_yaml_get(r->launcher, "settings");
    PACE_YAML_EACH (one, fixed) PACE_TRY(put(r, pace_yaml_key_of(one), pace_yaml_text(one)));
    PACE_TRY(take_words(r));
    PACE_TRY(check_words(r));
    PACE_TRY(check_groups(r));
    if (*s->model && *r->size) pace_append(s->model, sizeof s->model, "-%s", r->size);
    if (!(s->devices > 0)) s->devices = r->devices_of_node * (r->nodes > 0 ? r->nodes : 1);
    if (!(s->devices > 0)) s->devices = devices_of_groups(r);
    if (r->nodes_unknown) s->devices = 0;
    return describe(r);
}

pace_status pace_launcher_read(pace_launcher_settings *out, pace_catalog *catalog, const char *path) {
    pace_launch_words words = {0};
    reader r = {.out = out, .catalog = catalog, .words = &words, .path = path};
    pace_status status = pace_launch_words_read(&words, path);
    if (status == PACE_OK) status = read_words(&r);
    pace_launch_words_free(&words);
    return status;
}

const char *pace_launcher_says(const pace_launcher_settings *settings, const char *key) {
    size_t length = strlen(key);
    for (size_t i = 0; i < settings->settings.count; i++)
        if (strncmp(settings->settings.items[i], key, length) == 0 && settings->settings.items[i][length] == '=')
            return settings->settings.items[i] + length + 1;
    return NULL;
}

void pace_launcher_settings_free(pace_launcher_settings *settings) {
    pace_texts_free(&settings->settings);
    pace_texts_free(&settings->uncounted);
    pace_texts_free(&settings->doubtful);
    pace_texts_free(&settings->model_sizes);
}
