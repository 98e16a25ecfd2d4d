#include "ask/validate/cases.h"
#include "base/decimal.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool pace_bar_parse(pace_bar *out, const char *metric, const char *text) {
    pace_bar bar = {.least = -INFINITY, .most = INFINITY};
    const char *most = text + 2;
    if (strlen(metric) >= sizeof bar.metric || strlen(text) >= sizeof bar.text) return false;
    memcpy(bar.metric, metric, strlen(metric) + 1);
    memcpy(bar.text, text, strlen(text) + 1);
    if (!pace_starts(text, "<=") && !pace_starts(text, ">=")) {
        most = pace_number_read(&bar.least, text);
        if (!most || !pace_starts(most, "..")) return false;
        most += 2;
    }
    if (!pace_number_parse(*text == '>' ? &bar.least : &bar.most, most)) return false;
    *out = bar;
    return true;
}

bool pace_bar_holds(const pace_bar *bar, double value) { return value >= bar->least && value <= bar->most; }

/* The end of a metric's name: median_mape is the median of mapes. */
static bool is_metric(const char *metric) {
    static const char figures[] =
        "gmae geomean mape signed_mean max coverage median_error median_ratio mean_distance share_right max_distance "
        "mean_value geometric_ratio share_at_most differing medians_apart sum p95_error most_regret drift lowest_coverage "
        "highest_coverage share_told_unfit";
    static const char *const over[] = {"median_", "mean_", "p90_", "max_", "least_", NULL};
    if (pace_span_listed(metric, strlen(metric), figures)) return true;
    for (int i = 0; over[i]; i++)
        if (pace_starts(metric, over[i]) && is_metric(metric + strlen(over[i]))) return true;
    return false;
}

static pace_status read_bars(pace_case *out, const pace_yaml *yaml, const pace_yaml_node *bars) {
    if (pace_yaml_count(bars) == 0) return pace_fail(PACE_E_INPUT, "case %s: expected \"bars\"", out->name);
    PACE_YAML_EACH (one, bars) {
        const char *metric = pace_yaml_key_of(one), *text = pace_yaml_text(one);
        if (!metric || !text || !is_metric(metric) || out->bar_count == PACE_CASE_BARS ||
            !pace_bar_parse(&out->bars[out->bar_count], metric, text))
            return pace_yaml_fail(
                yaml, one,
                "expected a metric (gmae, geomean, mape, signed_mean, max, coverage, …) and a bar such "
                "as \"<=0.04\" or \"0.85..0.95\"");
        out->bar_count++;
    }
    return PACE_OK;
}

static pace_status read_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node, double most) {
    if (!node) return PACE_OK;
    PACE_TRY(pace_yaml_number(out, yaml, node));
    if (*out > 0 && *out <= most) return PACE_OK;
    return pace_yaml_fail(yaml, node, "expected above 0 and at most %g", most);
}

static pace_status read_count(unsigned *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    double value = 0;
    PACE_TRY(read_number(&value, yaml, node, 100));
    if (value != floor(value)) return pace_yaml_fail(yaml, node, "expected a whole number, found %g", value);
    *out = (unsigned)value;
    return PACE_OK;
}

/* A member of a case, or of the table that it names. */
typedef struct {
    const pace_yaml_node *entry, *table;
} source;

static const pace_yaml_node *member(const source *from, const char *key) {
    const pace_yaml_node *own = pace_yaml_get(from->entry, key);
    return own ? own : pace_yaml_get(from->table, key);
}

/* --- members that are there -------------------------------------------------------------------------------------- */

static const char *const root_keys[] = {"live", "tables", "cases", NULL};
static const char *const live_keys[] = {"figure", "case", "metric", "bar", "means", "runner", NULL};
static const char *const split_keys[] = {"by",         "test",      "folds", "each",   "from",
                                         "test_where", "fit_where", "near",  "beyond", NULL};
