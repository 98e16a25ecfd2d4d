/*
 * The JSON writer, and the sink under every renderer: a buffer in front of a pace_write_fn with a sticky error,
 * so that callers check once, at pace_sink_close().
 */
#pragma once

#include "base/memory.h"

typedef struct {
    pace_write_fn write;
    void *context;
    char *buffer;
    size_t used;
    int error; /* errno of the first failed write, sticky */
    uint64_t written;
} pace_sink;

pace_status pace_sink_open(pace_sink *sink, pace_write_fn write, void *context) PACE_MUST_CHECK;
void pace_sink_bytes(pace_sink *sink, const void *bytes, size_t length);
void pace_sink_text(pace_sink *sink, const char *text);
void pace_sink_format(pace_sink *sink, const char *format, ...) PACE_PRINTF(2, 3);
/** Writes into a sink: a pace_write_fn. */
int pace_sink_write(void *sink, const void *bytes, size_t length);
/** Flushes and frees the buffer; PACE_E_IO with the system's reason when any write failed. */
pace_status pace_sink_close(pace_sink *sink) PACE_MUST_CHECK;

/** Length of the well-formed UTF-8 sequence at `text`, of which `left` bytes may be read; 0 = there is none (overlong
 * forms, surrogates and code points past U+10FFFF are none). */
size_t pace_utf8_length(const char *text, size_t left);

/** Writes members in the order of the calls. `indent` 0 = one line without spaces, else pretty. */
typedef struct {
    pace_sink *sink;
    int indent;
    unsigned depth;
    bool first, after_key;
    uint64_t compact; /* bit per depth: this container is written on one line */
} pace_jsonw;

void pace_jsonw_init(pace_jsonw *json, pace_sink *sink, int indent);
void pace_jsonw_key(pace_jsonw *json, const char *key);
void pace_jsonw_object(pace_jsonw *json);
void pace_jsonw_object_end(pace_jsonw *json);
void pace_jsonw_array(pace_jsonw *json);
void pace_jsonw_array_end(pace_jsonw *json);
/** The next container (object or array) is written on one line even when pretty. */
void pace_jsonw_compact(pace_jsonw *json);
/** Text as a JSON string: quotes, backslashes and controls escaped; invalid UTF-8 bytes become U+FFFD; "</",
 * U+2028 and U+2029 are escaped so that the document may stand inside an HTML script element. */
void pace_jsonw_text(pace_jsonw *json, const char *text);
/** A member that is an array of texts. */
void pace_jsonw_texts(pace_jsonw *json, const char *key, const char *const *texts, size_t count);
void pace_jsonw_text_n(pace_jsonw *json, const char *text, size_t length);
void pace_jsonw_int(pace_jsonw *json, int64_t value);
/** Shortest decimal that reads back as the same double; NaN and infinities are written as null. */
void pace_jsonw_real(pace_jsonw *json, double value);
/** Integer nanoseconds as microseconds with three decimals (the form of Kineto's ts and dur). */
void pace_jsonw_ns_as_us(pace_jsonw *json, int64_t ns);
void pace_jsonw_bool(pace_jsonw *json, bool value);
void pace_jsonw_null(pace_jsonw *json);

/** Key and value of a member; a text of NULL is null. */
void pace_jsonw_key_text(pace_jsonw *json, const char *key, const char *text);
void pace_jsonw_key_int(pace_jsonw *json, const char *key, int64_t value);
void pace_jsonw_key_real(pace_jsonw *json, const char *key, double value);
/** A member that is an array or an object, opened. */
void pace_jsonw_key_array(pace_jsonw *json, const char *key);
void pace_jsonw_key_object(pace_jsonw *json, const char *key);

/** A document of our own: an object with its "schema" first, closed with a newline behind it. */
void pace_jsonw_document(pace_jsonw *json, pace_sink *sink, int indent, const char *schema);
void pace_jsonw_document_end(pace_jsonw *json);

/** A value that is JSON text already. */
void pace_jsonw_raw(pace_jsonw *json, const char *text, size_t length);
