#include "source/usage/usage_cells.h"

#include <string.h>

static void add(pace_usage_cells *out, const char *data, size_t length) {
    if (out->count < PACE_USAGE_MOST_CELLS) out->cells[out->count] = (pace_usage_text){data, length};
    out->count++;
}

/* Behind the opening quote: the text with doubled quotes undone is moved together; returns the cell's end. A cell that
 * goes on behind its closing quote keeps that quote, so that a line stays what it is where the separator is another. */
static char *unquote(pace_usage_text *out, char *at, char *end, char separator) {
    char *to = at, *from = at;
    while (at < end) {
        if (*at != '"') *to++ = *at++;
        else if (at + 1 < end && at[1] == '"') *to++ = '"', at += 2;
        else {
            at++;
            break;
        }
    }
    if (to + 1 == at && at < end && *at != separator) to = at;
    while (at < end && *at != separator) *to++ = *at++;
    *out = (pace_usage_text){from, (size_t)(to - from)};
    return at;
}

void pace_usage_split(pace_usage_cells *out, char *line, size_t length, char separator) {
    char *end = line + length, *at = line;
    out->count = 0;
    for (;;) {
        pace_usage_text cell;
        if (at < end && *at == '"' && separator != '|') at = unquote(&cell, at + 1, end, separator);
        else {
            char *next = memchr(at, separator, (size_t)(end - at));
            cell = (pace_usage_text){at, (size_t)((next ? next : end) - at)};
            at = next ? next : end;
        }
        add(out, cell.data, cell.length);
        if (at == end) return;
        at++;
    }
}

char *pace_usage_line_end(char **next, char *line, char *end) {
    char *feed = memchr(line, '\n', (size_t)(end - line)), *stop = feed ? feed : end;
    *next = feed ? feed + 1 : end;
    return stop > line && stop[-1] == '\r' ? stop - 1 : stop;
}
