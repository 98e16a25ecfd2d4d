#include "model/model_read.h"

#include "base/text.h"
#include "model/config.h"
#include "model/expression.h"
#include "model/layer.h"
#include "model/model_recipe.h"
#include "model/model_values.h"
#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 24, MAX_TIMES = 100000, MAX_STEPS = 1000000, MAX_BRANCHES = PACE_LAYER_INPUTS, MAX_PATH = 160 };

typedef struct {
    char *name;
    uint32_t layer;
} saved_output;

typedef struct {
    pace_model *model;
    const pace_yaml *yaml;
    const pace_yaml_node *blocks;
    const pace_scope *globals;
    PACE_VEC(saved_output) saved;
    char path[MAX_PATH + 1]; /* names of the blocks around, each with a "." behind */
    unsigned depth;
    size_t steps; /* layers and blocks entered, so that a small text cannot ask for endless work */
    bool training_only, frozen;
    uint32_t segment;
} model_reader;

static const char *const top_keys[] = {"family", "about", "source", "parameters", "variants", "inputs",  "blocks",
                                       "layers", "loss",  "names",  "stated",     "recipe",   "left_out"};
static const char *const modifiers[] = {"name", "from", "as", "repeat", "when", "each", "shard", "frozen"};

static pace_status fail_at(const model_reader *reader, const pace_yaml_node *node, const char *what) {
    return pace_yaml_fail(reader->yaml, node, "%s", what);
}

static bool is_one_of(const char *key, const char *const *keys, size_t count) {
    return pace_word_number(keys, count, key) >= 0;
}

static pace_status refuse_unknown(const model_reader *reader, const pace_yaml_node *map, const pace_yaml_node *known,
                                  const char *what) {
    if (map && !pace_yaml_is_map(map)) return fail_at(reader, map, "expected a map of names and numbers");
    PACE_YAML_EACH (one, map)
        if (!pace_yaml_get(known, pace_yaml_key_of(one)))
            return pace_yaml_fail(reader->yaml, one, "%s has no parameter \"%.80s\"", what, pace_yaml_key_of(one));
    return PACE_OK;
}

/* ---- layers ---- */

static pace_status save_output(model_reader *reader, const char *name, uint32_t layer) {
    saved_output *known = PACE_FIND(reader->saved.items, reader->saved.count, name, name);
    if (known) known->layer = layer;
    if (known) return PACE_OK;
    saved_output saved = {pace_copy_text(name, strlen(name)), layer};
    if (!saved.name) return PACE_E_MEMORY;
    return PACE_KEEP(&reader->saved, saved, pace_free(saved.name));
}

static pace_status find_output(uint32_t *out, const model_reader *reader, const pace_yaml_node *node) {
    const char *name = pace_yaml_text(node);
    if (!name) return fail_at(reader, node, "expected the name of an output");
    const saved_output *known = PACE_FIND(reader->saved.items, reader->saved.count, name, name);
    if (!known) return pace_yaml_fail(reader->yaml, node, "no output is named \"%.80s\"", name);
    *out = known->layer;
    return PACE_OK;
}

/* The layer is at the model's end when this succeeds. */
static pace_status add_layer(model_reader *reader, const pace_yaml_node *node, pace_layer layer,
                             const pace_layer_rule *rule, const char *name, const uint32_t *inputs, size_t count,
                             const double *rows) {
    char text[2 * MAX_PATH];
    snprintf(text, sizeof text, "%s%.100s", reader->path, name);
    layer.training_only = reader->training_only;
    layer.frozen = reader->frozen;
    layer.segment = reader->segment;
    pace_status status = pace_model_append(reader->model, layer, rule, text, inputs, count, rows);
    return status == PACE_OK ? status : pace_fail_in(status, pace_yaml_place(reader->yaml, node));
}

/* An item of a list of layers, taken apart. */
typedef struct {
    const pace_yaml_node *node, *value; /* the item; the kind's options or NULL */
    const pace_yaml_node *from, *as, *repeat, *when, *each, *shard, *frozen;
    const char *kind;
    char name[MAX_PATH];
} layer_item;

