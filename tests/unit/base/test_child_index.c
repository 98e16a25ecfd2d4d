/* Children found by name, against a search through all of them. */

#include "cmocka_of_tests.h"

#include "base/child_index.h"

enum { NODES_MOST = 5000, ASKED = 20000 };

TEST(finds_what_a_search_finds) {
    static struct { uint32_t parent, name; } nodes[NODES_MOST];
    pace_child_index index = {0};
    uint32_t count = 1, random = 1;
    (void)state;
    for (int i = 0; i < ASKED && count < NODES_MOST; i++) {
        random = random * 1664525U + 1013904223U;
        uint32_t parent = (random >> 8) % count, name = (random >> 4) % 7, found, expected = 1;
        while (expected < count && (nodes[expected].parent != parent || nodes[expected].name != name)) expected++;
        assert_int_equal(pace_child_index_find(&found, &index, parent, name, count), PACE_OK);
        assert_int_equal(found, expected);
        if (found == count) nodes[count].parent = parent, nodes[count].name = name, count++;
    }
    assert_true(count > 1000);
    pace_child_index_free(&index);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
