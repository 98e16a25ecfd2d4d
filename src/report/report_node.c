/*
 * The report's tree: what builders fill, and its public accessors.
 *
 * After a failed builder call the report keeps the status and every further call does nothing, so a NULL node
 * is accepted wherever a node is.
 */
#include "report/report_node.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static const char *const CLASS_NAMES[PACE_CLASS_COUNT] = {
    "compute", "memory",  "copy",     "communication", "host",  "idle", "wait",
    "input",   "forward", "backward", "update",        "other", "path",
};

const char *pace_class_name(pace_class value) { return CLASS_NAMES[value]; }

/* Keeps the first failure; true when all is well. */
static bool keep(pace_report *report, pace_status status) {
    if (status != PACE_OK && report->status == PACE_OK) report->status = status;
    return status == PACE_OK;
}

/* Copies `text` (NULL stays NULL); false when memory ran out. */
static bool copy_to(char **out, pace_report *report, const char *text) {
    *out = text ? pace_copy_text(text, strlen(text)) : NULL;
    return keep(report, text && !*out ? PACE_E_MEMORY : PACE_OK);
}

/* ---- freeing ---------------------------------------------------------------------------------------------- */

static void free_table(pace_held_table *table) {
    if (!table) return;
    for (size_t i = 0; i < table->columns.count; i++) {
        PACE_FREE(table->columns.items[i].key, table->columns.items[i].title);
    }
    for (size_t i = 0; i < table->cells.count; i++)
        if (table->cells.items[i].kind == PACE_CELL_TEXT) pace_free(table->cells.items[i].text);
    PACE_VEC_FREE(&table->columns, &table->cells);
    pace_free(table);
}

static void free_matrix(pace_held_matrix *matrix) {
    if (!matrix) return;
    pace_texts_free(&matrix->rows);
    pace_texts_free(&matrix->columns);
    PACE_FREE(matrix->cells, matrix);
}

static void free_context(pace_held_context *by) {
    if (by->free_context) by->free_context(by->context);
}

static void free_chart(pace_held_chart *chart) {
    if (!chart) return;
    for (size_t i = 0; i < chart->curves.count; i++) {
        pace_free(chart->curves.items[i].name);
        PACE_VEC_FREE(&chart->curves.items[i].points);
    }
    PACE_VEC_FREE(&chart->curves);
    for (size_t i = 0; i < chart->bands.count; i++) pace_free(chart->bands.items[i].name);
    PACE_VEC_FREE(&chart->bands);
    pace_texts_free(&chart->parts);
    PACE_VEC_FREE(&chart->part_colors);
    PACE_FREE(chart->x_title, chart);
}

static void free_grid(pace_held_grid *grid) {
    if (!grid) return;
    pace_texts_free(&grid->rows);
    pace_texts_free(&grid->columns);
    PACE_FREE(grid->values, grid->colors, grid);
}

static bool holds_text(pace_node_kind kind) {
    return kind == PACE_NODE_TEXT || kind == PACE_NODE_STRONG || kind == PACE_NODE_SENTENCE || kind == PACE_NODE_NOTE;
}

static void free_one(pace_node *node) {
    if (holds_text(node->kind)) pace_free(node->text);
    if (node->kind == PACE_NODE_TABLE) free_table(node->table);
    if (node->kind == PACE_NODE_MATRIX) free_matrix(node->matrix);
    if (node->kind == PACE_NODE_TIMELINE && node->timeline) free_context(&node->timeline->by);
    if (node->kind == PACE_NODE_CHART) free_chart(node->chart);
    if (node->kind == PACE_NODE_GRID) free_grid(node->grid);
    if (node->kind == PACE_NODE_FLAME && node->flame) free_context(&node->flame->by);
    if (node->kind == PACE_NODE_TIMELINE || node->kind == PACE_NODE_FLAME) pace_free(node->held);
    PACE_FREE(node->key, node->title, node);
}

