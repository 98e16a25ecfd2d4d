#include "ask/plan/launch_words.h"

#include "ask/plan/shell_arithmetic.h"
#include "ask/plan/shell_test.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/intern.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20, NAME = 256, VALUE = 512, VARIABLES = 256, DEPTH = 8, BRANCHES = 32 };

typedef struct {
    char name[64], value[VALUE];
    bool several; /* it is given different values, of which nobody knows the one that counts */
} variable;

/* Of an "if" or "case": whether what is read now runs, and whether something before it did. */
typedef struct {
    pace_shell_truth now, before;
} branch;

typedef struct {
    pace_launch_words *out;
    char section[NAME / 2];
    PACE_VEC(variable) variables;
    branch branches[BRANCHES];
    size_t depth;
} reader;

static bool in_branch(const reader *r, pace_shell_truth truth) {
    for (size_t i = 0; i < r->depth && i < BRANCHES; i++)
        if (r->branches[i].now == truth) return true;
    return false;
}

static pace_status add(reader *r, const char *name, const char *value, bool assigned) {
    pace_launch_word word = {pace_copy_text(name, strlen(name)), pace_copy_text(value, strlen(value)), assigned,
                             in_branch(r, PACE_SHELL_UNKNOWN)};
    pace_status status = word.name && word.value ? PACE_PUSH(&r->out->items, word) : PACE_E_MEMORY;
    if (status != PACE_OK) PACE_FREE(word.name, word.value);
    for (char *c = status == PACE_OK ? word.name : NULL; c && *c; c++)
        if (*c == '-') *c = '_';
    return status;
}

/* --- shell variables ---------------------------------------------------------------------------------------------- */

static const variable *find_variable(const reader *r, const char *name, size_t length) {
    for (size_t i = 0; i < r->variables.count; i++)
        if (pace_span_is(name, length, r->variables.items[i].name)) return &r->variables.items[i];
    return NULL;
}

static bool number_of_variable(int64_t *out, const void *context, const char *name, size_t length) {
    const variable *found = find_variable(context, name, length);
    double number;
    if (!found || found->several || !pace_number_parse(&number, found->value)) return false;
    *out = (int64_t)number;
    return (double)*out == number;
}

/* "$((GPUS * NODES))" at the start of `text`: its figure, and how long it is; false for what is none. */
static bool compute(const reader *r, const char *text, size_t *length, char out[VALUE]) {
    const char *close = text, *most = text + VALUE;
    int64_t number;
    if (!pace_starts(text, "$((")) return false;
    while (*close && close < most && !pace_starts(close, "))")) close++;
    while (pace_starts(close, ")))")) close++;
    if (!pace_starts(close, "))") ||
        !pace_shell_arithmetic(&number, text + 3, (size_t)(close - text) - 3, number_of_variable, r))
        return false;
    *length = (size_t)(close - text) + 2;
    pace_snprintf(out, VALUE, "%lld", (long long)number);
    return true;
}

/* "$NAME", "${NAME}", "${NAME:-value}" at the start of `text`: what it stands for, and how long it is; false where
 * nothing says. */
static bool look_up(const reader *r, const char *text, size_t *length, char out[VALUE]) {
    bool braces = text[1] == '{';
    const char *name = text + 1 + braces, *otherwise = NULL;
    size_t size = 0, end;
    while (pace_is_name(name[size])) size++;
    end = (size_t)(name - text) + size;
    if (braces && text[end] == ':' && (text[end + 1] == '-' || text[end + 1] == '=')) otherwise = text + end + 2;
    if (braces) {
        const char *close = strchr(text + end, '}');
        if (!close) return false;
        end = (size_t)(close - text) + 1;
    }
    *length = end;
    const variable *found = size ? find_variable(r, name, size) : NULL;
    if (found && found->several) return false;
    if (found) pace_snprintf(out, VALUE, "%s", found->value);
    else if (otherwise) pace_snprintf(out, VALUE, "%.*s", (int)(text + end - 1 - otherwise), otherwise);
    return found || otherwise;
}

