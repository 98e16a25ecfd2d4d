#include "base/base64.h"

static void encode(char out[4], const unsigned char *in, size_t length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = (unsigned)in[0] << 16 | (length > 1 ? (unsigned)in[1] << 8 : 0) | (length > 2 ? in[2] : 0U);
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 63];
    out[2] = '=';
    out[3] = '=';
    if (length > 1) out[2] = digits[bits >> 6 & 63];
    if (length > 2) out[3] = digits[bits & 63];
}

void pace_base64_write(pace_sink *sink, const void *bytes, size_t length) {
    const unsigned char *in = bytes;
    char out[1024];
    size_t used = 0;
    for (size_t at = 0; at < length; at += 3) {
        encode(out + used, in + at, length - at < 3 ? length - at : 3);
        used += 4;
        if (used < sizeof out) continue;
        pace_sink_bytes(sink, out, used);
        used = 0;
    }
    pace_sink_bytes(sink, out, used);
}
