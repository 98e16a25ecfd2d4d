#include "source/jobs/job_columns.h"
#include "base/decimal.h"
#include "base/each_cpu.h"
#include "base/print.h"
#include "source/jobs/job_names.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- limits ---- */

static pace_status number(double *out, const pace_yaml *yaml, const pace_yaml_node *node, const char *key) {
    const pace_yaml_node *value = pace_yaml_get(node, key);
    return value ? pace_yaml_number(out, yaml, value) : PACE_OK;
}

static pace_status load_limit(pace_job_limit *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *whole = pace_yaml_text_of(node, "whole");
    const pace_yaml_node *hint = pace_yaml_get(node, "hint");
    const char *unit = pace_yaml_text_of(hint, "unit");
    *out = (pace_job_limit){.most = INFINITY, .whole = whole && strcmp(whole, "true") == 0};
    PACE_TRY(number(&out->least, yaml, node, "least"));
    PACE_TRY(number(&out->most, yaml, node, "most"));
    PACE_TRY(number(&out->suspicious, yaml, node, "suspicious"));
    PACE_TRY(number(&out->hint_factor, yaml, hint, "factor"));
    snprintf(out->hint_unit, sizeof out->hint_unit, "%s", unit ? unit : "");
    return PACE_OK;
}

static pace_status load_limits(pace_job_limits *out, const pace_yaml *yaml) {
    const pace_yaml_node *columns = pace_yaml_get(pace_yaml_root(yaml), "columns");
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) {
        const pace_yaml_node *node = pace_yaml_get(columns, pace_job_column_names[i]);
        if (!node)
            return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected limits of \"%s\"", pace_job_column_names[i]);
        PACE_TRY(load_limit(&out->of[i], yaml, node));
        out->least[i] = out->of[i].least;
        out->most[i] = out->of[i].most;
        out->hinted[i] = out->of[i].hint_factor > 0;
        out->whole[i] = out->of[i].whole;
    }
    return PACE_OK;
}

pace_status pace_job_limits_load(pace_job_limits *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_job_limits limits;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "job_columns.yaml"));
    pace_status status = load_limits(&limits, yaml);
    if (status == PACE_OK) *out = limits;
    return status;
}

/* ---- columns ---- */

static bool is_needed(int role) {
    return role < PACE_JOB_REQUIRED || role == PACE_JOB_ID || role == PACE_JOB_ARCHITECTURE;
}

static const char *closest_role(const char *name, size_t *distance) {
    const char *best = pace_job_role_name(0);
    for (int role = 1; role < PACE_JOB_ROLES; role++) best = pace_word_nearer(name, best, pace_job_role_name(role));
    if (distance) *distance = pace_word_edits(name, best);
    return best;
}

/* The closest of the columns that mean nothing yet; NULL when all do. */
static const char *closest_column(const pace_job_layout *layout, const char *const *names, const char *word) {
    const char *best = NULL;
    for (size_t i = 0; i < layout->count; i++)
        if (layout->role[i] == PACE_JOB_NO_ROLE) best = pace_word_nearer(word, best, names[i]);
    return best;
}

static pace_status give_role(pace_job_layout *layout, const char *file, const char *const *names, size_t column,
                             int role) {
    if (layout->place[role] >= 0)
        return pace_fail(PACE_E_INPUT,
                         "%s:1: columns \"%.60s\" and \"%.60s\" are both \"%s\"; say which with " PACE_FIELD "columns",
                         file, names[layout->place[role]], names[column], pace_job_role_name(role));
    layout->role[column] = (int16_t)role;
    layout->place[role] = (int)column;
    return PACE_OK;
}