/* Replaces variables that the script has set; the others stay. */
static void expand(const reader *r, char out[VALUE], const char *text) {
    *out = '\0';
    while (*text && strlen(out) + 1 < VALUE) {
        char value[VALUE];
        size_t length = strcspn(text, "$");
        if (length > 0) pace_append(out, VALUE, "%.*s", (int)length, text);
        text += length;
        if (!*text) break;
        length = 1;
        if (compute(r, text, &length, value) || look_up(r, text, &length, value)) pace_append(out, VALUE, "%s", value);
        else pace_append(out, VALUE, "%.*s", (int)length, text);
        text += length;
    }
}

static pace_status assign(reader *r, const char *name, size_t length, const char *text) {
    variable one = {.several = false};
    if (length == 0 || length >= sizeof one.name) return PACE_OK;
    pace_snprintf(one.name, sizeof one.name, "%.*s", (int)length, name);
    expand(r, one.value, text);
    variable *known = PACE_FIND(r->variables.items, r->variables.count, name, one.name);
    if (known) known->several |= strcmp(known->value, one.value) != 0;
    return !known && r->variables.count < VARIABLES ? PACE_PUSH(&r->variables, one) : PACE_OK;
}

/* --- lines of scripts and of TOML --------------------------------------------------------------------------------- */

static char *trim(char *text) {
    while (pace_is_space(*text)) text++;
    for (size_t n = strlen(text); n > 0 && (pace_is_space(text[n - 1]) || text[n - 1] == '\\'); n--) text[n - 1] = '\0';
    return text;
}

/* What stands behind a "#" that follows a space is a remark, and so is a whole line. */
static void cut_remark(char *line) {
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || pace_is_space(c[-1]))) *c = '\0';
}

/* A value between quotes, or up to a space. */
static char *unquote(char *value) {
    if (*value == '"' || *value == '\'') {
        char quote = *value++;
        char *end = strchr(value, quote);
        if (end) *end = '\0';
    }
    return value;
}

static pace_status read_pair(reader *r, char *line, char *equals);

/* "parallelism = {tensor_parallel_degree = 2}" of TOML. */
static pace_status read_inline(reader *r, const char *name, char *inside) {
    char section[sizeof r->section], *part;
    pace_status status = PACE_OK;
    memcpy(section, r->section, sizeof section);
    pace_snprintf(r->section, sizeof r->section, "%s", name);
    while (status == PACE_OK && (part = strsep(&inside, ",}")) != NULL) {
        char *equals = strchr(part, '=');
        if (equals) status = read_pair(r, part, equals);
    }
    memcpy(r->section, section, sizeof section);
    return status;
}

static pace_status read_pair(reader *r, char *line, char *equals) {
    char name[NAME], expanded[VALUE];
    bool shell = !*r->section && equals > line && !pace_is_space(equals[-1]) && !pace_is_space(equals[1]);
    *equals = '\0';
    char *key = trim(line), *value = unquote(trim(equals + 1));
    size_t last = strlen(value);
    if (last > 0 && value[last - 1] == ',') value[last - 1] = '\0'; /* of a call in Python, an argument a line */
    if (shell) {                                                    /* "export TP=8" */
        char *space = strrchr(key, ' ');
        if (space) key = space + 1;
        PACE_TRY(assign(r, key, strlen(key), value));
    }
    pace_snprintf(name, sizeof name, "%.120s%s%.120s", r->section, *r->section ? "." : "", key);
    if (*value == '{' && strchr(value, '=')) return read_inline(r, name, value + 1);
    expand(r, expanded, value);
    return add(r, name, expanded, shell);
}

static bool is_flag(const char *word) { return word[0] == '-' && word[1] == '-' && pace_is_alpha(word[2]); }

/* Figures in the place of arithmetic, which has blanks and brackets within; a figure is no longer than it. */
static void compute_all(const reader *r, char *line) {
    char value[VALUE];
    for (char *c = strstr(line, "$(("); c; c = strstr(c + 1, "$((")) {
        size_t length = 0;
        if (!compute(r, c, &length, value) || strlen(value) > length) continue;
        memset(c, ' ', length);
        memcpy(c, value, strlen(value));
    }
}

