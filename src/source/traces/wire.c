#include "source/traces/wire.h"

#include <inttypes.h>
#include <string.h>

enum { CHUNK = 1 << 16, LONGEST = 1 << 28, LONGEST_VARINT = 10 };
enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

void pace_wire_open(pace_wire_stream *stream, pace_input *input) { *stream = (pace_wire_stream){.input = input}; }

void pace_wire_close(pace_wire_stream *stream) {
    pace_free(stream->buffer);
    *stream = (pace_wire_stream){0};
}

/* Makes `need` bytes available, or as many as there are. The buffer grows with what has arrived, not with what a length
 * promises. */
static pace_status fill(pace_wire_stream *stream, size_t need) {
    if (stream->start && stream->end > stream->start)
        memmove(stream->buffer, stream->buffer + stream->start, stream->end - stream->start);
    stream->end -= stream->start;
    stream->start = 0;
    size_t room = pace_input_room(stream->input, CHUNK), got;
    while (stream->end < need) {
        PACE_TRY(pace_grow(&stream->buffer, &stream->capacity, stream->end + room, 1));
        PACE_TRY(pace_input_read(stream->input, stream->buffer + stream->end, room, &got));
        if (got == 0) return PACE_OK;
        stream->end += got;
    }
    return PACE_OK;
}

static size_t available(const pace_wire_stream *stream) { return stream->end - stream->start; }

bool pace_wire_varint(uint64_t *out, const unsigned char **at, const unsigned char *end) {
    uint64_t value = 0;
    for (unsigned i = 0; i < LONGEST_VARINT && *at + i < end; i++) {
        unsigned char byte = (*at)[i];
        if (i == LONGEST_VARINT - 1 && byte > 1) return false; /* beyond 64 bits */
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        *at += i + 1;
        *out = value;
        return true;
    }
    return false;
}

static pace_status broken_off(const pace_wire_stream *stream, const char *expected) {
    return pace_fail(PACE_E_INPUT, "%s: byte %" PRIu64 ": expected %s, found %s", pace_input_name(stream->input),
                     stream->read, expected, available(stream) ? "other bytes" : "the end");
}

pace_status pace_wire_message(const unsigned char **message, size_t *length, pace_wire_stream *stream) {
    *message = NULL;
    if (available(stream) < LONGEST_VARINT) PACE_TRY(fill(stream, LONGEST_VARINT));
    if (available(stream) == 0) return PACE_OK;
    uint64_t size;
    const unsigned char *at = stream->buffer + stream->start;
    if (!pace_wire_varint(&size, &at, stream->buffer + stream->end))
        return broken_off(stream, "the length of a message");
    if (size > LONGEST)
        return pace_fail(PACE_E_LIMIT, "%s: byte %" PRIu64 ": a message of %" PRIu64 " bytes; this is no such file",
                         pace_input_name(stream->input), stream->read, size);
    size_t head = (size_t)(at - (stream->buffer + stream->start));
    stream->start += head;
    stream->read += head;
    if (available(stream) < size) PACE_TRY(fill(stream, (size_t)size));
    if (available(stream) < size)
        return pace_fail(PACE_E_INPUT,
                         "%s: byte %" PRIu64 ": expected a message of %" PRIu64 " bytes, found the end after %zu",
                         pace_input_name(stream->input), stream->read, size, available(stream));
    *message = stream->buffer + stream->start;
    *length = (size_t)size;
    stream->offset = stream->read;
    stream->start += (size_t)size;
    stream->read += size;
    return PACE_OK;
}

static bool take_fixed(pace_wire_field *out, const unsigned char **at, const unsigned char *end, unsigned size) {
    if ((size_t)(end - *at) < size) return false;
    for (unsigned i = 0; i < size; i++) out->value |= (uint64_t)(*at)[i] << (8 * i);
    *at += size;
    return true;
}

static bool take_bytes(pace_wire_field *out, const unsigned char **at, const unsigned char *end) {
    uint64_t length;
    if (!pace_wire_varint(&length, at, end) || length > (size_t)(end - *at)) return false;
    out->is_bytes = true;
    out->bytes = *at;
    out->length = (size_t)length;
    *at += length;
    return true;
}

bool pace_wire_field_next(pace_wire_field *out, const unsigned char **at, const unsigned char *end, bool *broken) {
    uint64_t key;
    if (*at == end) return false;
    *out = (pace_wire_field){0};
    *broken = true;
    if (!pace_wire_varint(&key, at, end) || key >> 3 == 0 || key >> 3 > 0x1fffffff) return false;
    out->number = (uint32_t)(key >> 3);
    switch (key & 7) {
    case VARINT: *broken = !pace_wire_varint(&out->value, at, end); break;
    case FIXED64: *broken = !take_fixed(out, at, end, 8); break;
    case FIXED32: *broken = !take_fixed(out, at, end, 4); break;
    case BYTES: *broken = !take_bytes(out, at, end); break;
    default: break;
    }
    return !*broken;
}

static size_t encode(unsigned char *to, uint64_t value) {
    size_t length = 0;
    do {
        unsigned char more = value > 0x7f ? 0x80 : 0;
        to[length++] = (unsigned char)((value & 0x7f) | more);
        value >>= 7;
    } while (value);
    return length;
}

static pace_status append(pace_wire_bytes *to, const void *bytes, size_t length) {
    PACE_TRY(pace_grow(&to->items, &to->capacity, to->count + length + 1, 1));
    if (length) memcpy(to->items + to->count, bytes, length);
    to->count += length;
    return PACE_OK;
}

static pace_status put_varint(pace_wire_bytes *to, uint64_t value) {
    unsigned char bytes[LONGEST_VARINT];
    return append(to, bytes, encode(bytes, value));
}

pace_status pace_wire_put_number(pace_wire_bytes *to, uint32_t field, uint64_t value) {
    PACE_TRY(put_varint(to, (uint64_t)field << 3 | VARINT));
    return put_varint(to, value);
}

pace_status pace_wire_put_bytes(pace_wire_bytes *to, uint32_t field, const void *bytes, size_t length) {
    PACE_TRY(put_varint(to, (uint64_t)field << 3 | BYTES));
    PACE_TRY(put_varint(to, length));
    return append(to, bytes, length);
}

void pace_wire_send(pace_sink *sink, const pace_wire_bytes *message) {
    unsigned char length[LONGEST_VARINT];
    pace_sink_bytes(sink, length, encode(length, message->count));
    if (message->count) pace_sink_bytes(sink, message->items, message->count);
}
