/* Text in a page. Everything that a trace or a user named passes through here. */
#pragma once

#include "base/json_writer.h"

/** Text for element content and for quoted attributes: markup is escaped, controls become spaces, bytes that are no
 * UTF-8 become U+FFFD. */
void pace_html_text(pace_sink *sink, const char *text);
