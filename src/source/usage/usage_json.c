/*
 * Records as JSON: objects of one array, or the elements of an array within each. A record is flattened: every number
 * and text has the path of the members and arrays ("[]") it stands in, and a mapping's columns are such paths.
 */
#include "source/usage/usage_forms.h"
#include "base/decimal.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "source/usage/usage_entries.h"
#include "source/usage/usage_words.h"

#include <math.h>
#include <string.h>

enum { LONGEST_PATH = 512, MOST_PATHS = 128, MOST_CELLS = 1 << 24 };

typedef struct {
    int path;
    int32_t element; /* of the array `each`; -1 = of the whole record */
    size_t from, length;
} cell;

/* What a path's values come to, each as text. */
typedef struct {
    size_t count;
    pace_usage_text first, last, latest, bad; /* bad: one that is no number */
    double sum;
} gathered;

typedef struct {
    pace_usage_stream *stream;
    pace_json *json;
    const char *paths[MOST_PATHS];
    bool of_element[MOST_PATHS];
    const pace_yaml_node *entries[MOST_PATHS]; /* of arrays that are read as one list; NULL = of other paths */
    size_t path_count;
    int field[PACE_USAGE_FIELDS][PACE_USAGE_NAMES];
    char path[LONGEST_PATH];
    size_t path_length;
    PACE_VEC(cell) cells;
    pace_text text;
    int32_t element, elements;
    gathered values[MOST_PATHS];
    char numbers[PACE_USAGE_FIELDS][32];
    int all; /* the path of the one field that takes all of its values; -1 = none does */
    pace_text joined, list;
    uint64_t row;
    bool found;
    pace_status status;
} reader;

/* --- which paths are wanted --------------------------------------------------------------------------------------- */

static bool in_element(const reader *r, const char *path) {
    const char *each = r->stream->binding.mapping->each;
    return each && pace_starts(path, each) && pace_starts(path + strlen(each), "[]");
}

static int want(reader *r, const char *path) {
    for (size_t i = 0; i < r->path_count; i++)
        if (strcmp(r->paths[i], path) == 0) return (int)i;
    if (r->path_count == MOST_PATHS) return -1;
    r->of_element[r->path_count] = in_element(r, path);
    r->paths[r->path_count] = path;
    return (int)r->path_count++;
}

static void bind(reader *r) {
    const pace_usage_mapping *m = r->stream->binding.mapping;
    r->all = -1;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++) {
        for (size_t i = 0; i < m->fields[f].name_count; i++) {
            int path = want(r, m->fields[f].names[i]);
            r->field[f][i] = path;
            if (path >= 0 && m->fields[f].entries) r->entries[path] = m->fields[f].entries;
        }
        r->stream->binding.field[f] = m->fields[f].name_count ? f : -1;
        r->stream->binding.unit[f] = m->fields[f].unit;
        if (m->fields[f].take == PACE_TAKE_ALL && r->all < 0) r->all = r->field[f][0];
    }
    for (size_t i = 0; i < m->metric_count; i++) r->stream->binding.metric[i] = -1;
    r->stream->binding.skip = -1;
}

/* What the path has in place of the star that a wanted one ends with; NULL = it is another. */
static const char *suffix_of(const reader *r, size_t i) {
    size_t before = strlen(r->paths[i]);
    bool star = before > 0 && r->paths[i][before - 1] == '*' && strncmp(r->paths[i], r->path, before - 1) == 0;
    return star ? r->path + before - 1 : NULL;
}

/* Whether a value at the path, or below it, is wanted. */
static bool leads_somewhere(const reader *r) {
    for (size_t i = 0; i < r->path_count; i++)
        if (strncmp(r->paths[i], r->path, r->path_length) == 0 || suffix_of(r, i)) return true;
    const char *each = r->stream->binding.mapping->each;
    return each && strncmp(each, r->path, r->path_length) == 0;
}

/* --- a record flattened ------------------------------------------------------------------------------------------- */

static bool push_path(reader *r, const char *text, size_t length, bool point) {
    if (r->path_length + length + 2 > LONGEST_PATH) return false;
    if (point && r->path_length) r->path[r->path_length++] = '.';
    memcpy(r->path + r->path_length, text, length);
    r->path_length += length;
    r->path[r->path_length] = '\0';
    return true;
}

