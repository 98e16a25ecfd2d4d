/* Inputs: detection, several members and frames, padding, breaks, corruption, the bomb limit, files and pipes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"
#include <zlib.h>
#include <zstd.h>

#include "base/input.h"
#include "base/memory.h"

enum { PLAIN_BYTES = 300000, PACKED_MAX = 4 << 20 };

static unsigned char plain[PLAIN_BYTES], packed[PACKED_MAX], unpacked[2 * PLAIN_BYTES + 64];

static size_t gzip_to(unsigned char *out, const unsigned char *bytes, size_t length) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes,
                       .avail_in = (uInt)length,
                       .next_out = out,
                       .avail_out = PACKED_MAX / 2};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

static size_t zstd_to(unsigned char *out, const unsigned char *bytes, size_t length) {
    size_t n = ZSTD_compress(out, PACKED_MAX / 2, bytes, length, 3);
    assert_false(ZSTD_isError(n));
    return n;
}

static int fill_plain(void **state) {
    (void)state;
    uint32_t seed = 7;
    for (size_t i = 0; i < PLAIN_BYTES; i++) {
        seed = seed * 1664525 + 1013904223;
        plain[i] = (unsigned char)("abcdefgh0123[]{}"[seed >> 28]);
    }
    return 0;
}

/* Reads to the end or the fault in pieces of `step`. */
static pace_status read_all(pace_input *input, size_t step, size_t *length) {
    *length = 0;
    for (;;) {
        size_t got;
        size_t room = sizeof unpacked - *length;
        pace_status status = pace_input_read(input, unpacked + *length, step < room ? step : room, &got);
        if (status != PACE_OK) {
            assert_int_equal(got, 0);
            return status;
        }
        if (got == 0) return PACE_OK;
        *length += got;
    }
}

static pace_status read_memory(const void *bytes, size_t size, size_t step, size_t *length) {
    pace_input *input;
    assert_int_equal(pace_input_open_memory(&input, "blob", bytes, size), PACE_OK);
    assert_int_equal(pace_input_stored_size(input), size);
    pace_status status = read_all(input, step, length);
    if (status == PACE_OK) assert_int_equal(pace_input_stored_bytes(input), size);
    if (status != PACE_OK) {
        size_t got;
        assert_int_equal(pace_input_read(input, unpacked + *length, 1, &got), status); /* repeats */
    }
    pace_input_free(input);
    assert_int_equal(pace_memory_live(), 0);
    return status;
}

TEST(test_plain) {
    size_t length;
    assert_int_equal(read_memory(plain, PLAIN_BYTES, 1000, &length), PACE_OK);
    assert_int_equal(length, PLAIN_BYTES);
    assert_memory_equal(unpacked, plain, length);
    assert_int_equal(read_memory("", 0, 1000, &length), PACE_OK);
    assert_int_equal(length, 0);
    assert_int_equal(read_memory("\x1f", 1, 1000, &length), PACE_OK);
    assert_int_equal(length, 1);
}

TEST(test_packed) {
    static const size_t steps[] = {7, 4096, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        size_t length, first = gzip_to(packed, plain, PLAIN_BYTES);
        size_t second = gzip_to(packed + first, plain, 100);
        assert_int_equal(read_memory(packed, first + second, steps[i], &length), PACE_OK);
        assert_int_equal(length, PLAIN_BYTES + 100);
        assert_memory_equal(unpacked, plain, PLAIN_BYTES);
        assert_memory_equal(unpacked + PLAIN_BYTES, plain, 100);
        first = zstd_to(packed, plain, PLAIN_BYTES);
        memcpy(packed + first, "\x50\x2a\x4d\x18\x02\0\0\0xx", 10); /* a skippable frame */
        second = zstd_to(packed + first + 10, plain, 100);
        assert_int_equal(read_memory(packed, first + 10 + second, steps[i], &length), PACE_OK);
        assert_int_equal(length, PLAIN_BYTES + 100);
        assert_memory_equal(unpacked, plain, PLAIN_BYTES);
    }
}