static pace_status take_apart(layer_item *item, const model_reader *reader, const pace_yaml_node *node) {
    *item = (layer_item){.node = node, .kind = pace_yaml_text(node)};
    if (!item->kind && !pace_yaml_is_map(node)) return fail_at(reader, node, "expected a layer");
    PACE_YAML_EACH (entry, node) {
        const char *key = pace_yaml_key_of(entry);
        if (is_one_of(key, modifiers, PACE_COUNT(modifiers))) continue;
        if (item->kind)
            return pace_yaml_fail(reader->yaml, entry, "\"%.80s\" beside \"%.80s\": expected one kind of layer", key,
                                  item->kind);
        item->kind = key;
        const char *text = pace_yaml_text(entry);
        item->value = text && !*text ? NULL : entry;
    }
    if (!item->kind) return fail_at(reader, node, "expected a kind of layer");
    item->from = pace_yaml_get(node, "from");
    item->as = pace_yaml_get(node, "as");
    item->repeat = pace_yaml_get(node, "repeat");
    item->when = pace_yaml_get(node, "when");
    item->each = pace_yaml_get(node, "each");
    item->shard = pace_yaml_get(node, "shard");
    item->frozen = pace_yaml_get(node, "frozen");
    return PACE_OK;
}

static const char *kind_of(const pace_yaml_node *node) {
    if (pace_yaml_text(node)) return pace_yaml_text(node);
    PACE_YAML_EACH (one, node) {
        const char *key = pace_yaml_key_of(one);
        if (key && !is_one_of(key, modifiers, PACE_COUNT(modifiers))) return key;
    }
    return "";
}

/* What the file calls it, else the kind, numbered where its list has several. */
static pace_status name_item(layer_item *item, const model_reader *reader, const pace_yaml_node *list, size_t index) {
    const pace_yaml_node *given = pace_yaml_get(item->node, "name");
    size_t before = 0, all = 0;
    if (given) {
        const char *text = pace_yaml_text(given);
        if (!text || !*text) return fail_at(reader, given, "expected a name");
        snprintf(item->name, sizeof item->name, "%.100s", text);
        return PACE_OK;
    }
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        if (strcmp(kind_of(pace_yaml_item(list, i)), item->kind) != 0) continue;
        all++;
        if (i < index) before++;
    }
    if (all > 1) snprintf(item->name, sizeof item->name, "%.100s%zu", item->kind, before + 1);
    else snprintf(item->name, sizeof item->name, "%.100s", item->kind);
    return PACE_OK;
}

static pace_status read_layers(model_reader *reader, const pace_yaml_node *list, const pace_scope *scope,
                               uint32_t *current);

/* Enters a block's name for the time of `list`. */
static pace_status read_inside(model_reader *reader, const char *name, const pace_yaml_node *list,
                               const pace_scope *scope, uint32_t *current) {
    size_t length = strlen(reader->path);
    if (reader->depth >= MAX_DEPTH)
        return pace_fail(PACE_E_LIMIT, "%s: blocks nested more than %d deep", pace_yaml_place(reader->yaml, list),
                         MAX_DEPTH);
    if (*name) snprintf(reader->path + length, sizeof reader->path - length, "%s.", name);
    reader->depth++;
    pace_status status = read_layers(reader, list, scope, current);
    reader->depth--;
    reader->path[length] = '\0';
    return status;
}

static pace_status read_option(pace_layer *layer, pace_number_list *rows, const model_reader *reader,
                               pace_layer_option option, const pace_yaml_node *value, const pace_scope *scope) {
    pace_number_list list = {0};
    pace_status status = pace_model_numbers(&list, reader->yaml, value, scope);
    bool pair = pace_layer_option_is_pair(option);
    bool listed = pace_layer_rule_lists(layer->rule, option);
    if (status == PACE_OK && !listed && list.count != 1 && !(pair && list.count == 2))
        status = fail_at(reader, value, pair ? "expected a number or a pair of them" : "expected one number");
    for (size_t i = 0; listed && status == PACE_OK && i < list.count; i++)
        status = pace_number_push(rows, list.items[i]);
    if (status == PACE_OK && !listed) {
        layer->option[option] = list.items[0];
        if (pair) layer->option[option + 1] = list.items[list.count - 1];
    }
    PACE_VEC_FREE(&list);
    return status;
}

