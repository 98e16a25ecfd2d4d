#include "base/gzip_writer.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

enum { OUT_BYTES = 64 << 10, GZIP_WINDOW = 15 + 16 };

#define PIECE_MAX ((size_t)1 << 30) /* zlib counts in unsigned int */

struct pace_gzip {
    z_stream stream;
    pace_write_fn write;
    void *context;
    int error; /* errno of the first failed write */
    unsigned char out[OUT_BYTES];
};

pace_status pace_gzip_open(pace_gzip **out, pace_write_fn write, void *context) {
    pace_gzip *gzip = pace_alloc(1, sizeof *gzip);
    if (!gzip) return PACE_E_MEMORY;
    gzip->write = write;
    gzip->context = context;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        pace_free(gzip);
        return pace_fail(PACE_E_MEMORY, "out of memory");
    }
    *out = gzip;
    return PACE_OK;
}

/* Compresses what is in the stream; false when there is nothing more to do. */
static bool turn(pace_gzip *gzip, int flush) {
    gzip->stream.next_out = gzip->out;
    gzip->stream.avail_out = OUT_BYTES;
    int result = deflate(&gzip->stream, flush);
    size_t made = OUT_BYTES - gzip->stream.avail_out;
    if (!gzip->error && made > 0) gzip->error = gzip->write(gzip->context, gzip->out, made);
    return !gzip->error && result == Z_OK && (gzip->stream.avail_out == 0 || flush == Z_FINISH);
}

int pace_gzip_write(void *context, const void *bytes, size_t length) {
    pace_gzip *gzip = context;
    unsigned char *at = (unsigned char *)bytes; /* zlib's older headers know no const */
    while (!gzip->error && length > 0) {
        size_t piece = length < PIECE_MAX ? length : PIECE_MAX;
        gzip->stream.next_in = at;
        gzip->stream.avail_in = (unsigned)piece;
        while (turn(gzip, Z_NO_FLUSH)) {}
        at += piece;
        length -= piece;
    }
    return gzip->error;
}

pace_status pace_gzip_close(pace_gzip *gzip) {
    while (turn(gzip, Z_FINISH)) {}
    int error = gzip->error;
    pace_gzip_drop(gzip);
    return error ? pace_fail(PACE_E_IO, "compressed bytes cannot be written: %s", strerror(error)) : PACE_OK;
}

void pace_gzip_drop(pace_gzip *gzip) {
    if (!gzip) return;
    deflateEnd(&gzip->stream);
    pace_free(gzip);
}
