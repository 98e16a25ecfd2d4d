#include "ask/findings.h"

#include <math.h>
#include <string.h>

void pace_findings_free(pace_findings *findings) {
    PACE_ITEMS (pace_found, one, &findings->items) {
        for (size_t c = 0; c < one->cells.count; c++) pace_free((char *)one->cells.items[c].text);
        PACE_VEC_FREE(&one->cells);
        PACE_FREE(one->key, one->text);
    }
    PACE_VEC_FREE(&findings->items);
    *findings = (pace_findings){0};
}

pace_status pace_findings_status(const pace_findings *findings) { return findings->status; }

static char *copy(pace_findings *findings, const char *text) {
    char *made = pace_copy_text(text, strlen(text));
    if (!made) findings->status = PACE_E_MEMORY;
    return made;
}

/* Takes over the texts of `one`, also when it fails. */
static void add(pace_findings *findings, pace_found one) {
    if (findings->status == PACE_OK) findings->status = PACE_PUSH(&findings->items, one);
    if (findings->status == PACE_OK) return;
    PACE_FREE(one.key, one.text);
}

void pace_found_int(pace_findings *findings, const char *key, size_t value) {
    add(findings, (pace_found){.kind = PACE_FOUND_INT, .key = copy(findings, key), .number = (double)value});
}

void pace_found_real(pace_findings *findings, const char *key, double value) {
    add(findings, (pace_found){.kind = PACE_FOUND_REAL, .key = copy(findings, key), .number = value});
}

void pace_found_text(pace_findings *findings, const char *key, const char *value) {
    add(findings, (pace_found){.kind = PACE_FOUND_TEXT,
                               .key = copy(findings, key),
                               .text = value ? copy(findings, value) : NULL});
}

void pace_found_say(pace_findings *findings, pace_found_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pace_format_text(format, arguments);
    va_end(arguments);
    if (!text) findings->status = PACE_E_MEMORY;
    add(findings, (pace_found){.kind = kind, .key = copy(findings, ""), .text = text});
}

void pace_found_warn(pace_findings *findings, pace_warning_code code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pace_format_text(format, arguments);
    va_end(arguments);
    if (!text) findings->status = PACE_E_MEMORY;
    add(findings, (pace_found){.kind = PACE_FOUND_WARNING, .code = code, .key = copy(findings, ""), .text = text});
}

void pace_found_table(pace_findings *findings, const char *key, const char *title, const pace_column *columns,
                      size_t column_count) {
    add(findings, (pace_found){.kind = PACE_FOUND_TABLE,
                               .key = copy(findings, key),
                               .text = copy(findings, title),
                               .columns = columns,
                               .column_count = column_count});
}

void pace_found_table_for_programs(pace_findings *findings, const char *key, const char *title,
                                   const pace_column *columns, size_t column_count) {
    pace_found_table(findings, key, title, columns, column_count);
    if (findings->status == PACE_OK) findings->items.items[findings->items.count - 1].for_programs = true;
}

static void add_cell(pace_findings *findings, pace_found_cell cell) {
    if (findings->status == PACE_OK)
        findings->status = PACE_PUSH(&findings->items.items[findings->items.count - 1].cells, cell);
    if (findings->status != PACE_OK) pace_free((char *)cell.text);
}

void pace_found_cell_text(pace_findings *findings, const char *text) {
    add_cell(findings, (pace_found_cell){copy(findings, text), NAN});
}

void pace_found_cell_number(pace_findings *findings, double number) {
    add_cell(findings, (pace_found_cell){NULL, number});
}

void pace_found_cell_numbers(pace_findings *findings, const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) pace_found_cell_number(findings, numbers[i]);
}

const pace_found *pace_findings_find(const pace_findings *findings, const char *key) {
    return PACE_FIND(findings->items.items, findings->items.count, key, key);
}

size_t pace_found_rows(const pace_found *table) { return table->cells.count / table->column_count; }

int pace_found_column_of(const pace_found *table, const char *key) {
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].key, key) == 0) return (int)i;
    return -1;
}
