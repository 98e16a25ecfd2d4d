#include "model/hub_config.h"

#include "base/decimal.h"
#include "base/print.h"
#include "base/yaml_member.h"
#include "model/model_files.h"

#include <string.h>

enum { WORD = 64 };

typedef struct {
    pace_hub_config *out;
    const pace_yaml *document;
    const pace_yaml_node *root, *rules, *type, *parameters; /* of the model's family, by their names */
} reader;

/* --- members ------------------------------------------------------------------------------------------------------ */

bool pace_hub_config_is(const pace_yaml *document) {
    const pace_yaml_node *root = pace_yaml_root(document);
    return pace_yaml_get(root, "model_type") || pace_yaml_get(root, "architectures");
}

static bool is_null(const char *text) { return !text || strcmp(text, "null") == 0; }

/* A list that has items, or a text that is neither null nor false nor 0. */
static bool says_something(const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    if (!text) return pace_yaml_count(node) > 0;
    return !is_null(text) && strcmp(text, "false") != 0 && strcmp(text, "0") != 0;
}

/* "outer.inner" is a member of a member. */
static const pace_yaml_node *find_member(const reader *r, const char *name) {
    char outer[WORD];
    const char *inner = strchr(name, '.');
    if (!inner) return pace_yaml_get(r->root, name);
    pace_snprintf(outer, sizeof outer, "%.*s", (int)(inner - name), name);
    return pace_yaml_get(pace_yaml_get(r->root, outer), inner + 1);
}

static const pace_yaml_node *find_type(const reader *r, const char *name) {
    const pace_yaml_node *types = pace_yaml_get(r->rules, "types"), *type = name ? pace_yaml_get(types, name) : NULL;
    const char *like = pace_yaml_text_of(type, "like");
    return like ? pace_yaml_get(types, like) : type;
}

static pace_status refuse_type(const reader *r, const char *name) {
    const pace_yaml_node *types = pace_yaml_get(r->rules, "types"), *refused = pace_yaml_get(r->rules, "refused");
    char list[1200] = "";
    for (size_t i = 0; name && i < pace_yaml_count(refused); i++)
        if (pace_word_listed(pace_yaml_get(pace_yaml_item(refused, i), "types"), name))
            return pace_yaml_fail(r->document, r->root, "model_type \"%.40s\": %s", name,
                                  pace_yaml_text_of(pace_yaml_item(refused, i), "why"));
    PACE_YAML_EACH (entry, types) pace_list(list, sizeof list, ", ", "%s", pace_yaml_key_of(entry));
    return pace_yaml_fail(
        r->document, r->root,
        "a model's configuration of Hugging Face whose model_type \"%.40s\" is described nowhere in the "
        "catalogue: expected one of %s, or name the model that is most like it ('paceline models') and "
        "set what differs",
        name ? name : "", list);
}

/* Members that make a model another than its type's: layers of another kind, widths that its description fixes. */
static pace_status check_only(const reader *r) {
    const pace_yaml_node *only = pace_yaml_get(r->type, "only");
    PACE_YAML_EACH (one, only) {
        const char *key = pace_yaml_key_of(one), *wanted = pace_yaml_text(one);
        const pace_yaml_node *found = pace_yaml_get(r->root, key);
        const char *text = pace_yaml_text(found);
        if (text && strcmp(text, "true") == 0) text = "1";
        if (!says_something(found) || !wanted || (text && strcmp(text, wanted) == 0)) continue;
        return pace_yaml_fail(r->document, found, "%s: the catalogue describes such models with %s alone, found %.40s",
                              key, wanted, text ? text : "a list");
    }
    return PACE_OK;
}

static double above(const reader *r, const char *parameter) {
    const char *text = pace_yaml_text_of(pace_yaml_get(r->type, "above"), parameter);
    double number;
    return text && pace_number_parse(&number, text) ? number : -1;
}

/* A member's value; false where the configuration does not state it. "member=word" asks for a word; "member?other"
 * counts where the other says something; "member*other" is a product. */
