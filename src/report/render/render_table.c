/*
 * The table renderer: the report as text for a terminal. The strong sentences lead; sections, aligned tables and
 * notes follow in the builder's order. Warnings are left to the caller, who prints them where they belong.
 */
#include "report/show.h"

#include <string.h>

typedef struct {
    pace_sink *sink;
    size_t width;
    bool color;
    bool wrote; /* text was written: the next block starts with an empty line */
} text_out;

#define GAP 2 /* columns between columns */

static void set_off(text_out *out) {
    if (out->wrote) pace_sink_text(out->sink, "\n");
    out->wrote = true;
}

static void style(text_out *out, const char *code) {
    if (out->color) pace_sink_text(out->sink, code);
}

static void bold(text_out *out) { style(out, "\x1b[1m"); }
static void dim(text_out *out) { style(out, "\x1b[2m"); }
static void plain(text_out *out) { style(out, "\x1b[0m"); }

static void spaces(text_out *out, size_t count) {
    while (count-- > 0) pace_sink_bytes(out->sink, " ", 1);
}

/* The width of the first `length` bytes; words are short, so a copy on the stack would not pay. */
static size_t word_width(const char *text, size_t length) {
    size_t width = pace_text_width(text);
    return width - pace_text_width(text + length);
}

/* Breaks a clean text at spaces; lines after the first are indented. */
static void write_wrapped(text_out *out, const char *text, size_t indent) {
    size_t column = 0;
    while (*text) {
        text += strspn(text, " ");
        size_t length = strcspn(text, " "), width = word_width(text, length);
        if (length == 0) break;
        if (column > indent && column + 1 + width > out->width) {
            pace_sink_text(out->sink, "\n");
            spaces(out, indent);
            column = indent;
        } else if (column > indent) {
            spaces(out, 1);
            column++;
        }
        if (column == 0 && indent) column = indent;
        pace_sink_bytes(out->sink, text, length);
        column += width;
        text += length;
    }
    pace_sink_text(out->sink, "\n");
}

static pace_status write_line(text_out *out, const char *text) {
    char *clean = pace_show_clean(text ? text : "");
    if (!clean) return PACE_E_MEMORY;
    write_wrapped(out, clean, 0);
    pace_free(clean);
    return PACE_OK;
}

static pace_status write_labelled(text_out *out, const char *label, const char *text) {
    size_t size = strlen(label) + strlen(text) + 1;
    char *line = pace_alloc(size, 1);
    if (!line) return PACE_E_MEMORY;
    pace_snprintf(line, size, "%s%s", label, text);
    pace_status status = write_line(out, line);
    pace_free(line);
    return status;
}

static pace_status write_heading(text_out *out, const char *title, const char *unit) {
    char *clean = pace_show_clean(title);
    if (!clean) return PACE_E_MEMORY;
    bold(out);
    pace_sink_text(out->sink, clean);
    if (unit) pace_sink_format(out->sink, " (%s)", unit);
    plain(out);
    pace_sink_text(out->sink, "\n");
    pace_free(clean);
    return PACE_OK;
}

/* ---- grids ------------------------------------------------------------------------------------------------ */

/* Where a heading is broken into two lines: the blank that leaves the narrowest halves; NULL when it has none. */
static const char *break_of(const char *title) {
    const char *best = NULL;
    size_t narrowest = SIZE_MAX;
    for (const char *at = strchr(title, ' '); at; at = strchr(at + 1, ' ')) {
        size_t head = word_width(title, (size_t)(at - title)), tail = pace_text_width(at + 1);
        size_t width = head > tail ? head : tail;
        if (width < narrowest) narrowest = width, best = at;
    }
    return best;
}

static const char *break_at(const pace_grid_column *column, bool broken) {
    return broken && column->numeric ? break_of(column->title) : NULL;
}

static size_t title_width(const pace_grid_column *column, bool broken) {
    const char *at = break_at(column, broken);
    if (!at) return pace_text_width(column->title);
    size_t head = word_width(column->title, (size_t)(at - column->title)), tail = pace_text_width(at + 1);
    return head > tail ? head : tail;
}