static pace_status read_options(pace_layer *layer, pace_number_list *rows, const model_reader *reader,
                                const pace_layer_rule *rule, const layer_item *item, const pace_scope *scope) {
    if (item->value && !pace_yaml_is_map(item->value)) {
        pace_layer_option option = pace_layer_rule_main(rule);
        if (option == PACE_OPTIONS)
            return pace_yaml_fail(reader->yaml, item->value, "\"%s\" takes no value", item->kind);
        return read_option(layer, rows, reader, option, item->value, scope);
    }
    PACE_YAML_EACH (one, item->value) {
        const char *key = pace_yaml_key_of(one);
        pace_layer_option option = pace_layer_rule_option(rule, key);
        if (option == PACE_OPTIONS)
            return pace_yaml_fail(reader->yaml, one, "\"%s\" has no option \"%.80s\"", item->kind, key);
        PACE_TRY(read_option(layer, rows, reader, option, one, scope));
    }
    return PACE_OK;
}

/* Tables: as many as rows are listed, or `tables` with one number of rows. */
static pace_status settle_tables(pace_layer *layer, pace_number_list *rows, const model_reader *reader,
                                 const layer_item *item) {
    double tables = layer->option[PACE_OPTION_TABLES];
    if (tables < 0) tables = (double)rows->count;
    if (tables > 100000 || tables < 1 || (rows->count != 1 && (double)rows->count != tables))
        return fail_at(reader, item->node, "expected rows for each of at most 100000 tables");
    while ((double)rows->count < tables) PACE_TRY(pace_number_push(rows, rows->items[0]));
    for (size_t i = 0; i < rows->count; i++)
        if (!(rows->items[i] >= 1) || rows->items[i] > 1e12 || rows->items[i] != floor(rows->items[i]))
            return fail_at(reader, item->node, "expected whole numbers of rows");
    layer->option[PACE_OPTION_TABLES] = tables;
    layer->option[PACE_OPTION_ROWS] = (double)reader->model->rows.count;
    for (size_t i = 0; i < rows->count; i++) PACE_TRY(PACE_PUSH(&reader->model->rows, rows->items[i]));
    return PACE_OK;
}

static pace_status read_shard(pace_layer *layer, const model_reader *reader, const pace_layer_rule *rule,
                              const layer_item *item) {
    const char *text = pace_yaml_text(item->shard);
    if (!item->shard) return PACE_OK;
    bool column = text && strcmp(text, "column") == 0, row = text && strcmp(text, "row") == 0;
    if (rule->kind != PACE_LAYER_LINEAR || (!column && !row))
        return fail_at(reader, item->shard, "expected \"column\" or \"row\" of a linear layer");
    layer->shard = column ? PACE_SHARD_COLUMN : PACE_SHARD_ROW;
    return PACE_OK;
}

static pace_status read_layer(model_reader *reader, const layer_item *item, const pace_layer_rule *rule,
                              const pace_scope *scope, const uint32_t *inputs, size_t input_count) {
    pace_layer layer = pace_layer_make(rule);
    pace_number_list rows = {0};
    pace_status status = read_options(&layer, &rows, reader, rule, item, scope);
    if (status == PACE_OK) status = read_shard(&layer, reader, rule, item);
    if (status == PACE_OK && rule->lists_rows) status = settle_tables(&layer, &rows, reader, item);
    if (status == PACE_OK)
        status = add_layer(reader, item->node, layer, rule, item->name, inputs, input_count, rows.items);
    PACE_VEC_FREE(&rows);
    return status;
}

