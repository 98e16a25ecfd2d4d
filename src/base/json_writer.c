/*
 * The sink every renderer writes to, and the JSON writer on top of it. Nothing here depends on the locale: the
 * only printf of a floating-point number has its decimal point put right.
 */
#include "base/json_writer.h"
#include "base/decimal.h"
#include "base/print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SINK_BYTES = 64 << 10, DEEPEST_BIT = 63 };

/* ---- sink ---- */

pace_status pace_sink_open(pace_sink *sink, pace_write_fn write, void *context) {
    *sink = (pace_sink){.write = write, .context = context};
    sink->buffer = pace_alloc(SINK_BYTES, 1);
    return sink->buffer ? PACE_OK : PACE_E_MEMORY;
}

static void sink_write(pace_sink *sink, const void *bytes, size_t length) {
    if (sink->error || length == 0) return;
    sink->error = sink->write(sink->context, bytes, length);
    if (!sink->error) sink->written += length;
}

static void sink_flush(pace_sink *sink) {
    sink_write(sink, sink->buffer, sink->used);
    sink->used = 0;
}

void pace_sink_bytes(pace_sink *sink, const void *bytes, size_t length) {
    if (length > SINK_BYTES - sink->used) sink_flush(sink);
    if (length >= SINK_BYTES) {
        sink_write(sink, bytes, length);
        return;
    }
    if (length > 0) memcpy(sink->buffer + sink->used, bytes, length);
    sink->used += length;
}

int pace_sink_write(void *sink, const void *bytes, size_t length) {
    pace_sink_bytes(sink, bytes, length);
    return ((pace_sink *)sink)->error;
}

void pace_sink_text(pace_sink *sink, const char *text) { pace_sink_bytes(sink, text, strlen(text)); }

static void sink_long_format(pace_sink *sink, size_t length, const char *format, va_list arguments) {
    char *text = pace_alloc(length + 1, 1);
    if (!text) {
        if (!sink->error) sink->error = ENOMEM;
        return;
    }
    pace_vsnprintf(text, length + 1, format, arguments);
    pace_sink_bytes(sink, text, length);
    pace_free(text);
}

void pace_sink_format(pace_sink *sink, const char *format, ...) {
    char text[512];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = pace_vsnprintf(text, sizeof text, format, arguments);
    if (length < 0) {
        if (!sink->error) sink->error = EINVAL;
    } else if ((size_t)length < sizeof text) {
        pace_sink_bytes(sink, text, (size_t)length);
    } else {
        sink_long_format(sink, (size_t)length, format, again);
    }
    va_end(again);
    va_end(arguments);
}

pace_status pace_sink_close(pace_sink *sink) {
    if (sink->buffer) sink_flush(sink);
    pace_free(sink->buffer);
    sink->buffer = NULL;
    if (!sink->error) return PACE_OK;
    return pace_fail(PACE_E_IO, "write failed after %" PRIu64 " bytes: %s", sink->written, strerror(sink->error));
}

/* ---- layout ---- */

static uint64_t depth_bit(unsigned depth) { return UINT64_C(1) << (depth < DEEPEST_BIT ? depth : DEEPEST_BIT); }

static bool is_compact(const pace_jsonw *json, unsigned depth) { return (json->compact & depth_bit(depth)) != 0; }

void pace_jsonw_init(pace_jsonw *json, pace_sink *sink, int indent) {
    *json = (pace_jsonw){.sink = sink, .indent = indent, .first = true};
}

static void new_line(pace_jsonw *json) {
    static const char spaces[] = "                                ";
    pace_sink_bytes(json->sink, "\n", 1);
    size_t left = (size_t)json->indent * json->depth;
    while (left > 0) {
        size_t step = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        pace_sink_bytes(json->sink, spaces, step);
        left -= step;
    }
}

/* What stands between the last value and the next key or value. */
static void separate(pace_jsonw *json) {
    bool first = json->first;
    json->first = false;
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0) return;
    if (!first) pace_sink_bytes(json->sink, ",", 1);
    if (json->indent <= 0) return;
    if (!is_compact(json, json->depth)) {
        new_line(json);
    } else if (!first) {
        pace_sink_bytes(json->sink, " ", 1);
    }
}

