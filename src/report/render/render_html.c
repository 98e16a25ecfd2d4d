/*
 * Long because every node of a page is written here.
 * The HTML renderer: one self-contained page. Everything a trace or a user named is written through pace_html_text()
 * or, in the data of timelines, through the JSON writer.
 */
#include "report/analyze/flame.h"
#include "report/render/html_text.h"
#include "report/render/page_files.h"
#include "report/render/render_chart.h"
#include "report/render/render_grid.h"
#include "report/show.h"
#include "report/timeline.h"
#include <math.h>
#include <string.h>

#define ROW_CAP 1000 /* rows of one table in the page, shown or folded away */

typedef struct {
    pace_sink *sink;
    const pace_report *report;
    unsigned level;               /* of the headings */
    unsigned folds;               /* tables with folded rows so far: their ids */
    unsigned sections, timelines; /* the same */
} page_out;

static void put(page_out *page, const char *text) { pace_sink_text(page->sink, text); }

static void write_paragraph(page_out *page, const char *open, const char *text) {
    put(page, open);
    pace_html_format(page->sink, "%s</p>\n", text ? text : "");
}

static void write_heading(page_out *page, const char *title, const char *unit) {
    unsigned level = page->level < 5 ? page->level : 5;
    if (!title) return;
    pace_html_format(page->sink, "<h%u>%s", level, title);
    if (unit) pace_sink_format(page->sink, " <small>(%s)</small>", unit);
    pace_sink_format(page->sink, "</h%u>\n", level);
}

/* ---- grids ------------------------------------------------------------------------------------------------ */

/* The exact number, for the script to sort by. */
static void write_sort_key(page_out *page, double value) {
    pace_jsonw json;
    put(page, " data-v=\"");
    pace_jsonw_init(&json, page->sink, 0);
    pace_jsonw_real(&json, value);
    put(page, "\"");
}

enum { LONG_TEXT = 30 }; /* bytes beyond which a cell may not show all of its text */

/* A sentence, which is read, as names of kernels are not: they have few blanks, or templates. */
static bool is_sentence(const char *text) {
    enum { WORDS = 5 };
    int blanks = 0;
    for (const char *c = text; *c; c++) blanks += *c == ' ';
    return strlen(text) > LONG_TEXT && blanks >= WORDS && !strpbrk(text, "<") && !strstr(text, "::");
}

static void write_cell(page_out *page, const pace_grid_column *column, const pace_grid_cell *cell) {
    if (column->numeric) {
        put(page, column->share ? "<td class=\"n share\"" : "<td class=\"n\"");
        if (!isnan(cell->value)) write_sort_key(page, cell->value);
        if (column->share && cell->value > 0) {
            double width = cell->value > 1 ? 100 : cell->value * 100;
            pace_sink_format(page->sink, " style=\"--v:%s%%\"", pace_show_fixed(width, 1).text);
        }
    } else {
        put(page, pace_text_is_path(cell->text) ? "<td class=\"t path\""
                  : is_sentence(cell->text)     ? "<td class=\"t says\""
                                                : "<td class=\"t\"");
        if (strlen(cell->text) > LONG_TEXT) pace_html_format(page->sink, " title=\"%s\"", cell->text);
    }
    put(page, ">");
    if (!column->numeric && pace_text_is_path(cell->text)) put(page, "<bdi>");
    char *simple = column->numeric || strlen(cell->text) <= LONG_TEXT ? NULL : pace_text_simple(cell->text);
    pace_html_text(page->sink, simple ? simple : cell->text); /* whole in the title */
    pace_free(simple);
    if (!column->numeric && pace_text_is_path(cell->text)) put(page, "</bdi>");
    put(page, "</td>");
}

static void write_row(page_out *page, const pace_grid *grid, size_t row, bool folded) {
    size_t count = grid->columns.count;
    put(page, folded ? "<tr class=\"more\">" : "<tr>");
    for (size_t i = 0; i < count; i++) write_cell(page, &grid->columns.items[i], &grid->cells.items[row * count + i]);
    put(page, "</tr>\n");
}