static pace_status read_join(model_reader *reader, const layer_item *item, const pace_layer_rule *rule,
                             const pace_scope *scope, uint32_t *current) {
    uint32_t inputs[MAX_BRANCHES];
    size_t count = pace_yaml_count(item->value);
    if (!pace_yaml_is_list(item->value) || count == 0 || count > MAX_BRANCHES)
        return fail_at(reader, item->value ? item->value : item->node, "expected a list of at most 64 branches");
    for (size_t i = 0; i < count; i++) {
        const pace_yaml_node *branch = pace_yaml_item(item->value, i);
        char name[MAX_PATH];
        snprintf(name, sizeof name, "%.100s.%zu", item->name, i + 1);
        inputs[i] = *current;
        if (pace_yaml_text(branch)) PACE_TRY(find_output(&inputs[i], reader, branch));
        else PACE_TRY(read_inside(reader, name, branch, scope, &inputs[i]));
    }
    PACE_TRY(add_layer(reader, item->node, pace_layer_make(rule), rule, item->name, inputs, count, NULL));
    *current = (uint32_t)reader->model->layers.count - 1;
    return PACE_OK;
}

static pace_status read_block(model_reader *reader, const layer_item *item, const pace_yaml_node *block,
                              const pace_scope *scope, uint32_t *current) {
    const pace_yaml_node *parameters = pace_yaml_get(block, "parameters");
    pace_scope inner = {.outer = scope};
    if (!pace_yaml_is_map(block) || !pace_yaml_is_list(pace_yaml_get(block, "layers")))
        return fail_at(reader, block, "a block needs a list \"layers\"");
    pace_status status = refuse_unknown(reader, item->value, parameters, item->kind);
    if (status == PACE_OK) status = pace_model_bind(&inner, reader->yaml, item->value, scope, false);
    if (status == PACE_OK) status = pace_model_bind(&inner, reader->yaml, parameters, &inner, true);
    if (status == PACE_OK) status = read_inside(reader, item->name, pace_yaml_get(block, "layers"), &inner, current);
    pace_scope_free(&inner);
    return status;
}

/* A word, or a map of words to expressions of which the first that is not 0 counts. */
static pace_status choose_loss(const char **out, const model_reader *reader, const pace_yaml_node *node) {
    *out = pace_yaml_text(node);
    for (size_t i = 0; !*out && i < pace_yaml_count(node); i++) {
        double chosen = 0;
        PACE_TRY(pace_model_number(&chosen, reader->yaml, pace_yaml_item(node, i), reader->globals));
        if (chosen != 0) *out = pace_yaml_key(node, i);
    }
    return PACE_OK;
}

static pace_status add_loss(model_reader *reader, const pace_yaml_node *node, uint32_t input) {
    const char *word = NULL;
    PACE_TRY(choose_loss(&word, reader, node));
    const pace_layer_rule *rule = word ? pace_layer_rule_find(word) : NULL;
    pace_layer layer = rule ? pace_layer_make(rule) : (pace_layer){0};
    if (layer.kind != PACE_LAYER_LOSS)
        return fail_at(reader, node, "expected a loss: cross_entropy, mse or binary_cross_entropy");
    bool before = reader->training_only;
    reader->training_only = true;
    pace_status status = add_layer(reader, node, layer, rule, "loss", &input, 1, NULL);
    reader->training_only = before;
    return status;
}

/* A side branch of training: the current output stays what it was. */
static pace_status read_aux(model_reader *reader, const layer_item *item, const pace_scope *scope, uint32_t current) {
    bool before = reader->training_only;
    reader->training_only = true;
    pace_status status = read_inside(reader, item->name, item->value, scope, &current);
    if (status == PACE_OK) status = add_loss(reader, pace_yaml_get(pace_yaml_root(reader->yaml), "loss"), current);
    reader->training_only = before;
    return status;
}