/* Children first, without recursion: a chain of objects may be as deep as a builder likes. */
static void free_tree(pace_node *node) {
    while (node) {
        if (node->first) {
            pace_node *child = node->first;
            node->first = child->next;
            node = child;
            continue;
        }
        pace_node *parent = node->parent;
        free_one(node);
        node = parent;
    }
}

void pace_report_free(pace_report *report) {
    if (!report) return;
    free_tree(report->root);
    for (size_t i = 0; i < report->inputs.count; i++) pace_free(report->inputs.items[i].path);
    pace_texts_free(&report->command);
    pace_warnings_free(&report->warnings);
    PACE_VEC_FREE(&report->leads, &report->inputs);
    free_context(&report->traced);
    free_context(&report->stacked);
    free_context(&report->streamed);
    PACE_FREE(report->verb, report->title, report);
}

/* ---- the report ------------------------------------------------------------------------------------------- */

static pace_node *new_node(pace_report *report, pace_node_kind kind, const char *key, const char *title) {
    pace_node *node = pace_alloc(1, sizeof *node);
    if (!node) return (void)keep(report, PACE_E_MEMORY), NULL;
    node->kind = kind;
    node->report = report;
    if (copy_to(&node->key, report, key) && copy_to(&node->title, report, title)) return node;
    PACE_FREE(node->key, node);
    return NULL;
}

pace_status pace_report_new(pace_report **out, const char *verb, const char *title) {
    pace_report *report = pace_alloc(1, sizeof *report);
    if (!report) return PACE_E_MEMORY;
    bool copied = copy_to(&report->verb, report, verb) && copy_to(&report->title, report, title);
    if (copied) report->root = new_node(report, PACE_NODE_OBJECT, NULL, NULL);
    pace_status status = report->status;
    return pace_report_give(out, report, status);
}

pace_status pace_report_status(const pace_report *report) { return report->status; }

pace_node *pace_report_root(pace_report *report) { return report->root; }

void pace_report_set_command(pace_report *report, const char *const *words, size_t count) {
    pace_texts_free(&report->command);
    for (size_t i = 0; i < count; i++) keep(report, pace_texts_add(&report->command, words[i] ? words[i] : ""));
}

/* 0: a name, a folder or a pipe. */
static uint64_t bytes_of_file(const char *path) {
    struct stat about;
    return path && stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
}

void pace_report_add_input(pace_report *report, const char *path, uint64_t bytes) {
    pace_held_input input = {.bytes = bytes > 0 ? bytes : bytes_of_file(path)};
    if (!copy_to(&input.path, report, path ? path : "")) return;
    if (!keep(report, PACE_PUSH(&report->inputs, input))) pace_free(input.path);
}

void pace_report_warn(pace_report *report, pace_warning_code code, const char *place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keep(report, pace_warn_take(&report->warnings, code, place, pace_format_text(format, arguments)));
    va_end(arguments);
}

void pace_report_warned_in_lead(pace_report *report) {
    keep(report, PACE_PUSH(&report->leads, report->warnings.count - 1));
}

pace_report *pace_node_report(pace_node *node) { return node ? node->report : NULL; }

void pace_report_warn_all(pace_report *report, const pace_warnings *warnings) {
    keep(report, pace_warnings_add(&report->warnings, warnings));
}

size_t pace_report_warning_count(const pace_report *report) { return report->warnings.count; }

pace_warning pace_report_warning(const pace_report *report, size_t index) {
    if (index >= report->warnings.count) return (pace_warning){"", "", NULL, false};
    const pace_held_warning *held = &report->warnings.items[index];
    const pace_warning_kind *kind = &pace_warning_kinds[held->code];
    return (pace_warning){kind->code, held->text, held->place, kind->strict};
}

bool pace_report_warning_leads(const pace_report *report, size_t index) {
    for (size_t i = 0; i < report->leads.count; i++)
        if (report->leads.items[i] == index) return true;
    return false;
}