static void pop_path(reader *r, size_t length) {
    r->path_length = length;
    r->path[length] = '\0';
}

static pace_status keep_text(reader *r, cell *out, const char *text, size_t length) {
    if (r->cells.count == MOST_CELLS)
        return pace_fail(PACE_E_LIMIT, "%s: record %llu has more than %d values", pace_input_name(r->stream->input),
                         (unsigned long long)r->row, MOST_CELLS);
    out->from = r->text.count;
    out->length = length;
    return pace_text_append(&r->text, text, length);
}

/* A count of slices of GPUs, in GPUs. */
static pace_usage_text in_gpus(char out[32], const reader *r, const char *model, pace_usage_text text) {
    double count;
    if (!pace_usage_number(&count, text)) return text;
    count *= pace_usage_share((pace_usage_text){model, strlen(model)},
                              r->stream->binding.mapping->fields[PACE_USAGE_GPUS].slices);
    return (pace_usage_text){out, (size_t)pace_snprintf(out, 32, "%.17g", count)};
}

static pace_status keep_scalar(reader *r, pace_json_token token) {
    size_t length;
    char number[32];
    for (size_t i = 0; i < r->path_count; i++) {
        const char *suffix = suffix_of(r, i);
        if (!suffix && strcmp(r->paths[i], r->path) != 0) continue;
        bool escaped = token == PACE_JSON_STRING && pace_json_escaped(r->json);
        const char *text = escaped ? pace_json_decoded(r->json, &length) : pace_json_text(r->json, &length);
        if (!text) return PACE_E_MEMORY;
        cell one = {.path = (int)i, .element = r->of_element[i] ? r->element : -1};
        pace_usage_text kept = {text, length};
        if (suffix) kept = in_gpus(number, r, suffix, kept);
        PACE_TRY(keep_text(r, &one, kept.data, kept.length));
        return PACE_PUSH(&r->cells, one);
    }
    return PACE_OK;
}

static pace_json_token flatten(reader *r, pace_json_token token);

static pace_json_token flatten_object(reader *r) {
    const char *key;
    size_t key_length, length = r->path_length;
    pace_json_token token;
    while (!pace_json_failed(token = pace_json_member(r->json, &key, &key_length)) && token != PACE_JSON_OBJECT_END) {
        bool wanted = push_path(r, key, key_length, true) && leads_somewhere(r);
        if (wanted) token = flatten(r, token);
        else if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        pop_path(r, length);
        if (pace_json_failed(token) || r->status != PACE_OK) return token;
    }
    return token;
}

static pace_json_token flatten_array(reader *r) {
    const char *each = r->stream->binding.mapping->each;
    size_t length = r->path_length;
    bool counts = each && strcmp(each, r->path) == 0;
    pace_json_token token;
    if (!push_path(r, "[]", 2, false)) return pace_json_leave(r->json);
    while (!pace_json_failed(token = pace_json_next(r->json)) && token != PACE_JSON_ARRAY_END) {
        if (counts) r->element = r->elements++;
        token = flatten(r, token);
        if (pace_json_failed(token) || r->status != PACE_OK) return token;
    }
    pop_path(r, length);
    if (counts) r->element = -1;
    return token;
}

/* The path of an array that is read as one list; -1 for any other. */
static int listed(const reader *r) {
    for (size_t i = 0; i < r->path_count; i++)
        if (r->entries[i] && strcmp(r->paths[i], r->path) == 0) return (int)i;
    return -1;
}

static pace_json_token flatten_list(reader *r, int path) {
    cell one = {.path = path, .element = r->of_element[path] ? r->element : -1};
    pace_json_token token = pace_usage_entries_read(&r->list, &r->status, r->json, r->entries[path]);
    if (pace_json_failed(token) || r->status != PACE_OK || r->list.count == 0) return token;
    r->status = keep_text(r, &one, r->list.items, r->list.count);
    if (r->status == PACE_OK) r->status = PACE_PUSH(&r->cells, one);
    return token;
}