static const char *const made_keys[] = {"of", "words", "else", NULL};
/* Those that only cases have, then those of tables, too. */
static const char *const case_keys[] = {
    "case",  "table",       "split",    "files",        "kind",     "needs",  "part",      "unit",        "source",
    "rows",  "every",       "columns",  "only_columns", "where",    "fit",    "fit_split", "probes",      "on",
    "on_by", "apart",       "orders",   "collective",   "error_of", "answer", "measured",  "measured_in", "order_gap",
    "found", "found_where", "errors",   "over",         "ask",      "values", "against",   "before",      "low",
    "high",  "within",      "optional", "pools",        "bars",     "note",   NULL};
enum { OF_CASES_ALONE = 3 };

/* Each is {of, words, else} or a text. */
static pace_status check_columns(const pace_yaml *yaml, const pace_yaml_node *columns) {
    PACE_YAML_EACH (one, columns)
        if (!pace_yaml_text(one)) PACE_TRY(pace_yaml_only(yaml, one, made_keys, "a column"));
    return PACE_OK;
}

/* What is asked is said in texts and lists of texts. */
static pace_status check_question(const pace_yaml *yaml, const pace_yaml_node *question, bool before) {
    PACE_YAML_EACH (one, question) {
        const char *key = pace_yaml_key_of(one);
        bool of_table = before && key && (strcmp(key, "rows") == 0 || strcmp(key, "columns") == 0);
        if (!of_table && !pace_yaml_text(one) && !pace_yaml_is_list(one))
            return pace_yaml_fail(yaml, one, "expected a text or a list of texts");
    }
    return PACE_OK;
}

static pace_status check_entry(const pace_yaml *yaml, const pace_yaml_node *entry, bool table) {
    const pace_yaml_node *before = pace_yaml_get(entry, "before");
    PACE_TRY(pace_yaml_only(yaml, entry, case_keys + (table ? OF_CASES_ALONE : 0), table ? "a table" : "a case"));
    PACE_TRY(check_columns(yaml, pace_yaml_get(entry, "columns")));
    PACE_TRY(check_columns(yaml, pace_yaml_get(before, "columns")));
    PACE_TRY(check_question(yaml, pace_yaml_get(entry, "ask"), false));
    PACE_TRY(check_question(yaml, pace_yaml_get(entry, "against"), false));
    return check_question(yaml, before, true);
}

static pace_status check_members(const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml);
    PACE_TRY(pace_yaml_only(yaml, root, root_keys, "a file of cases"));
    PACE_YAML_EACH (one, pace_yaml_get(root, "live")) PACE_TRY(pace_yaml_only(yaml, one, live_keys, "a live figure"));
    PACE_YAML_EACH (one, pace_yaml_get(root, "tables")) PACE_TRY(check_entry(yaml, one, true));
    PACE_YAML_EACH (one, pace_yaml_get(root, "cases")) {
        PACE_TRY(check_entry(yaml, one, false));
        PACE_TRY(pace_yaml_only(yaml, pace_yaml_get(one, "split"), split_keys, "a split"));
    }
    return PACE_OK;
}

/* --- one case ---------------------------------------------------------------------------------------------------- */

static pace_status find_table(source *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const char *name = pace_yaml_text_of(entry, "table");
    *out = (source){entry, NULL};
    if (name) out->table = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "tables"), name);
    if (!name || out->table) return PACE_OK;
    return pace_yaml_fail(yaml, entry, "no table \"%.60s\"", name);
}

static pace_status read_files(pace_case *out, const pace_yaml *yaml, const pace_yaml_node *entry,
                              const pace_yaml_node *files) {
    if (out->pools && (files || out->ask))
        return pace_yaml_fail(yaml, entry,
                              "a case with \"pools\" has the rows of others: expected no files, no question");
    if (out->name && (out->ask || out->pools) && !files) return PACE_OK;
    if (!out->name || !pace_yaml_is_list(files) || pace_yaml_count(files) == 0 ||
        pace_yaml_count(files) > PACE_CASE_FILES)
        return pace_yaml_fail(yaml, entry, "a case needs \"case\" and 1 to %d \"files\"", PACE_CASE_FILES);
    for (size_t i = 0; i < pace_yaml_count(files); i++) {
        out->files[i] = pace_yaml_text(pace_yaml_item(files, i));
        if (!out->files[i]) return pace_yaml_fail(yaml, files, "expected a file");
        out->file_count++;
    }
    return PACE_OK;
}

