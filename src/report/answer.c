/* Values by path and tables by column, read out of the tree once, when the answer is made: reading changes nothing. */
#include "base/beside.h"
#include "base/unfinished.h"
#include "base/whole_file.h"
#include "report/answer.h"
#include "base/packer.h"
#include "report/report_node.h"
#include "base/print.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A table and its cells, by column. */
typedef struct {
    char *path;
    pace_answer_table table;
} laid_table;

struct pace_answer {
    pace_report *report;
    bool holds;
    PACE_VEC(pace_value) values;
    PACE_VEC(laid_table) tables;
};

enum { LONGEST_PATH = 512 };

typedef struct {
    pace_answer *answer;
    char path[LONGEST_PATH];
} layout;

/* --- tables ------------------------------------------------------------------------------------------------------- */

static pace_value_type type_of(const pace_held_table *held, size_t column) {
    pace_value_type type = PACE_VALUE_INT;
    bool any = false;
    for (size_t row = 0; row < held->row_count; row++) {
        pace_cell cell = pace_table_cell(held, row, column);
        if (cell.kind == PACE_CELL_TEXT) return PACE_VALUE_TEXT;
        if (cell.kind == PACE_CELL_REAL) type = PACE_VALUE_REAL;
        any = any || cell.kind != PACE_CELL_NONE;
    }
    if (any) return type;
    pace_show show = held->columns.items[column].show;
    if (show == PACE_SHOW_TEXT || show == PACE_SHOW_WORD) return PACE_VALUE_TEXT;
    return show == PACE_SHOW_INT || show == PACE_SHOW_NS ? PACE_VALUE_INT : PACE_VALUE_REAL;
}

static double real_of(pace_cell cell) {
    return cell.kind == PACE_CELL_REAL ? cell.real : cell.kind == PACE_CELL_INT ? (double)cell.integer : NAN;
}

static pace_status lay_column(pace_answer_column *out, const pace_held_table *held, size_t column) {
    *out = (pace_answer_column){.name = held->columns.items[column].key,
                                .title = held->columns.items[column].title,
                                .type = type_of(held, column),
                                .length = held->row_count};
    double *reals = out->type == PACE_VALUE_REAL ? pace_alloc(out->length + 1, sizeof *reals) : NULL;
    int64_t *integers = out->type == PACE_VALUE_INT ? pace_alloc(out->length + 1, sizeof *integers) : NULL;
    const char **texts = out->type == PACE_VALUE_TEXT ? pace_alloc(out->length + 1, sizeof *texts) : NULL;
    out->reals = reals, out->integers = integers, out->texts = texts;
    if (!reals && !integers && !texts) return PACE_E_MEMORY;
    for (size_t row = 0; row < out->length; row++) {
        pace_cell cell = pace_table_cell(held, row, column);
        if (reals) reals[row] = real_of(cell);
        if (integers) integers[row] = cell.kind == PACE_CELL_INT ? cell.integer : INT64_MIN;
        if (texts) texts[row] = cell.kind == PACE_CELL_TEXT ? cell.text : NULL;
    }
    return PACE_OK;
}

static void free_table(laid_table *laid) {
    for (size_t i = 0; i < laid->table.column_count; i++) {
        PACE_FREE((void *)(uintptr_t)laid->table.columns[i].reals, (void *)(uintptr_t)laid->table.columns[i].integers);
        pace_free((void *)(uintptr_t)laid->table.columns[i].texts);
    }
    PACE_FREE((void *)(uintptr_t)laid->table.columns, laid->path);
}

static pace_status lay_table(layout *l, const pace_node *node) {
    const pace_held_table *held = node->table;
    laid_table laid = {.table = {.title = node->title, .rows = held->row_count}};
    pace_answer_column *columns = pace_alloc(held->columns.count + 1, sizeof *columns);
    pace_status status = columns ? PACE_OK : PACE_E_MEMORY;
    laid.path = pace_copy_text(l->path, strlen(l->path));
    laid.table.path = laid.path;
    laid.table.columns = columns;
    if (!laid.path) status = PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < held->columns.count; i++) {
        status = lay_column(&columns[i], held, i);
        laid.table.column_count++;
    }
    if (status == PACE_OK) return PACE_KEEP(&l->answer->tables, laid, free_table(&laid));
    free_table(&laid);
    return status;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static pace_status add_value(layout *l, pace_value value) {
    char *path = pace_copy_text(l->path, strlen(l->path));
    if (!path) return PACE_E_MEMORY;
    value.path = path;
    return PACE_KEEP(&l->answer->values, value, pace_free(path));
}

static size_t enter(layout *l, const char *key) {
    size_t length = strlen(l->path);
    pace_list(l->path, sizeof l->path, ".", "%s", key);
    return length;
}