static void write_headings(page_out *page, const pace_grid *grid) {
    put(page, "<thead><tr>");
    for (size_t i = 0; i < grid->columns.count; i++) {
        put(page, grid->columns.items[i].numeric ? "<th class=\"n\"" : "<th");
        pace_html_format(page->sink, " scope=\"col\">%s</th>", grid->columns.items[i].title);
    }
    put(page, "</tr></thead>\n");
}

static void write_grid(page_out *page, const pace_grid *grid, size_t shown) {
    size_t body = grid->row_count - grid->foot_rows;
    put(page, "<div class=\"scroll\"><table>\n");
    write_headings(page, grid);
    put(page, "<tbody>\n");
    for (size_t row = 0; row < body; row++) write_row(page, grid, row, row >= shown);
    put(page, "</tbody>\n");
    if (grid->foot_rows) put(page, "<tfoot>\n");
    for (size_t row = body; row < grid->row_count; row++) write_row(page, grid, row, false);
    if (grid->foot_rows) put(page, "</tfoot>\n");
    put(page, "</table></div>\n");
}

static void write_fold_label(page_out *page, size_t count) {
    pace_sink_format(page->sink,
                     "<label for=\"all%u\"><span class=\"open\">Show all %s rows</span>"
                     "<span class=\"shut\">Show fewer</span></label>\n",
                     page->folds, pace_show_int((int64_t)count).text);
}

static pace_status write_table(page_out *page, const pace_node *node) {
    const pace_held_table *table = node->table;
    size_t shown = table->rows_shown ? table->rows_shown : table->row_count;
    pace_grid grid;
    PACE_TRY(pace_grid_of_table(&grid, table, shown > ROW_CAP ? shown : ROW_CAP));
    bool folds = grid.row_count > shown;
    put(page, "<div class=\"table\">\n");
    write_heading(page, node->title, NULL);
    if (folds) pace_sink_format(page->sink, "<input class=\"all\" type=\"checkbox\" id=\"all%u\">", ++page->folds);
    if (grid.row_count) write_grid(page, &grid, shown);
    else put(page, "<p class=\"note\">none</p>\n");
    if (folds) write_fold_label(page, grid.row_count);
    size_t left = table->row_count - grid.row_count;
    if (left)
        pace_sink_format(page->sink, "<p class=\"note\">… %s more (--format json for all)</p>\n",
                         pace_show_int((int64_t)left).text);
    put(page, "</div>\n");
    pace_grid_free(&grid);
    return PACE_OK;
}

/* ---- matrices --------------------------------------------------------------------------------------------- */

static pace_class class_at(const pace_held_matrix *matrix, size_t column) {
    return matrix->colors ? matrix->colors[column] : (pace_class)(column % PACE_CLASS_COUNT);
}

static pace_status write_matrix_legend(page_out *page, const pace_held_matrix *matrix) {
    put(page, "<ul class=\"legend\">");
    for (size_t i = 0; i < matrix->columns.count; i++) {
        if (!pace_matrix_column_shown(matrix, i)) continue;
        char *label = pace_show_label(matrix->columns.items[i]);
        if (!label) return PACE_E_MEMORY;
        pace_html_legend_item(page->sink, pace_class_name(class_at(matrix, i)), label);
        pace_free(label);
    }
    put(page, "</ul>\n");
    return PACE_OK;
}

/* One bar: where its parts begin, how much of the width a nanosecond takes. */
typedef struct {
    const pace_held_matrix *matrix;
    const char *name;
    size_t row; /* the row count stands for the column sums */
    double base, per_ns;
} bar;

static int64_t bar_cell(const bar *b, size_t column) {
    if (b->row == b->matrix->rows.count) return pace_matrix_column_sum(b->matrix, column);
    return b->matrix->cells[b->row * b->matrix->columns.count + column];
}