static size_t cells_width(const pace_grid *grid, size_t column) {
    size_t widest = 0;
    for (size_t row = 0; row < grid->row_count; row++) {
        size_t width = pace_text_width(grid->cells.items[row * grid->columns.count + column].text);
        if (width > widest) widest = width;
    }
    return widest;
}

/* How narrow a column may become: text down to 8, numbers to their digits (only the heading is shortened). */
static size_t narrowest(const pace_grid *grid, size_t column) {
    size_t cells = cells_width(grid, column);
    if (grid->columns.items[column].numeric) return cells > 4 ? cells : 4;
    return 8;
}

/* The widest column that may still shrink, text columns first; the column count when there is none. */
static size_t widest_column(const pace_grid *grid, const size_t *widths, const size_t *floors, bool numeric) {
    size_t count = grid->columns.count, found = count;
    for (size_t i = 0; i < count; i++) {
        if (grid->columns.items[i].numeric != numeric || widths[i] <= floors[i]) continue;
        if (found == count || widths[i] > widths[found]) found = i;
    }
    return found;
}

static void fit(const pace_grid *grid, size_t *widths, const size_t *floors, size_t available) {
    size_t count = grid->columns.count, total = count ? (count - 1) * GAP : 0;
    for (size_t i = 0; i < count; i++) total += widths[i];
    for (; total > available; total--) {
        size_t column = widest_column(grid, widths, floors, false);
        if (column == count) column = widest_column(grid, widths, floors, true);
        if (column == count) return;
        widths[column]--;
    }
}

static pace_status write_cell(text_out *out, const char *text, size_t width, bool right, bool last) {
    char *shown = pace_text_shorten(text, width);
    if (!shown) return PACE_E_MEMORY;
    size_t pad = width - pace_text_width(shown);
    if (right) spaces(out, pad);
    pace_sink_text(out->sink, shown);
    if (!right && !last) spaces(out, pad);
    if (!last) spaces(out, GAP);
    pace_free(shown);
    return PACE_OK;
}

/* One line of the headings: the upper or the lower of two, or the only one. */
static pace_status write_heading_line(text_out *out, const pace_grid *grid, const size_t *widths, bool broken,
                                      bool upper) {
    size_t count = grid->columns.count;
    pace_status status = PACE_OK;
    while (upper && count > 1 && !break_at(&grid->columns.items[count - 1], broken)) count--;
    bold(out);
    for (size_t i = 0; i < count && status == PACE_OK; i++) {
        const pace_grid_column *column = &grid->columns.items[i];
        const char *at = break_at(column, broken);
        char *text =
            pace_copy_text(column->title, upper ? (at ? (size_t)(at - column->title) : 0) : strlen(column->title));
        if (!text) return PACE_E_MEMORY;
        const char *shown = at && !upper ? text + (at + 1 - column->title) : text;
        status = write_cell(out, shown, widths[i], column->numeric, i + 1 == count);
        pace_free(text);
    }
    plain(out);
    pace_sink_text(out->sink, "\n");
    return status;
}

static void write_rule(text_out *out, const pace_grid *grid, const size_t *widths) {
    size_t total = (grid->columns.count - 1) * GAP;
    for (size_t i = 0; i < grid->columns.count; i++) total += widths[i];
    dim(out);
    while (total-- > 0) pace_sink_text(out->sink, "\xe2\x94\x80");
    plain(out);
    pace_sink_text(out->sink, "\n");
}

static pace_status write_row(text_out *out, const pace_grid *grid, const size_t *widths, size_t row) {
    const pace_grid_cell *cells = grid->cells.items + row * grid->columns.count;
    size_t count = grid->columns.count;
    while (count > 1 && !*cells[count - 1].text) count--; /* no blanks at the end of a line */
    for (size_t i = 0; i < count; i++)
        PACE_TRY(write_cell(out, cells[i].text, widths[i], grid->columns.items[i].numeric, i + 1 == count));
    pace_sink_text(out->sink, "\n");
    return PACE_OK;
}

