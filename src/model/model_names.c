#include "model/model_names.h"

#include "machine/catalog.h"
#include "model/model_files.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* " hidden layers … ": those of `stated`, or every parameter of the family. */
static void list_sizes(char *out, size_t size, const pace_yaml_node *root) {
    const pace_yaml_node *stated = pace_yaml_get(root, "stated"), *parameters = pace_yaml_get(root, "parameters");
    size_t count = stated ? pace_yaml_count(stated) : pace_yaml_count(parameters);
    pace_snprintf(out, size, " ");
    for (size_t i = 0; i < count; i++) {
        const char *key = stated ? pace_yaml_text(pace_yaml_item(stated, i)) : pace_yaml_key(parameters, i);
        if (key && strlen(out) + strlen(key) + 2 < size) pace_append(out, size, "%s ", key);
    }
}

static pace_status add(pace_model_names *names, const pace_model_called *like, const char *name) {
    pace_model_called one = *like;
    pace_model_plain_name(one.plain, sizeof one.plain, name);
    return PACE_PUSH(&names->all, one);
}

/* A model under its own name, and under those that its family's file lists in `names`. */
static pace_status add_model(void *context, const pace_yaml *yaml, const char *name, bool *stop) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *others = pace_yaml_get(root, "names");
    const char *family = pace_yaml_text_of(root, "family");
    pace_model_called one = {0};
    (void)stop;
    snprintf(one.model, sizeof one.model, "%s", name);
    snprintf(one.family, sizeof one.family, "%s", family ? family : "");
    list_sizes(one.sizes, sizeof one.sizes, root);
    PACE_TRY(add(context, &one, name));
    const pace_yaml_node *list = pace_yaml_get(others, name);
    PACE_YAML_EACH (entry, list) {
        const char *text = pace_yaml_text(entry);
        if (text) PACE_TRY(add(context, &one, text));
    }
    return PACE_OK;
}

static void free_kept(void *value) { pace_model_names_free(value); }

static pace_status make_kept(void *value, pace_catalog *catalog) {
    pace_model_names *kept = value;
    PACE_TRY(pace_catalog_document(&kept->words, catalog, "model_names.yaml"));
    return pace_model_each_description(catalog, add_model, kept);
}

pace_status pace_model_names_load(pace_model_names *out, pace_catalog *catalog) {
    static const char *const files[] = {"model_names.yaml", "models/", NULL};
    static const pace_catalog_kind kind = {sizeof *out, make_kept, free_kept, files};
    PACE_TRY(pace_catalog_copy(out, catalog, &kind));
    out->borrows = true;
    return PACE_OK;
}