static void open_container(pace_jsonw *json, const char *bracket) {
    separate(json);
    pace_sink_bytes(json->sink, bracket, 1);
    if (json->depth > 0 && is_compact(json, json->depth)) json->compact |= depth_bit(json->depth + 1);
    json->depth++;
    json->first = true;
}

static void close_container(pace_jsonw *json, const char *bracket) {
    if (json->depth == 0) return;
    bool on_one_line = json->indent <= 0 || is_compact(json, json->depth);
    json->compact &= ~(depth_bit(json->depth) | depth_bit(json->depth + 1));
    if (json->depth > DEEPEST_BIT && on_one_line) json->compact |= depth_bit(DEEPEST_BIT);
    json->depth--;
    if (!json->first && !on_one_line) new_line(json);
    pace_sink_bytes(json->sink, bracket, 1);
    json->first = json->after_key = false;
}

void pace_jsonw_object(pace_jsonw *json) { open_container(json, "{"); }
void pace_jsonw_object_end(pace_jsonw *json) { close_container(json, "}"); }
void pace_jsonw_array(pace_jsonw *json) { open_container(json, "["); }
void pace_jsonw_array_end(pace_jsonw *json) { close_container(json, "]"); }
void pace_jsonw_compact(pace_jsonw *json) { json->compact |= depth_bit(json->depth + 1); }

/* ---- text ---- */

static bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

size_t pace_utf8_length(const char *bytes, size_t left) {
    const unsigned char *text = (const unsigned char *)bytes;
    unsigned char lead = text[0];
    if (lead < 0x80) return 1;
    size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                    : lead >= 0xe0 && lead <= 0xef ? 3
                    : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > left) return 0;
    for (size_t i = 1; i < length; i++) {
        if (!is_continuation(text[i])) return 0;
    }
    if (lead == 0xe0 && text[1] < 0xa0) return 0;
    if (lead == 0xed && text[1] > 0x9f) return 0;
    if (lead == 0xf0 && text[1] < 0x90) return 0;
    if (lead == 0xf4 && text[1] > 0x8f) return 0;
    return length;
}

/* Whether this byte can be copied as it is, whatever follows. */
static bool is_simple(unsigned char byte) {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\' && byte != '<';
}

static void write_escape(pace_sink *sink, unsigned char byte) {
    static const char letters[] = "btn\0fr"; /* from \b on; 0x0b has no letter */
    if (byte >= '\b' && byte <= '\r' && letters[byte - '\b']) {
        char pair[2] = {'\\', letters[byte - '\b']};
        pace_sink_bytes(sink, pair, 2);
    } else if (byte < 0x20) {
        pace_sink_format(sink, "\\u%04x", byte);
    } else {
        char pair[2] = {'\\', (char)byte};
        pace_sink_bytes(sink, pair, 2);
    }
}

/* '<' would end a script element before '/', and open a comment before '!'. */
static void write_less_than(pace_sink *sink, const unsigned char *text, size_t left) {
    bool closes = left > 1 && text[1] == '/', comments = left > 1 && text[1] == '!';
    if (closes) pace_sink_text(sink, "<\\");
    else pace_sink_text(sink, comments ? "\\u003c" : "<");
}

/* Writes the sequence at `text` that is no simple byte; returns how many bytes it took. */
static size_t write_special(pace_sink *sink, const unsigned char *text, size_t left) {
    if (text[0] == '<') {
        write_less_than(sink, text, left);
        return 1;
    }
    if (text[0] < 0x80) {
        write_escape(sink, text[0]);
        return 1;
    }
    size_t length = pace_utf8_length((const char *)text, left);
    if (length == 0) {
        pace_sink_text(sink, "\xef\xbf\xbd");
        return 1;
    }
    bool line_break = length == 3 && text[0] == 0xe2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9);
    if (line_break) pace_sink_text(sink, text[2] == 0xa8 ? "\\u2028" : "\\u2029");
    else pace_sink_bytes(sink, text, length);
    return length;
}

static void write_string(pace_sink *sink, const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    pace_sink_bytes(sink, "\"", 1);
    while (at < end) {
        const unsigned char *from = at;
        while (at < end && is_simple(*at)) at++;
        pace_sink_bytes(sink, from, (size_t)(at - from));
        if (at < end) at += write_special(sink, at, (size_t)(end - at));
    }
    pace_sink_bytes(sink, "\"", 1);
}

