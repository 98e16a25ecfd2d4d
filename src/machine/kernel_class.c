/*
 * Rules in the catalogue's order, tried one after the other: a name is classified once. Names and patterns are compared
 * in lower case, since strstr() is several times as fast as strcasestr().
 */
#include "machine/kernel_class.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <string.h>

typedef struct {
    const pace_yaml_node *match;
    size_t first_pattern; /* of the list's */
    const char *text;     /* family or library, borrowed from the YAML */
    pace_bound bound;
} kernel_rule;

typedef struct {
    const pace_yaml *yaml;
    PACE_VEC(kernel_rule) rules;
    PACE_VEC(char *) patterns; /* of all rules, in lower case */
} rule_list;

struct pace_kernel_classes {
    rule_list kernels, communication, on_devices;
    int64_t host_call_ns;
};

static const char *const families[] = {
    "gemm",        "convolution", "attention", "embedding", "normalization", "softmax", "reduction",
    "elementwise", "copy",        "optimizer", "loss",      "pooling",       "other",   "communication",
};

static pace_status check_family(const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    if (pace_word_number(families, PACE_COUNT(families), text) >= 0) return PACE_OK;
    return pace_yaml_fail(yaml, node, "unknown kernel family \"%.80s\"", text ? text : "");
}

static pace_status check_patterns(const pace_yaml *yaml, const pace_yaml_node *rule, const pace_yaml_node *match) {
    if (!pace_yaml_is_list(match)) return pace_yaml_fail(yaml, match ? match : rule, "a rule needs a list \"match\"");
    PACE_YAML_EACH (one, match) {
        const char *text = pace_yaml_text(one);
        if (!text || !text[text[0] == '<']) return pace_yaml_fail(yaml, one, "expected a part of a kernel's name");
    }
    return PACE_OK;
}

static pace_status lower_patterns(rule_list *out, const pace_yaml_node *match) {
    PACE_YAML_EACH (one, match) {
        const char *text = pace_yaml_text(one);
        char *lower = pace_copy_text(text, strlen(text));
        if (!lower) return PACE_E_MEMORY;
        for (char *at = lower; *at; at++) *at = pace_lower(*at);
        pace_status status = PACE_PUSH(&out->patterns, lower);
        if (status != PACE_OK) pace_free(lower);
        PACE_TRY(status);
    }
    return PACE_OK;
}

static pace_status read_bound(pace_bound *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    if (text && strcmp(text, "compute") == 0) *out = PACE_BOUND_COMPUTE;
    else if (text && strcmp(text, "memory") == 0) *out = PACE_BOUND_MEMORY;
    else return pace_yaml_fail(yaml, node, "\"bound\" is compute or memory");
    return PACE_OK;
}

static pace_status read_kernel_rule(kernel_rule *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const pace_yaml_node *family = pace_yaml_get(node, "family"), *bound = pace_yaml_get(node, "bound");
    PACE_TRY(check_family(yaml, family ? family : node));
    PACE_TRY(read_bound(&out->bound, yaml, bound ? bound : node));
    out->text = pace_yaml_text(family);
    return PACE_OK;
}

static pace_status read_communication_rule(kernel_rule *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    out->text = pace_yaml_text_of(node, "library");
    if (out->text) return PACE_OK;
    return pace_yaml_fail(yaml, node, "a rule needs the text \"library\"");
}

static pace_status read_device_rule(kernel_rule *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    (void)out, (void)yaml, (void)node; /* its patterns are all */
    return PACE_OK;
}

typedef pace_status (*rule_reader)(kernel_rule *out, const pace_yaml *yaml, const pace_yaml_node *node);

static pace_status read_rules(rule_list *out, pace_catalog *catalog, const char *file, const char *key,
                              rule_reader reader) {
    PACE_TRY(pace_catalog_document(&out->yaml, catalog, file));
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, out->yaml, pace_yaml_root(out->yaml), key));
    PACE_YAML_EACH (node, list) {
        kernel_rule rule = {.match = pace_yaml_get(node, "match"), .first_pattern = out->patterns.count};
        PACE_TRY(check_patterns(out->yaml, node, rule.match));
        PACE_TRY(lower_patterns(out, rule.match));
        PACE_TRY(reader(&rule, out->yaml, node));
        PACE_TRY(PACE_PUSH(&out->rules, rule));
    }
    return PACE_OK;
}

