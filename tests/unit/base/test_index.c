/* Numbers found by keys, against a search through all of them. */

#include "cmocka_of_tests.h"

#include "base/index.h"

enum { NODES_MOST = 5000, ASKED = 20000 };

TEST(finds_what_a_search_finds) {
    static struct { uint32_t parent, name; } nodes[NODES_MOST];
    pace_index index = {0};
    uint32_t count = 1, random = 1;
    (void)state;
    for (int i = 0; i < ASKED && count < NODES_MOST; i++) {
        random = random * 1664525U + 1013904223U;
        uint32_t parent = (random >> 8) % count, name = (random >> 4) % 7, found, expected = 1;
        while (expected < count && (nodes[expected].parent != parent || nodes[expected].name != name)) expected++;
        assert_int_equal(pace_index_find(&found, &index, PACE_KEY_OF(parent, name), count), PACE_OK);
        assert_int_equal(found, expected);
        if (found == count) nodes[count].parent = parent, nodes[count].name = name, count++;
    }
    assert_true(count > 1000);
    for (uint32_t i = 1; i < count; i++)
        assert_int_equal(pace_index_get(&index, PACE_KEY_OF(nodes[i].parent, nodes[i].name)), i);
    pace_index_free(&index);
}

TEST(gives_a_key_another_number) {
    pace_index index = {0};
    (void)state;
    assert_int_equal(pace_index_get(&index, 0), PACE_NO_NUMBER);
    for (uint32_t i = 0; i < ASKED; i++) assert_int_equal(pace_index_set(&index, i % NODES_MOST, i), PACE_OK);
    for (uint32_t i = 0; i < NODES_MOST; i++) assert_int_equal(pace_index_get(&index, i), ASKED - NODES_MOST + i);
    assert_int_equal(pace_index_get(&index, NODES_MOST), PACE_NO_NUMBER);
    assert_int_equal(index.count, NODES_MOST);
    pace_index_free(&index);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
