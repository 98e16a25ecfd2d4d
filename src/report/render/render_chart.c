#include "report/render/render_chart.h"
#include "report/render/html_text.h"
#include "report/show.h"

#include <math.h>
#include <stdio.h>

/* User units of the picture; the page scales it. */
enum {
    WIDTH = 760,
    LEFT = 56,
    RIGHT = 16,
    TOP = 10,
    HEIGHT = 250,
    BOTTOM = 46,
    BAR = 24,
    BAR_GAP = 8,
    BAR_LEFT = 190,
    BAR_NAME = 22
};

static const pace_class palette[] = {PACE_CLASS_COMPUTE, PACE_CLASS_COMMUNICATION, PACE_CLASS_UPDATE, PACE_CLASS_COPY,
                                     PACE_CLASS_HOST,    PACE_CLASS_INPUT,         PACE_CLASS_MEMORY, PACE_CLASS_WAIT};
enum { COLORS = PACE_COUNT(palette) };

static pace_class color_of(const pace_held_curve *curve, size_t *next) {
    return curve->colored ? curve->color : palette[(*next)++ % COLORS];
}

static pace_class part_color(const pace_held_chart *chart, size_t part) {
    return part < chart->part_colors.count ? chart->part_colors.items[part] : palette[part % COLORS];
}

static void put_line(pace_sink *sink, double x1, double y1, double x2, double y2) {
    pace_sink_format(sink, "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>\n", pace_show_fixed(x1, 1).text,
                     pace_show_fixed(y1, 1).text, pace_show_fixed(x2, 1).text, pace_show_fixed(y2, 1).text);
}

static void put_legend_item(pace_sink *sink, pace_class color, const char *name) {
    pace_html_legend_item(sink, pace_class_name(color), name);
}

/* --- curves ------------------------------------------------------------------------------------------------------- */

typedef struct {
    double low, high; /* of the axis; logarithms when it is one of factors of ten */
    bool log;
} axis;

static double on_axis(const axis *a, double value) { return a->log ? log10(value) : value; }

static double x_of(const axis *a, double value) {
    return LEFT + (on_axis(a, value) - a->low) / (a->high - a->low) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const axis *a, double value) {
    return TOP + HEIGHT - (on_axis(a, value) - a->low) / (a->high - a->low) * HEIGHT;
}

/* Whether a value has a place on an axis. */
static bool can_stand(const axis *a, double value) { return !a->log || value > 0; }

/* An axis of factors of ten begins and ends with one. */
static void round_out(axis *a) {
    if (!a->log) return;
    a->low = floor(a->low + 1e-9);
    a->high = ceil(a->high - 1e-9);
    if (!(a->high > a->low)) a->high = a->low + 1;
}

static void fit_axes(axis *x, axis *y, const pace_held_chart *chart) {
    *x = (axis){INFINITY, -INFINITY, (chart->flags & PACE_CHART_LOG_X) != 0};
    *y = (chart->flags & PACE_CHART_LOG_Y) ? (axis){INFINITY, -INFINITY, true} : (axis){0, 0, false};
    for (size_t c = 0; c < chart->curves.count; c++)
        PACE_ITEMS (const pace_point, point, &chart->curves.items[c].points) {
            if (!can_stand(x, point->x) || !can_stand(y, point->y)) continue;
            x->low = fmin(x->low, on_axis(x, point->x));
            x->high = fmax(x->high, on_axis(x, point->x));
            y->high = fmax(y->high, on_axis(y, point->y));
            if (y->log) y->low = fmin(y->low, on_axis(y, point->y));
        }
    if (!(x->high > x->low)) x->high = x->low + 1;
    if (!y->log && !(y->high > 0)) y->high = 1;
    round_out(x);
    round_out(y);
}

/* A step of 1, 2 or 5 times a power of ten that cuts the axis into four to ten. */
static double nice_step(double span) {
    double power = pow(10, floor(log10(span / 4)));
    double rest = span / 4 / power;
    return power * (rest >= 5 ? 5 : rest >= 2 ? 2 : 1);
}

static void put_number(pace_sink *sink, double x, double y, const char *anchor, double value) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    char text[64];
    for (; fabs(value) >= 1000 && prefix + 1 < PACE_COUNT(prefixes); prefix++) value /= 1000;
    int decimals = 0;
    while (decimals < 6 && fabs(value * pow(10, decimals) - round(value * pow(10, decimals))) > 1e-6) decimals++;
    snprintf(text, sizeof text, "%s%s", pace_show_fixed(value, decimals).text, prefixes[prefix]);
    pace_svg_text(sink, x, y, anchor, text);
}

