/*
 * Protocol buffers as they lie in a stream of length-delimited messages: the wire format alone, without descriptors.
 * Private to source/.
 */
#pragma once

#include "base/input.h"
#include "base/json_writer.h"

typedef struct {
    pace_input *input;
    unsigned char *buffer;
    size_t start, end, capacity; /* what is read and not yet used */
    uint64_t offset;             /* of the message at hand in the stream */
    uint64_t read;               /* bytes used so far */
} pace_wire_stream;

/* One field of a message: a number, or bytes that lie in the message. */
typedef struct {
    uint32_t number;
    bool is_bytes;
    uint64_t value; /* varint, fixed32, fixed64 */
    const unsigned char *bytes;
    size_t length;
} pace_wire_field;

void pace_wire_open(pace_wire_stream *stream, pace_input *input);
void pace_wire_close(pace_wire_stream *stream);

/** The next message, valid until the next call; *message NULL at the end. PACE_E_INPUT names the byte where a length is
 * no length or the stream breaks off; messages above 256 MiB are PACE_E_LIMIT. */
pace_status pace_wire_message(const unsigned char **message, size_t *length, pace_wire_stream *stream) PACE_MUST_CHECK;

/** The next field of a message: *at moves behind it. False at the end, and, with *broken set, where the bytes are none.
 */
bool pace_wire_field_next(pace_wire_field *out, const unsigned char **at, const unsigned char *end, bool *broken);

/** The next number of a packed list. */
bool pace_wire_varint(uint64_t *out, const unsigned char **at, const unsigned char *end);

typedef PACE_VEC(unsigned char) pace_wire_bytes;

pace_status pace_wire_put_number(pace_wire_bytes *to, uint32_t field, uint64_t value) PACE_MUST_CHECK;
pace_status pace_wire_put_bytes(pace_wire_bytes *to, uint32_t field, const void *bytes, size_t length) PACE_MUST_CHECK;

/** Writes a message with its length before it. */
void pace_wire_send(pace_sink *sink, const pace_wire_bytes *message);
