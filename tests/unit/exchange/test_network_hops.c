/* Switches on the way of messages, in closed form: against the ways themselves, node by node. */
#include "exchange/network_links.h"
#include "exchange/network_share.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>

#include "cmocka_of_tests.h"

static void open_on(pace_machine *m, pace_network_links *links, const char *network, int nodes) {
    char text[80];
    uint64_t count;
    snprintf(text, sizeof text, "dgx-h100*%d net=%s", nodes, network);
    assert_int_equal(pace_machine_parse(m, test_catalog(), text), PACE_OK);
    pace_network_links_init(links, &count, m, 0);
}

/* Each node k sends to k + distance, or to k ^ distance: mean over the nodes. */
static double mean_hops(const pace_network_links *links, uint32_t nodes, uint32_t distance, bool pairs) {
    double sum = 0;
    for (uint32_t k = 0; k < nodes; k++)
        sum += pace_network_hops(links, k, 0, pairs ? k ^ distance : (k + distance) % nodes, 0);
    return sum / nodes;
}

/* Of a message a fat tree's leaf, pod and core; a rail's spine; a dragonfly's routers of both groups; a torus's nodes
 * between. */
TEST(test_ways) {
    static const struct {
        const char *network;
        uint32_t from, to, switches;
    } ways[] = {{"fat-tree:4", 0, 3, 0},    {"fat-tree:4", 0, 4, 2},    {"fat-tree:2x2", 0, 3, 2},
                {"fat-tree:2x2", 0, 4, 4},  {"rails:4", 0, 3, 0},       {"rails:4", 3, 4, 2},
                {"dragonfly:2x4", 0, 1, 0}, {"dragonfly:2x4", 0, 2, 1}, {"torus:4x4", 0, 1, 0},
                {"torus:4x4", 0, 2, 1},     {"torus:4x4", 0, 3, 0},     {"torus:4x4", 0, 10, 3},
                {"torus:16", 0, 8, 7},      {"switch", 0, 15, 0}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        pace_machine m;
        pace_network_links links;
        open_on(&m, &links, ways[i].network, 16);
        uint32_t found = pace_network_hops(&links, ways[i].from, 0, ways[i].to, 0);
        if (found != ways[i].switches)
            fail_msg("%s: from %u to %u %u, not %u", ways[i].network, ways[i].from, ways[i].to, found,
                     ways[i].switches);
    }
}

TEST(test_closed_form) {
    static const struct {
        const char *network;
        double within;
    } all[] = {{"fat-tree:4", 1e-9}, {"fat-tree:2x2", 1e-9}, {"rails:4", 1e-9},   {"dragonfly:2x2", 0.4},
               {"torus:4x4", 0.4},   {"torus:16", 1e-9},     {"torus:2x2x4", 0.4}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pace_machine m;
        pace_network_links links;
        open_on(&m, &links, all[i].network, 16);
        for (int d = 1; d < 16; d++) {
            double way = mean_hops(&links, 16, (uint32_t)d, false), form = pace_network_extra_hops(&m, 16, d, false);
            if (fabs(way - form) > all[i].within)
                fail_msg("%s: %d further %g switches, in closed form %g", all[i].network, d, way, form);
            if ((d & (d - 1)) || m.network.kind == PACE_NETWORK_TORUS) continue;
            way = mean_hops(&links, 16, (uint32_t)d, true), form = pace_network_extra_hops(&m, 16, d, true);
            if (fabs(way - form) > all[i].within)
                fail_msg("%s: pairs %d apart %g switches, in closed form %g", all[i].network, d, way, form);
        }
    }
}

/* Bytes take as much longer one way round as the other, and as much as they do when every flow is counted on its way:
 * of 16 nodes all-to-all over leaves of 4 at an eighth, (1 + 2 + 3) twice and 4 nine times, over 4/8. */
TEST(test_slowness) {
    static const char *const all[] = {"fat-tree:4:8:1", "rails:4:8:1", "dragonfly:2x2:2:1", "torus:4x4", "torus:16"};
    pace_machine m;
    pace_network_links links;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_on(&m, &links, all[i], 16);
        for (int d = 1; d < 16; d++)
            assert_true(pace_network_slowness_at(&m, 16, d) == pace_network_slowness_at(&m, 16, 16 - d));
    }
    pace_network_slowness of;
    open_on(&m, &links, "fat-tree:4:8:1", 16);
    pace_network_slowness_of(&of, &m, 16);
    assert_true(fabs(of.of_all - (2 * 6 + 9 * 4) / 0.5 / 15) < 1e-9);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