static pace_status lay_matrix(layout *l, const pace_held_matrix *matrix) {
    for (size_t r = 0; r < matrix->rows.count; r++) {
        size_t row = enter(l, matrix->rows.items[r]);
        for (size_t c = 0; c < matrix->columns.count; c++) {
            char key[96];
            int64_t cell = matrix->cells[r * matrix->columns.count + c];
            snprintf(key, sizeof key, "%.80s_ns", matrix->columns.items[c]);
            size_t column = enter(l, key);
            PACE_TRY(add_value(l, (pace_value){.type = PACE_VALUE_INT, .integer = cell, .real = (double)cell}));
            l->path[column] = '\0';
        }
        l->path[row] = '\0';
    }
    return PACE_OK;
}

static pace_status lay_members(layout *l, const pace_node *object);

static pace_status lay_list(layout *l, const pace_node *list) {
    size_t number = 0;
    for (const pace_node *item = list->first; item; item = item->next) {
        char key[24];
        if (item->kind != PACE_NODE_OBJECT) continue;
        snprintf(key, sizeof key, "%zu", number++);
        size_t length = enter(l, key);
        PACE_TRY(lay_members(l, item));
        l->path[length] = '\0';
    }
    return PACE_OK;
}

static pace_status lay_node(layout *l, const pace_node *node) {
    switch (node->kind) {
    case PACE_NODE_OBJECT: return lay_members(l, node);
    case PACE_NODE_LIST: return lay_list(l, node);
    case PACE_NODE_TABLE: return lay_table(l, node);
    case PACE_NODE_MATRIX: return lay_matrix(l, node->matrix);
    case PACE_NODE_INT:
        return add_value(l,
                         (pace_value){.type = PACE_VALUE_INT, .integer = node->integer, .real = (double)node->integer});
    case PACE_NODE_REAL:
        return add_value(l, (pace_value){.type = isnan(node->real) ? PACE_VALUE_NONE : PACE_VALUE_REAL,
                                         .real = node->real});
    case PACE_NODE_TEXT:
        return add_value(l, (pace_value){.type = node->text ? PACE_VALUE_TEXT : PACE_VALUE_NONE, .text = node->text});
    case PACE_NODE_BOOL: return add_value(l, (pace_value){.type = PACE_VALUE_BOOL, .integer = node->flag});
    case PACE_NODE_NULL: return add_value(l, (pace_value){.type = PACE_VALUE_NONE});
    default: return PACE_OK;
    }
}