static char *next_word(char **rest) {
    char *word = strsep(rest, " \t\\\"'()=");
    while (word && !*word) word = strsep(rest, " \t\\\"'()=");
    return word;
}

/* Whether a name as those of modules and optimizers comes next: no file, no number, no "key=value". */
static bool name_follows(const char *rest) {
    if (!rest) return false;
    const char *word = rest + strspn(rest, " \t\\\"'()"), *end = word;
    while (pace_is_name(*end)) end++;
    return end > word && !pace_is_digit(*word) && (!*end || strchr(" \t\\\"')", *end));
}

/* "--flag value --other=value --alone --list name name". */
static pace_status read_flags(reader *r, char *line) {
    compute_all(r, line);
    char *rest = line, *word = next_word(&rest);
    while (word) {
        bool listed = name_follows(rest);
        char *next = next_word(&rest), value[VALUE];
        if (is_flag(word)) {
            expand(r, value, !next || is_flag(next) ? "" : next);
            while (listed && name_follows(rest)) pace_append(value, VALUE, " %s", next_word(&rest));
            PACE_TRY(add(r, word + 2, value, false));
        }
        word = next;
    }
    return PACE_OK;
}

/* "[training]", and no test of a shell's. */
static bool is_section(const char *line, size_t *length) {
    *length = *line == '[' ? 1 : 0;
    while (*length > 0 && (pace_is_name(line[*length]) || strchr(".-", line[*length])) && line[*length]) ++*length;
    return *length > 1 && strcmp(line + *length, "]") == 0;
}

static pace_status read_statement(reader *r, char *statement) {
    size_t length;
    char *start = trim(statement), *flag = strstr(start, "--");
    if (!*start) return PACE_OK;
    if (is_section(start, &length)) {
        pace_snprintf(r->section, sizeof r->section, "%.*s", (int)length - 1, start + 1);
        return PACE_OK;
    }
    char *equals = strchr(start, '=');
    if (flag) return read_flags(r, start);
    return equals ? read_pair(r, start, equals) : PACE_OK;
}

/* --- branches of scripts ------------------------------------------------------------------------------------------ */

static bool is_set(const void *context, const char *name, size_t length) {
    return find_variable(context, name, length) != NULL;
}

/* Whether `line` begins with a word, and what stands behind it. */
static bool leads(const char *line, const char *word, const char **rest) {
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || (line[length] && !pace_is_space(line[length]) && line[length] != ';'))
        return false;
    *rest = line + length;
    return true;
}

/* The word "then"; NULL = it does not stand there. */
static const char *find_then(const char *text) {
    for (const char *at = strstr(text, "then"); at; at = strstr(at + 1, "then"))
        if (at > text && strchr("; \t", at[-1]) && (!at[4] || strchr("; \t", at[4]))) return at;
    return NULL;
}

static const char *behind_then(const char *text) {
    const char *then = find_then(text);
    return then ? then + strlen("then") : "";
}

/* "[ $AC = full ]; then". */
static pace_shell_truth condition(const reader *r, const char *text) {
    char known[VALUE];
    const char *then = find_then(text), *end = then ? then : text + strlen(text);
    while (end > text && (pace_is_space(end[-1]) || end[-1] == ';')) end--;
    char *own = pace_copy_text(text, (size_t)(end - text));
    if (!own) return PACE_SHELL_UNKNOWN;
    expand(r, known, own);
    pace_free(own);
    return pace_shell_test(known, is_set, r);
}

static void enter(reader *r, pace_shell_truth truth) {
    if (r->depth < BRANCHES) r->branches[r->depth] = (branch){truth, truth};
    r->depth++;
}

