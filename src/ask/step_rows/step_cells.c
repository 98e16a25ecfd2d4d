#include "ask/step_rows/step_cells.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool pace_step_column_read(const pace_step_reader *r, int column) {
    for (int i = 0; i < PACE_STEP_COLUMNS; i++)
        if (r->column[i] == column) return true;
    return false;
}

const char *pace_step_cell(const pace_step_reader *reader, size_t row, pace_step_column column) {
    static const char *const silent[] = {"na", "n/a", "-", "nan", "null", "?", "unknown"};
    if (reader->column[column] < 0) return "";
    const char *text = pace_csv_cell(&reader->rows->csv, row, (size_t)reader->column[column]);
    for (size_t i = 0; i < PACE_COUNT(silent); i++)
        if (pace_strcasecmp(text, silent[i]) == 0) return "";
    return text;
}

/* "Parameters (M)", "params_millions" */
static bool in_millions(const char *name) { return strstr(name, "(M") || pace_step_says(name, "million"); }

bool pace_step_number(double *out, const pace_step_reader *reader, size_t row, pace_step_column column) {
    const char *text = pace_step_cell(reader, row, column);
    double value;
    const char *end = pace_number_read(&value, text);
    if (!end) return false;
    while (*end == ' ') end++;
    bool millions =
        column == PACE_STEP_PARAMS_B && in_millions(pace_csv_name(&reader->rows->csv, (size_t)reader->column[column]));
    if ((column == PACE_STEP_PARAMS_B && (*end == 'M' || *end == 'm')) || (millions && !*end)) value /= 1e3;
    if (column == PACE_STEP_PARAMS_B && value >= 1e6) value /= 1e9; /* a count, not billions of it */
    if ((*end == 'k' || *end == 'K') && column == PACE_STEP_SEQ) value *= 1024, end++;
    if ((*end == 'k' || *end == 'K') && column == PACE_STEP_VOCAB) value *= 1000, end++;
    if (*end && *end != '(' && !(column == PACE_STEP_PARAMS_B && strchr("BbMm", *end))) return false;
    *out = value;
    return true;
}

int pace_step_flag(const char *text) {
    static const char *const words[] = {"0", "no", "false", "off", "none", "1", "yes", "true", "on"};
    for (int i = 0; i < 9; i++)
        if (pace_strcasecmp(text, words[i]) == 0) return i > 4;
    return -1;
}

static bool is_of_work(pace_doubt doubt) {
    switch (doubt) {
    case PACE_DOUBT_ROW_SIZE:
    case PACE_DOUBT_ROW_EXPERTS:
    case PACE_DOUBT_ROW_ADAPTERS:
    case PACE_DOUBT_ROW_BATCH:
    case PACE_DOUBT_ROW_MICRO_BATCHES:
    case PACE_DOUBT_ROW_PRECISION:
    case PACE_DOUBT_ROW_SINGLE_PRECISION: return true;
    default: return false;
    }
}

void pace_step_doubt(pace_step_row *row, const pace_step_reader *reader, pace_doubt doubt) {
    row->doubt *= reader->things->doubts.figure[doubt];
    row->guesses_work |= is_of_work(doubt);
}

void pace_step_note(pace_step_row *row, const char *format, ...) {
    size_t used = strlen(row->status);
    va_list arguments;
    if (used > 0 && used + 3 < sizeof row->status) used += (size_t)sprintf(row->status + used, "; ");
    va_start(arguments, format);
    pace_vsnprintf(row->status + used, sizeof row->status - used, format, arguments);
    va_end(arguments);
}

bool pace_step_says(const char *text, const char *word) {
    for (; *text; text++)
        if (pace_strncasecmp(text, word, strlen(word)) == 0) return true;
    return false;
}

const char *pace_step_said(const pace_step_things *things, const char *kind, const char *text) {
    const pace_yaml_node *step = pace_yaml_get(pace_yaml_root(things->columns), "step");
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(step, "says"), kind);
    for (size_t i = 0; *text && i < pace_yaml_count(all); i++) {
        const pace_yaml_node *words = pace_yaml_item(all, i);
        PACE_YAML_EACH (one, words) {
            const char *word = pace_yaml_text(one);
            if (word && pace_step_says(text, word)) return pace_yaml_key(all, i);
        }
    }
    return NULL;
}

double pace_step_degree(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *c = text; *c; c++) {
        bool starts = c == text || !pace_is_alpha(c[-1]);
        if (!starts || pace_strncasecmp(c, word, length) != 0) continue;
        const char *at = c + length + strspn(c + length, " =:_-");
        double degree;
        if (pace_is_digit(*at) && pace_number_read(&degree, at) && degree >= 1) return floor(degree);
    }
    return 0;
}
