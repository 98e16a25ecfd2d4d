#include "report/render/render_grid.h"
#include "base/numbers.h"
#include "base/sort.h"
#include "report/render/html_text.h"
#include "report/show.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* User units of the picture; the page scales it. */
enum { WIDTH = 1060, LEFT = 92, RIGHT = 8, TOP = 6, ROW = 20, LEAST_ROW = 6, BARS = 190, FOOT = 24, LABEL = 44 };

/* Where the part of the texts begins that tells them apart: behind what all have in common, up to its last digit. */
static size_t common_head(const pace_texts *texts) {
    size_t head = texts->count > 1 ? strlen(texts->items[0]) : 0;
    for (size_t i = 1; i < texts->count; i++) {
        size_t same = 0;
        while (same < head && texts->items[i][same] == texts->items[0][same]) same++;
        head = same;
    }
    while (head > 0 && pace_is_digit(texts->items[0][head - 1])) head--;
    return head;
}

/* The texts of an axis that has `step` units for each; as many are left out as do not fit. */
static void put_labels(pace_sink *sink, const pace_texts *texts, double step, double y) {
    size_t head = common_head(texts), every = (size_t)ceil(LABEL / step);
    for (size_t i = 0; i < texts->count; i += every ? every : 1)
        pace_svg_text(sink, LEFT + step * ((double)i + 0.5), y, "middle", texts->items[i] + head);
}

static void put_box(pace_sink *sink, double x, double y, double width, double height) {
    pace_sink_format(sink, " x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"", pace_show_fixed(x, 1).text,
                     pace_show_fixed(y, 1).text, pace_show_fixed(width, 1).text, pace_show_fixed(height, 1).text);
}

typedef struct {
    const pace_held_grid *grid;
    double median, most, cell, row; /* most: the largest share by which a value is off the median */
} heat;

static pace_status measure(heat *h) {
    size_t count = h->grid->rows.count * h->grid->columns.count, known = 0;
    double *values = pace_alloc(count + 1, sizeof *values);
    if (!values) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (h->grid->values[i] >= 0) values[known++] = (double)h->grid->values[i];
    h->median = known ? pace_median(values, known) : NAN;
    for (size_t i = 0; i < known; i++) h->most = fmax(h->most, fabs(values[i] / h->median - 1));
    pace_free(values);
    return PACE_OK;
}

enum { LEAST_OFF = 5 }; /* per cent: less than this is pale, however even the others are */

static void put_cell(pace_sink *sink, const heat *h, size_t row, size_t column) {
    int64_t ns = h->grid->values[row * h->grid->columns.count + column];
    double off = ns < 0 ? 0 : (double)ns / h->median - 1, depth = fabs(off) / fmax(h->most, LEAST_OFF / 100.0);
    double x = LEFT + h->cell * (double)column, y = TOP + h->row * (double)row;
    if (ns < 0) return;
    pace_sink_format(sink, "<rect class=\"c-%s\" fill-opacity=\"%s\"", off > 0 ? "communication" : "compute",
                     pace_show_fixed(0.06 + 0.94 * depth, 2).text);
    put_box(sink, x + 0.5, y + 0.5, fmax(h->cell - 1, 0.5), h->row - 1);
    const char *of_row = h->grid->rows.items[row], *of_column = h->grid->columns.items[column];
    pace_html_format(sink, " data-row=\"%s\" data-column=\"%s\"><title>%s, %s: ", of_row, of_column, of_row, of_column);
    pace_sink_format(sink, "%s, %s%s %% of the median</title></rect>\n", pace_show_ns(ns).text, off < 0 ? "" : "+",
                     pace_show_fixed(100 * off, 1).text);
}

static void put_heat_legend(pace_sink *sink, const heat *h) {
    pace_sink_format(sink,
                     "<ul class=\"legend\"><li class=\"c-communication\"><i></i>slower than the median (%s)</li>"
                     "<li class=\"c-compute\"><i></i>faster</li><li>full colour: %s %% off</li></ul>\n",
                     pace_show_ns((int64_t)h->median).text,
                     pace_show_fixed(100 * fmax(h->most, LEAST_OFF / 100.0), 0).text);
}