static void put_axes(pace_sink *sink, const axis *x, const axis *y, const pace_held_chart *chart) {
    double step = y->log ? ceil((y->high - y->low) / 10) : nice_step(y->high - y->low);
    for (double v = y->low; v <= y->high + step * 1e-6; v += step) {
        double value = y->log ? pow(10, v) : v;
        put_line(sink, LEFT, y_of(y, value), WIDTH - RIGHT, y_of(y, value));
        put_number(sink, LEFT - 6, y_of(y, value) + 4, "end", value);
    }
    step = x->log ? ceil((x->high - x->low) / 10) : nice_step(x->high - x->low);
    for (double v = x->log ? x->low : ceil(x->low / step - 1e-9) * step; v <= x->high + step * 1e-6; v += step) {
        double value = x->log ? pow(10, v) : v;
        put_line(sink, x_of(x, value), TOP, x_of(x, value), TOP + HEIGHT);
        put_number(sink, x_of(x, value), TOP + HEIGHT + 16, "middle", value);
    }
    pace_svg_text(sink, (LEFT + WIDTH - RIGHT) / 2.0, TOP + HEIGHT + 36, "middle", chart->x_title);
}

static void put_dots(pace_sink *sink, const axis *x, const axis *y, const pace_held_curve *curve, pace_class color) {
    pace_sink_format(sink, "<g class=\"c-%s\">", pace_class_name(color));
    PACE_ITEMS (const pace_point, point, &curve->points) {
        if (!can_stand(x, point->x) || !can_stand(y, point->y)) continue;
        pace_html_format(sink, "<circle cx=\"%s\" cy=\"%s\" r=\"5\"><title>%s: %s; %s</title></circle>",
                         pace_show_fixed(x_of(x, point->x), 1).text, pace_show_fixed(y_of(y, point->y), 1).text,
                         curve->name, pace_show_real(point->x).text, pace_show_real(point->y).text);
    }
    pace_sink_text(sink, "</g>\n");
}

static void put_curve(pace_sink *sink, const axis *x, const axis *y, const pace_held_curve *curve, pace_class color) {
    if (curve->look == PACE_CURVE_DOTS) {
        put_dots(sink, x, y, curve, color);
        return;
    }
    pace_sink_format(sink, "<polyline class=\"c-%s%s\" points=\"", pace_class_name(color),
                     curve->look == PACE_CURVE_PALE ? " pale" : "");
    PACE_ITEMS (const pace_point, point, &curve->points) {
        if (!can_stand(x, point->x) || !can_stand(y, point->y)) continue;
        pace_sink_format(sink, "%s,%s ", pace_show_fixed(x_of(x, point->x), 1).text,
                         pace_show_fixed(y_of(y, point->y), 1).text);
    }
    pace_html_format(sink, "\"><title>%s</title></polyline>\n", curve->name);
}

/* At least two user units wide, so that it is seen. */
static void put_band(pace_sink *sink, const axis *x, const pace_held_band *band) {
    double left = x_of(x, band->low), width = fmax(x_of(x, band->high) - left, 2);
    pace_html_format(sink,
                     "<rect class=\"band\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"><title>%s</title></rect>\n",
                     pace_show_fixed(left, 1).text, TOP, pace_show_fixed(width, 1).text, HEIGHT, band->name);
}

enum { PALE_NAMED = 3 }; /* in the legend; more are "others" */

static void put_legend(pace_sink *sink, const pace_held_chart *chart) {
    size_t color = 0, pale = 0;
    pace_sink_text(sink, "<ul class=\"legend\">");
    for (size_t c = 0; c < chart->curves.count; c++) pale += chart->curves.items[c].look == PACE_CURVE_PALE;
    PACE_ITEMS (const pace_held_curve, curve, &chart->curves) {
        if (curve->look != PACE_CURVE_PALE) put_legend_item(sink, color_of(curve, &color), curve->name);
        else if (pale <= PALE_NAMED) pace_html_legend_item(sink, "other pale", curve->name);
    }
    if (pale > PALE_NAMED) pace_html_legend_item(sink, "other pale", "others");
    pace_sink_text(sink, "</ul>\n");
}

/* --- stacked areas ------------------------------------------------------------------------------------------------ */

/* What the curves up to `count` hold together at a point. */
static double height_at(const pace_held_chart *chart, size_t count, size_t point) {
    double sum = 0;
    for (size_t c = 0; c < count; c++)
        if (point < chart->curves.items[c].points.count) sum += chart->curves.items[c].points.items[point].y;
    return sum;
}

static void put_corner(pace_sink *sink, const axis *x, const axis *y, double at, double height) {
    pace_sink_format(sink, "%s,%s ", pace_show_fixed(x_of(x, at), 1).text, pace_show_fixed(y_of(y, height), 1).text);
}

/* The area of a curve: along its top, and back along the top of the one below. Heights hold until the next point. */
static void put_area(pace_sink *sink, const axis *x, const axis *y, const pace_held_chart *chart, size_t c) {
    const pace_held_curve *curve = &chart->curves.items[c];
    size_t count = curve->points.count;
    pace_sink_format(sink, "<g class=\"c-%s\"><polygon points=\"", pace_class_name(palette[c % COLORS]));
    for (size_t i = 0; i < count; i++) {
        put_corner(sink, x, y, curve->points.items[i].x, height_at(chart, c + 1, i));
        if (i + 1 < count) put_corner(sink, x, y, curve->points.items[i + 1].x, height_at(chart, c + 1, i));
    }
    for (size_t i = count; i-- > 0;) {
        if (i + 1 < count) put_corner(sink, x, y, curve->points.items[i + 1].x, height_at(chart, c, i));
        put_corner(sink, x, y, curve->points.items[i].x, height_at(chart, c, i));
    }
    pace_html_format(sink, "\"><title>%s</title></polygon></g>\n", curve->name);
}