static pace_json_token flatten(reader *r, pace_json_token token) {
    int list = token == PACE_JSON_ARRAY ? listed(r) : -1;
    if (list >= 0) return flatten_list(r, list);
    if (token == PACE_JSON_OBJECT) return flatten_object(r);
    if (token == PACE_JSON_ARRAY) return flatten_array(r);
    if (token == PACE_JSON_STRING || token == PACE_JSON_NUMBER) r->status = keep_scalar(r, token);
    return token;
}

/* --- the values of a record, or of one of its elements ------------------------------------------------------------ */

static bool is_later(pace_usage_text a, pace_usage_text b) {
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order > 0 || (order == 0 && a.length > b.length);
}

static pace_status join(reader *r, pace_usage_text text) {
    if (r->joined.count) PACE_TRY(pace_text_append(&r->joined, ",", 1));
    return pace_text_append(&r->joined, text.data, text.length);
}

static pace_status gather(reader *r, const cell *one) {
    gathered *g = &r->values[one->path];
    pace_usage_text text = {r->text.items + one->from, one->length};
    double number;
    if (g->count++ == 0) g->first = g->latest = text;
    if (is_later(text, g->latest)) g->latest = text;
    g->last = text;
    if (pace_usage_number(&number, text)) g->sum += number;
    else g->bad = text;
    return one->path == r->all ? join(r, text) : PACE_OK;
}

static pace_usage_text as_text(reader *r, int field, double number) {
    pace_number_write(r->numbers[field], number);
    return (pace_usage_text){r->numbers[field], strlen(r->numbers[field])};
}

static pace_usage_text taken(reader *r, int field, const gathered *g) {
    switch (r->stream->binding.mapping->fields[field].take) {
    case PACE_TAKE_LAST: return g->last;
    case PACE_TAKE_LATEST: return g->latest;
    case PACE_TAKE_COUNT: return as_text(r, field, (double)g->count);
    case PACE_TAKE_SUM: return g->bad.length || !(fabs(g->sum) < HUGE_VAL) ? g->bad : as_text(r, field, g->sum);
    case PACE_TAKE_ALL: return (pace_usage_text){r->joined.items, r->joined.count};
    default: return g->first;
    }
}

static bool says_nothing(const pace_usage_mapping *m, pace_usage_text text) {
    return text.length == 0 || pace_usage_is_missing(m, text);
}

static pace_status deliver(reader *r) {
    static const pace_usage_text nothing = {"", 0};
    pace_usage_text cells[PACE_USAGE_FIELDS];
    const pace_usage_mapping *m = r->stream->binding.mapping;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++) {
        cells[f] = nothing;
        for (size_t i = 0; says_nothing(m, cells[f]) && i < m->fields[f].name_count; i++) {
            int path = r->field[f][i];
            if (path >= 0 && r->values[path].count) cells[f] = taken(r, f, &r->values[path]);
        }
    }
    return pace_usage_deliver(r->stream, cells, r->row);
}

static void forget_elements(reader *r) {
    for (size_t i = 0; i < r->path_count; i++)
        if (r->of_element[i]) r->values[i] = (gathered){0};
    if (r->all >= 0 && r->of_element[r->all]) r->joined.count = 0;
}

static pace_status deliver_record(reader *r) {
    memset(r->values, 0, sizeof r->values);
    r->joined.count = 0;
    for (size_t i = 0; i < r->cells.count; i++)
        if (r->cells.items[i].element < 0) PACE_TRY(gather(r, &r->cells.items[i]));
    if (r->elements == 0) return deliver(r);
    for (size_t i = 0; i < r->cells.count;) {
        int32_t element = r->cells.items[i].element;
        if (element < 0) {
            i++;
            continue;
        }
        forget_elements(r);
        for (; i < r->cells.count && r->cells.items[i].element == element; i++) PACE_TRY(gather(r, &r->cells.items[i]));
        PACE_TRY(deliver(r));
    }
    return PACE_OK;
}

/* --- the array of records ----------------------------------------------------------------------------------------- */

static pace_json_token read_record(reader *r, pace_json_token token) {
    r->row++;
    r->cells.count = r->text.count = 0;
    r->elements = 0;
    r->element = -1;
    pop_path(r, 0);
    if (token != PACE_JSON_OBJECT) {
        r->stream->reading->rows++;
        pace_usage_refuse(r->stream, r->row, "expected an object");
        return token == PACE_JSON_ARRAY ? pace_json_leave(r->json) : token;
    }
    token = flatten(r, token);
    if (!pace_json_failed(token) && r->status == PACE_OK) r->status = deliver_record(r);
    return token;
}