TEST(test_empty_members) {
    size_t length, n = gzip_to(packed, plain, 0);
    assert_int_equal(read_memory(packed, n, 100, &length), PACE_OK);
    assert_int_equal(length, 0);
    n = zstd_to(packed, plain, 0);
    assert_int_equal(read_memory(packed, n, 100, &length), PACE_OK);
    assert_int_equal(length, 0);
}

TEST(test_behind_gzip) {
    size_t length, n = gzip_to(packed, plain, 1000);
    memset(packed + n, 0, 512);
    assert_int_equal(read_memory(packed, n + 512, 4096, &length), PACE_OK);
    assert_int_equal(length, 1000);
    packed[n + 100] = 'x';
    assert_int_equal(read_memory(packed, n + 512, 4096, &length), PACE_E_INPUT);
    assert_int_equal(length, 1000);
    char expected[128];
    snprintf(expected, sizeof expected, "blob: byte %zu of the compressed file: expected the end", n + 100);
    assert_non_null(strstr(pace_message(), expected));
}

TEST(test_breaks) {
    size_t length, n = gzip_to(packed, plain, PLAIN_BYTES);
    for (size_t cut = 2; cut < n; cut += cut < 40 || cut + 1017 > n ? 1 : 997) {
        assert_int_equal(read_memory(packed, cut, 1 << 20, &length), PACE_E_INPUT);
        assert_memory_equal(unpacked, plain, length);
        assert_non_null(strstr(pace_message(), "the gzip stream breaks off"));
    }
    assert_int_equal(length, PLAIN_BYTES); /* only the trailer was missing */
    n = zstd_to(packed, plain, PLAIN_BYTES);
    for (size_t cut = 4; cut < n; cut += cut < 40 ? 1 : 997) {
        assert_int_equal(read_memory(packed, cut, 1 << 20, &length), PACE_E_INPUT);
        assert_memory_equal(unpacked, plain, length);
        assert_non_null(strstr(pace_message(), "the zstd stream breaks off"));
    }
}

TEST(test_corruption) {
    size_t length, n = gzip_to(packed, plain, PLAIN_BYTES);
    packed[n - 8] ^= 1; /* the checksum */
    assert_int_equal(read_memory(packed, n, 1 << 20, &length), PACE_E_INPUT);
    assert_int_equal(length, PLAIN_BYTES);
    assert_non_null(strstr(pace_message(), "the gzip stream is corrupt"));
    for (size_t at = 2; at < n; at += 1009) { /* whatever the flip does, it must be safe */
        n = gzip_to(packed, plain, PLAIN_BYTES);
        packed[at] ^= 0x55;
        (void)!read_memory(packed, n, 4096, &length);
    }
}

/* Reads all of `packed`; returns how it ends. */
static pace_status read_bomb(uint64_t *total, size_t n, unsigned char *buffer) {
    pace_input *input;
    size_t got = 1;
    pace_status status = pace_input_open_memory(&input, "bomb", packed, n);
    for (*total = 0; status == PACE_OK && got > 0; *total += got)
        status = pace_input_read(input, buffer, 1 << 20, &got);
    pace_input_free(input);
    return status;
}

/* Ten members of zeros, of 128 MiB each: gzip writes them in a 1030th of their size, zstd in much less. */
TEST(test_bomb) {
    enum { PART = 1 << 27 };
    const uint64_t gib = (uint64_t)1 << 30, slack = 4 << 20;
    unsigned char *zeros = pace_alloc(PART, 1);
    for (int gzip = 0; gzip < 2; gzip++) {
        size_t part = gzip ? gzip_to(packed, zeros, PART) : zstd_to(packed, zeros, PART), n = part;
        for (int i = 1; i < 10; i++, n += part) memcpy(packed + n, packed, part);
        uint64_t total;
        assert_int_equal(read_bomb(&total, n, zeros), PACE_E_LIMIT);
        assert_non_null(strstr(pace_message(), "expands more than 200 times"));
        assert_true(total > gib && total < gib + slack);
        pace_input_set_limit(slack);
        assert_int_equal(read_bomb(&total, n, zeros), PACE_E_LIMIT);
        assert_non_null(strstr(pace_message(), "expected at most 4194304 bytes of content"));
        assert_true(total <= 2 * slack);
        pace_input_set_limit(PART);
        assert_int_equal(read_bomb(&total, part, zeros), PACE_OK);
        assert_int_equal(total, PART);
        pace_input_set_limit(0);
    }
    pace_free(zeros);
}