static pace_status take_member(bool *stated, double *value, const reader *r, const char *member) {
    char key[WORD];
    const char *equals = strchr(member, '='), *other = strchr(member, '?'), *times = strchr(member, '*');
    pace_snprintf(key, sizeof key, "%.*s", (int)strcspn(member, "=?*"), member);
    const pace_yaml_node *node = find_member(r, key);
    const char *text = pace_yaml_text(node);
    *stated = node && !is_null(text) && (!other || says_something(find_member(r, other + 1)));
    if (!*stated) return PACE_OK;
    if (equals) *value = text && strcmp(text, equals + 1) == 0;
    else if (text && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) *value = *text == 't';
    else PACE_TRY(pace_yaml_number(value, r->document, node));
    if (!times) return PACE_OK;
    double factor = 0;
    PACE_TRY(take_member(stated, &factor, r, times + 1));
    *value *= factor;
    return PACE_OK;
}

static pace_status put(reader *r, const char *parameter, double value) {
    const pace_model_setting setting = {.key = parameter, .value = value, .text = ""};
    return PACE_PUSH(&r->out->settings, setting);
}

/* The first member of a list that the configuration states, else what the type's class takes. */
static pace_status take(reader *r, const char *parameter, const pace_yaml_node *members, bool needed) {
    const pace_yaml_node *usual = pace_yaml_get(pace_yaml_get(r->type, "with"), parameter);
    bool stated = false, perhaps = false;
    double value;
    for (size_t i = 0; i < pace_yaml_count(members) && !stated; i++) {
        const char *member = pace_yaml_text(pace_yaml_item(members, i));
        perhaps = perhaps || strchr(member, '?');
        PACE_TRY(take_member(&stated, &value, r, member));
    }
    if (stated && value > above(r, parameter)) return put(r, parameter, value);
    if (usual) return pace_number_parse(&value, pace_yaml_text(usual)) ? put(r, parameter, value) : PACE_OK;
    if (!needed || stated || perhaps) return PACE_OK;
    return pace_yaml_fail(r->document, r->root, "a model's configuration without %s",
                          pace_yaml_text(pace_yaml_item(members, 0)));
}

/* A parameter's members: the type's, else everybody's. */
static const pace_yaml_node *members_of(const reader *r, const char *parameter) {
    const pace_yaml_node *own = pace_yaml_get(pace_yaml_get(r->type, "keys"), parameter);
    return own ? own : pace_yaml_get(pace_yaml_get(r->rules, "keys"), parameter);
}

/* Every parameter of a map that the model has and that is not set yet. */
static pace_status take_all(reader *r, const pace_yaml_node *map) {
    const pace_yaml_node *needed = pace_yaml_get(r->rules, "needed");
    PACE_YAML_EACH (one, map) {
        const char *parameter = pace_yaml_key_of(one);
        bool must = map == pace_yaml_get(r->type, "keys") || pace_word_listed(needed, parameter);
        const void *set = PACE_FIND(r->out->settings.items, r->out->settings.count, key, parameter);
        if (!set && pace_yaml_get(r->parameters, parameter))
            PACE_TRY(take(r, parameter, members_of(r, parameter), must));
    }
    return PACE_OK;
}

/* The model's own length, where the longest that the configuration allows is shorter; positions that are learned are
 * parameters. */
static pace_status take_sequence(reader *r) {
    const pace_yaml_node *members = pace_yaml_get(r->rules, "sequence");
    const char *text = pace_yaml_text_of(r->parameters, "seq");
    double longest = 0, usual;
    bool stated = false;
    for (size_t i = 0; i < pace_yaml_count(members) && !stated; i++)
        PACE_TRY(take_member(&stated, &longest, r, pace_yaml_text(pace_yaml_item(members, i))));
    if (!stated || !text || !pace_number_parse(&usual, text)) return PACE_OK;
    if (pace_yaml_get(r->parameters, "positions")) {
        double beyond = 0; /* that no token stands at, as OPT has them */
        const char *more = pace_yaml_text_of(pace_yaml_get(r->type, "with"), "beyond");
        if (more) (void)pace_number_parse(&beyond, more);
        PACE_TRY(put(r, "positions", longest + beyond));
        return put(r, "seq", longest);
    }
    return longest < usual ? put(r, "seq", longest) : PACE_OK;
}

/* --- windows of attention ----------------------------------------------------------------------------------------- */

