#include "source/slice/anonymize.h"
#include "base/text.h"
#include "base/yaml_member.h"
#include "source/slice/event_rewrite.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 4096 };

pace_status pace_anonymizer_open(pace_anonymizer *out, pace_catalog *catalog, const pace_kernel_classes *classes) {
    const pace_yaml *yaml;
    pace_anonymizer a = {.classes = classes};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "public_names.yaml"));
    const struct {
        const char *key;
        const pace_yaml_node **list;
    } lists[] = {{"whole", &a.whole},           {"heads", &a.heads},    {"kernels", &a.kernels},
                 {"namespaces", &a.namespaces}, {"python", &a.python},  {"arguments", &a.arguments},
                 {"values", &a.values},         {"members", &a.members}};
    for (size_t i = 0; i < PACE_COUNT(lists); i++)
        PACE_TRY(pace_yaml_list(lists[i].list, yaml, pace_yaml_root(yaml), lists[i].key));
    PACE_TRY(pace_catalog_document(&yaml, catalog, "stages.yaml"));
    PACE_TRY(pace_yaml_list(&a.stages, yaml, pace_yaml_root(yaml), "stages"));
    *out = a;
    return PACE_OK;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

static const char *text_at(const pace_yaml_node *list, size_t i) {
    const char *text = pace_yaml_text(pace_yaml_item(list, i));
    return text ? text : "";
}

/* The length of the longest pattern that `text` starts with; 0 = none. */
static size_t starts_with_any(const pace_yaml_node *list, const char *text) {
    size_t longest = 0;
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *pattern = text_at(list, i);
        if (strlen(pattern) > longest && pace_starts(text, pattern)) longest = strlen(pattern);
    }
    return longest;
}

static unsigned long long hash_of(const char *text) {
    return (unsigned long long)(pace_hash(text, strlen(text)) >> 24);
}

/* Autograd's own nodes carry a number: "AddmmBackward0"; those of a user's functions do not. */
static bool is_autograd_node(const char *name) {
    const char *at = name;
    if (*at < 'A' || *at > 'Z') return false;
    while (pace_is_alnum(*at)) at++;
    if (*at || !pace_is_digit(at[-1])) return false;
    while (pace_is_digit(at[-1])) at--;
    return (size_t)(at - name) > 8 && memcmp(at - 8, "Backward", 8) == 0;
}

/* The length of the longest head of a name: of the list, or one by which a stage is known. A name that is known whole
 * is its own head. */
static size_t head_of(const pace_anonymizer *a, const char *name) {
    size_t longest = starts_with_any(a->heads, name);
    PACE_YAML_EACH (rule, a->stages) {
        const pace_yaml_node *starts = pace_yaml_get(rule, "starts");
        const pace_yaml_node *equals = pace_yaml_get(rule, "equals");
        size_t head = starts ? starts_with_any(starts, name) : 0;
        if (equals && pace_text_listed(equals, name)) head = strlen(name);
        if (head > longest) longest = head;
    }
    return longest;
}

/* A hash of the name, and the parts of it by which its stage is known. */
static void hash_name(char *out, size_t size, const pace_anonymizer *a, const char *prefix, const char *name) {
    pace_snprintf(out, size, "%s_%010llx", prefix, hash_of(name));
    PACE_YAML_EACH (one, a->stages) {
        const pace_yaml_node *parts = pace_yaml_get(one, "contains");
        for (size_t k = 0; parts && k < pace_yaml_count(parts); k++)
            if (strstr(name, text_at(parts, k))) pace_append(out, size, " %s", text_at(parts, k));
    }
}

static void mask_host_name(char *out, size_t size, const pace_anonymizer *a, const char *name) {
    size_t whole = starts_with_any(a->whole, name), head = head_of(a, name);
    if (whole > head) head = strlen(name);
    if (is_autograd_node(name)) head = strlen(name);
    size_t used = (size_t)snprintf(out, size, "%.*s", (int)head, name);
    if (used >= size || !name[head]) return;
    bool says_more = false;
    for (const char *at = name + head; *at; at++) says_more = says_more || pace_is_alnum(*at);
    if (!says_more) snprintf(out + used, size - used, "%s", name + head);
    else if (is_autograd_node(name + head) || starts_with_any(a->whole, name + head))
        snprintf(out + used, size - used, "%s", name + head);
    else hash_name(out + used, size - used, a, "name", name + head);
}

/* Whether every namespace that a name begins with, at its start or among its types, is a public one. */
static bool names_no_other(const pace_yaml_node *namespaces, const char *name) {
    for (const char *at = name; *at;) {
        size_t word = 0;
        while (pace_is_name(at[word])) word++;
        bool inner = at > name && at[-1] == ':';
        if (word && at[word] == ':' && at[word + 1] == ':' && !inner && starts_with_any(namespaces, at) == 0)
            return false;
        at += word ? word : 1;
    }
    return true;
}

static void mask_kernel(char *out, size_t size, const pace_anonymizer *a, const char *name) {
    const char *bare = pace_starts(name, "void ") ? name + 5 : name;
    const char *known = pace_kernel_class_word(a->classes, name);
    if (starts_with_any(a->kernels, bare) && names_no_other(a->namespaces, bare)) snprintf(out, size, "%s", name);
    else snprintf(out, size, "%s_%010llx", known ? known : "kernel", hash_of(name));
}

static bool is_of(const char *category, const char *const *list) {
    for (; *list; list++)
        if (pace_strcasecmp(*list, category) == 0) return true;
    return false;
}

