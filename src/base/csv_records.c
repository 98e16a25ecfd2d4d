#include "base/csv_records.h"
#include "base/csv_write.h"
#include "base/intern.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml.h"

#include <string.h>

enum { DEEPEST = 4, LONGEST_NAME = 256 };

typedef struct {
    const pace_yaml *yaml;
    pace_names names;   /* of the columns, from 1 on */
    const char **cells; /* of the record at hand, by column; NULL while columns are counted */
    pace_texts lists;   /* of the record at hand, as texts */
} records;

bool pace_csv_is_records(const char *head, size_t length) {
    size_t at = 0, next;
    while (at < length && pace_is_space(head[at])) at++;
    for (next = at + 1; next < length && pace_is_space(head[next]);) next++;
    if (next >= length) return false;
    if (head[at] == '[' || head[at] == '{') return strchr("{[\"", head[next]) != NULL;
    return head[at] == '-' && head[at + 1] == ' ';
}

static pace_status take_cell(records *r, const pace_yaml_node *value, const char *name, const char *text) {
    pace_name column;
    PACE_TRY(pace_names_add(&column, &r->names, name, strlen(name)));
    if (!r->cells) return PACE_OK;
    if (r->cells[column]) return pace_yaml_fail(r->yaml, value, "the column \"%.80s\" has two values here", name);
    r->cells[column] = text;
    return PACE_OK;
}

/* "[4096, 512]"; an object within is "{...}". */
static pace_status write_list(pace_text *out, const pace_yaml_node *list, int depth) {
    PACE_TRY(pace_text_append(out, "[", 1));
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *item = pace_yaml_item(list, i);
        const char *text = pace_yaml_text(item) ? pace_yaml_text(item) : "{...}";
        if (i > 0) PACE_TRY(pace_text_append(out, ", ", 2));
        if (pace_yaml_is_list(item) && depth < DEEPEST) PACE_TRY(write_list(out, item, depth + 1));
        else PACE_TRY(pace_text_append(out, text, strlen(text)));
    }
    return pace_text_append(out, "]", 1);
}

static pace_status take_list(records *r, const pace_yaml_node *list, const char *name) {
    pace_text text = {0};
    pace_status status = r->cells ? write_list(&text, list, 0) : PACE_OK;
    if (status == PACE_OK) status = pace_texts_add(&r->lists, r->cells ? text.items : "");
    PACE_VEC_FREE(&text);
    return status == PACE_OK ? take_cell(r, list, name, r->lists.items[r->lists.count - 1]) : status;
}

static pace_status take_members(records *r, const pace_yaml_node *map, const char *outer, int depth) {
    PACE_YAML_EACH (value, map) {
        char name[LONGEST_NAME];
        const char *text = pace_yaml_text(value);
        pace_snprintf(name, sizeof name, "%s%s%s", outer, *outer ? "_" : "", pace_yaml_key_of(value));
        if (text && strcmp(text, "null") != 0) PACE_TRY(take_cell(r, value, name, text));
        else if (pace_yaml_is_list(value)) PACE_TRY(take_list(r, value, name));
        else if (pace_yaml_is_map(value) && depth < DEEPEST) PACE_TRY(take_members(r, value, name, depth + 1));
    }
    return PACE_OK;
}

static pace_status count_columns(records *r, const pace_yaml_node *list) {
    if (!pace_yaml_is_list(list) || pace_yaml_count(list) == 0)
        return pace_yaml_fail(r->yaml, list, "expected a table in CSV or Markdown, or a list of records");
    PACE_YAML_EACH (record, list) {
        if (!pace_yaml_is_map(record)) return pace_yaml_fail(r->yaml, record, "expected a record of named values");
        PACE_TRY(take_members(r, record, "", 0));
    }
    return PACE_OK;
}

static pace_status write_rows(pace_text *out, records *r, const pace_yaml_node *list) {
    pace_name columns = (pace_name)pace_names_count(&r->names);
    if (!(r->cells = pace_alloc(columns, sizeof *r->cells))) return PACE_E_MEMORY;
    for (pace_name c = 1; c < columns; c++) PACE_TRY(pace_csv_put_cell(out, pace_names_text(&r->names, c)));
    pace_csv_end_line(out);
    PACE_YAML_EACH (record, list) {
        memset(r->cells, 0, columns * sizeof *r->cells);
        pace_texts_free(&r->lists);
        r->lists = (pace_texts){0};
        PACE_TRY(take_members(r, record, "", 0));
        for (pace_name c = 1; c < columns; c++) PACE_TRY(pace_csv_put_cell(out, r->cells[c] ? r->cells[c] : ""));
        pace_csv_end_line(out);
    }
    return PACE_OK;
}

static pace_status write_records(pace_text *out, const pace_yaml *yaml) {
    records r = {.yaml = yaml};
    PACE_TRY(pace_names_init(&r.names));
    pace_status status = count_columns(&r, pace_yaml_root(yaml));
    if (status == PACE_OK) status = write_rows(out, &r, pace_yaml_root(yaml));
    pace_names_free(&r.names);
    pace_texts_free(&r.lists);
    PACE_FREE(r.cells);
    return status;
}

/* Of objects one a line the list's brackets and commas are missing. */
static pace_status close_lines(pace_text *out, const char *text, size_t length) {
    char before = '\0';
    PACE_TRY(pace_text_append(out, "[", 1));
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '{' && before == '}' && text[i - 1] == '\n') PACE_TRY(PACE_PUSH(out, ','));
        if (!pace_is_space(text[i])) before = text[i];
        PACE_TRY(PACE_PUSH(out, text[i]));
    }
    return pace_text_append(out, "]", 1);
}

pace_status pace_csv_of_records(pace_text *out, const char *name, const char *text, size_t length) {
    pace_text list = {0};
    pace_yaml *yaml = NULL;
    bool lines = text[strspn(text, " \t\r\n")] == '{';
    pace_status status = lines ? close_lines(&list, text, length) : PACE_OK;
    if (status == PACE_OK)
        status = pace_yaml_parse(&yaml, name, lines ? list.items : text, lines ? list.count : length);
    if (status == PACE_OK) status = write_records(out, yaml);
    pace_yaml_free(yaml);
    PACE_VEC_FREE(&list);
    return status;
}
