#include "source/usage/usage_samples.h"
#include "base/print.h"
#include "base/text.h"
#include "source/usage/usage_words.h"

/* Times are milliseconds (Prometheus's text form), or seconds (OpenMetrics): seconds reach this in the year 5138,
 * milliseconds reached it in 1973. */
static const double FEWEST_MS = 1e11;

static bool is_name(char c) { return pace_is_digit(c) || (c | 32) - 'a' + 0u < 26u || c == '_' || c == ':'; }

static size_t name_length(const char *at, const char *end) {
    size_t length = 0;
    while (at + length < end && is_name(at[length])) length++;
    return length;
}

static void skip_blanks(char **at, const char *end) {
    while (*at < end && (**at == ' ' || **at == '\t')) ++*at;
}

bool pace_usage_begins_sample(const char *line, size_t length) {
    const char *at = line + name_length(line, line + length), *end = line + length;
    if (at == end || *at++ != '{') return false;
    size_t label = name_length(at, end);
    return label > 0 && at + label + 1 < end && at[label] == '=' && at[label + 1] == '"';
}

static void put(pace_usage_sample *out, const pace_usage_mapping *m, int *rank, pace_usage_text name,
                pace_usage_text value) {
    for (int f = 0; f < PACE_USAGE_FIELDS; f++)
        for (size_t i = 0; i < m->fields[f].name_count && (int)i < rank[f]; i++)
            if (pace_span_is(name.data, name.length, m->fields[f].names[i]))
                out->cells.cells[f] = value, rank[f] = (int)i;
}

/* Behind the opening quote. */
static bool read_quoted(pace_usage_text *out, char **at, const char *end) {
    char *to = *at, *from = *at;
    for (; *at < end && **at != '"'; ++*at) {
        if (**at == '\\' && *at + 1 < end) ++*at;
        *to++ = **at;
    }
    *out = (pace_usage_text){from, (size_t)(to - from)};
    return *at < end && (*at)++;
}

static const char *read_labels(pace_usage_sample *out, const pace_usage_mapping *m, int *rank, char **at,
                               const char *end) {
    for (;;) {
        pace_usage_text name, value;
        skip_blanks(at, end);
        if (*at < end && **at == '}') return ++*at, NULL;
        name = (pace_usage_text){*at, name_length(*at, end)};
        *at += name.length;
        if (name.length == 0 || *at == end || *(*at)++ != '=') return "a label and \"=\"";
        if (*at == end || *(*at)++ != '"' || !read_quoted(&value, at, end)) return "a text in quotes";
        put(out, m, rank, name, value);
        skip_blanks(at, end);
        if (*at < end && **at == ',') ++*at;
        else if (*at == end || **at != '}') return "a comma or \"}\" behind a label";
    }
}

static pace_usage_text next_word(char **at, const char *end) {
    skip_blanks(at, end);
    char *from = *at;
    while (*at < end && **at != ' ' && **at != '\t') ++*at;
    return (pace_usage_text){from, (size_t)(*at - from)};
}

static const char *read_time(pace_usage_sample *out, pace_usage_text text) {
    double time;
    if (text.length == 0 || *text.data == '#') return NULL; /* an exemplar of OpenMetrics */
    if (!pace_usage_number(&time, text)) return "a time";
    int length = pace_snprintf(out->time, sizeof out->time, "%.3f", time < FEWEST_MS ? time : time / 1000);
    out->cells.cells[PACE_USAGE_AT] = (pace_usage_text){out->time, length > 0 ? (size_t)length : 0};
    return NULL;
}

const char *pace_usage_sample_read(pace_usage_sample *out, const pace_usage_mapping *mapping, char *line,
                                   size_t length) {
    char *at = line;
    const char *end = line + length, *wrong = NULL;
    int rank[PACE_USAGE_FIELDS];
    out->cells.count = PACE_USAGE_FIELDS;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++) out->cells.cells[f] = (pace_usage_text){"", 0}, rank[f] = INT32_MAX;
    pace_usage_text name = {at, name_length(at, end)};
    at += name.length;
    if (name.length) put(out, mapping, rank, (pace_usage_text){"__name__", 8}, name);
    skip_blanks(&at, end);
    if (at < end && *at == '{') at++, wrong = read_labels(out, mapping, rank, &at, end);
    else if (name.length == 0) return "a metric's name";
    if (wrong) return wrong;
    out->cells.cells[PACE_USAGE_VALUE] = next_word(&at, end);
    if (out->cells.cells[PACE_USAGE_VALUE].length == 0) return "a value behind the labels";
    return read_time(out, next_word(&at, end));
}
