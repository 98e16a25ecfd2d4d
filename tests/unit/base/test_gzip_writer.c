/* What the writer compresses, zlib's own reader gives back; a write that fails is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <zlib.h>

#include "base/gzip_writer.h"
#include "base/memory.h"

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

static void test_reads_back(void **state) {
    static const size_t lengths[] = {0, 1, 65535, 65536, 400000};
    static target first, second;
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char *bytes = malloc(lengths[i] + 1), *back = malloc(lengths[i] + 1);
        for (size_t k = 0; k < lengths[i]; k++) bytes[k] = (unsigned char)(k * k >> 7 ^ k);
        first = second = (target){.most = sizeof first.bytes};
        for (target *t = &first; t; t = t == &first ? &second : NULL) {
            pace_gzip *gzip;
            assert_int_equal(pace_gzip_open(&gzip, put, t), PACE_OK);
            assert_int_equal(pace_gzip_write(gzip, bytes, lengths[i] / 3), 0);
            assert_int_equal(pace_gzip_write(gzip, bytes + lengths[i] / 3, lengths[i] - lengths[i] / 3), 0);
            assert_int_equal(pace_gzip_close(gzip), PACE_OK);
        }
        unpack(back, lengths[i], &first);
        assert_memory_equal(back, bytes, lengths[i]);
        assert_int_equal(first.count, second.count);
        assert_memory_equal(first.bytes, second.bytes, first.count);
        free(bytes);
        free(back);
    }
    assert_int_equal(pace_memory_live(), 0);
}

static void test_failures(void **state) {
    static target full;
    pace_gzip *gzip;
    (void)state;
    full = (target){.most = 5};
    assert_int_equal(pace_gzip_open(&gzip, put, &full), PACE_OK);
    (void)pace_gzip_write(gzip, "words", 5); /* is written when it is closed, or before */
    assert_int_equal(pace_gzip_close(gzip), PACE_E_IO);
    assert_non_null(strstr(pace_message(), strerror(ENOSPC)));
    pace_memory_fail_at(1);
    assert_int_equal(pace_gzip_open(&gzip, put, &full), PACE_E_MEMORY);
    pace_memory_fail_at(0);
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads_back), cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