/* Whether a member says the one word that it may say, or where it is a flag "false". */
static pace_status read_word(bool *out, const pace_yaml *yaml, const pace_yaml_node *node, const char *word) {
    const char *text = node ? pace_yaml_text(node) : NULL;
    bool flag = strcmp(word, "true") == 0, no = text && flag && strcmp(text, "false") == 0;
    *out = text && strcmp(text, word) == 0;
    if (!node || *out || no) return PACE_OK;
    return pace_yaml_fail(yaml, node, "expected %s%s", word, flag ? " or false" : "");
}

static pace_status read_words(pace_case *out, const pace_yaml *yaml, const source *from) {
    bool none;
    PACE_TRY(read_word(&none, yaml, member(from, "fit"), "none"));
    PACE_TRY(read_word(&out->only_columns, yaml, member(from, "only_columns"), "true"));
    PACE_TRY(read_word(&out->optional, yaml, member(from, "optional"), "true"));
    PACE_TRY(read_word(&out->of_rates, yaml, member(from, "error_of"), "rate"));
    out->fit = !none;
    return PACE_OK;
}

static pace_status read_text(const char **out, const pace_yaml *yaml, const pace_yaml_node *node) {
    *out = node ? pace_yaml_text(node) : NULL;
    return !node || *out ? PACE_OK : pace_yaml_fail(yaml, node, "expected a text");
}

static pace_status read_map(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *node) {
    *out = node;
    return !node || pace_yaml_is_map(node) ? PACE_OK : pace_yaml_fail(yaml, node, "expected a map, {KEY: VALUE}");
}

/* Which rows are held out. */
static pace_status read_split(pace_case *out, const pace_yaml *yaml, const pace_yaml_node *split) {
    out->test_where = pace_yaml_get(split, "test_where");
    out->fit_where = pace_yaml_get(split, "fit_where");
    out->near = pace_yaml_get(split, "near");
    PACE_TRY(read_text(&out->by, yaml, pace_yaml_get(split, "by")));
    PACE_TRY(read_text(&out->each, yaml, pace_yaml_get(split, "each")));
    PACE_TRY(read_text(&out->from, yaml, pace_yaml_get(split, "from")));
    PACE_TRY(read_number(&out->test_share, yaml, pace_yaml_get(split, "test"), 1));
    PACE_TRY(read_number(&out->beyond, yaml, pace_yaml_get(split, "beyond"), 1));
    return read_count(&out->folds, yaml, pace_yaml_get(split, "folds"));
}