/* One turn of an item. */
static pace_status read_once(model_reader *reader, const layer_item *item, const pace_scope *scope, uint32_t *current) {
    const pace_yaml_node *block = pace_yaml_get(reader->blocks, item->kind);
    const pace_layer_rule *rule = pace_layer_rule_find(item->kind);
    uint32_t inputs[MAX_BRANCHES] = {*current};
    size_t count = 1;
    if (++reader->steps > MAX_STEPS)
        return pace_fail(PACE_E_LIMIT, "%s: more than %d layers and blocks", pace_yaml_place(reader->yaml, item->node),
                         MAX_STEPS);
    if (item->from && pace_yaml_is_list(item->from)) {
        count = pace_yaml_count(item->from);
        if (count == 0 || count > MAX_BRANCHES) return fail_at(reader, item->from, "expected 1 to 64 names");
        for (size_t i = 0; i < count; i++) PACE_TRY(find_output(&inputs[i], reader, pace_yaml_item(item->from, i)));
    } else if (item->from) {
        PACE_TRY(find_output(&inputs[0], reader, item->from));
    }
    uint32_t start = inputs[0];
    if (strcmp(item->kind, "layers") == 0) {
        PACE_TRY(read_inside(reader, pace_yaml_get(item->node, "name") ? item->name : "", item->value, scope, &start));
    } else if (strcmp(item->kind, "aux") == 0) {
        PACE_TRY(read_aux(reader, item, scope, start));
    } else if (block) {
        PACE_TRY(read_block(reader, item, block, scope, &start));
    } else if (!rule || rule->kind == PACE_LAYER_LOSS) {
        return pace_yaml_fail(reader->yaml, item->node, "no layer or block is called \"%.80s\"", item->kind);
    } else if (pace_yaml_is_list(item->value) && pace_layer_rule_main(rule) == PACE_OPTIONS) {
        PACE_TRY(read_join(reader, item, rule, scope, &start));
    } else {
        PACE_TRY(read_layer(reader, item, rule, scope, inputs, count));
        start = (uint32_t)reader->model->layers.count - 1;
    }
    *current = start;
    return PACE_OK;
}

static pace_status read_turn(model_reader *reader, layer_item *item, const char *name, const pace_scope *scope,
                             const char *variable, double value, size_t turn, uint32_t *current) {
    pace_scope inner = {.outer = scope};
    snprintf(item->name, sizeof item->name, "%.100s.%zu", name, turn);
    pace_status status = pace_scope_bind(&inner, variable, &value, 1);
    if (status == PACE_OK) status = read_once(reader, item, &inner, current);
    pace_scope_free(&inner);
    return status;
}

static pace_status read_repeated(model_reader *reader, layer_item *item, const pace_scope *scope, uint32_t *current,
                                 bool *left_out) {
    double times = 0;
    char name[MAX_PATH];
    memcpy(name, item->name, sizeof name);
    PACE_TRY(pace_model_number(&times, reader->yaml, item->repeat, scope));
    if (times < 0 || times > MAX_TIMES || times != floor(times))
        return pace_yaml_fail(reader->yaml, item->repeat, "expected a whole number of times, at most %d", MAX_TIMES);
    *left_out = times == 0;
    for (size_t turn = 0; (double)turn < times; turn++) {
        if (reader->depth == 0) reader->segment = ++reader->model->segments;
        PACE_TRY(read_turn(reader, item, name, scope, "i", (double)turn, turn, current));
        if (reader->depth == 0) reader->segment = 0;
    }
    return PACE_OK;
}

/* A layer that a variant has or has not: no block that is repeated, which pipelines and recomputation would count. */
static pace_status read_perhaps(model_reader *reader, layer_item *item, const pace_scope *scope, uint32_t *current,
                                bool *left_out) {
    double times = 0;
    PACE_TRY(pace_model_number(&times, reader->yaml, item->when, scope));
    if (times != 0 && times != 1) return fail_at(reader, item->when, "expected 0 or 1");
    *left_out = times == 0;
    return *left_out ? PACE_OK : read_once(reader, item, scope, current);
}

static pace_status read_each(model_reader *reader, layer_item *item, const pace_scope *scope, uint32_t *current) {
    pace_number_list list = {0};
    char name[MAX_PATH];
    memcpy(name, item->name, sizeof name);
    if (!pace_yaml_is_map(item->each) || pace_yaml_count(item->each) != 1)
        return fail_at(reader, item->each, "expected one name and its list");
    pace_status status = pace_model_numbers(&list, reader->yaml, pace_yaml_item(item->each, 0), scope);
    for (size_t turn = 0; status == PACE_OK && turn < list.count; turn++)
        status = read_turn(reader, item, name, scope, pace_yaml_key(item->each, 0), list.items[turn], turn, current);
    PACE_VEC_FREE(&list);
    return status;
}