/* The next branch of the "if" at hand runs if none before it did. */
static void go_on(reader *r, pace_shell_truth truth) {
    if (r->depth == 0 || r->depth > BRANCHES) return;
    branch *b = &r->branches[r->depth - 1];
    bool unknown = b->before == PACE_SHELL_UNKNOWN;
    if (b->before == PACE_SHELL_YES) truth = PACE_SHELL_NO;
    b->now = unknown && truth == PACE_SHELL_YES ? PACE_SHELL_UNKNOWN : truth;
    if (!unknown && truth != PACE_SHELL_NO) b->before = truth;
}

/* Reads the word of a branch that the line begins with; what stands behind it is the branch's. An "if" that ends in its
 * line is none. */
static const char *read_branch(reader *r, const char *line) {
    const char *rest;
    size_t length = strlen(line);
    bool python = length > 0 && line[length - 1] == ':';
    bool whole = length > 3 && strcmp(line + length - 2, "fi") == 0 && strchr("; \t", line[length - 3]);
    bool begins = find_then(line) || pace_starts(line, "if [");
    if (python) return line;
    if (leads(line, "if", &rest) && begins && !whole) return enter(r, condition(r, rest)), behind_then(rest);
    if (leads(line, "case", &rest) && strstr(rest, " in")) return enter(r, PACE_SHELL_UNKNOWN), "";
    if (r->depth == 0) return line;
    if (leads(line, "elif", &rest)) return go_on(r, condition(r, rest)), behind_then(rest);
    if (leads(line, "else", &rest)) return go_on(r, PACE_SHELL_YES), rest;
    if (leads(line, "fi", &rest) || leads(line, "esac", &rest)) return r->depth--, rest;
    return line;
}

/* "TP=8; PP=2". */
static pace_status read_line(reader *r, char *line) {
    char *statement;
    cut_remark(line);
    const char *own = read_branch(r, trim(line));
    char *rest = line + (*own ? (size_t)(own - line) : strlen(line));
    if (in_branch(r, PACE_SHELL_NO)) return PACE_OK;
    if (strpbrk(rest, "\"'")) return read_statement(r, rest);
    while ((statement = strsep(&rest, ";")) != NULL) PACE_TRY(read_statement(r, statement));
    return PACE_OK;
}

static pace_status read_lines(reader *r, char *text) {
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        PACE_TRY(read_line(r, line));
    }
    return PACE_OK;
}

/* --- trees: YAML and JSON ----------------------------------------------------------------------------------------- */

/* Words of a list, a blank between two; nothing of what else a list holds. */
static void join_list(char out[VALUE], const pace_yaml_node *list) {
    *out = '\0';
    PACE_YAML_EACH (one, list) {
        const char *word = pace_yaml_text(one);
        double number;
        if (word && !pace_number_parse(&number, word)) pace_list(out, VALUE, " ", "%s", word);
    }
}

static pace_status read_tree(reader *r, const pace_yaml_node *map, const char *path, int depth) {
    for (size_t i = 0; i < pace_yaml_count(map) && depth < DEPTH; i++) {
        const pace_yaml_node *node = pace_yaml_item(map, i);
        const char *key = pace_yaml_key(map, i), *value = pace_yaml_text(node);
        char name[NAME], joined[VALUE];
        pace_snprintf(name, sizeof name, "%.120s%s%.120s", path, *path ? "." : "", key ? key : "");
        if (pace_yaml_is_map(node)) PACE_TRY(read_tree(r, node, name, depth + 1));
        else if (key && value) PACE_TRY(add(r, name, value, false));
        else if (key) {
            join_list(joined, node);
            if (*joined) PACE_TRY(add(r, name, joined, false));
        }
    }
    return PACE_OK;
}

/* What "${a.b}" of OmegaConf names, or beside `word` "${.b}"; false where the value is no such reference. */
static bool reference_of(char name[NAME], const pace_launch_word *word) {
    const char *inside = word->value + 2, *dot = strrchr(word->name, '.');
    size_t length = strlen(word->value);
    if (!pace_starts(word->value, "${") || word->value[length - 1] != '}') return false;
    bool beside = *inside == '.' && inside[1] != '.';
    pace_snprintf(name, NAME, "%.*s%.*s", beside && dot ? (int)(dot - word->name + 1) : 0, word->name,
                  (int)(length - 3) - beside, inside + beside);
    return true;
}

