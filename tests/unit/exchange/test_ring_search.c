/* Rings over bricks: no brick is in two, every device is in each, and there are as many as published for DGX-1. */
#include "exchange/ring_search.h"
#include "catalog_of_tests.h"

#include "cmocka_of_tests.h"
#include <string.h>

static void check(const pace_rings *rings, pace_ring_links links, bool closed) {
    pace_ring_links left;
    memcpy(left, links, sizeof left);
    for (int r = 0; r < rings->count; r++) {
        unsigned seen = 0;
        for (int i = 0; i < rings->devices; i++) {
            int from = rings->order[r][i], to = rings->order[r][(i + 1) % rings->devices];
            seen |= 1u << from;
            if (!closed && i + 1 == rings->devices) continue;
            assert_true(left[from][to] > 0);
            left[from][to]--;
        }
        assert_int_equal(seen, (1u << rings->devices) - 1);
    }
}

static void bricks_of(pace_ring_links out, const char *name) {
    pace_machine machine;
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), name), PACE_OK);
    memcpy(out, machine.bricks, sizeof machine.bricks);
}

/* NCCL finds six rings on DGX-1 V100 and four on DGX-1 P100: as many as a device has bricks. A complete graph of eight
 * has seven (Tillson 1980), of four not three but two. */
TEST(test_closed) {
    static const struct {
        const char *machine;
        int devices, rings;
    } known[] = {{"dgx-1-v100", 8, 6}, {"dgx-1-p100", 8, 4},  {"mi300x-node", 8, 7}, {"dgx-1-v100", 4, 4},
                 {"dgx-1-p100", 4, 2}, {"mi300x-node", 4, 2}, {"dgx-1-v100", 2, 1},  {"dgx-1-v100", 5, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        pace_ring_links links;
        pace_rings rings;
        bricks_of(links, known[i].machine);
        pace_rings_closed(&rings, links, known[i].devices, PACE_RINGS_MOST);
        assert_int_equal(rings.count, known[i].rings);
        check(&rings, links, true);
    }
}

/* In at one device of a NIC, out at the other. */
TEST(test_open) {
    static const unsigned char first[] = {0, 2, 4, 6}, last[] = {1, 3, 5, 7};
    static const char *const machines[] = {"dgx-1-v100", "dgx-1-p100", "mi300x-node"};
    for (size_t m = 0; m < 3; m++) {
        pace_ring_links links;
        pace_rings rings;
        bricks_of(links, machines[m]);
        pace_rings_open(&rings, links, 8, first, last, 4);
        assert_int_equal(rings.count, 4);
        check(&rings, links, false);
        for (int r = 0; r < 4; r++) {
            assert_int_equal(rings.order[r][0], first[r]);
            assert_int_equal(rings.order[r][7], last[r]);
        }
    }
}

TEST(test_few) {
    pace_ring_links links = {{0}};
    pace_rings rings;
    pace_rings_closed(&rings, links, 4, PACE_RINGS_MOST);
    assert_int_equal(rings.count, 0);
    for (int i = 0; i < 4; i++) links[i][(i + 1) % 4] = 3; /* one way round */
    pace_rings_closed(&rings, links, 4, PACE_RINGS_MOST);
    assert_int_equal(rings.count, 3);
    pace_rings_closed(&rings, links, 4, 2);
    assert_int_equal(rings.count, 2);
    check(&rings, links, true);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