/* One "theirs=ours" or "theirs*factor=ours" of the mapping. */
static pace_status map_one(pace_job_layout *layout, const char *file, const char *const *names, const char *pair,
                           size_t length) {
    const char *equals = memchr(pair, '=', length);
    if (!equals || equals == pair)
        return pace_fail(PACE_E_USAGE, "columns: expected THEIRS=OURS, found \"%.*s\"", (int)length, pair);
    char theirs[256], ours[64];
    snprintf(theirs, sizeof theirs, "%.*s", (int)(equals - pair), pair);
    snprintf(ours, sizeof ours, "%.*s", (int)(length - (size_t)(equals - pair) - 1), equals + 1);
    double factor = 1;
    size_t column = 0;
    while (column < layout->count && strcmp(names[column], theirs) != 0) column++;
    char *star = strrchr(theirs, '*');
    if (column == layout->count && star) {
        const char *end = theirs + strlen(theirs);
        if (pace_decimal_read(&factor, star + 1, end) != end || !(factor > 0))
            return pace_fail(PACE_E_USAGE, "columns: expected a factor behind '*', found \"%.60s\"", star + 1);
        *star = '\0';
        for (column = 0; column < layout->count && strcmp(names[column], theirs) != 0;) column++;
    }
    if (column == layout->count)
        return pace_fail(PACE_E_USAGE, "columns: %s has no column \"%.60s\"; the closest name is \"%.60s\"", file,
                         theirs, closest_column(layout, names, theirs));
    int role = pace_job_role_named(ours);
    if (role == PACE_JOB_NO_ROLE)
        return pace_fail(PACE_E_USAGE, "columns: a job has no \"%.60s\"; did you mean \"%s\"?", ours,
                         closest_role(ours, NULL));
    if (factor != 1 && role >= PACE_JOB_COLUMNS)
        return pace_fail(PACE_E_USAGE, "columns: \"%s\" is text and takes no factor", pace_job_role_name(role));
    if (layout->role[column] != PACE_JOB_NO_ROLE)
        return pace_fail(PACE_E_USAGE, "columns: \"%.60s\" is mapped twice", theirs);
    layout->factor[column] = factor;
    return give_role(layout, file, names, column, role);
}

static pace_status map_all(pace_job_layout *layout, const char *file, const char *const *names, const char *mapping) {
    for (size_t length; mapping && *mapping; mapping += length + (mapping[length] == ',')) {
        length = strcspn(mapping, ",");
        PACE_TRY(map_one(layout, file, names, mapping, length));
    }
    return PACE_OK;
}

/* Names speak for themselves unless the mapping gave their role to another column. */
static pace_status find_by_name(pace_job_layout *layout, const char *file, const char *const *names) {
    bool mapped[PACE_JOB_ROLES];
    for (int role = 0; role < PACE_JOB_ROLES; role++) mapped[role] = layout->place[role] >= 0;
    for (size_t i = 0; i < layout->count; i++) {
        int role = layout->role[i] == PACE_JOB_NO_ROLE ? pace_job_role_named(names[i]) : PACE_JOB_NO_ROLE;
        if (role != PACE_JOB_NO_ROLE && !mapped[role]) PACE_TRY(give_role(layout, file, names, i, role));
    }
    return PACE_OK;
}

/* The columns that are left, by what others call them, where no column has our name. */
static pace_status find_by_other_names(pace_job_layout *layout, pace_warnings *remarks, const char *file,
                                       const char *const *names, const pace_job_names *known) {
    bool ours[PACE_JOB_ROLES];
    char text[400] = "";
    for (int role = 0; role < PACE_JOB_ROLES; role++) ours[role] = layout->place[role] >= 0;
    for (size_t i = 0; i < layout->count; i++) {
        double factor = 1;
        int role =
            layout->role[i] == PACE_JOB_NO_ROLE ? pace_job_name_find(&factor, NULL, known, names[i]) : PACE_JOB_NO_ROLE;
        if (role == PACE_JOB_NO_ROLE || ours[role]) continue;
        if (layout->place[role] >= 0 && !is_needed(role)) continue; /* nothing depends on which it is */
        PACE_TRY(give_role(layout, file, names, i, role));
        layout->factor[i] = factor;
        pace_list(text, sizeof text, ", ", "\"%.40s\"", names[i]);
        if (factor != 1) pace_append(text, sizeof text, " times %g", factor);
        pace_append(text, sizeof text, " as %s", pace_job_role_name(role));
        if (strlen(text) < sizeof text - 120) continue;
        PACE_TRY(pace_warn(remarks, PACE_WARN_COLUMN_ASSUMED, file, "%s: read %s", file, text));
        *text = '\0';
    }
    return *text ? pace_warn(remarks, PACE_WARN_COLUMN_ASSUMED, file, "%s: read %s", file, text) : PACE_OK;
}