static pace_status render_heat(pace_sink *sink, const pace_held_grid *grid) {
    size_t rows = grid->rows.count, columns = grid->columns.count;
    heat h = {.grid = grid, .cell = (WIDTH - LEFT - RIGHT) / (double)columns};
    PACE_TRY(measure(&h));
    if (!(h.median > 0)) return PACE_OK;
    h.cell = pace_least(h.cell, 90);
    h.row = rows > 40 ? LEAST_ROW : ROW;
    double height = TOP + h.row * (double)rows, width = LEFT + h.cell * (double)columns + RIGHT;
    put_heat_legend(sink, &h);
    pace_sink_format(sink, "<svg class=\"chart grid\" viewBox=\"0 0 %s %s\" style=\"max-width:%spx\" role=\"img\">\n",
                     pace_show_fixed(width, 0).text, pace_show_fixed(height + FOOT, 0).text,
                     pace_show_fixed(width, 0).text);
    for (size_t r = 0; r < rows; r++) {
        if (rows <= 40 || r % 8 == 0)
            pace_svg_text(sink, LEFT - 8, TOP + h.row * (double)r + h.row / 2 + 4, "end", grid->rows.items[r]);
        for (size_t c = 0; c < columns; c++) put_cell(sink, &h, r, c);
    }
    put_labels(sink, &grid->columns, h.cell, height + 16);
    pace_sink_text(sink, "</svg>\n");
    return PACE_OK;
}

static int64_t bar_sum(const pace_held_grid *grid, size_t row) {
    int64_t sum = 0;
    for (size_t c = 0; c < grid->columns.count; c++) sum += grid->values[row * grid->columns.count + c];
    return sum;
}

static void put_bar(pace_sink *sink, const pace_held_grid *grid, size_t row, double step, double per_ns) {
    double y = TOP + BARS, x = LEFT + step * (double)row;
    for (size_t c = 0; c < grid->columns.count; c++) {
        int64_t ns = grid->values[row * grid->columns.count + c];
        double height = (double)ns * per_ns;
        if (height < 0.05) continue;
        y -= height;
        pace_sink_format(sink, "<rect class=\"c-%s\"", pace_class_name(grid->colors[c]));
        put_box(sink, x + step * 0.08, y, step * 0.84, height);
        pace_html_format(sink, " data-column=\"%s\"><title>%s (%s): %s %s</title></rect>\n", grid->rows.items[row],
                         grid->rows.items[row], pace_show_ns(bar_sum(grid, row)).text, grid->columns.items[c],
                         pace_show_ns(ns).text);
    }
}

static void put_bars_legend(pace_sink *sink, const pace_held_grid *grid) {
    pace_sink_text(sink, "<ul class=\"legend\">");
    for (size_t c = 0; c < grid->columns.count; c++) {
        int64_t sum = 0;
        for (size_t r = 0; r < grid->rows.count; r++) sum += grid->values[r * grid->columns.count + c];
        if (sum > 0) pace_html_legend_item(sink, pace_class_name(grid->colors[c]), grid->columns.items[c]);
    }
    pace_sink_text(sink, "</ul>\n");
}

/* 1, 2 or 5 times a power of ten that cuts `most` into three to eight. */
static double tick_of(double most) {
    double power = pow(10, floor(log10(most / 3))), rest = most / 3 / power;
    return power * (rest >= 5 ? 5 : rest >= 2 ? 2 : 1);
}

static pace_status render_bars(pace_sink *sink, const pace_held_grid *grid) {
    int64_t most = 0;
    double step = pace_least((WIDTH - LEFT - RIGHT) / (double)grid->rows.count, 90);
    for (size_t r = 0; r < grid->rows.count; r++) most = bar_sum(grid, r) > most ? bar_sum(grid, r) : most;
    if (most == 0) return PACE_OK;
    double per_ns = BARS / (double)most, tick = tick_of((double)most);
    double width = LEFT + step * (double)grid->rows.count + RIGHT;
    put_bars_legend(sink, grid);
    pace_sink_format(sink, "<svg class=\"chart grid\" viewBox=\"0 0 %s %d\" style=\"max-width:%spx\" role=\"img\">\n",
                     pace_show_fixed(width, 0).text, TOP + BARS + FOOT, pace_show_fixed(width, 0).text);
    for (double at = 0; at <= (double)most; at += tick) {
        double y = TOP + BARS - at * per_ns;
        pace_sink_format(sink, "<line x1=\"%d\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>\n", LEFT,
                         pace_show_fixed(width - RIGHT, 1).text, pace_show_fixed(y, 1).text,
                         pace_show_fixed(y, 1).text);
        pace_svg_text(sink, LEFT - 8, y + 4, "end", pace_show_ns((int64_t)at).text);
    }
    for (size_t r = 0; r < grid->rows.count; r++) put_bar(sink, grid, r, step, per_ns);
    put_labels(sink, &grid->rows, step, TOP + BARS + 16);
    pace_sink_text(sink, "</svg>\n");
    return PACE_OK;
}

pace_status pace_render_grid(pace_sink *sink, const pace_held_grid *grid) {
    if (grid->rows.count == 0 || grid->columns.count == 0) return PACE_OK;
    return grid->colors ? render_bars(sink, grid) : render_heat(sink, grid);
}