/* As in JSON: what is for people alone is left out, an object without a key is part of the one around it. */
static pace_status lay_members(layout *l, const pace_node *object) {
    for (const pace_node *node = object->first; node; node = node->next) {
        if (node->audience == PACE_FOR_PEOPLE) continue;
        if (node->key) {
            size_t length = enter(l, node->key);
            PACE_TRY(lay_node(l, node));
            l->path[length] = '\0';
        } else if (node->kind == PACE_NODE_OBJECT) {
            PACE_TRY(lay_members(l, node));
        }
    }
    return PACE_OK;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

pace_status pace_answer_of_report(pace_answer **out, pace_report *report, bool holds) {
    pace_answer *answer = pace_alloc(1, sizeof *answer);
    if (!answer) {
        pace_report_free(report);
        return PACE_E_MEMORY;
    }
    answer->report = report;
    answer->holds = holds && !report->denied;
    layout *l = pace_alloc(1, sizeof *l);
    pace_status status = l ? PACE_OK : PACE_E_MEMORY;
    if (l) {
        l->answer = answer;
        status = lay_members(l, report->root);
    }
    pace_free(l);
    return PACE_GIVE(out, answer, status, pace_answer_free(answer));
}

void pace_answer_free(pace_answer *answer) {
    if (!answer) return;
    for (size_t i = 0; i < answer->values.count; i++) pace_free((void *)(uintptr_t)answer->values.items[i].path);
    PACE_VEC_FREE_EACH(&answer->tables, free_table);
    PACE_VEC_FREE(&answer->values);
    pace_report_free(answer->report);
    pace_free(answer);
}

bool pace_answer_holds(const pace_answer *answer) { return answer && answer->holds; }

size_t pace_answer_value_count(const pace_answer *answer) { return answer ? answer->values.count : 0; }

pace_value pace_answer_value_at(const pace_answer *answer, size_t index) {
    return index < pace_answer_value_count(answer) ? answer->values.items[index]
                                                   : (pace_value){.path = "", .type = PACE_VALUE_NONE};
}

/* "step.median_s" is "values.step.median_s" too. */
static const pace_value *find_value(const pace_answer *answer, const char *path) {
    static const char full[] = "values.";
    PACE_ITEMS (const pace_value, value, &answer->values) {
        bool of_values = strncmp(value->path, full, sizeof full - 1) == 0;
        if (of_values && strcmp(value->path + sizeof full - 1, path) == 0) return value;
    }
    return PACE_FIND(answer->values.items, answer->values.count, path, path);
}

static pace_status no_value(const pace_answer *answer, const char *path) {
    const char *closest = "";
    for (size_t i = 0; i < answer->values.count; i++)
        closest = pace_word_nearer(path, closest, answer->values.items[i].path);
    return pace_fail(PACE_E_MISSING, "the answer has no value \"%.200s\"; the closest is \"%.200s\"", path, closest);
}

pace_status pace_answer_value(const pace_answer *answer, const char *path, double *out) {
    PACE_GIVEN(answer);
    PACE_GIVEN(path);
    PACE_GIVEN(out);
    const pace_value *value = find_value(answer, path);
    if (!value) return no_value(answer, path);
    if (value->type != PACE_VALUE_REAL && value->type != PACE_VALUE_INT)
        return pace_fail(PACE_E_USAGE, "the value \"%.200s\" is no number", path);
    *out = value->real;
    return PACE_OK;
}

const char *pace_answer_text(const pace_answer *answer, const char *path) {
    const pace_value *value = answer && path ? find_value(answer, path) : NULL;
    return value ? value->text : NULL;
}

const pace_answer_table *pace_answer_table_at(const pace_answer *answer, size_t index) {
    return answer && index < answer->tables.count ? &answer->tables.items[index].table : NULL;
}

const pace_answer_table *pace_answer_table_find(const pace_answer *answer, const char *path) {
    const pace_answer_table *found = NULL;
    for (size_t i = 0; answer && path && i < answer->tables.count; i++) {
        const pace_answer_table *table = &answer->tables.items[i].table;
        const char *last = strrchr(table->path, '.');
        if (strcmp(table->path, path) == 0) return table;
        if (!last || strcmp(last + 1, path) != 0) continue;
        if (found) return NULL; /* several have it */
        found = table;
    }
    return found;
}

size_t pace_answer_warning_count(const pace_answer *answer) {
    return answer ? pace_report_warning_count(answer->report) : 0;
}

pace_warning pace_answer_warning(const pace_answer *answer, size_t index) {
    return pace_report_warning(answer->report, index);
}

size_t pace_answer_input_count(const pace_answer *answer) { return answer ? answer->report->inputs.count : 0; }

pace_answer_input pace_answer_input_at(const pace_answer *answer, size_t index) {
    if (index >= pace_answer_input_count(answer)) return (pace_answer_input){"", 0};
    return (pace_answer_input){answer->report->inputs.items[index].path, answer->report->inputs.items[index].bytes};
}

pace_status pace_answer_save(const pace_answer *answer, pace_format format, const pace_write_options *options,
                             const char *path) {
    PACE_GIVEN(answer);
    PACE_GIVEN(path);
    pace_beside beside;
    PACE_TRY(pace_beside_open(&beside, path));
    pace_status status = pace_answer_write(answer, format, options, pace_write_stream, beside.file);
    if (status == PACE_E_IO)
        status = pace_fail(PACE_E_IO, "%s: could not be written: %s", path, strerror(errno ? errno : EIO));
    return pace_beside_close(&beside, status);
}

void pace_remove_unfinished(void) { pace_unfinished_remove_all(); }

pace_status pace_answer_write(const pace_answer *answer, pace_format format, const pace_write_options *options,
                              pace_write_fn write, void *context) {
    PACE_GIVEN(answer);
    PACE_GIVEN(write);
    pace_write_options all = {0};
    if (options && options->size < sizeof options->size)
        return pace_fail(PACE_E_USAGE, "options: expected its size as the first member, found %zu", options->size);
    if (options) memcpy(&all, options, options->size < sizeof all ? options->size : sizeof all);
    if (all.gzip && all.zstd) return pace_fail(PACE_E_USAGE, "options: expected either gzip or zstd, found both");
    if (all.table && format != PACE_FORMAT_CSV)
        return pace_fail(PACE_E_USAGE, "options: a table is chosen for CSV alone");
    if (!all.gzip && !all.zstd) return pace_report_write(answer->report, format, &all, write, context);
    pace_packer *packer;
    PACE_TRY(pace_packer_open(&packer, all.zstd ? PACE_PACK_ZSTD : PACE_PACK_GZIP, write, context));
    pace_status status = pace_report_write(answer->report, format, &all, pace_packer_write, packer);
    if (status == PACE_OK) return pace_packer_close(packer);
    pace_packer_drop(packer);
    return status;
}
