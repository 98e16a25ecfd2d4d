#include "report/render/html_text.h"
#include "report/show.h"

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

void pace_svg_text(pace_sink *sink, double x, double y, const char *anchor, const char *text) {
    pace_sink_format(sink, "<text x=\"%s\" y=\"%s\" style=\"text-anchor:%s\">", pace_show_fixed(x, 1).text,
                     pace_show_fixed(y, 1).text, anchor);
    pace_html_text(sink, text);
    pace_sink_text(sink, "</text>\n");
}