/* One "column" whose name is a line of names. */
static pace_status check_separator(const pace_job_layout *layout, const char *file, const char *const *names) {
    char between = layout->count == 1 ? pace_between_names(names[0], strlen(names[0])) : '\0';
    const char quoted[] = {'\'', between, '\'', '\0'};
    if (!between) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s:1: columns are separated by %s: expected commas", file,
                     between == ';'    ? "semicolons"
                     : between == '\t' ? "tabs"
                                       : quoted);
}

static pace_status check_complete(const pace_job_layout *layout, const char *file, const char *const *names) {
    PACE_TRY(check_separator(layout, file, names));
    for (int role = 0; role < PACE_JOB_ROLES; role++) {
        if (!is_needed(role) || layout->place[role] >= 0) continue;
        const char *name = pace_job_role_name(role), *closest = closest_column(layout, names, name);
        char others[200] = "";
        for (int more = role + 1; more < PACE_JOB_ROLES; more++) {
            if (is_needed(more) && layout->place[more] < 0)
                pace_append(others, sizeof others, "%s%s",
                            *others ? ", " : "; missing too: ", pace_job_role_name(more));
        }
        if (!closest || !pace_word_is_near(name, closest))
            return pace_fail(
                PACE_E_INPUT,
                "%s:1: no column \"%s\", nor one like it; " PACE_FIELD
                "columns THEIRS=%s says which it is%s; if these are records of a cluster's scheduler, " PACE_FIELD
                "mapping FILE.yaml says what their columns are",
                file, name, name, others);
        return pace_fail(PACE_E_INPUT,
                         "%s:1: no column \"%s\"; the closest name is \"%.60s\" (" PACE_FIELD "columns %.60s=%s)%s",
                         file, name, closest, closest, name, others);
    }
    return PACE_OK;
}

/* A fleet is asked on one machine; rows of `predict` are each asked on the one that this column names. */
static bool tells_machine(pace_catalog *catalog, const char *name) {
    const pace_yaml *yaml;
    if (pace_catalog_document(&yaml, catalog, "columns.yaml") != PACE_OK) return false;
    const pace_yaml_node *words = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "job"), "machine");
    PACE_YAML_EACH (entry, words)
        if (pace_strcasecmp(name, pace_yaml_text(entry)) == 0) return true;
    return false;
}

enum { COLUMNS_NAMED = 8 };

static pace_status remark_unused(const pace_job_layout *layout, pace_warnings *remarks, pace_catalog *catalog,
                                 const char *file, const char *const *names) {
    char unread[COLUMNS_NAMED * 44] = "", more[40] = "";
    const char *machine = NULL;
    size_t count = 0;
    for (size_t i = 0; i < layout->count; i++) {
        size_t distance;
        if (layout->role[i] != PACE_JOB_NO_ROLE || !*names[i]) continue;
        const char *close = closest_role(names[i], &distance);
        int role = pace_job_role_named(close);
        if (distance <= 3 && distance * 2 < strlen(names[i]) && layout->place[role] < 0) {
            PACE_TRY(pace_warn(remarks, PACE_WARN_COLUMN_ASSUMED, file,
                               "%s: column \"%.60s\" is not used; did you mean \"%s\" (--columns %.60s=%s)?", file,
                               names[i], close, names[i], close));
            continue;
        }
        if (tells_machine(catalog, names[i])) machine = names[i];
        if (count++ < COLUMNS_NAMED) pace_list(unread, sizeof unread, ", ", "%.40s", names[i]);
    }
    if (machine)
        PACE_TRY(pace_warn(remarks, PACE_WARN_COLUMN_UNREAD, file,
                           "%s: column \"%.60s\" has no effect: a fleet is asked on one machine (--on); predict --rows "
                           "%s --kind job asks every job on its own",
                           file, machine, file));
    if (count > COLUMNS_NAMED) pace_snprintf(more, sizeof more, " and %zu more", count - COLUMNS_NAMED);
    if (count == 0 || (count == 1 && machine)) return PACE_OK;
    return pace_warn(remarks, PACE_WARN_COLUMN_UNREAD, file, "%s: column%s %s%s %s not read", file,
                     count == 1 ? "" : "s", unread, more, count == 1 ? "is" : "are");
}