/* Layers and blocks whose parameters are not trained. */
static pace_status freeze(model_reader *reader, const layer_item *item, const pace_scope *scope) {
    double frozen = 0;
    if (item->frozen) PACE_TRY(pace_model_number(&frozen, reader->yaml, item->frozen, scope));
    if (frozen != 0 && frozen != 1) return fail_at(reader, item->frozen, "expected 0 or 1");
    reader->frozen = reader->frozen || frozen == 1;
    return PACE_OK;
}

static pace_status read_layers(model_reader *reader, const pace_yaml_node *list, const pace_scope *scope,
                               uint32_t *current) {
    bool frozen = reader->frozen;
    if (!pace_yaml_is_list(list)) return fail_at(reader, list, "expected a list of layers");
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        layer_item item;
        PACE_TRY(take_apart(&item, reader, pace_yaml_item(list, i)));
        PACE_TRY(name_item(&item, reader, list, i));
        if (!!item.repeat + !!item.each + !!item.when > 1)
            return fail_at(reader, pace_yaml_item(list, i), "expected one of \"repeat\", \"each\" and \"when\"");
        bool left_out = false;
        PACE_TRY(freeze(reader, &item, scope));
        if (item.repeat) PACE_TRY(read_repeated(reader, &item, scope, current, &left_out));
        else if (item.when) PACE_TRY(read_perhaps(reader, &item, scope, current, &left_out));
        else if (item.each) PACE_TRY(read_each(reader, &item, scope, current));
        else PACE_TRY(read_once(reader, &item, scope, current));
        reader->frozen = frozen;
        if (!item.as || (left_out && item.from)) continue;
        if (!pace_yaml_text(item.as)) return fail_at(reader, item.as, "expected a name");
        PACE_TRY(save_output(reader, pace_yaml_text(item.as), *current));
    }
    return PACE_OK;
}

/* ---- the document ---- */

bool pace_model_is_key(const char *text, size_t length) {
    for (size_t i = 0; i < PACE_COUNT(top_keys); i++)
        if (pace_span_is(text, length, top_keys[i])) return true;
    return false;
}

static pace_status read_shape(pace_layer *layer, const model_reader *reader, const pace_yaml_node *spec,
                              const pace_scope *scope) {
    static const char *const words[] = {"image", "tokens", "features", "indices", "vectors", "states"};
    enum { IMAGE, TOKENS, VECTORS = 4, STATES, WORDS };
    const char *key = pace_yaml_count(spec) == 1 ? pace_yaml_key(spec, 0) : NULL;
    const pace_yaml_node *value = pace_yaml_item(spec, 0);
    double sizes[3] = {1, 1, 1};
    size_t word = 0, count = pace_yaml_is_list(value) ? pace_yaml_count(value) : 1;
    while (word < WORDS && (!key || strcmp(words[word], key) != 0)) word++;
    if (word == WORDS || count != (word == IMAGE ? 3 : word >= VECTORS ? 2 : 1))
        return fail_at(reader, spec,
                       "expected {image: [channels, height, width]}, {tokens: N}, {vectors: [N, width]}, "
                       "{states: [N, width]}, "
                       "{features: N} or {indices: N}");
    for (size_t i = 0; i < count; i++) {
        const pace_yaml_node *item = pace_yaml_is_list(value) ? pace_yaml_item(value, i) : value;
        PACE_TRY(pace_model_number(&sizes[i], reader->yaml, item, scope));
        if (sizes[i] < 1 || sizes[i] > 1e9 || sizes[i] != floor(sizes[i]))
            return fail_at(reader, item, "expected a whole number of at least 1");
    }
    *layer = (pace_layer){.kind = PACE_LAYER_INPUT, .word = words[word]};
    bool sequence = word == TOKENS || word == VECTORS;
    if (sequence) {
        reader->model->sequence = sizes[0];
        sizes[0] = word == VECTORS ? sizes[1] : 1;
        sizes[1] = 1;
    }
    if (word == STATES) {
        double tokens = sizes[0];
        sizes[0] = sizes[1];
        sizes[1] = tokens;
    }
    layer->shape = (pace_shape){
        .sequence = sequence, .channels = sizes[0], .height = sizes[1], .width = sizes[2], .tokens = word == STATES};
    return PACE_OK;
}