static void write_segment(page_out *page, const bar *b, size_t column, double x, double width) {
    const char *name = pace_class_name(class_at(b->matrix, column));
    int64_t ns = bar_cell(b, column);
    pace_sink_format(page->sink, "<g class=\"c-%s\"><rect x=\"%s%%\" width=\"%s%%\" height=\"24\"><title>", name,
                     pace_show_fixed(x, 3).text, pace_show_fixed(width, 3).text);
    char *label = pace_show_label(b->matrix->columns.items[column]);
    pace_html_format(page->sink, "%s · %s: %s", b->name, label ? label : b->matrix->columns.items[column],
                     pace_show_ns(ns).text);
    pace_free(label);
    int64_t sum = b->row < b->matrix->rows.count ? pace_matrix_row_sum(b->matrix, b->row) : 0;
    if (sum > 0 && ns > 0) pace_sink_format(page->sink, ", %s of it", pace_show_share((double)ns / (double)sum).text);
    put(page, "</title></rect>");
    if (width > 7)
        pace_sink_format(page->sink, "<text%s x=\"%s%%\" y=\"16\">%s</text>", width < 25 ? " class=\"tight\"" : "",
                         pace_show_fixed(x + width / 2, 3).text, pace_show_ns(ns).text);
    put(page, "</g>");
}

/* Positive parts run right from the base, negative ones left. Parts too thin to see are left out. */
static void write_bar(page_out *page, const bar *b, const char *css) {
    double right = b->base, left = b->base;
    int64_t sum = 0;
    pace_sink_format(page->sink, "<div%s>", css);
    pace_html_text(page->sink, b->name);
    pace_sink_format(page->sink, "</div><div%s><svg height=\"24\" role=\"img\"", css);
    pace_html_format(page->sink, " aria-label=\"%s\">", b->name);
    for (size_t i = 0; i < b->matrix->columns.count; i++) {
        int64_t ns = bar_cell(b, i);
        double width = fabs((double)ns) * b->per_ns;
        if (ns < 0) left -= width;
        if (width >= 0.05) write_segment(page, b, i, ns < 0 ? left : right, width);
        if (ns > 0) right += width;
        sum += ns;
    }
    if (b->base > 0)
        pace_sink_format(page->sink, "<line x1=\"%s%%\" x2=\"%s%%\" y2=\"24\"/>", pace_show_fixed(b->base, 3).text,
                         pace_show_fixed(b->base, 3).text);
    pace_sink_format(page->sink, "</svg></div><div%s>%s</div>\n", css, pace_show_ns(sum).text);
}

/* The length of a bar to one side: the larger of its positive and negative parts. */
static double bar_reach(const bar *b) {
    double right = 0, left = 0;
    for (size_t i = 0; i < b->matrix->columns.count; i++) {
        double ns = (double)bar_cell(b, i);
        if (ns > 0) right += ns;
        if (ns < 0) left -= ns;
    }
    return fmax(right, left);
}

static pace_status write_bars(page_out *page, const pace_held_matrix *matrix) {
    bar b = {.matrix = matrix};
    double reach = 0;
    double room = pace_matrix_signed(matrix) ? 50 : 100;
    bool has_total = matrix->rows.count > 1; /* the row behind the last */
    for (b.row = 0; b.row < matrix->rows.count + has_total; b.row++) reach = fmax(reach, bar_reach(&b));
    reach = matrix->whole_ns > 0 ? (double)matrix->whole_ns : reach;
    b.base = 100 - room;
    b.per_ns = reach > 0 ? room / reach : 0;
    put(page, "<div class=\"bars\">\n");
    for (b.row = 0; b.row < matrix->rows.count; b.row++) {
        if (!pace_matrix_row_shown(matrix, b.row)) continue;
        char *label = pace_show_label(matrix->rows.items[b.row]);
        if (!label) return PACE_E_MEMORY;
        b.name = label;
        write_bar(page, &b, "");
        pace_free(label);
    }
    b.name = "total";
    if (has_total) write_bar(page, &b, " class=\"total\"");
    put(page, "</div>\n");
    return PACE_OK;
}

static pace_status write_matrix_bars(page_out *page, const pace_held_matrix *matrix) {
    pace_status status = write_matrix_legend(page, matrix);
    if (status == PACE_OK) status = write_bars(page, matrix);
    return status;
}

