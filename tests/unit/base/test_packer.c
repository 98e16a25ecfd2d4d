/* What the writer compresses, the readers of zlib and zstd give back; a write that fails is told. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"
#include <errno.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/packer.h"

typedef struct {
    unsigned char bytes[1 << 20];
    size_t count, most;
} target;

static int put(void *context, const void *bytes, size_t length) {
    target *t = context;
    if (t->count + length > t->most) return ENOSPC;
    memcpy(t->bytes + t->count, bytes, length);
    t->count += length;
    return 0;
}

static void unpack_zstd(unsigned char *out, size_t length, const target *t) {
    assert_int_equal(ZSTD_decompress(out, length + 1, t->bytes, t->count), length);
}

static void unpack(unsigned char *out, size_t length, const target *t) {
    z_stream stream = {.next_in = (unsigned char *)t->bytes, .avail_in = (unsigned)t->count};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_out = out;
    stream.avail_out = (unsigned)length + 1;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, length);
    assert_int_equal(stream.avail_in, 0);
    inflateEnd(&stream);
}

/* Packed twice, in two pieces: the same bytes. */
static void pack(target *t, pace_pack_kind kind, const unsigned char *bytes, size_t length) {
    pace_packer *packer;
    *t = (target){.most = sizeof t->bytes};
    assert_int_equal(pace_packer_open(&packer, kind, put, t), PACE_OK);
    assert_int_equal(pace_packer_write(packer, bytes, length / 3), 0);
    assert_int_equal(pace_packer_write(packer, bytes + length / 3, length - length / 3), 0);
    assert_int_equal(pace_packer_close(packer), PACE_OK);
}

TEST(test_reads_back) {
    static const size_t lengths[] = {0, 1, 65535, 65536, 400000};
    static target first, second;
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof lengths / sizeof *lengths); i++) {
        pace_pack_kind kind = i % 2 ? PACE_PACK_ZSTD : PACE_PACK_GZIP;
        size_t length = lengths[i / 2];
        unsigned char *bytes = malloc(length + 1), *back = malloc(length + 1);
        for (size_t k = 0; k < length; k++) bytes[k] = (unsigned char)(k * k >> 7 ^ k);
        pack(&first, kind, bytes, length);
        pack(&second, kind, bytes, length);
        if (kind == PACE_PACK_ZSTD) unpack_zstd(back, length, &first);
        else unpack(back, length, &first);
        assert_memory_equal(back, bytes, length);
        assert_int_equal(first.count, second.count);
        assert_memory_equal(first.bytes, second.bytes, first.count);
        free(bytes);
        free(back);
    }
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_failures) {
    static target full;
    pace_packer *packer;
    (void)state;
    for (pace_pack_kind kind = 0; kind < PACE_PACK_KINDS; kind++) {
        full = (target){.most = 5};
        assert_int_equal(pace_packer_open(&packer, kind, put, &full), PACE_OK);
        (void)pace_packer_write(packer, "words", 5); /* is written when it is closed, or before */
        assert_int_equal(pace_packer_close(packer), PACE_E_IO);
        assert_non_null(strstr(pace_message(), strerror(ENOSPC)));
        pace_memory_fail_at(1);
        assert_int_equal(pace_packer_open(&packer, kind, put, &full), PACE_E_MEMORY);
        pace_memory_fail_at(0);
    }
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_names) {
    assert_int_equal(pace_pack_kind_of("x.json.gz"), PACE_PACK_GZIP);
    assert_int_equal(pace_pack_kind_of("x.json.zst"), PACE_PACK_ZSTD);
    assert_int_equal(pace_pack_kind_of("x.json"), PACE_PACK_KINDS);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