static void fit_stack(axis *y, const pace_held_chart *chart) {
    *y = (axis){0, 1, false};
    for (size_t i = 0; chart->curves.count && i < chart->curves.items[0].points.count; i++)
        y->high = fmax(y->high, height_at(chart, chart->curves.count, i));
}

static void render_areas(pace_sink *sink, const pace_held_chart *chart) {
    axis x, y;
    fit_axes(&x, &y, chart);
    fit_stack(&y, chart);
    put_legend(sink, chart);
    pace_sink_format(sink, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, TOP + HEIGHT + BOTTOM);
    for (size_t c = 0; c < chart->curves.count; c++) put_area(sink, &x, &y, chart, c);
    put_axes(sink, &x, &y, chart);
    pace_sink_text(sink, "</svg>\n");
}

/* --- curves on axes ----------------------------------------------------------------------------------------------- */

/* Pale curves below the others. */
static void render_curves(pace_sink *sink, const pace_held_chart *chart) {
    axis x, y;
    size_t color = 0;
    fit_axes(&x, &y, chart);
    put_legend(sink, chart);
    pace_sink_format(sink, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, TOP + HEIGHT + BOTTOM);
    put_axes(sink, &x, &y, chart);
    for (size_t b = 0; b < chart->bands.count; b++) put_band(sink, &x, &chart->bands.items[b]);
    for (size_t c = 0; c < chart->curves.count; c++)
        if (chart->curves.items[c].look == PACE_CURVE_PALE)
            put_curve(sink, &x, &y, &chart->curves.items[c], PACE_CLASS_OTHER);
    for (size_t c = 0; c < chart->curves.count; c++)
        if (chart->curves.items[c].look != PACE_CURVE_PALE)
            put_curve(sink, &x, &y, &chart->curves.items[c], color_of(&chart->curves.items[c], &color));
    pace_sink_text(sink, "</svg>\n");
}

/* --- stacked bars ------------------------------------------------------------------------------------------------- */

/* Left of the bar, as much of the name as there is room for; the tool tips have all of it. */
static void put_bar_name(pace_sink *sink, const char *name, double top) {
    char *shown = pace_text_shorten(name, BAR_NAME);
    pace_svg_text(sink, BAR_LEFT - 8, top + 16, "end", shown ? shown : name);
    pace_free(shown);
}

static void put_bar(pace_sink *sink, const pace_held_chart *chart, const pace_held_curve *bar, double top) {
    double x = BAR_LEFT, room = WIDTH - BAR_LEFT - RIGHT;
    put_bar_name(sink, bar->name, top);
    for (size_t i = 0; i < bar->points.count && i < chart->parts.count; i++) {
        double share = bar->points.items[i].y, width = share * room;
        if (!(width > 0)) continue;
        pace_html_format(sink, "<g class=\"c-%s\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%d\">",
                         pace_class_name(part_color(chart, i)), pace_show_fixed(x, 1).text,
                         pace_show_fixed(top, 1).text, pace_show_fixed(width, 1).text, BAR);
        pace_html_format(sink, "<title>%s · %s: %s</title></rect>", bar->name, chart->parts.items[i],
                         pace_show_share(share).text);
        if (width > 44)
            pace_sink_format(sink, "<text class=\"on\" x=\"%s\" y=\"%s\">%s</text>",
                             pace_show_fixed(x + width / 2, 1).text, pace_show_fixed(top + 16, 1).text,
                             pace_show_share(share).text);
        pace_sink_text(sink, "</g>\n");
        x += width;
    }
}

static void render_stacks(pace_sink *sink, const pace_held_chart *chart) {
    pace_sink_text(sink, "<ul class=\"legend\">");
    for (size_t i = 0; i < chart->parts.count; i++) put_legend_item(sink, part_color(chart, i), chart->parts.items[i]);
    pace_sink_format(sink, "</ul>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
                     (int)chart->curves.count * (BAR + BAR_GAP) + BAR_GAP);
    for (size_t c = 0; c < chart->curves.count; c++)
        put_bar(sink, chart, &chart->curves.items[c], (double)c * (BAR + BAR_GAP) + BAR_GAP);
    pace_sink_text(sink, "</svg>\n");
}

void pace_render_chart(pace_sink *sink, const pace_held_chart *chart) {
    if (chart->curves.count == 0) return;
    if (chart->parts.count > 0) render_stacks(sink, chart);
    else if (chart->flags & PACE_CHART_STACKED) render_areas(sink, chart);
    else render_curves(sink, chart);
}
