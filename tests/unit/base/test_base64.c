/* The examples of RFC 4648, section 10, and all lengths around the block of the writer. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "base/base64.h"

typedef struct {
    char text[8192];
    size_t used;
} capture;

static int take(void *context, const void *bytes, size_t length) {
    capture *to = context;
    memcpy(to->text + to->used, bytes, length);
    to->used += length;
    to->text[to->used] = '\0';
    return 0;
}

static void encode(capture *out, const void *bytes, size_t length) {
    pace_sink sink;
    *out = (capture){.used = 0};
    assert_int_equal(pace_sink_open(&sink, take, out), PACE_OK);
    pace_base64_write(&sink, bytes, length);
    assert_int_equal(pace_sink_close(&sink), PACE_OK);
}

TEST(test_examples) {
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    capture out;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        encode(&out, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(out.text, pairs[i][1]);
    }
    encode(&out, "\xfb\xff\xbf", 3);
    assert_string_equal(out.text, "+/+/");
}

TEST(test_lengths) {
    static unsigned char bytes[4000];
    capture out;
    for (size_t length = 700; length < 800; length++) {
        encode(&out, bytes, length);
        assert_int_equal(out.used, (length + 2) / 3 * 4);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
