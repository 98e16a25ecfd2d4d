#include "base/packer.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { OUT_BYTES = 64 << 10, GZIP_WINDOW = 15 + 16 };

#define PIECE_MAX ((size_t)1 << 30) /* zlib counts in unsigned int */

struct pace_packer {
    z_stream gzip;
    ZSTD_CStream *zstd; /* NULL = gzip */
    pace_write_fn write;
    void *context;
    int error; /* errno of the first failed write */
    unsigned char out[OUT_BYTES];
};

pace_pack_kind pace_pack_kind_of(const char *path) {
    return pace_has_suffix(path, ".gz")    ? PACE_PACK_GZIP
           : pace_has_suffix(path, ".zst") ? PACE_PACK_ZSTD
                                           : PACE_PACK_KINDS;
}

static bool start(pace_packer *packer, pace_pack_kind kind) {
    if (kind == PACE_PACK_ZSTD) return (packer->zstd = ZSTD_createCStream()) != NULL;
    return deflateInit2(&packer->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

pace_status pace_packer_open(pace_packer **out, pace_pack_kind kind, pace_write_fn write, void *context) {
    pace_packer *packer = pace_alloc(1, sizeof *packer);
    if (!packer) return PACE_E_MEMORY;
    packer->write = write;
    packer->context = context;
    if (!start(packer, kind)) {
        pace_free(packer);
        return pace_fail(PACE_E_MEMORY, "out of memory");
    }
    *out = packer;
    return PACE_OK;
}

static void put(pace_packer *packer, size_t made) {
    if (!packer->error && made > 0) packer->error = packer->write(packer->context, packer->out, made);
}

/* Compresses what is in the stream; false when there is nothing more to do. */
static bool turn_gzip(pace_packer *packer, int flush) {
    packer->gzip.next_out = packer->out;
    packer->gzip.avail_out = OUT_BYTES;
    int result = deflate(&packer->gzip, flush);
    put(packer, OUT_BYTES - packer->gzip.avail_out);
    return !packer->error && result == Z_OK && (packer->gzip.avail_out == 0 || flush == Z_FINISH);
}

static bool turn_zstd(pace_packer *packer, ZSTD_inBuffer *in, ZSTD_EndDirective directive) {
    ZSTD_outBuffer out = {packer->out, OUT_BYTES, 0};
    size_t left = ZSTD_compressStream2(packer->zstd, &out, in, directive);
    if (ZSTD_isError(left) && !packer->error) packer->error = ENOMEM; /* all that can fail */
    put(packer, out.pos);
    return !packer->error && (directive == ZSTD_e_end ? left > 0 : in->pos < in->size);
}

static void write_gzip(pace_packer *packer, const void *bytes, size_t length) {
    unsigned char *at = (unsigned char *)bytes; /* zlib's older headers know no const */
    while (!packer->error && length > 0) {
        size_t piece = length < PIECE_MAX ? length : PIECE_MAX;
        packer->gzip.next_in = at;
        packer->gzip.avail_in = (unsigned)piece;
        while (turn_gzip(packer, Z_NO_FLUSH)) {}
        at += piece;
        length -= piece;
    }
}

int pace_packer_write(void *context, const void *bytes, size_t length) {
    pace_packer *packer = context;
    ZSTD_inBuffer in = {bytes, length, 0};
    if (!packer->zstd) write_gzip(packer, bytes, length);
    else
        while (!packer->error && turn_zstd(packer, &in, ZSTD_e_continue)) {}
    return packer->error;
}

pace_status pace_packer_close(pace_packer *packer) {
    ZSTD_inBuffer none = {"", 0, 0};
    if (packer->zstd)
        while (!packer->error && turn_zstd(packer, &none, ZSTD_e_end)) {}
    else
        while (turn_gzip(packer, Z_FINISH)) {}
    int error = packer->error;
    pace_packer_drop(packer);
    return error ? pace_fail(PACE_E_IO, "compressed bytes cannot be written: %s", strerror(error)) : PACE_OK;
}

void pace_packer_drop(pace_packer *packer) {
    if (!packer) return;
    if (packer->zstd) ZSTD_freeCStream(packer->zstd);
    else deflateEnd(&packer->gzip);
    pace_free(packer);
}