/* Computes the width the grid needs; true if it exceeds the terminal. */
static bool measure(const text_out *out, const pace_grid *grid, size_t *widths, bool broken) {
    size_t total = (grid->columns.count - 1) * GAP;
    for (size_t i = 0; i < grid->columns.count; i++) {
        size_t cells = cells_width(grid, i), title = title_width(&grid->columns.items[i], broken);
        widths[i] = cells > title ? cells : title;
        total += widths[i];
    }
    return total > out->width;
}

static pace_status write_grid_sized(text_out *out, const pace_grid *grid, size_t *widths, size_t *floors) {
    bool broken = measure(out, grid, widths, false);
    if (broken) measure(out, grid, widths, true);
    bool two_lines = false;
    for (size_t i = 0; i < grid->columns.count; i++) {
        floors[i] = narrowest(grid, i);
        two_lines = two_lines || break_at(&grid->columns.items[i], broken);
    }
    fit(grid, widths, floors, out->width);
    if (two_lines) PACE_TRY(write_heading_line(out, grid, widths, broken, true));
    PACE_TRY(write_heading_line(out, grid, widths, broken, false));
    for (size_t row = 0; row < grid->row_count; row++) {
        if (grid->foot_rows && row == grid->row_count - grid->foot_rows) write_rule(out, grid, widths);
        PACE_TRY(write_row(out, grid, widths, row));
    }
    return PACE_OK;
}

