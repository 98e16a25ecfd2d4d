#include "store_wire.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <string.h>

grpc_byte_buffer *pace_wire_message(const void *head, size_t head_bytes, const void *data, size_t data_bytes) {
    grpc_slice slices[2] = {grpc_slice_from_copied_buffer(head, head_bytes),
                            data_bytes ? grpc_slice_from_static_buffer(data, data_bytes) : grpc_empty_slice()};
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(slices, data_bytes ? 2 : 1);
    grpc_slice_unref(slices[0]);
    grpc_slice_unref(slices[1]);
    return message;
}

/* Bytes [from, from + length) of the message, which a slice is a part of, into one of the two places. */
static void put(char *head, size_t head_bytes, char *data, size_t data_bytes, size_t from, const char *bytes,
                size_t length) {
    if (from < head_bytes) {
        size_t most = head_bytes - from, part = length < most ? length : most;
        memcpy(head + from, bytes, part);
        bytes += part, from += part, length -= part;
    }
    if (data && length && from - head_bytes + length <= data_bytes) memcpy(data + (from - head_bytes), bytes, length);
}

bool pace_wire_read(grpc_byte_buffer *message, void *head, size_t head_bytes, void *data, size_t data_bytes) {
    grpc_byte_buffer_reader reader;
    grpc_slice slice;
    size_t from = 0;
    if (!message || grpc_byte_buffer_length(message) != head_bytes + data_bytes) return false;
    if (!grpc_byte_buffer_reader_init(&reader, message)) return false;
    while (grpc_byte_buffer_reader_next(&reader, &slice)) {
        put(head, head_bytes, data, data_bytes, from, (const char *)GRPC_SLICE_START_PTR(slice),
            GRPC_SLICE_LENGTH(slice));
        from += GRPC_SLICE_LENGTH(slice);
        grpc_slice_unref(slice);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    return from == head_bytes + data_bytes;
}

bool pace_wire_peek(grpc_byte_buffer *message, void *head, size_t head_bytes) {
    grpc_byte_buffer_reader reader;
    grpc_slice slice;
    size_t from = 0;
    if (!message || grpc_byte_buffer_length(message) < head_bytes) return false;
    if (!grpc_byte_buffer_reader_init(&reader, message)) return false;
    while (from < head_bytes && grpc_byte_buffer_reader_next(&reader, &slice)) {
        put(head, head_bytes, NULL, 0, from, (const char *)GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
        from += GRPC_SLICE_LENGTH(slice);
        grpc_slice_unref(slice);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    return true;
}

gpr_timespec pace_wire_in(double seconds) {
    if (seconds <= 0) return gpr_inf_past(GPR_CLOCK_MONOTONIC); /* gRPC waits for 1 ms until "now" */
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos((int64_t)(seconds * 1e9), GPR_TIMESPAN));
}
