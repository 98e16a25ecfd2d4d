#include "source/slice/event_rewrite.h"
#include "base/json_reader.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    pace_sink *sink;
    pace_event_value_fn replace;
    void *context;
    const char *bytes;
    size_t length, at, written; /* the first byte not written yet */
    char open[PACE_JSON_DEPTH + 1];
    unsigned depth;
    bool key; /* a text that comes is a key */
    char member[PACE_EVENT_KEY], argument[PACE_EVENT_KEY];
} rewriter;

static size_t text_end(const rewriter *r) {
    size_t at = r->at + 1;
    for (; at < r->length && r->bytes[at] != '"'; at++)
        if (r->bytes[at] == '\\') at++;
    return at < r->length ? at : r->length - 1;
}

static size_t word_end(const rewriter *r) {
    size_t at = r->at;
    while (at < r->length && (pace_is_alnum(r->bytes[at]) || strchr("+-.", r->bytes[at]))) at++;
    return at;
}

static void keep_key(rewriter *r, const char *text, size_t length) {
    char *key = r->depth == 1 ? r->member : r->depth == 2 ? r->argument : NULL;
    if (r->depth == 1) r->argument[0] = '\0';
    if (key) snprintf(key, PACE_EVENT_KEY, "%.*s", (int)(length < PACE_EVENT_KEY ? length : PACE_EVENT_KEY - 1), text);
}

static void offer(rewriter *r, const pace_event_value *value, size_t from, size_t end) {
    pace_sink_bytes(r->sink, r->bytes + r->written, from - r->written);
    r->written = from;
    if (r->replace(r->context, r->sink, value)) r->written = end;
}

/* `at` moves behind the text, or the word. */
static void take_value(rewriter *r, bool string) {
    size_t from = r->at, stop = string ? text_end(r) : word_end(r), skip = string ? 1 : 0;
    if (string && r->key) keep_key(r, r->bytes + from + 1, stop - from - 1);
    else
        offer(r,
              &(pace_event_value){r->member, r->argument, r->bytes + from + skip, stop - from - skip, string, r->depth},
              from, stop + skip);
    r->at = stop + skip;
}

static void take_mark(rewriter *r, char c) {
    if (c == '{' || c == '[') r->open[r->depth < PACE_JSON_DEPTH ? ++r->depth : r->depth] = c;
    if ((c == '}' || c == ']') && r->depth > 0) r->depth--;
    if (c == '{' || c == ',') r->key = r->open[r->depth] == '{';
    if (c == ':') r->key = false;
    r->at++;
}

void pace_event_rewrite(pace_sink *sink, const char *bytes, size_t length, pace_event_value_fn replace, void *context) {
    rewriter r = {.sink = sink, .replace = replace, .context = context, .bytes = bytes, .length = length};
    while (r.at < length) {
        char c = bytes[r.at];
        if (c == '"') take_value(&r, true);
        else if (pace_is_alnum(c) || c == '-') take_value(&r, false);
        else take_mark(&r, c);
    }
    pace_sink_bytes(sink, bytes + r.written, length - r.written);
}
