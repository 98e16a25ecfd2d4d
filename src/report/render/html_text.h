/* Text in a page. Everything that a trace or a user named passes through here. */
#pragma once

#include "base/json_writer.h"

/** Text for element content and for quoted attributes: markup is escaped, controls become spaces, bytes that are no
 * UTF-8 become U+FFFD. */
void pace_html_text(pace_sink *sink, const char *text);

/** A format whose every %s is such text. It knows %s, %d, %u and %%. */
void pace_html_format(pace_sink *sink, const char *format, ...) PACE_PRINTF(2, 3);

/** An entry of a legend. */
void pace_html_legend_item(pace_sink *sink, const char *color, const char *text);

/** The same at a place of a picture; `anchor` says which end of it stands there: start, middle, end. */
void pace_svg_text(pace_sink *sink, double x, double y, const char *anchor, const char *text);