static pace_status read_inputs(model_reader *reader, const pace_yaml_node *inputs, const pace_scope *scope) {
    if (!pace_yaml_is_map(inputs) || pace_yaml_count(inputs) == 0)
        return fail_at(reader, inputs ? inputs : pace_yaml_root(reader->yaml), "a model needs a map \"inputs\"");
    PACE_YAML_EACH (spec, inputs) {
        pace_layer layer;
        PACE_TRY(read_shape(&layer, reader, spec, scope));
        PACE_TRY(add_layer(reader, spec, layer, NULL, pace_yaml_key_of(spec), NULL, 0, NULL));
        PACE_TRY(save_output(reader, pace_yaml_key_of(spec), (uint32_t)reader->model->layers.count - 1));
    }
    return PACE_OK;
}

static pace_status read_text(pace_name *out, model_reader *reader, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(pace_yaml_root(reader->yaml), key);
    const char *text = pace_yaml_text(node);
    if (!text || !*text)
        return pace_yaml_fail(reader->yaml, node ? node : pace_yaml_root(reader->yaml), "a model needs the text \"%s\"",
                              key);
    return pace_names_add(out, &reader->model->names, text, strlen(text));
}

static pace_status read_names(model_reader *reader, const char *name) {
    PACE_TRY(read_text(&reader->model->family, reader, "family"));
    PACE_TRY(read_text(&reader->model->about, reader, "about"));
    PACE_TRY(read_text(&reader->model->source, reader, "source"));
    if (pace_yaml_get(pace_yaml_root(reader->yaml), "left_out"))
        PACE_TRY(read_text(&reader->model->left_out, reader, "left_out"));
    return pace_names_add(&reader->model->name, &reader->model->names, name, strlen(name));
}

/* What can be set: how a model is run, and the family's own parameters. */
static pace_status refuse_setting(const pace_yaml_node *parameters, const pace_model_setting *setting) {
    PACE_TRY(pace_setting_hint_give(&setting->hint, parameters, setting->key, setting->text));
    char run[800] = "", own[400] = "";
    for (size_t i = 0; pace_config_key(i); i++) pace_list(run, sizeof run, ", ", "%s", pace_config_key(i));
    PACE_YAML_EACH (entry, parameters) pace_list(own, sizeof own, ", ", "%s", pace_yaml_key_of(entry));
    return pace_fail(PACE_E_USAGE, "the model has no parameter \"%.80s\": expected one of how it is run (%s)%s%s%s",
                     setting->key, run, *own ? ", or of its own (" : "", own, *own ? ")" : "");
}

static pace_status apply_settings(pace_scope *scope, const pace_yaml_node *parameters,
                                  const pace_model_setting *settings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!pace_yaml_get(parameters, settings[i].key)) return refuse_setting(parameters, &settings[i]);
        PACE_TRY(pace_scope_bind(scope, settings[i].key, &settings[i].value, 1));
    }
    return PACE_OK;
}

static pace_status read_parameters(pace_scope *scope, const model_reader *reader, const char *name,
                                   const pace_model_setting *settings, size_t setting_count) {
    const pace_yaml_node *root = pace_yaml_root(reader->yaml), *parameters = pace_yaml_get(root, "parameters");
    const pace_yaml_node *variants = pace_yaml_get(root, "variants"), *variant = pace_yaml_get(variants, name);
    PACE_TRY(refuse_unknown(reader, variant, parameters, "the family"));
    /* Values first, so that defaults may be expressions over what a variant or a user sets. */
    PACE_TRY(pace_model_bind(scope, reader->yaml, variant, scope, false));
    PACE_TRY(apply_settings(scope, parameters, settings, setting_count));
    return pace_model_bind(scope, reader->yaml, parameters, scope, true);
}