static pace_status write_matrix(page_out *page, const pace_node *node) {
    pace_grid grid;
    write_heading(page, node->title, pace_matrix_unit(node->matrix));
    PACE_TRY(write_matrix_bars(page, node->matrix));
    PACE_TRY(pace_grid_of_matrix(&grid, node->matrix));
    write_grid(page, &grid, grid.row_count);
    pace_grid_free(&grid);
    return PACE_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

static pace_status write_field(page_out *page, const pace_node *field) {
    char *label = pace_show_label(field->key ? field->key : "");
    char *value = label ? pace_node_field_text(field) : NULL;
    if (value) pace_html_format(page->sink, "<dt>%s</dt><dd>%s</dd>\n", label, value);
    PACE_FREE(label, value);
    return value ? PACE_OK : PACE_E_MEMORY;
}

static pace_status write_children(page_out *page, const pace_node *object);

/* A section that the table of contents names, or one inside such. */
static void open_section(page_out *page) {
    if (page->level > 2) put(page, "<section>\n");
    else pace_sink_format(page->sink, "<section id=\"s%u\">\n", ++page->sections);
}

static pace_status write_section(page_out *page, const pace_node *node) {
    if (!node->title) return write_children(page, node);
    open_section(page);
    write_heading(page, node->title, NULL);
    page->level++;
    pace_status status = write_children(page, node);
    page->level--;
    put(page, "</section>\n");
    return status;
}

static pace_status write_picture(page_out *page, const pace_node *node) {
    write_heading(page, node->title, NULL);
    switch (node->kind) {
    case PACE_NODE_CHART: pace_render_chart(page->sink, node->chart); return PACE_OK;
    case PACE_NODE_GRID: return pace_render_grid(page->sink, node->grid);
    case PACE_NODE_FLAME: return pace_render_flame(page->sink, node->flame);
    default: return pace_render_timeline(page->sink, node->timeline, ++page->timelines);
    }
}

/* A table, matrix or picture outside titled sections becomes a section of its own. */
static pace_status write_block(page_out *page, const pace_node *node) {
    bool alone = page->level == 2 && node->title;
    if (alone) open_section(page);
    pace_status status = node->kind == PACE_NODE_TABLE    ? write_table(page, node)
                         : node->kind == PACE_NODE_MATRIX ? write_matrix(page, node)
                                                          : write_picture(page, node);
    if (alone) put(page, "</section>\n");
    return status;
}

static pace_status write_node(page_out *page, const pace_node *node) {
    switch (node->kind) {
    case PACE_NODE_OBJECT: return write_section(page, node);
    case PACE_NODE_TABLE:
    case PACE_NODE_MATRIX:
    case PACE_NODE_TIMELINE:
    case PACE_NODE_CHART:
    case PACE_NODE_GRID:
    case PACE_NODE_FLAME: return write_block(page, node);
    case PACE_NODE_SENTENCE: write_paragraph(page, "<p>", node->text); return PACE_OK;
    case PACE_NODE_NOTE: write_paragraph(page, "<p class=\"note\">", node->text); return PACE_OK;
    default: return write_field(page, node);
    }
}

static pace_status write_children(page_out *page, const pace_node *object) {
    bool in_fields = false;
    pace_status status = PACE_OK;
    for (const pace_node *node = object->first; node && status == PACE_OK; node = node->next) {
        if (!pace_node_visible(node)) continue;
        bool field = pace_node_is_field(node);
        if (field && !in_fields) put(page, "<dl>\n");
        if (!field && in_fields) put(page, "</dl>\n");
        in_fields = field;
        status = write_node(page, node);
    }
    if (in_fields) put(page, "</dl>\n");
    return status;
}

/* ---- contents --------------------------------------------------------------------------------------------- */

enum { FEWEST_CONTENTS = 4 }; /* sections that a table of contents is worth */

/* Writes an entry for each section that write_children() will number, in its order; returns how many there are. */
static unsigned list_sections(page_out *page, const pace_node *object, unsigned number, bool write) {
    for (const pace_node *node = object->first; node; node = node->next) {
        if (!pace_node_visible(node) || pace_node_is_field(node)) continue;
        if (node->kind == PACE_NODE_OBJECT && !node->title) number = list_sections(page, node, number, write);
        if (!node->title) continue;
        number++;
        if (write) pace_html_format(page->sink, "<li><a href=\"#s%u\">%s</a></li>\n", number, node->title);
    }
    return number;
}

static void write_contents(page_out *page) {
    if (list_sections(page, page->report->root, 0, false) < FEWEST_CONTENTS) return;
    put(page, "<nav class=\"contents\"><details><summary>Contents</summary><ol>\n");
    list_sections(page, page->report->root, 0, true);
    put(page, "</ol></details></nav>\n");
}

/* ---- the page --------------------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

static bool has_timeline(const pace_report *report) {
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node))
        if (node->kind == PACE_NODE_TIMELINE && pace_node_visible(node)) return true;
    return false;
}

/* The page's own files; what timelines need stands only in pages that have one. */
static void write_files(page_out *page, const char *suffix) {
    bool timeline = has_timeline(page->report);
    for (const pace_page_file *file = pace_page_files; file->name; file++)
        if (ends_in(file->name, suffix) && (timeline || strncmp(file->name, "timeline", strlen("timeline")) != 0))
            pace_sink_bytes(page->sink, file->bytes, file->size);
}

static const char *title_of(const page_out *page) { return page->report->title ? page->report->title : "Paceline"; }

static void write_head(page_out *page) {
    put(page, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    pace_html_format(page->sink, "<title>%s</title>\n<style>\n", title_of(page));
    write_files(page, ".css");
    put(page, "</style>\n</head>\n<body>\n");
    write_contents(page);
    put(page, "<main>\n");
}

static void write_lead(page_out *page) {
    const pace_node *root = page->report->root;
    pace_html_format(page->sink, "<header>\n<h1>%s</h1>\n<div class=\"lead\">\n", title_of(page));
    for (const pace_node *node = root; node; node = pace_node_after(root, node))
        if (node->kind == PACE_NODE_STRONG) write_paragraph(page, "<p>", node->text);
    put(page, "</div>\n</header>\n");
}

static void write_warnings(page_out *page) {
    bool any = false;
    for (size_t i = 0; i < page->report->warnings.count; i++) {
        if (pace_report_warning_leads(page->report, i)) continue;
        if (!any) put(page, "<aside class=\"warnings\">\n");
        write_paragraph(page, "<p><strong>Warning:</strong> ", page->report->warnings.items[i].text);
        any = true;
    }
    if (any) put(page, "</aside>\n");
}

static void write_origin(page_out *page) {
    const pace_report *report = page->report;
    pace_html_format(page->sink, "<footer class=\"meta\">\n<p>Paceline %s", pace_version());
    for (size_t i = 0; i < report->command.count; i++)
        pace_html_format(page->sink, i ? " %s" : " · <code>%s", report->command.items[i]);
    put(page, report->command.count ? "</code></p>\n" : "</p>\n");
    for (size_t i = 0; i < report->inputs.count; i++) {
        pace_html_format(page->sink, i ? "<br>%s (%s)\n" : "<p>%s (%s)\n", report->inputs.items[i].path,
                         pace_show_bytes((double)report->inputs.items[i].bytes).text);
    }
    put(page, report->inputs.count ? "</p>\n</footer>\n" : "</footer>\n");
}

pace_status pace_render_html(const pace_report *report, pace_sink *sink) {
    page_out page = {.sink = sink, .report = report, .level = 2};
    write_head(&page);
    write_lead(&page);
    write_warnings(&page);
    PACE_TRY(write_children(&page, report->root));
    write_origin(&page);
    put(&page, "</main>\n<script>\n(function () {\n'use strict';\n");
    write_files(&page, ".js");
    put(&page, "})();\n</script>\n</body>\n</html>\n");
    return PACE_OK;
}