static pace_json_token read_records(reader *r) {
    pace_json_token token;
    r->found = true;
    while (!pace_json_failed(token = pace_json_next(r->json)) && token != PACE_JSON_ARRAY_END) {
        token = read_record(r, token);
        if (pace_json_failed(token) || r->status != PACE_OK) return token;
    }
    return token;
}

/* What the source itself says against its answer ("warnings", "errors"): the first text of it. */
static pace_json_token read_caution(reader *r) {
    char *out = r->stream->reading->caution;
    size_t length, depth = 1;
    pace_json_token token = PACE_JSON_ARRAY;
    while (depth > 0 && !pace_json_failed(token = pace_json_next(r->json))) {
        depth += token == PACE_JSON_ARRAY || token == PACE_JSON_OBJECT;
        depth -= token == PACE_JSON_ARRAY_END || token == PACE_JSON_OBJECT_END;
        if (token != PACE_JSON_STRING || *out) continue;
        const char *text = pace_json_text(r->json, &length);
        pace_snprintf(out, PACE_USAGE_REASON, "%.*s", (int)(length < 200 ? length : 200), text);
    }
    return token;
}

static bool is_caution(const reader *r, const char *rest, const char *key, size_t length) {
    const char *rows = r->stream->binding.mapping->rows;
    return rest == rows && (pace_span_is(key, length, "warnings") || pace_span_is(key, length, "errors"));
}

/* Goes down to the array: `rest` names the members on the way. */
static pace_json_token find_records(reader *r, pace_json_token token, const char *rest) {
    const char *key;
    size_t length, wanted = strcspn(rest, ".");
    if (token == PACE_JSON_ARRAY) return *rest ? pace_json_leave(r->json) : read_records(r);
    if (token != PACE_JSON_OBJECT) return token;
    if (!*rest) return pace_json_leave(r->json);
    while (!pace_json_failed(token = pace_json_member(r->json, &key, &length)) && token != PACE_JSON_OBJECT_END) {
        if (length == wanted && memcmp(key, rest, length) == 0)
            token = find_records(r, token, rest + wanted + (rest[wanted] == '.'));
        else if (token == PACE_JSON_ARRAY && is_caution(r, rest, key, length)) token = read_caution(r);
        else if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) token = pace_json_leave(r->json);
        if (pace_json_failed(token) || r->status != PACE_OK) return token;
    }
    return token;
}

/* Answers that were written into one file, one behind the other, are no JSON document: the first is read. */
static pace_status expect_end(reader *r) {
    if (!pace_json_failed(pace_json_next(r->json))) return PACE_OK;
    if (pace_json_status(r->json) != PACE_E_INPUT) return pace_json_status(r->json);
    pace_snprintf(r->stream->reading->cut_off, PACE_USAGE_REASON,
                  "what stands behind its first document was not read, for each needs a file of its own: %.240s",
                  pace_message());
    return PACE_OK;
}

static pace_status read_document(reader *r) {
    const pace_usage_mapping *m = r->stream->binding.mapping;
    pace_json_token token = find_records(r, pace_json_next(r->json), m->rows ? m->rows : "");
    PACE_TRY(r->status);
    if (!pace_json_failed(token) && r->found) return expect_end(r);
    if (pace_json_failed(token)) return pace_usage_broke_off(r->stream, pace_json_status(r->json), r->row);
    if (r->found) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected an array%s%s of records (%s), found none",
                     pace_input_name(r->stream->input), m->rows && *m->rows ? " " : "", m->rows ? m->rows : "",
                     m->title);
}

pace_status pace_usage_read_json(pace_usage_stream *stream) {
    reader *r = pace_alloc(1, sizeof *r);
    if (!r) return PACE_E_MEMORY;
    r->stream = stream;
    bind(r);
    pace_status status = pace_json_open(&r->json, stream->input);
    if (status == PACE_OK) {
        status = read_document(r);
        pace_json_free(r->json);
    }
    PACE_VEC_FREE(&r->cells, &r->text, &r->joined, &r->list);
    pace_free(r);
    return status;
}