static pace_status read_model(model_reader *reader, const char *name, const pace_model_setting *settings,
                              size_t setting_count, pace_scope *scope) {
    const pace_yaml_node *root = pace_yaml_root(reader->yaml);
    const pace_yaml_node *loss = pace_yaml_get(root, "loss"), *blocks = pace_yaml_get(root, "blocks");
    uint32_t current = 0;
    if (blocks && !pace_yaml_is_map(blocks)) return fail_at(reader, blocks, "expected a map of blocks");
    PACE_YAML_EACH (entry, blocks)
        if (pace_layer_rule_find(pace_yaml_key_of(entry)))
            return pace_yaml_fail(reader->yaml, entry, "\"%s\" is a kind of layer, expected another name for a block",
                                  pace_yaml_key_of(entry));
    PACE_TRY(read_names(reader, name));
    PACE_TRY(pace_model_recipe_read(reader->model, reader->yaml));
    PACE_TRY(read_parameters(scope, reader, name, settings, setting_count));
    PACE_TRY(read_inputs(reader, pace_yaml_get(root, "inputs"), scope));
    if (!pace_yaml_get(root, "layers")) return fail_at(reader, root, "a model needs a list \"layers\"");
    PACE_TRY(read_layers(reader, pace_yaml_get(root, "layers"), scope, &current));
    return loss ? add_loss(reader, loss, current) : PACE_OK;
}

static pace_status check_members(const model_reader *reader) {
    char all[200] = "";
    for (size_t i = 0; i < PACE_COUNT(top_keys); i++) pace_list(all, sizeof all, ", ", "%s", top_keys[i]);
    PACE_YAML_EACH (one, pace_yaml_root(reader->yaml))
        if (!is_one_of(pace_yaml_key_of(one), top_keys, PACE_COUNT(top_keys)))
            return pace_yaml_fail(reader->yaml, one, "unknown member \"%.80s\" of a model: expected %s",
                                  pace_yaml_key_of(one), all);
    return PACE_OK;
}

const char *pace_model_variant(const pace_yaml *yaml, size_t index) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *variants = pace_yaml_get(root, "variants");
    if (pace_yaml_count(variants)) return pace_yaml_key(variants, index);
    return index == 0 ? pace_yaml_text_of(root, "family") : NULL;
}

pace_status pace_model_build(pace_model *out, const pace_yaml *yaml, const char *name,
                             const pace_model_setting *settings, size_t setting_count) {
    pace_model model = {0};
    model_reader reader = {.model = &model, .yaml = yaml, .blocks = pace_yaml_get(pace_yaml_root(yaml), "blocks")};
    pace_scope scope = {0};
    reader.globals = &scope;
    if (!pace_yaml_is_map(pace_yaml_root(yaml)))
        return fail_at(&reader, pace_yaml_root(yaml), "expected a map that describes a model");
    if (!name) name = pace_model_variant(yaml, 0);
    size_t at = 0;
    while (name && pace_model_variant(yaml, at) && strcmp(pace_model_variant(yaml, at), name) != 0) at++;
    PACE_TRY(check_members(&reader));
    if (!name) return fail_at(&reader, pace_yaml_root(yaml), "expected a model with a \"family\" or \"variants\"");
    if (!pace_model_variant(yaml, at))
        return pace_fail(PACE_E_MISSING, "%s: it describes no model \"%.80s\"",
                         pace_yaml_place(yaml, pace_yaml_root(yaml)), name);
    pace_status status = pace_names_init(&model.names);
    if (status == PACE_OK) status = read_model(&reader, name, settings, setting_count, &scope);
    for (size_t i = 0; i < reader.saved.count; i++) pace_free(reader.saved.items[i].name);
    PACE_VEC_FREE(&reader.saved);
    pace_scope_free(&scope);
    return PACE_GIVE(out, model, status, pace_model_free(&model));
}
