/* Writes a flame graph: a picture for readers without a script, whose boxes page/flame.js widens. */
#include "report/analyze/flame.h"
#include "base/order.h"
#include "report/render/html_text.h"
#include "report/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* User units of the picture; the page scales it. */
enum { WIDTH = 760, BOX = 20, LETTER = 7 /* at least */ };
enum { NARROWEST = 2000 /* of which a box is one part at least */, MOST_BOXES = 4000 };

typedef struct {
    unsigned depth;
    double from, to;
    pace_class color;
    pace_name name, figure; /* of the flame's */
} box;

typedef struct {
    pace_class color;
    const char *words; /* borrowed */
} key;

struct pace_flame {
    pace_status status; /* the first failure */
    pace_names names;
    PACE_VEC(box) boxes;
    PACE_VEC(key) keys;
};

void pace_flame_box(pace_flame *flame, unsigned depth, double from, double to, pace_class color, const char *name,
                    const char *figure) {
    if (flame->status != PACE_OK || (to - from) * NARROWEST < 1) return;
    box one = {.depth = depth, .from = from, .to = to, .color = color};
    flame->status = pace_names_add(&one.name, &flame->names, name, strlen(name));
    if (flame->status == PACE_OK) flame->status = pace_names_add(&one.figure, &flame->names, figure, strlen(figure));
    if (flame->status == PACE_OK) flame->status = PACE_PUSH(&flame->boxes, one);
}

pace_class pace_flame_color(const char *name) {
    static const pace_class palette[] = {PACE_CLASS_COMPUTE, PACE_CLASS_COMMUNICATION, PACE_CLASS_UPDATE,
                                         PACE_CLASS_COPY,    PACE_CLASS_HOST,          PACE_CLASS_INPUT,
                                         PACE_CLASS_MEMORY,  PACE_CLASS_WAIT};
    return palette[pace_hash(name, strlen(name)) % (PACE_COUNT(palette))];
}

void pace_flame_legend(pace_flame *flame, pace_class color, const char *words) {
    if (flame->status == PACE_OK) flame->status = PACE_PUSH(&flame->keys, ((key){color, words}));
}

PACE_ORDER(by_width, double, PACE_DOWN_OF(*))

/* So many boxes are drawn at most: the width below which one is left out. */
static pace_status least_width(double *out, const pace_flame *flame) {
    *out = 0;
    if (flame->boxes.count <= MOST_BOXES) return PACE_OK;
    double *widths = pace_alloc(flame->boxes.count, sizeof *widths);
    if (!widths) return PACE_E_MEMORY;
    for (size_t i = 0; i < flame->boxes.count; i++) widths[i] = flame->boxes.items[i].to - flame->boxes.items[i].from;
    qsort(widths, flame->boxes.count, sizeof *widths, by_width);
    *out = widths[MOST_BOXES];
    pace_free(widths);
    return PACE_OK;
}

static void put_legend(pace_sink *sink, const pace_flame *flame) {
    if (flame->keys.count == 0) return;
    pace_sink_text(sink, "<ul class=\"legend\">");
    for (size_t i = 0; i < flame->keys.count; i++)
        pace_html_legend_item(sink, pace_class_name(flame->keys.items[i].color), flame->keys.items[i].words);
    pace_sink_text(sink, "</ul>\n");
}

static void put_label(pace_sink *sink, const box *b, const char *name, double left, double width) {
    size_t room = (size_t)(width / LETTER);
    char *shown = room >= 4 ? pace_text_shorten(name, room - 1) : NULL;
    if (!shown) return;
    pace_html_format(sink, "<text class=\"on\" x=\"%s\" y=\"%u\">%s</text>", pace_show_fixed(left + width / 2, 1).text,
                     b->depth * BOX + 14, shown);
    pace_free(shown);
}

static void put_box(pace_sink *sink, const pace_flame *flame, const box *b) {
    const char *name = pace_names_text(&flame->names, b->name);
    double left = b->from * WIDTH, width = (b->to - b->from) * WIDTH;
    pace_sink_format(sink, "<g class=\"c-%s\" data-at=\"%s %s\">", pace_class_name(b->color),
                     pace_show_fixed(b->from, 6).text, pace_show_fixed(b->to, 6).text);
    pace_html_format(sink, "<rect x=\"%s\" y=\"%u\" width=\"%s\" height=\"%d\"><title>%s: %s, %s</title></rect>",
                     pace_show_fixed(left, 1).text, b->depth * BOX, pace_show_fixed(fmax(width - 1, 0.5), 1).text,
                     BOX - 1, name, pace_names_text(&flame->names, b->figure), pace_show_share(b->to - b->from).text);
    put_label(sink, b, name, left, width);
    pace_sink_text(sink, "</g>\n");
}

static pace_status put_picture(pace_sink *sink, const pace_flame *flame) {
    unsigned rows = 0;
    double least;
    PACE_TRY(least_width(&least, flame));
    for (size_t i = 0; i < flame->boxes.count; i++)
        if (flame->boxes.items[i].depth >= rows) rows = flame->boxes.items[i].depth + 1;
    put_legend(sink, flame);
    pace_sink_format(sink, "<svg class=\"chart flame\" viewBox=\"0 0 %d %u\" role=\"img\">\n", WIDTH, rows * BOX);
    for (size_t i = 0; i < flame->boxes.count; i++)
        if (flame->boxes.items[i].to - flame->boxes.items[i].from > least) put_box(sink, flame, &flame->boxes.items[i]);
    pace_sink_text(sink, "</svg>\n");
    return PACE_OK;
}

pace_status pace_render_flame(pace_sink *sink, const pace_held_flame *held) {
    pace_flame flame = {0};
    PACE_TRY(pace_names_init(&flame.names));
    pace_status status = held->draw(held->by.context, &flame);
    if (status == PACE_OK) status = flame.status;
    if (status == PACE_OK) status = put_picture(sink, &flame);
    pace_names_free(&flame.names);
    PACE_VEC_FREE(&flame.boxes, &flame.keys);
    return status;
}