static void take_context(pace_held_context *by, void *context, void (*release)(void *)) {
    free_context(by);
    *by = (pace_held_context){context, release};
}

void pace_report_set_trace(pace_report *report, pace_trace_fn write, void *context, void (*release)(void *)) {
    take_context(&report->traced, context, release);
    report->trace = write;
}

void pace_report_set_stacks(pace_report *report, pace_stacks_fn write, void *context, void (*release)(void *)) {
    take_context(&report->stacked, context, release);
    report->stacks = write;
}

void pace_report_set_stream(pace_report *report, pace_stream_fn write, void *context, void (*release)(void *)) {
    take_context(&report->streamed, context, release);
    report->stream = write;
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

static pace_node *add(pace_node *parent, pace_node_kind kind, const char *key, const char *title) {
    if (!parent || parent->report->status != PACE_OK) return NULL;
    pace_node *node = new_node(parent->report, kind, key, title);
    if (!node) return NULL;
    node->parent = parent;
    if (parent->last) parent->last->next = node;
    else parent->first = node;
    parent->last = node;
    return node;
}

static pace_node *add_for(pace_node *parent, pace_node_kind kind, const char *key, const char *title,
                          pace_audience audience) {
    pace_node *node = add(parent, kind, key, title);
    if (node) node->audience = audience;
    return node;
}

/* A node that holds something of `size` bytes. */
static pace_node *add_holder(pace_node *parent, pace_node_kind kind, const char *key, const char *title,
                             pace_audience audience, size_t size) {
    pace_node *node = add_for(parent, kind, key, title, audience);
    if (!node) return NULL;
    node->held = pace_alloc(1, size);
    return keep(node->report, node->held ? PACE_OK : PACE_E_MEMORY) ? node : NULL;
}

/* What a node of the kind holds, while all is well. */
static void *held_by(pace_node *node, pace_node_kind kind) {
    return node && node->kind == kind && node->report->status == PACE_OK ? node->held : NULL;
}

pace_node *pace_node_object(pace_node *parent, const char *key, const char *title, pace_audience audience) {
    return add_for(parent, PACE_NODE_OBJECT, key, title, audience);
}

pace_node *pace_node_list(pace_node *parent, const char *key) {
    return add_for(parent, PACE_NODE_LIST, key, NULL, PACE_FOR_JSON);
}

pace_node *pace_node_item(pace_node *list) { return add(list, PACE_NODE_OBJECT, NULL, NULL); }

void pace_node_int(pace_node *object, const char *key, int64_t value) {
    pace_node *node = add(object, value == PACE_NO_INT ? PACE_NODE_NULL : PACE_NODE_INT, key, NULL);
    if (node) node->integer = value;
}

void pace_node_real(pace_node *object, const char *key, double value) {
    pace_node *node = add(object, PACE_NODE_REAL, key, NULL);
    if (node) node->real = value;
}

/* "values" is made with the first of them. */
void pace_report_value(pace_report *report, const char *path, double value) {
    pace_node *values = report->root ? report->root->first : NULL;
    while (values && !(values->key && strcmp(values->key, "values") == 0)) values = values->next;
    if (!values) values = pace_node_object(report->root, "values", NULL, PACE_FOR_JSON);
    if (values) pace_node_real(values, path, value);
}

void pace_node_text(pace_node *object, const char *key, const char *value) {
    pace_node *node = add(object, PACE_NODE_TEXT, key, NULL);
    if (node) copy_to(&node->text, node->report, value);
}

void pace_node_bool(pace_node *object, const char *key, bool value) {
    pace_node *node = add(object, PACE_NODE_BOOL, key, NULL);
    if (node) node->flag = value;
}

static void add_line(pace_node *object, pace_node_kind kind, const char *format, va_list arguments) {
    pace_node *node = add(object, kind, NULL, NULL);
    if (!node) return;
    node->text = pace_format_text(format, arguments);
    keep(node->report, node->text ? PACE_OK : PACE_E_MEMORY);
}

void pace_node_sentence(pace_node *object, bool strong, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_line(object, strong ? PACE_NODE_STRONG : PACE_NODE_SENTENCE, format, arguments);
    va_end(arguments);
}

/* The last child becomes the first. */
static void move_to_front(pace_node *object) {
    pace_node *moved = object->last, *before = object->first;
    if (moved == before) return;
    while (before->next != moved) before = before->next;
    before->next = NULL;
    object->last = before;
    moved->next = object->first;
    object->first = moved;
}

void pace_report_deny(pace_report *report) { report->denied = true; }

void pace_report_lead(pace_report *report, pace_warning_code code, const char *format, ...) {
    pace_node *last = report->root->last;
    va_list arguments;
    va_start(arguments, format);
    char *text = pace_format_text(format, arguments);
    va_end(arguments);
    if (text) pace_node_sentence(report->root, true, "%s", text);
    if (report->root->last != last) move_to_front(report->root);
    keep(report, pace_warn_take(&report->warnings, code, NULL, text));
    if (report->status == PACE_OK) pace_report_warned_in_lead(report);
}

void pace_node_note(pace_node *object, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_line(object, PACE_NODE_NOTE, format, arguments);
    va_end(arguments);
}

const pace_node *pace_node_after(const pace_node *root, const pace_node *node) {
    if (node->first) return node->first;
    while (node != root && !node->next) node = node->parent;
    return node == root ? NULL : node->next;
}

static pace_held_matrix *last_matrix(const pace_node *parent) {
    const pace_node *last = parent ? parent->last : NULL;
    return last && last->kind == PACE_NODE_MATRIX ? last->matrix : NULL;
}

void pace_node_scale(pace_node *parent, int64_t whole_ns) {
    pace_held_matrix *matrix = last_matrix(parent);
    if (matrix) matrix->whole_ns = whole_ns;
}

void pace_node_color_matrix(pace_node *parent, const pace_class *colors) {
    pace_held_matrix *matrix = last_matrix(parent);
    if (matrix) matrix->colors = colors;
}

void pace_report_show_rows(pace_report *report, size_t rows) { report->rows_shown = rows; }

/* ---- tables ----------------------------------------------------------------------------------------------- */

static void add_column(pace_report *report, pace_held_table *table, const pace_column *column) {
    pace_held_column held = {.show = column->show};
    if (copy_to(&held.key, report, column->key ? column->key : "") && copy_to(&held.title, report, column->title) &&
        keep(report, PACE_PUSH(&table->columns, held)))
        return;
    PACE_FREE(held.key, held.title);
}

pace_node *pace_node_table(pace_node *parent, const char *key, const char *title, pace_audience audience,
                           const pace_column *columns, size_t column_count, size_t rows_shown) {
    pace_node *node = add_holder(parent, PACE_NODE_TABLE, key, title, audience, sizeof *node->table);
    if (!node) return NULL;
    node->table->rows_shown = node->report->rows_shown ? node->report->rows_shown : rows_shown;
    for (size_t i = 0; i < column_count; i++) add_column(node->report, node->table, &columns[i]);
    return node;
}

static pace_held_table *open_table(pace_node *node) { return held_by(node, PACE_NODE_TABLE); }

void pace_table_row(pace_node *node) {
    pace_held_table *table = open_table(node);
    if (!table) return;
    while (table->cells.count < table->row_count * table->columns.count)
        if (!keep(node->report, PACE_PUSH(&table->cells, (pace_cell){0}))) return;
    table->row_count++;
}

/* Cells beyond the last column are dropped. */
static bool add_cell(pace_node *node, pace_cell cell) {
    pace_held_table *table = open_table(node);
    if (!table || table->cells.count >= table->row_count * table->columns.count) return false;
    return keep(node->report, PACE_PUSH(&table->cells, cell));
}

void pace_table_text(pace_node *node, const char *value) {
    pace_cell cell = {.kind = PACE_CELL_TEXT};
    if (!value) cell.kind = PACE_CELL_NONE;
    if (!open_table(node) || !copy_to(&cell.text, node->report, value)) return;
    if (!add_cell(node, cell)) pace_free(cell.text);
}

void pace_table_int(pace_node *node, int64_t value) {
    add_cell(node, (pace_cell){.kind = PACE_CELL_INT, .integer = value});
}

void pace_table_real(pace_node *node, double value) {
    add_cell(node, (pace_cell){.kind = PACE_CELL_REAL, .real = value});
}

void pace_table_none(pace_node *node) { add_cell(node, (pace_cell){0}); }

pace_cell pace_table_cell(const pace_held_table *table, size_t row, size_t column) {
    size_t index = row * table->columns.count + column;
    return index < table->cells.count ? table->cells.items[index] : (pace_cell){0};
}

/* ---- matrices and timelines -------------------------------------------------------------------------------- */

static void add_names(pace_report *report, pace_texts *names, const char *const *given, size_t count) {
    for (size_t i = 0; i < count; i++) keep(report, pace_texts_add(names, given[i] ? given[i] : ""));
}

void pace_node_matrix(pace_node *parent, const char *key, const char *title, pace_audience audience,
                      const char *const *rows, size_t row_count, const char *const *columns, size_t column_count,
                      const int64_t *cells) {
    pace_node *node = add_holder(parent, PACE_NODE_MATRIX, key, title, audience, sizeof *node->matrix);
    if (!node) return;
    add_names(node->report, &node->matrix->rows, rows, row_count);
    add_names(node->report, &node->matrix->columns, columns, column_count);
    size_t count = row_count * column_count;
    node->matrix->cells = pace_alloc(count, sizeof *cells);
    if (!keep(node->report, node->matrix->cells ? PACE_OK : PACE_E_MEMORY)) return;
    if (count) memcpy(node->matrix->cells, cells, count * sizeof *cells);
}

void pace_node_timeline(pace_node *parent, const char *title, int64_t from_ns, int64_t to_ns, pace_draw_fn draw,
                        void *context, void (*release)(void *)) {
    pace_node *node = add_holder(parent, PACE_NODE_TIMELINE, NULL, title, PACE_FOR_PEOPLE, sizeof(pace_held_timeline));
    if (node) *node->timeline = (pace_held_timeline){from_ns, to_ns, draw, {context, release}};
    else if (release) release(context);
}

/* A copy of `count` things; NULL when there are none or memory ran out. */
static void *copy_array(pace_report *report, const void *from, size_t count, size_t size) {
    void *copy = from ? pace_alloc(count, size) : NULL;
    if (!keep(report, from && !copy ? PACE_E_MEMORY : PACE_OK)) return NULL;
    if (copy && count) memcpy(copy, from, count * size);
    return copy;
}

void pace_node_bars(pace_node *parent, const char *title, const char *const *bars, size_t bar_count,
                    const char *const *parts, const pace_class *colors, size_t part_count, const int64_t *ns) {
    pace_node *node = add_holder(parent, PACE_NODE_GRID, NULL, title, PACE_FOR_PEOPLE, sizeof *node->grid);
    if (!node) return;
    add_names(node->report, &node->grid->rows, bars, bar_count);
    add_names(node->report, &node->grid->columns, parts, part_count);
    node->grid->values = copy_array(node->report, ns, bar_count * part_count, sizeof *ns);
    node->grid->colors = copy_array(node->report, colors, part_count, sizeof *colors);
}

void pace_node_heat(pace_node *parent, const char *title, const char *const *rows, size_t row_count,
                    const char *const *columns, size_t column_count, const int64_t *ns) {
    pace_node_bars(parent, title, rows, row_count, columns, NULL, column_count, ns);
}

pace_node *pace_node_chart(pace_node *parent, const char *title, const char *x_title, unsigned flags) {
    pace_node *node = add_holder(parent, PACE_NODE_CHART, NULL, title, PACE_FOR_PEOPLE, sizeof *node->chart);
    if (!node) return NULL;
    node->chart->flags = flags;
    return copy_to(&node->chart->x_title, node->report, x_title) ? node : NULL;
}

pace_node *pace_node_stacks(pace_node *parent, const char *title, const char *const *parts, size_t part_count) {
    pace_node *node = pace_node_chart(parent, title, "", 0);
    if (node) add_names(node->report, &node->chart->parts, parts, part_count);
    return node;
}

void pace_chart_curve(pace_node *node, pace_curve_look look, const char *format, ...) {
    pace_held_chart *chart = held_by(node, PACE_NODE_CHART);
    pace_held_curve curve = {.look = look};
    if (!chart) return;
    va_list arguments;
    va_start(arguments, format);
    curve.name = pace_format_text(format, arguments);
    va_end(arguments);
    if (!keep(node->report, curve.name ? PACE_PUSH(&chart->curves, curve) : PACE_E_MEMORY)) pace_free(curve.name);
}

void pace_chart_part_colors(pace_node *node, const pace_class *colors) {
    pace_held_chart *chart = held_by(node, PACE_NODE_CHART);
    for (size_t i = 0; chart && i < chart->parts.count; i++)
        keep(node->report, PACE_PUSH(&chart->part_colors, colors[i]));
}

void pace_chart_color(pace_node *node, pace_class color) {
    pace_held_chart *chart = held_by(node, PACE_NODE_CHART);
    if (!chart || chart->curves.count == 0) return;
    chart->curves.items[chart->curves.count - 1].colored = true;
    chart->curves.items[chart->curves.count - 1].color = color;
}

void pace_node_flame(pace_node *parent, const char *title, pace_flame_fn draw, void *context, void (*release)(void *)) {
    pace_node *node = add_holder(parent, PACE_NODE_FLAME, NULL, title, PACE_FOR_PEOPLE, sizeof *node->flame);
    if (node) *node->flame = (pace_held_flame){draw, {context, release}};
    else if (release) release(context);
}

void pace_chart_band(pace_node *node, double low, double high, const char *name) {
    pace_held_chart *chart = held_by(node, PACE_NODE_CHART);
    pace_held_band band = {low, high, NULL};
    if (!chart || !copy_to(&band.name, node->report, name)) return;
    if (!keep(node->report, PACE_PUSH(&chart->bands, band))) pace_free(band.name);
}

void pace_chart_point(pace_node *node, double x, double y) {
    pace_held_chart *chart = held_by(node, PACE_NODE_CHART);
    if (!chart || chart->curves.count == 0) return;
    pace_point point = {x, y};
    keep(node->report, PACE_PUSH(&chart->curves.items[chart->curves.count - 1].points, point));
}

pace_status pace_report_give(pace_report **out, pace_report *report, pace_status status) {
    return PACE_GIVE(out, report, status, pace_report_free(report));
}

pace_status pace_report_build(pace_report **out, const char *verb, const char *title,
                              pace_status (*build)(pace_report *report, void *context), void *context) {
    pace_report *report = NULL;
    PACE_TRY(pace_report_new(&report, verb, title));
    pace_status status = build(report, context);
    if (status == PACE_OK) status = pace_report_status(report);
    return pace_report_give(out, report, status);
}

pace_status pace_report_settle(pace_report **out, pace_report *report, pace_status status, uint64_t failures) {
    bool made = status == PACE_OK;
    if (made) status = pace_report_status(report);
    if (status != PACE_E_MEMORY && pace_memory_failures() != failures)
        status = pace_fail(PACE_E_MEMORY, "out of memory: not every row could be asked");
    if (status == PACE_OK) *out = report;
    else if (made) pace_report_free(report);
    return status;
}