static pace_status read_call(int64_t *out_ns, pace_catalog *catalog) {
    enum { LONGEST_US = 1000 };
    const pace_yaml *yaml;
    const pace_yaml_node *node;
    double us;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "kernels.yaml"));
    PACE_TRY(pace_yaml_member(&node, yaml, pace_yaml_root(yaml), "host_call_us"));
    PACE_TRY(pace_yaml_real(&us, yaml, node, "value", 0, LONGEST_US));
    *out_ns = (int64_t)(us * 1000);
    return PACE_OK;
}

int64_t pace_host_call_ns(const pace_kernel_classes *classes) { return classes->host_call_ns; }

pace_status pace_kernel_classes_load(pace_kernel_classes **out, pace_catalog *catalog) {
    pace_kernel_classes *classes = pace_alloc(1, sizeof *classes);
    if (!classes) return PACE_E_MEMORY;
    pace_status status = read_rules(&classes->kernels, catalog, "kernels.yaml", "kernels", read_kernel_rule);
    if (status == PACE_OK)
        status = read_rules(&classes->communication, catalog, "communication.yaml", "communication",
                            read_communication_rule);
    if (status == PACE_OK)
        status = read_rules(&classes->on_devices, catalog, "kernels.yaml", "on_devices", read_device_rule);
    if (status == PACE_OK) status = read_call(&classes->host_call_ns, catalog);
    return PACE_GIVE(out, classes, status, pace_kernel_classes_free(classes));
}

static void free_rules(rule_list *list) {
    for (size_t i = 0; i < list->patterns.count; i++) pace_free(list->patterns.items[i]);
    PACE_VEC_FREE(&list->patterns, &list->rules);
}

void pace_kernel_classes_free(pace_kernel_classes *classes) {
    if (!classes) return;
    free_rules(&classes->kernels);
    free_rules(&classes->communication);
    free_rules(&classes->on_devices);
    pace_free(classes);
}

/* A longer name is compared as it is. */
typedef struct {
    char lower[1024];
    const char *text;
    bool lowered;
} class_name;

static void lower_name(class_name *out, const char *name) {
    size_t length = strlen(name);
    out->lowered = length < sizeof out->lower;
    out->text = out->lowered ? out->lower : name;
    for (size_t i = 0; out->lowered && i <= length; i++) out->lower[i] = pace_lower(name[i]);
}

static const char *next(const class_name *name, const char *at, const char *pattern) {
    return name->lowered ? strstr(at, pattern) : strcasestr(at, pattern);
}

static bool occurs(const class_name *name, const char *pattern) {
    bool word_start = pattern[0] == '<';
    if (word_start) pattern++;
    for (const char *at = name->text; (at = next(name, at, pattern)); at++)
        if (!word_start || at == name->text || !pace_is_alnum(at[-1])) return true;
    return false;
}

/* `*word` is the pattern that occurs; unchanged without one. */
static const kernel_rule *first_match(const rule_list *list, const class_name *name, const char **word) {
    PACE_ITEMS (const kernel_rule, rule, &list->rules) {
        for (size_t j = 0; j < pace_yaml_count(rule->match); j++) {
            if (!occurs(name, list->patterns.items[rule->first_pattern + j])) continue;
            const char *pattern = pace_yaml_text(pace_yaml_item(rule->match, j));
            *word = pattern + (pattern[0] == '<');
            return rule;
        }
    }
    return NULL;
}

const char *pace_kernel_class_word(const pace_kernel_classes *classes, const char *name) {
    const char *word = NULL;
    class_name lower;
    lower_name(&lower, name);
    if (!first_match(&classes->communication, &lower, &word)) first_match(&classes->kernels, &lower, &word);
    return word;
}

bool pace_names_a_device(const pace_kernel_classes *classes, const char *name) {
    const char *word;
    class_name lower;
    lower_name(&lower, name);
    return first_match(&classes->on_devices, &lower, &word) != NULL;
}

pace_kernel_class pace_kernel_classify(const pace_kernel_classes *classes, const char *name) {
    pace_kernel_class unknown = {.family = "unknown"};
    if (!name) return unknown;
    const char *word;
    class_name lower;
    lower_name(&lower, name);
    const kernel_rule *rule = first_match(&classes->communication, &lower, &word);
    if (rule) return (pace_kernel_class){"communication", rule->text, PACE_BOUND_UNKNOWN, true};
    rule = first_match(&classes->kernels, &lower, &word);
    return rule ? (pace_kernel_class){rule->text, NULL, rule->bound, false} : unknown;
}