/* Of these the profiler or the runtime chose the names. */
static const char *const fixed[] = {"gpu_memcpy",       "gpu_memset",       "memcpy", "memset",      "cuda_runtime",
                                    "cuda_driver",      "runtime",          "driver", "hip_runtime", "xpu_runtime",
                                    "overhead",         "cuda_sync",        "ac2g",   "fwdbwd",      "async_gpu",
                                    "async_cpu_to_gpu", "forward_backward", NULL};
static const char *const kernels[] = {"kernel", "concurrent_kernel", NULL};
static const char *const frames[] = {"python_function", NULL};

/* The name of something of a category ("cpu_op", "kernel", ...), cut to `size`; returns `out`. */
static const char *anonymous_name(char *out, size_t size, const pace_anonymizer *a, const char *category,
                                  const char *name) {
    if (is_of(category, fixed)) snprintf(out, size, "%s", name);
    else if (is_of(category, kernels)) mask_kernel(out, size, a, name);
    else if (!is_of(category, frames)) mask_host_name(out, size, a, name);
    else if (starts_with_any(a->python, name)) snprintf(out, size, "%s", name);
    else hash_name(out, size, a, "python", name);
    return out;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_anonymizer *a;
    const char *category;
    bool metadata; /* names a process or a thread */
} masker;

/* A number, or a list of numbers. */
static bool is_number(const char *text) {
    const char *at = text;
    while (pace_is_digit(*at) || (*at && strchr("-+.,x []", *at)) ||
           ((*at == 'e' || *at == 'E') && at > text && pace_is_digit(at[-1])))
        at++;
    return *at == '\0';
}

/* "stream 7 7", "CPU", "GPU 0", "thread 123 (python)": what stands in brackets is left out. */
static void mask_label(char *out, size_t size, const char *text) {
    static const char *const known[] = {"stream ", "thread ", "CPU", "GPU"};
    for (size_t i = 0; i < PACE_COUNT(known); i++) {
        if (!pace_starts(text, known[i])) continue;
        size_t length = strlen(known[i]);
        while (pace_is_digit(text[length]) || text[length] == ' ') length++;
        snprintf(out, size, "%.*s", (int)length, text);
        return;
    }
    snprintf(out, size, "name_%010llx", hash_of(text));
}

static void mask_value(char *out, size_t size, const masker *m, const pace_event_value *value, const char *text) {
    static const char *const codes[] = {"ph", "cat", "s", "bp", NULL};
    bool known = pace_text_listed(m->a->values, text) && strcmp(value->member, "args") == 0;
    if (is_number(text) || known || is_of(value->member, codes)) snprintf(out, size, "%s", text);
    else if (strcmp(value->member, "name") == 0) anonymous_name(out, size, m->a, m->category, text);
    else if (m->metadata) mask_label(out, size, text);
    else if (strcmp(value->member, "args") == 0 && pace_text_listed(m->a->arguments, value->argument) &&
             names_no_other(m->a->namespaces, text))
        snprintf(out, size, "%s", text);
    else if (strcmp(value->member, "args") == 0 || !starts_with_any(m->a->whole, text))
        snprintf(out, size, "text_%010llx", hash_of(text));
    else snprintf(out, size, "%s", text);
}

/* A text longer than any name is one that only its hash stands for. */
static bool put_value(void *context, pace_sink *sink, const pace_event_value *value) {
    const masker *m = context;
    char plain[LONGEST_NAME], masked[LONGEST_NAME + 64];
    if (!value->string) return false;
    if (value->length >= sizeof plain) {
        pace_sink_format(sink, "\"text_%010llx\"", (unsigned long long)(pace_hash(value->text, value->length) >> 24));
        return true;
    }
    memcpy(plain, value->text, value->length);
    plain[value->length] = '\0';
    mask_value(masked, sizeof masked, m, value, plain);
    pace_sink_bytes(sink, "\"", 1);
    pace_sink_text(sink, masked);
    pace_sink_bytes(sink, "\"", 1);
    return true;
}

void pace_anonymize_event(pace_sink *sink, const pace_anonymizer *anonymizer, const pace_kineto_event *event,
                          const char *bytes, size_t length) {
    const pace_kineto_category *seen = &event->categories[event->category];
    char category[sizeof seen->text + 1];
    snprintf(category, sizeof category, "%.*s", event->has_category ? (int)seen->length : 0, seen->text);
    masker m = {.a = anonymizer, .category = category, .metadata = event->phase == 'M'};
    pace_event_rewrite(sink, bytes, length, put_value, &m);
}

/* Of what the profiler says of the job, numbers and public words stay. */
static bool put_member_value(void *context, pace_sink *sink, const pace_event_value *value) {
    const pace_anonymizer *a = context;
    char plain[LONGEST_NAME];
    if (!value->string) return false;
    snprintf(plain, sizeof plain, "%.*s", (int)(value->length < sizeof plain ? value->length : sizeof plain - 1),
             value->text);
    if (is_number(plain) || pace_text_listed(a->values, plain)) return false;
    pace_sink_format(sink, "\"text_%010llx\"", (unsigned long long)(pace_hash(value->text, value->length) >> 24));
    return true;
}

void pace_anonymize_member(pace_sink *sink, const pace_anonymizer *anonymizer, const char *key, const char *bytes,
                           size_t length) {
    if (strcmp(key, "distributedInfo") == 0)
        pace_event_rewrite(sink, bytes, length, put_member_value, (void *)anonymizer);
    else pace_sink_bytes(sink, bytes, length);
}

bool pace_anonymizer_keeps_member(const pace_anonymizer *anonymizer, const char *key, const char *value) {
    return pace_text_listed(anonymizer->members, key) || (*value != '"' && *value != '{' && *value != '[');
}