static void write_file(char *path, const void *bytes, size_t length) {
    strcpy(path, "/tmp/paceline-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

TEST(test_files) {
    char path[64];
    size_t length, n = gzip_to(packed, plain, PLAIN_BYTES);
    for (int gzip = 0; gzip < 2; gzip++) {
        write_file(path, gzip ? packed : plain, gzip ? n : PLAIN_BYTES);
        pace_input *input;
        assert_int_equal(pace_input_open(&input, path), PACE_OK);
        assert_string_equal(pace_input_name(input), path);
        assert_int_equal(pace_input_stored_size(input), gzip ? n : PLAIN_BYTES);
        assert_int_equal(read_all(input, 10000, &length), PACE_OK);
        assert_int_equal(length, PLAIN_BYTES);
        assert_memory_equal(unpacked, plain, length);
        assert_int_equal(pace_input_stored_bytes(input), pace_input_stored_size(input));
        pace_input_free(input);
        unlink(path);
    }
    assert_int_equal(pace_memory_live(), 0);
}

TEST(test_open_faults) {
    pace_input *input = NULL;
    assert_int_equal(pace_input_open(&input, "/nonexistent/file"), PACE_E_IO);
    assert_string_equal(pace_message(), "/nonexistent/file: No such file or directory");
    assert_int_equal(pace_input_open(&input, "/tmp"), PACE_E_IO);
    assert_string_equal(pace_message(), "/tmp: Is a directory");
    for (uint64_t n = 1; n <= 3; n++) {
        pace_memory_fail_at(n);
        assert_int_equal(pace_input_open(&input, "/dev/null"), PACE_E_MEMORY);
        pace_memory_fail_at(0);
    }
    assert_null(input);
    assert_int_equal(pace_memory_live(), 0);
}

/* A pipe that delivers single bytes at first is recognised all the same. */
TEST(test_standard_input) {
    size_t length, n = gzip_to(packed, plain, 3000);
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], packed, 1), 1);
    assert_int_equal(write(ends[1], packed + 1, n - 1), n - 1);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    pace_input *input;
    assert_int_equal(pace_input_open(&input, "-"), PACE_OK);
    assert_string_equal(pace_input_name(input), "<stdin>");
    assert_int_equal(pace_input_stored_size(input), 0);
    assert_int_equal(read_all(input, 4096, &length), PACE_OK);
    assert_int_equal(length, 3000);
    pace_input_free(input);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

/* A buffer for a small input is small; for one of unknown or large size it is what was asked for. */
TEST(test_room) {
    static const struct {
        size_t size, most, room;
    } of[] = {{0, 1 << 17, 4096},    {100, 1 << 17, 4096}, {4096, 1 << 17, 4097},
              {5000, 1 << 17, 5001}, {5000, 5000, 5000},   {8000, 5000, 5000}};
    pace_input *input;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        assert_int_equal(pace_input_open_memory(&input, "blob", plain, of[i].size), PACE_OK);
        assert_int_equal(pace_input_room(input, of[i].most), of[i].room);
        pace_input_free(input);
    }
    assert_int_equal(pace_input_open(&input, "/proc/self/status"), PACE_OK); /* whose size the system does not say */
    assert_int_equal(pace_input_room(input, 1 << 17), 1 << 17);
    pace_input_free(input);
}

int main(void) { return run_tests_of_file(fill_plain, NULL); }