/* The first word of each name that has a value: by name, counted from 1. */
typedef struct {
    pace_names names;
    PACE_VEC(size_t) word;
} valued_words;

static pace_status add_valued(valued_words *v, const pace_launch_words *words, size_t i) {
    const pace_launch_word *word = &words->items.items[i];
    pace_name name;
    if (*word->value == '$') return PACE_OK;
    PACE_TRY(pace_names_add(&name, &v->names, word->name, strlen(word->name)));
    while (v->word.count <= name) PACE_TRY(PACE_PUSH(&v->word, 0));
    if (v->word.items[name] == 0 || i + 1 < v->word.items[name]) v->word.items[name] = i + 1;
    return PACE_OK;
}

/* The value of a word that refers to one with a value, copied; NULL = it does not. */
static pace_status value_of_reference(char **out, const valued_words *v, const pace_launch_words *words, size_t i) {
    char name[NAME];
    pace_name found;
    *out = NULL;
    if (!reference_of(name, &words->items.items[i]) || !pace_names_find(&found, &v->names, name, strlen(name)))
        return PACE_OK;
    if (found >= v->word.count || v->word.items[found] == 0) return PACE_OK;
    const char *value = words->items.items[v->word.items[found] - 1].value;
    *out = pace_copy_text(value, strlen(value));
    return *out ? PACE_OK : PACE_E_MEMORY;
}

static pace_status resolve_with(pace_launch_words *words, valued_words *v) {
    char *value;
    for (size_t i = 0; i < words->items.count; i++) PACE_TRY(add_valued(v, words, i));
    for (size_t i = 0; i < words->items.count; i++) {
        PACE_TRY(value_of_reference(&value, v, words, i));
        if (!value) continue;
        pace_free(words->items.items[i].value);
        words->items.items[i].value = value;
        PACE_TRY(add_valued(v, words, i));
    }
    return PACE_OK;
}

static pace_status resolve(pace_launch_words *words) {
    valued_words v = {0};
    pace_status status = pace_names_init(&v.names);
    if (status == PACE_OK) status = resolve_with(words, &v);
    pace_names_free(&v.names);
    PACE_VEC_FREE(&v.word);
    return status;
}

static bool is_tree(const char *path, const char *text) {
    while (pace_is_space(*text)) text++;
    return *text == '{' || pace_has_suffix(path, ".yaml") || pace_has_suffix(path, ".yml");
}

pace_status pace_launch_words_parse(pace_launch_words *out, const char *name, char *text, size_t length) {
    reader r = {.out = out};
    pace_yaml *yaml = NULL;
    pace_status status = PACE_OK;
    if (strlen(text) != length) return pace_fail(PACE_E_INPUT, "%s: expected text, found bytes of 0", name);
    if (pace_starts(text, "\xef\xbb\xbf")) text += 3, length -= 3; /* a byte order mark */
    if (is_tree(name, text)) {
        status = pace_yaml_parse(&yaml, name, text, length);
        if (status == PACE_OK) status = read_tree(&r, pace_yaml_root(yaml), "", 0);
        if (status == PACE_OK) status = resolve(out);
    } else status = read_lines(&r, text);
    pace_yaml_free(yaml);
    PACE_VEC_FREE(&r.variables);
    return status;
}

pace_status pace_launch_words_read(pace_launch_words *out, const char *path) {
    pace_input *input;
    char *text = NULL;
    size_t length;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_input_read_all(&text, &length, input, MOST_BYTES);
    pace_input_free(input);
    if (status == PACE_OK) status = pace_launch_words_parse(out, path, text, length);
    pace_free(text);
    return status;
}

void pace_launch_words_free(pace_launch_words *words) {
    for (size_t i = 0; i < words->items.count; i++) PACE_FREE(words->items.items[i].name, words->items.items[i].value);
    PACE_VEC_FREE(&words->items);
}