static pace_status read_layer_type(bool *sees_all, const reader *r, const pace_yaml_node *item) {
    const pace_yaml_node *words = pace_yaml_get(r->rules, "layer_types");
    const char *word = pace_yaml_text(item);
    *sees_all = pace_word_listed(pace_yaml_get(words, "all"), word ? word : "");
    if (*sees_all || (word && pace_word_listed(pace_yaml_get(words, "sliding"), word))) return PACE_OK;
    return pace_yaml_fail(r->document, item,
                          "layer_types: expected layers of full or sliding attention, found \"%.40s\"",
                          word ? word : "");
}

/* A list of layers as the models' parameters say it: the first ones see all tokens, or every so many. */
static pace_status take_layer_types(reader *r) {
    const pace_yaml_node *list = pace_yaml_get(r->root, "layer_types");
    size_t count = pace_yaml_count(list), first = 0, next;
    bool sees_all = true;
    for (; first < count; first++) {
        PACE_TRY(read_layer_type(&sees_all, r, pace_yaml_item(list, first)));
        if (!sees_all) break;
    }
    for (next = first; next < count; next++) {
        PACE_TRY(read_layer_type(&sees_all, r, pace_yaml_item(list, next)));
        if (sees_all) break;
    }
    if (count == 0 || !pace_yaml_get(r->parameters, "sliding")) return PACE_OK;
    if (first == count && pace_yaml_get(r->parameters, "chunk")) PACE_TRY(put(r, "chunk", 0));
    if (first == count) return put(r, "sliding", 0);
    for (size_t i = next; i < count; i++) {
        PACE_TRY(read_layer_type(&sees_all, r, pace_yaml_item(list, i)));
        if (sees_all != ((i + 1) % (next + 1) == 0) || first > 0)
            return pace_yaml_fail(r->document, pace_yaml_item(list, i),
                                  "layer_types: expected full attention in the first layers or in every so many, found "
                                  "another order");
    }
    PACE_TRY(put(r, "global_first", (double)first));
    return put(r, "global_every", (double)next + 1);
}

/* --- networks of images and words --------------------------------------------------------------------------------- */

/* Their decoder has a type of its own within. */
static void take_decoder(reader *r) {
    const pace_yaml_node *rule = pace_yaml_get(r->rules, "with_images");
    const pace_yaml_node *decoder = pace_yaml_get(r->root, pace_yaml_text_of(rule, "decoder"));
    const char *name = pace_yaml_text_of(r->root, "model_type");
    if (!name || !pace_word_listed(pace_yaml_get(rule, "types"), name)) return;
    if (!pace_yaml_text_of(decoder, "model_type")) return;
    r->root = decoder;
    r->out->text_alone = true;
}

/* --- the family --------------------------------------------------------------------------------------------------- */

static pace_status visit(void *context, const pace_yaml *yaml, const char *name, bool *stop) {
    reader *r = context;
    if (strcmp(name, r->out->model) != 0) return PACE_OK;
    r->parameters = pace_yaml_get(pace_yaml_root(yaml), "parameters");
    *stop = true;
    return PACE_OK;
}

pace_status pace_hub_config_read(pace_hub_config *out, pace_catalog *catalog, const pace_yaml *document) {
    reader r = {.out = out, .document = document, .root = pace_yaml_root(document)};
    const pace_yaml *rules;
    PACE_TRY(pace_catalog_document(&rules, catalog, "hub_configs.yaml"));
    r.rules = pace_yaml_root(rules);
    take_decoder(&r);
    const char *name = pace_yaml_text_of(r.root, "model_type");
    r.type = find_type(&r, name);
    if (!r.type) return refuse_type(&r, name);
    PACE_TRY(pace_yaml_word(&out->model, rules, r.type, "model"));
    PACE_TRY(pace_model_each_description(catalog, visit, &r));
    PACE_TRY(check_only(&r));
    PACE_TRY(take_layer_types(&r));
    PACE_TRY(take_all(&r, pace_yaml_get(r.type, "keys")));
    PACE_TRY(take_all(&r, pace_yaml_get(r.rules, "keys")));
    PACE_TRY(take_all(&r, pace_yaml_get(r.type, "with")));
    return take_sequence(&r);
}

void pace_hub_config_free(pace_hub_config *config) {
    PACE_VEC_FREE(&config->settings);
    config->model = NULL;
}