void pace_model_names_free(pace_model_names *names) {
    if (!names->borrows) PACE_VEC_FREE(&names->all);
    *names = (pace_model_names){0};
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

static const pace_model_called *with_plain(const pace_model_names *names, const char *plain) {
    return PACE_FIND(names->all.items, names->all.count, plain, plain);
}

enum { WORDS_OFF = 6 };

/* Takes words that change nothing off the front and the back until the rest is known: "nvidianemotron4340bbase" has
 * "nemo" in front once "nvidia" is off, and is known with "base" off instead, so that every order is tried. */
static const pace_model_called *stripped(const pace_model_names *names, const char *plain, int left) {
    const pace_yaml_node *around = pace_yaml_get(pace_yaml_root(names->words), "around");
    const pace_model_called *found = with_plain(names, plain);
    char word[40], rest[64];
    size_t whole = strlen(plain);
    for (size_t i = 0; !found && left > 0 && i < pace_yaml_count(around); i++) {
        pace_model_plain_name(word, sizeof word, pace_yaml_text(pace_yaml_item(around, i)));
        size_t length = strlen(word);
        if (length == 0 || whole <= length) continue;
        if (strcmp(plain + whole - length, word) == 0) {
            snprintf(rest, sizeof rest, "%.*s", (int)(whole - length), plain);
            found = stripped(names, rest, left - 1);
        }
        if (!found && strncmp(plain, word, length) == 0) found = stripped(names, plain + length, left - 1);
    }
    return found;
}

static const pace_model_called *without_words(const pace_model_names *names, const char *text) {
    char plain[64];
    pace_model_plain_name(plain, sizeof plain, text);
    return *plain ? stripped(names, plain, WORDS_OFF) : NULL;
}

/* Parentheses count as spaces. */
static void open_parentheses(char *out, size_t size, const char *text) {
    snprintf(out, size, "%s", text);
    for (char *c = out; *c; c++)
        if (*c == '(' || *c == ')') *c = ' ';
}

/* Behind the last slash: an owner stands before it. "ViT-L/16" has none: there it is part of the name. */
static const char *behind_owner(const char *text) {
    const char *slash = NULL, *end = strchr(text, '(');
    for (const char *c = text; *c && c != end; c++)
        if (*c == '/') slash = c;
    return slash ? slash + 1 : text;
}

/* "llama31_8b" -> "llama3.1_8b": two digits between letters and a separator may be a version. False without such. */
static bool point_version(char *out, size_t size, const char *text) {
    for (const char *c = text; *c && c[1]; c++) {
        size_t digits = strspn(c + 1, "0123456789");
        if (!pace_is_alpha(*c) || digits != 2 || !c[3] || !strchr("_- ", c[3])) continue;
        pace_snprintf(out, size, "%.*s.%s", (int)(c + 2 - text), text, c + 2);
        return true;
    }
    return false;
}

static const pace_model_called *find_as_written(const pace_model_names *names, const char *text) {
    char opened[128];
    const pace_model_called *found = without_words(names, text);
    if (!found) found = without_words(names, behind_owner(text));
    open_parentheses(opened, sizeof opened, text);
    if (!found) found = without_words(names, opened);
    return found ? found : without_words(names, behind_owner(opened));
}

const pace_model_called *pace_model_names_find(const pace_model_names *names, const char *text) {
    char pointed[128];
    const pace_model_called *found = find_as_written(names, text);
    return found || !point_version(pointed, sizeof pointed, text) ? found : find_as_written(names, pointed);
}

const pace_model_called *pace_model_names_exact(const pace_model_names *names, const char *name) {
    char plain[64];
    pace_model_plain_name(plain, sizeof plain, name);
    return with_plain(names, plain);
}

static size_t longest_common(const char *a, const char *b) {
    size_t best = 0;
    for (const char *i = a; *i; i++)
        for (const char *j = b; *j; j++) {
            size_t n = 0;
            while (i[n] && i[n] == j[n]) n++;
            if (n > best) best = n;
        }
    return best;
}

static size_t common_head(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

/* How near two names are: names of one family begin alike ("dlrm_small" and "dlrm_default"), which counts before any
 * other part that they share. 0 when they share less than half of either and no beginning. */
static size_t nearness(const char *a, const char *b) {
    enum { FAMILY = 3, FIRST = 64 }; /* the fewest letters that name a family; more than a name has */
    size_t head = common_head(a, b), common = longest_common(a, b);
    bool half = 2 * common >= strlen(a) && 2 * common >= strlen(b);
    return (head >= FAMILY ? FIRST * head : 0) + (head >= FAMILY || half ? common : 0);
}

const char *pace_model_names_closest(const pace_model_names *names, const char *text) {
    const char *best = "";
    char plain[64];
    size_t most = 0, shortest = 0;
    pace_model_plain_name(plain, sizeof plain, behind_owner(text));
    PACE_ITEMS (const pace_model_called, one, &names->all) {
        size_t near = nearness(plain, one->plain), length = strlen(one->plain);
        if (near == 0 || near < most || (near == most && length >= shortest)) continue;
        most = near;
        shortest = length;
        best = one->model;
    }
    return best;
}

/* Short words begin a word of the name: an SSD300 is no SD3. */
static bool holds_word(const char *text, const char *plain, const char *word) {
    enum { SHORT = 4 };
    char rest[64];
    size_t length = strlen(word);
    if (length > SHORT) return strstr(plain, word) != NULL;
    for (const char *at = text; length && *at; at++) {
        if (at > text && pace_is_alnum(at[-1])) continue;
        pace_model_plain_name(rest, sizeof rest, at);
        if (strncmp(rest, word, length) == 0) return true;
    }
    return false;
}

const char *pace_model_names_refusal(const pace_model_names *names, const char *text) {
    const pace_yaml_node *refused = pace_yaml_get(pace_yaml_root(names->words), "refused");
    char plain[64], word[64];
    pace_model_plain_name(plain, sizeof plain, text);
    PACE_YAML_EACH (one, refused) {
        const pace_yaml_node *words = pace_yaml_get(one, "words");
        PACE_YAML_EACH (entry, words) {
            pace_model_plain_name(word, sizeof word, pace_yaml_text(entry));
            if (holds_word(text, plain, word)) return pace_yaml_text_of(one, "why");
        }
    }
    return NULL;
}

/* Three digits between separators; a patch's size stands behind a word. */
double pace_model_name_image(const char *text) {
    enum { DIGITS = 3, LEAST = 160 }; /* below it stand widths in percent ("mobilenetv2_100") */
    static const char apart[] = "_-.";
    for (const char *at = strpbrk(text, apart); at; at = strpbrk(at + 1, apart)) {
        size_t digits = strspn(at + 1, "0123456789");
        bool ends = at[1 + digits] == '\0' || strchr(apart, at[1 + digits]);
        double size;
        if (digits == DIGITS && ends && pace_number_read(&size, at + 1) && size >= LEAST) return size;
    }
    return 0;
}

bool pace_model_called_takes(const pace_model_called *one, const char *parameter) {
    char word[32];
    snprintf(word, sizeof word, " %s ", parameter);
    return strstr(one->sizes, word) != NULL;
}