pace_status pace_job_layout_find(pace_job_layout *out, pace_warnings *remarks, pace_catalog *catalog, const char *file,
                                 const char *const *names, size_t count, const char *mapping) {
    for (size_t i = 0; i < count && i < PACE_JOB_MOST_CELLS; i++)
        for (const char *c = names[i]; *c; c++)
            if ((unsigned char)*c < ' ' && *c != '\t')
                return pace_fail(PACE_E_INPUT, "%s:1: expected the names of columns, found bytes that are no text",
                                 file);
    if (count == 0 || count > PACE_JOB_MOST_CELLS)
        return pace_fail(PACE_E_INPUT, "%s:1: expected 1 to %d columns, found %zu", file, (int)PACE_JOB_MOST_CELLS,
                         count);
    out->count = count;
    for (int role = 0; role < PACE_JOB_ROLES; role++) out->place[role] = -1;
    for (size_t i = 0; i < count; i++) {
        out->role[i] = PACE_JOB_NO_ROLE;
        out->factor[i] = 1;
    }
    PACE_TRY(map_all(out, file, names, mapping));
    PACE_TRY(find_by_name(out, file, names));
    pace_job_names known;
    PACE_TRY(pace_job_names_load(&known, catalog));
    PACE_TRY(find_by_other_names(out, remarks, file, names, &known));
    PACE_TRY(check_complete(out, file, names));
    if (out->place[PACE_JOB_STEP_S] >= 0)
        PACE_TRY(pace_warn(
            remarks, PACE_WARN_COLUMN_ASSUMED, file,
            "%s: measured steps (column \"%.60s\") change no estimate of a fleet; predict --rows %s --kind job "
            "puts each beside its estimate, fit --kind job learns from them",
            file, names[out->place[PACE_JOB_STEP_S]], file));
    return remark_unused(out, remarks, catalog, file, names);
}

/* ---- what a job may be ---- */

static bool check_number(char *why, size_t size, const pace_job_limit *limit, int column, double value) {
    const char *name = pace_job_column_names[column];
    if (column >= PACE_JOB_REQUIRED && isnan(value)) return true; /* not known */
    if (limit->hint_factor > 0 && value > 0 && value < 1)
        pace_snprintf(why, size, "%s is %g: a whole number was expected; is the column in %s?", name, value,
                      limit->hint_unit);
    else if (!(value >= limit->least))
        pace_snprintf(why, size, "%s is %g: expected at least %g", name, value, limit->least);
    else if (!(value <= limit->most))
        pace_snprintf(why, size, "%s is %g: expected at most %g", name, value, limit->most);
    else if (limit->whole && value != floor(value))
        pace_snprintf(why, size, "%s is %g: expected a whole number", name, value);
    else return true;
    return false;
}

/* Whether all numbers are what nearly every number is. Sums with 2^52 are whole; larger numbers are asked once more. */
PACE_FOR_EACH_CPU
static bool plainly_good(const pace_job_limits *limits, const double *values) {
    uint64_t bad = 0;
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) {
        double value = values[i], broken = limits->whole[i] * (value - ((value + 0x1p52) - 0x1p52));
        bad |= (uint64_t)(value < limits->least[i]) | (uint64_t)(value > limits->most[i]) |
               ((uint64_t)(value > 0) & (uint64_t)(value < limits->hinted[i])) | (uint64_t)(broken < 0) |
               (uint64_t)(broken > 0);
    }
    for (int i = 0; i < PACE_JOB_REQUIRED; i++) bad |= (uint64_t)(values[i] != values[i]);
    return bad == 0;
}

bool pace_job_check(char *why, size_t size, const pace_job_limits *limits, pace_job_architecture architecture,
                    const double *values) {
    bool good = plainly_good(limits, values);
    for (int i = 0; !good && i < PACE_JOB_COLUMNS; i++)
        if (!check_number(why, size, &limits->of[i], i, values[i])) return false;
    if (architecture != PACE_JOB_1W1G || values[PACE_JOB_CNODES] == 1) return true;
    pace_snprintf(why, size, "cnodes is %g: expected 1 for 1w1g", values[PACE_JOB_CNODES]);
    return false;
}
