#include "source/slice/mend.h"
#include "base/json_writer.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

typedef enum { DUE_VALUE, DUE_ITEM_OR_END, DUE_KEY, DUE_KEY_OR_END, DUE_COMMA_OR_END } due;

enum { DEPTH = PACE_JSON_DEPTH - 2 }; /* two brackets stand around an event of a slice */

typedef struct {
    const char *bytes;
    size_t length, at;
    size_t copied; /* of the value's bytes: they are in `out`, as they are or mended */
    pace_text *out;
    char open[DEPTH]; /* the brackets that close what is open */
    unsigned depth;
    pace_status status;
} mender;

static char here(const mender *m) { return m->at < m->length ? m->bytes[m->at] : '\0'; }

static bool is_at(const mender *m, const char *word) {
    return pace_span_starts(m->bytes + m->at, m->length - m->at, word);
}

static void append(mender *m, const char *bytes, size_t length) {
    if (m->status == PACE_OK) m->status = pace_text_append(m->out, bytes, length);
}

/* The next `length` bytes become `with`. */
static void replace(mender *m, size_t length, const char *with) {
    append(m, m->bytes + m->copied, m->at - m->copied);
    append(m, with, strlen(with));
    m->at += length;
    m->copied = m->at;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void skip_space(mender *m) {
    while (m->at < m->length && is_space(m->bytes[m->at])) m->at++;
}

static bool is_hex(char c) { return pace_is_digit(c) || (pace_lower(c) >= 'a' && pace_lower(c) <= 'f'); }

/* How long an escape is; 0 = it is none. */
static size_t escape_length(const mender *m) {
    const char *at = m->bytes + m->at;
    size_t left = m->length - m->at;
    if (left > 1 && at[1] && strchr("\"\\/bfnrt", at[1])) return 2;
    bool unicode = left > 5 && at[1] == 'u' && is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) && is_hex(at[5]);
    return unicode ? 6 : 0;
}

/* What of a text is no plain character. */
static void take_special(mender *m) {
    char c = m->bytes[m->at], control[8];
    size_t length = c == '\\'             ? escape_length(m)
                    : (signed char)c >= 0 ? 0
                                          : pace_utf8_length(m->bytes + m->at, m->length - m->at);
    snprintf(control, sizeof control, "\\u%04x", (unsigned char)c);
    if (length) m->at += length;
    else replace(m, 1, c == '\\' ? "\\\\" : (signed char)c >= 0 ? control : "\xef\xbf\xbd");
}

static bool is_plain(char c) { return (signed char)c >= ' ' && c != '"' && c != '\\'; }

static bool take_text(mender *m) {
    if (here(m) != '"') return false;
    for (m->at++;;) {
        size_t at = m->at;
        while (at < m->length && is_plain(m->bytes[at])) at++;
        m->at = at;
        if (at == m->length) return false;
        if (m->bytes[at] == '"') break;
        take_special(m);
    }
    m->at++;
    return true;
}

static bool take_digits(mender *m) {
    size_t from = m->at;
    while (pace_is_digit(here(m))) m->at++;
    return m->at > from;
}

static bool take_number(mender *m) {
    if (here(m) == '-') m->at++;
    bool zero = here(m) == '0';
    size_t from = m->at;
    if (!take_digits(m) || (zero && m->at > from + 1)) return false;
    if (here(m) == '.') {
        m->at++;
        if (!take_digits(m)) return false;
    }
    if (pace_lower(here(m)) != 'e') return true;
    m->at++;
    if (here(m) == '+' || here(m) == '-') m->at++;
    return take_digits(m);
}

/* A number, or a word. */
static bool take_word(mender *m) {
    static const char *const words[] = {"true", "false", "null"}, *const odd[] = {"NaN", "Infinity", "-Infinity"};
    if (pace_is_digit(here(m))) return take_number(m);
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (is_at(m, words[i])) {
            m->at += strlen(words[i]);
            return true;
        }
    for (size_t i = 0; i < PACE_COUNT(odd); i++)
        if (is_at(m, odd[i])) {
            replace(m, strlen(odd[i]), "null");
            return true;
        }
    return take_number(m);
}

static bool open_bracket(mender *m, due *next) {
    bool object = here(m) == '{';
    if (m->depth == DEPTH) return false;
    m->open[m->depth++] = object ? '}' : ']';
    m->at++;
    *next = object ? DUE_KEY_OR_END : DUE_ITEM_OR_END;
    return true;
}

static bool take_value(mender *m, due *next) {
    char c = here(m);
    if (c == '{' || c == '[') return open_bracket(m, next);
    *next = DUE_COMMA_OR_END;
    return c == '"' ? take_text(m) : take_word(m);
}

static bool take_key(mender *m, due *next) {
    *next = DUE_VALUE;
    if (!take_text(m)) return false;
    skip_space(m);
    return here(m) == ':' && ++m->at;
}

static bool take_next(mender *m, due *next) {
    due now = *next;
    if (now == DUE_VALUE) return take_value(m, next);
    if (now == DUE_KEY) return take_key(m, next);
    if (here(m) == m->open[m->depth - 1]) {
        m->depth--;
        m->at++;
        *next = DUE_COMMA_OR_END;
        return true;
    }
    if (now == DUE_ITEM_OR_END) return take_value(m, next);
    if (now == DUE_KEY_OR_END) return take_key(m, next);
    *next = m->open[m->depth - 1] == '}' ? DUE_KEY : DUE_VALUE;
    return here(m) == ',' && ++m->at;
}

static bool is_json(mender *m) {
    due next = DUE_VALUE;
    do {
        skip_space(m);
        if (!take_next(m, &next)) return false;
    } while (m->depth || next == DUE_VALUE);
    skip_space(m);
    return m->at == m->length;
}

pace_status pace_mend(pace_mend_verdict *verdict, pace_text *out, const char *bytes, size_t length) {
    mender m = {.bytes = bytes, .length = length, .out = out};
    out->count = 0;
    *verdict = PACE_MEND_BROKEN;
    if (!is_json(&m)) return m.status;
    *verdict = m.copied ? PACE_MEND_MENDED : PACE_MEND_SOUND;
    if (m.copied) append(&m, bytes + m.copied, length - m.copied);
    return m.status;
}