void pace_jsonw_key(pace_jsonw *json, const char *key) {
    separate(json);
    write_string(json->sink, key, strlen(key));
    pace_sink_text(json->sink, json->indent > 0 ? ": " : ":");
    json->after_key = true;
}

void pace_jsonw_text(pace_jsonw *json, const char *text) { pace_jsonw_text_n(json, text, strlen(text)); }

void pace_jsonw_text_n(pace_jsonw *json, const char *text, size_t length) {
    separate(json);
    write_string(json->sink, text, length);
}

/* ---- numbers and words ---- */

static void write_word(pace_jsonw *json, const char *word) {
    separate(json);
    pace_sink_text(json->sink, word);
}

void pace_jsonw_int(pace_jsonw *json, int64_t value) {
    separate(json);
    pace_sink_format(json->sink, "%" PRId64, value);
}

/* A number that some decimal of at most 15 digits stands for, between a thousandth and a million: its digits are those
 * of a whole number, and no shorter decimal reads back as it. Division by a power of ten below 2^53 rounds once, so the
 * comparison is exact. */
static bool short_decimal(char out[64], double value) {
    double size = fabs(value), scale = size < 1e3 ? 1e12 : 1e9;
    if (!(size >= 1e-3 && size < 1e6)) return false;
    uint64_t digits = (uint64_t)(size * scale + 0.5), unit = (uint64_t)scale;
    if ((double)digits / scale != size) return false;
    int used = snprintf(out, 64, "%s%" PRIu64, value < 0 ? "-" : "", digits / unit);
    uint64_t rest = digits % unit;
    if (rest == 0) return true;
    out[used++] = '.';
    for (; rest > 0; rest = rest * 10 % unit) out[used++] = (char)('0' + rest * 10 / unit);
    out[used] = '\0';
    return true;
}

void pace_jsonw_real(pace_jsonw *json, double value) {
    if (!isfinite(value)) {
        pace_jsonw_null(json);
        return;
    }
    char number[64];
    if (short_decimal(number, value)) {
        write_word(json, number);
        return;
    }
    pace_number_write(number, value);
    write_word(json, number);
}

void pace_jsonw_ns_as_us(pace_jsonw *json, int64_t ns) {
    uint64_t magnitude = ns < 0 ? UINT64_C(0) - (uint64_t)ns : (uint64_t)ns;
    separate(json);
    pace_sink_format(json->sink, "%s%" PRIu64 ".%03" PRIu64, ns < 0 ? "-" : "", magnitude / 1000, magnitude % 1000);
}

void pace_jsonw_bool(pace_jsonw *json, bool value) { write_word(json, value ? "true" : "false"); }

void pace_jsonw_null(pace_jsonw *json) { write_word(json, "null"); }

void pace_jsonw_raw(pace_jsonw *json, const char *text, size_t length) {
    separate(json);
    pace_sink_bytes(json->sink, text, length);
}

void pace_jsonw_key_text(pace_jsonw *json, const char *key, const char *text) {
    pace_jsonw_key(json, key);
    if (text) pace_jsonw_text(json, text);
    else pace_jsonw_null(json);
}

void pace_jsonw_key_int(pace_jsonw *json, const char *key, int64_t value) {
    pace_jsonw_key(json, key);
    pace_jsonw_int(json, value);
}

void pace_jsonw_key_real(pace_jsonw *json, const char *key, double value) {
    pace_jsonw_key(json, key);
    pace_jsonw_real(json, value);
}

void pace_jsonw_key_array(pace_jsonw *json, const char *key) {
    pace_jsonw_key(json, key);
    pace_jsonw_array(json);
}

void pace_jsonw_key_object(pace_jsonw *json, const char *key) {
    pace_jsonw_key(json, key);
    pace_jsonw_object(json);
}

void pace_jsonw_document(pace_jsonw *json, pace_sink *sink, int indent, const char *schema) {
    pace_jsonw_init(json, sink, indent);
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "schema", schema);
}

void pace_jsonw_document_end(pace_jsonw *json) {
    pace_jsonw_object_end(json);
    pace_sink_text(json->sink, "\n");
}

void pace_jsonw_texts(pace_jsonw *json, const char *key, const char *const *texts, size_t count) {
    pace_jsonw_key_array(json, key);
    for (size_t i = 0; i < count; i++) pace_jsonw_text(json, texts[i]);
    pace_jsonw_array_end(json);
}