static pace_status write_grid(text_out *out, const pace_grid *grid) {
    if (grid->columns.count == 0) return PACE_OK;
    size_t *widths = pace_alloc(grid->columns.count * 2, sizeof *widths);
    if (!widths) return PACE_E_MEMORY;
    pace_status status = write_grid_sized(out, grid, widths, widths + grid->columns.count);
    pace_free(widths);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

static pace_status write_table(text_out *out, const pace_node *node) {
    const pace_held_table *table = node->table;
    pace_grid grid;
    set_off(out);
    if (node->title) PACE_TRY(write_heading(out, node->title, NULL));
    PACE_TRY(pace_grid_of_table(&grid, table, table->rows_shown ? table->rows_shown : table->row_count));
    pace_status status = write_grid(out, &grid);
    size_t left = table->row_count - grid.row_count;
    pace_grid_free(&grid);
    PACE_TRY(status);
    dim(out);
    if (left) pace_sink_format(out->sink, "… %s more (--format json for all)\n", pace_show_int((int64_t)left).text);
    if (table->row_count == 0) pace_sink_text(out->sink, "none\n");
    plain(out);
    return PACE_OK;
}

static pace_status write_matrix(text_out *out, const pace_node *node) {
    pace_grid grid;
    set_off(out);
    if (node->title) PACE_TRY(write_heading(out, node->title, pace_matrix_unit(node->matrix)));
    PACE_TRY(pace_grid_of_matrix(&grid, node->matrix));
    pace_status status = write_grid(out, &grid);
    pace_grid_free(&grid);
    return status;
}

/* The columns of the widest label among an object's fields, into `widest`. */
static pace_status widest_label(const pace_node *object, size_t *widest) {
    *widest = 0;
    for (const pace_node *node = object->first; node; node = node->next) {
        if (!pace_node_is_field(node) || !node->key) continue;
        char *label = pace_show_label(node->key);
        if (!label) return PACE_E_MEMORY;
        size_t width = pace_text_width(label);
        if (width > *widest) *widest = width;
        pace_free(label);
    }
    return PACE_OK;
}

static pace_status write_field(text_out *out, const pace_node *field, size_t label_width) {
    char *label = pace_show_label(field->key ? field->key : "");
    char *value = label ? pace_node_field_text(field) : NULL;
    if (value) {
        size_t width = pace_text_width(label);
        pace_sink_text(out->sink, label);
        spaces(out, GAP + (label_width > width ? label_width - width : 0));
        pace_sink_format(out->sink, "%s\n", value);
    }
    PACE_FREE(label, value);
    return value ? PACE_OK : PACE_E_MEMORY;
}

static pace_status write_children(text_out *out, const pace_node *object);

static pace_status write_node(text_out *out, const pace_node *node) {
    pace_status status = PACE_OK;
    switch (node->kind) {
    case PACE_NODE_TABLE: return write_table(out, node);
    case PACE_NODE_MATRIX: return write_matrix(out, node);
    case PACE_NODE_SENTENCE: return write_line(out, node->text);
    case PACE_NODE_NOTE:
        dim(out);
        status = write_line(out, node->text);
        plain(out);
        return status;
    case PACE_NODE_OBJECT:
        if (node->title) {
            set_off(out);
            PACE_TRY(write_heading(out, node->title, NULL));
            out->wrote = false; /* the first thing under a heading stands right below it */
        }
        return write_children(out, node);
    default: return PACE_OK;
    }
}

static bool is_line(const pace_node *node) {
    return node->kind == PACE_NODE_SENTENCE || node->kind == PACE_NODE_NOTE || pace_node_is_field(node);
}

/* Pictures cannot be shown as text, nor sections with nothing else. */
static bool has_text(const pace_node *node) {
    if (!pace_node_visible(node) || node->kind == PACE_NODE_TIMELINE || node->kind == PACE_NODE_CHART ||
        node->kind == PACE_NODE_GRID || node->kind == PACE_NODE_FLAME)
        return false;
    if (node->kind != PACE_NODE_OBJECT) return true;
    for (const pace_node *child = node->first; child; child = child->next)
        if (has_text(child)) return true;
    return false;
}

static pace_status write_children(text_out *out, const pace_node *object) {
    size_t label_width;
    bool in_lines = false, under_block = false; /* a note may stand right below its table */
    PACE_TRY(widest_label(object, &label_width));
    for (const pace_node *node = object->first; node; node = node->next) {
        if (!has_text(node)) continue;
        bool line = is_line(node), below = node->kind == PACE_NODE_NOTE && under_block;
        if (line && !in_lines && !below) set_off(out);
        in_lines = line;
        under_block = node->kind == PACE_NODE_TABLE || node->kind == PACE_NODE_MATRIX;
        out->wrote = out->wrote || line;
        PACE_TRY(pace_node_is_field(node) ? write_field(out, node, label_width) : write_node(out, node));
        out->wrote = true;
    }
    return PACE_OK;
}

static pace_status write_lead(text_out *out, const pace_report *report) {
    bool any = false;
    pace_status status = PACE_OK;
    bold(out);
    for (const pace_node *node = report->root; node && status == PACE_OK; node = pace_node_after(report->root, node)) {
        if (node->kind != PACE_NODE_STRONG) continue;
        status = write_line(out, node->text);
        any = true;
    }
    plain(out);
    if (status == PACE_OK && !any && report->title) status = write_heading(out, report->title, NULL);
    out->wrote = any || report->title;
    return status;
}

/* What people must know before they read figures; sentences that lead have said theirs. */
static pace_status write_warnings(text_out *out, const pace_report *report) {
    for (size_t i = 0; i < report->warnings.count; i++) {
        if (pace_report_warning_leads(report, i)) continue;
        PACE_TRY(write_labelled(out, "Warning: ", report->warnings.items[i].text));
        out->wrote = true;
    }
    return PACE_OK;
}

pace_status pace_render_table(const pace_report *report, const pace_write_options *options, pace_sink *sink) {
    text_out out = {.sink = sink, .color = options->color, .width = 100};
    if (options->width > 0) out.width = options->width < 40 ? 40 : (size_t)options->width;
    PACE_TRY(write_lead(&out, report));
    PACE_TRY(write_warnings(&out, report));
    return write_children(&out, report->root);
}