static pace_status read_case(pace_case *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"case", &out->name},
                 {"note", &out->note},
                 {"kind", &out->kind},
                 {"part", &out->part},
                 {"on", &out->on},
                 {"collective", &out->collective},
                 {"fit_split", &out->fit_split},
                 {"answer", &out->answer},
                 {"measured", &out->measured},
                 {"found", &out->found},
                 {"errors", &out->errors},
                 {"apart", &out->apart},
                 {"orders", &out->orders},
                 {"source", &out->source},
                 {"unit", &out->unit},
                 {"low", &out->low},
                 {"high", &out->high},
                 {"within", &out->within}};
    const struct {
        const char *key;
        const pace_yaml_node **node;
    } nodes[] = {{"rows", &out->rows},    {"columns", &out->columns},         {"where", &out->where},
                 {"on_by", &out->on_by},  {"found_where", &out->found_where}, {"over", &out->over},
                 {"ask", &out->ask},      {"against", &out->against},         {"before", &out->before},
                 {"values", &out->values}};
    source from;
    unsigned probes = 0;
    PACE_TRY(find_table(&from, yaml, entry));
    for (size_t i = 0; i < PACE_COUNT(texts); i++)
        PACE_TRY(read_text(texts[i].text, yaml, member(&from, texts[i].key)));
    for (size_t i = 0; i < PACE_COUNT(nodes); i++) PACE_TRY(read_map(nodes[i].node, yaml, member(&from, nodes[i].key)));
    out->pools = member(&from, "pools");
    if (out->pools && !pace_yaml_is_list(out->pools))
        return pace_yaml_fail(yaml, out->pools, "expected a list of patterns");
    out->needs = member(&from, "needs");
    PACE_TRY(read_words(out, yaml, &from));
    out->order_gap = 0.05;
    PACE_TRY(read_number(&out->order_gap, yaml, member(&from, "order_gap"), 1));
    out->measured_in = 1;
    PACE_TRY(read_number(&out->measured_in, yaml, member(&from, "measured_in"), 1e15));
    PACE_TRY(read_count(&out->every, yaml, member(&from, "every")));
    PACE_TRY(read_count(&probes, yaml, member(&from, "probes")));
    out->probes = (int)probes;
    PACE_TRY(read_files(out, yaml, entry, member(&from, "files")));
    PACE_TRY(read_split(out, yaml, pace_yaml_get(entry, "split")));
    return read_bars(out, yaml, member(&from, "bars"));
}

/* Whether a text below names a file beside the cases. */
static bool names_beside(const pace_yaml_node *node) {
    const char *text = node ? pace_yaml_text(node) : NULL;
    for (size_t i = 0; node && i < pace_yaml_count(node); i++)
        if (names_beside(pace_yaml_item(node, i))) return true;
    return text && strstr(text, "{cases}");
}

static pace_status read_cases(pace_cases *cases) {
    const pace_yaml_node *list;
    PACE_TRY(check_members(cases->yaml));
    PACE_TRY(pace_yaml_list(&list, cases->yaml, pace_yaml_root(cases->yaml), "cases"));
    PACE_YAML_EACH (entry, list) {
        pace_case one = {.beside = cases->folder};
        PACE_TRY(read_case(&one, cases->yaml, entry));
        one.names_beside = names_beside(one.ask) || names_beside(one.against) || names_beside(one.before);
        PACE_TRY(PACE_PUSH(&cases->items, one));
    }
    return PACE_OK;
}

pace_status pace_case_path(char *out, size_t size, const pace_case *one, const char *folder, unsigned file) {
    bool beside = pace_starts(one->files[file], "../");
    if (beside && !one->beside) return pace_fail(PACE_E_MISSING, "%s: is in the source tree alone", one->files[file]);
    if (snprintf(out, size, "%s/%s", beside ? one->beside : folder, one->files[file]) < (int)size) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: the path is too long", one->files[file]);
}

static pace_status read_file(pace_cases *cases, const char *path) {
    static const char in_tree[] = "accuracy/cases.yaml";
    if (!path && access(in_tree, R_OK) == 0) path = in_tree;
    const pace_catalog_file *inside = &pace_case_files[0];
    if (!path) return pace_yaml_of_tree(&cases->yaml, inside->name, inside->tree);
    const char *slash = strrchr(path, '/');
    cases->folder = slash ? pace_copy_text(path, (size_t)(slash - path)) : pace_copy_text(".", 1);
    return cases->folder ? pace_yaml_load(&cases->yaml, path) : PACE_E_MEMORY;
}

pace_status pace_cases_load(pace_cases *out, const char *path) {
    pace_cases cases = {0};
    pace_status status = read_file(&cases, path);
    if (status == PACE_OK) status = read_cases(&cases);
    return PACE_GIVE(out, cases, status, pace_cases_free(&cases));
}

void pace_cases_free(pace_cases *cases) {
    pace_yaml_free(cases->yaml);
    pace_free(cases->folder);
    PACE_VEC_FREE(&cases->items);
    *cases = (pace_cases){0};
}
