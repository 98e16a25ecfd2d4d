/* The documents compiled in are those of the source tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "machine/catalog.h"

TEST(compiled_as_written) {
    const char *source = getenv("PACELINE_SOURCE");
    size_t files = 0;
    for (const pace_catalog_file *file = pace_catalog_files; file->name; file++, files++) {
        char path[512];
        pace_yaml *written = NULL;
        size_t length;
        snprintf(path, sizeof path, "%s/catalog/%s", source ? source : ".", file->name);
        assert_int_equal(pace_yaml_load(&written, path), PACE_OK);
        const void *tree = pace_yaml_tree(&length, written);
        assert_true(length > 0);
        if (memcmp(file->tree, tree, length) != 0) fail_msg("%s is not as compiled in", file->name);
        pace_yaml_free(written);
    }
    assert_true(files > 50);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
