#include "say.h"

#include <stdarg.h>
#include <stdio.h>

void cli_say(const char *format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '\x7f') *at = '?';
    fprintf(stderr, "%s\n", text);
}
