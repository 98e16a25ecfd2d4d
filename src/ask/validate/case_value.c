#include "ask/validate/case_value.h"
#include "base/decimal.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1024 };

static const pace_answer_column *column_of(const pace_answer_table *table, const char *name, size_t length) {
    for (size_t i = 0; i < table->column_count; i++) {
        const char *other = table->columns[i].name;
        if (strlen(other) == length && strncmp(other, name, length) == 0) return &table->columns[i];
    }
    return NULL;
}

static double number_at(const pace_answer_column *column, size_t row) {
    if (column->reals) return column->reals[row];
    if (column->integers && column->integers[row] != INT64_MIN) return (double)column->integers[row];
    return NAN;
}

static bool cell_is(const pace_answer_column *column, size_t row, const char *word) {
    double number;
    if (column->texts) return strcmp(column->texts[row] ? column->texts[row] : "", word) == 0;
    return pace_number_parse(&number, word) && number == number_at(column, row);
}

/* A condition "COLUMN=CELL" or "COLUMN='CELL'". */
typedef struct {
    const pace_answer_column *column;
    char word[LONGEST];
} condition;

/* Reads the condition at `at`; returns the place behind it, NULL when there is none. */
static const char *read_condition(condition *out, const pace_answer_table *table, const char *at) {
    size_t name = strcspn(at, "=]");
    if (at[name] != '=') return NULL;
    out->column = column_of(table, at, name);
    at += name + 1;
    const char *end = *at == '\'' ? strchr(at + 1, '\'') : at + strcspn(at, ",]");
    if (*at == '\'') at++;
    if (!out->column || !end || end - at >= LONGEST) return NULL;
    memcpy(out->word, at, (size_t)(end - at));
    out->word[end - at] = '\0';
    return end + (*end == '\'');
}

/* Marks the rows that do not hold; returns the place behind the condition. */
static const char *strike(bool *out, size_t rows, const pace_answer_table *table, const char *at) {
    condition one;
    const char *end = read_condition(&one, table, at);
    for (size_t row = 0; end && row < rows; row++) out[row] |= !cell_is(one.column, row, one.word);
    return end;
}

static pace_status only_row(size_t *out, const bool *struck, size_t rows, const char *text) {
    size_t found = rows;
    for (size_t row = 0; row < rows; row++) {
        if (struck[row]) continue;
        if (found < rows) return pace_fail(PACE_E_INPUT, "\"%.200s\": several rows of the answer are meant", text);
        found = row;
    }
    if (found == rows) return pace_fail(PACE_E_MISSING, "\"%.200s\": the answer has no such row", text);
    *out = found;
    return PACE_OK;
}

static pace_status no_row(const char *text) {
    return pace_fail(PACE_E_INPUT, "\"%.200s\": expected TABLE[ROW].COLUMN, with a number, \"*\" or COLUMN=CELL", text);
}

static pace_status row_by_cells(size_t *out, const char **end, const pace_answer_table *table, const char *at,
                                const char *text) {
    bool *struck = pace_alloc(table->rows + 1, sizeof *struck);
    if (!struck) return PACE_E_MEMORY;
    do {
        at = strike(struck, table->rows, table, at + 1);
    } while (at && *at == ',');
    pace_status status = at ? only_row(out, struck, table->rows, text) : no_row(text);
    *end = at;
    pace_free(struck);
    return status;
}

static pace_status row_by_number(size_t *out, const pace_answer_table *table, double number, const char *text) {
    double row = number < 0 ? number + (double)table->rows : number;
    if (!(row >= 0 && row < (double)table->rows))
        return pace_fail(PACE_E_MISSING, "\"%.200s\": the answer has no such row", text);
    *out = (size_t)row;
    return PACE_OK;
}

static double mean_of(const pace_answer_column *column, size_t rows) {
    double sum = 0;
    for (size_t row = 0; row < rows; row++) sum += number_at(column, row);
    return rows ? sum / (double)rows : NAN;
}

/* `at` is the bracket behind the table's name. */
static pace_status cell_of(double *out, const pace_answer_table *table, const char *at, const char *text) {
    size_t row = table->rows;
    double number;
    const char *end = at[1] == '*' ? at + 2 : pace_number_read(&number, at + 1);
    if (at[1] == '*') row = table->rows;
    else if (end && *end == ']') PACE_TRY(row_by_number(&row, table, number, text));
    else PACE_TRY(row_by_cells(&row, &end, table, at, text));
    if (end[0] != ']' || end[1] != '.') return no_row(text);
    const pace_answer_column *column = column_of(table, end + 2, strlen(end + 2));
    if (!column) return pace_fail(PACE_E_MISSING, "\"%.200s\": the answer has no such column", text);
    *out = row < table->rows ? number_at(column, row) : mean_of(column, table->rows);
    if (!isnan(*out)) return PACE_OK;
    return pace_fail(PACE_E_MISSING, "\"%.200s\": the answer does not know it", text);
}

static pace_status operand(double *out, const pace_answer *answer, const char *text) {
    char path[LONGEST];
    const char *bracket = strchr(text, '[');
    if (pace_number_parse(out, text)) return PACE_OK;
    if (!bracket) return pace_answer_value(answer, text, out);
    snprintf(path, sizeof path, "%.*s", (int)(bracket - text), text);
    const pace_answer_table *table = pace_answer_table_find(answer, path);
    if (!table) return pace_fail(PACE_E_MISSING, "\"%.200s\": the answer has no such table", text);
    return cell_of(out, table, bracket, text);
}

/* The blank that ends the operand at `at`, or the end; blanks between apostrophes are part of it. */
static const char *operand_end(const char *at) {
    for (bool quoted = false; *at && (quoted || *at != ' '); at++) quoted ^= *at == '\'';
    return at;
}

static void apply(double *sum, double *product, char sign, double value) {
    if (sign == '*') *product *= value;
    else if (sign == '/') *product /= value;
    else *sum += *product, *product = sign == '-' ? -value : value;
}

pace_status pace_case_value(double *out, const pace_answer *answer, const char *text) {
    double sum = 0, product = 0, value;
    char sign = '+';
    for (const char *at = text;;) {
        char word[LONGEST];
        const char *end = operand_end(at);
        snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        PACE_TRY(operand(&value, answer, word));
        apply(&sum, &product, sign, value);
        if (!*end) break;
        sign = end[1];
        if (!sign || !strchr("+-*/", sign) || end[2] != ' ')
            return pace_fail(PACE_E_INPUT, "\"%.200s\": expected + - * or / between blanks", text);
        at = end + 3;
    }
    *out = sum + product;
    return PACE_OK;
}
