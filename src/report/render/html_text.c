#include "report/render/html_text.h"
#include "report/show.h"

#include <stdarg.h>
#include <string.h>

static void write_code(pace_sink *sink, uint32_t code, const char *from, const char *to) {
    switch (code) {
    case '<': pace_sink_text(sink, "&lt;"); break;
    case '>': pace_sink_text(sink, "&gt;"); break;
    case '&': pace_sink_text(sink, "&amp;"); break;
    case '"': pace_sink_text(sink, "&quot;"); break;
    case '\'': pace_sink_text(sink, "&#39;"); break;
    case 0xfffd: pace_sink_text(sink, "\xef\xbf\xbd"); break;
    default:
        if (code < 0x20 || (code >= 0x7f && code < 0xa0)) pace_sink_text(sink, " ");
        else pace_sink_bytes(sink, from, (size_t)(to - from));
    }
}

void pace_html_text(pace_sink *sink, const char *text) {
    for (const char *at = text; *at;) {
        const char *from = at;
        uint32_t code = pace_utf8_next(&at);
        write_code(sink, code, from, at);
    }
}

void pace_html_format(pace_sink *sink, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    for (const char *at = format; *at; at++) {
        size_t plain = strcspn(at, "%");
        pace_sink_bytes(sink, at, plain);
        at += plain;
        if (!*at) break;
        at++;
        if (*at == 's') pace_html_text(sink, va_arg(arguments, const char *));
        else if (*at == 'd') pace_sink_format(sink, "%d", va_arg(arguments, int));
        else if (*at == 'u') pace_sink_format(sink, "%u", va_arg(arguments, unsigned));
        else pace_sink_bytes(sink, at, 1);
    }
    va_end(arguments);
}

void pace_html_legend_item(pace_sink *sink, const char *color, const char *text) {
    pace_html_format(sink, "<li class=\"c-%s\"><i></i>%s</li>", color, text);
}

void pace_svg_text(pace_sink *sink, double x, double y, const char *anchor, const char *text) {
    pace_html_format(sink, "<text x=\"%s\" y=\"%s\" style=\"text-anchor:%s\">%s</text>\n", pace_show_fixed(x, 1).text,
                     pace_show_fixed(y, 1).text, anchor, text);
}
