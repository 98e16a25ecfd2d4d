/* Tokens whose router keeps them to few nodes, against what DeepSeek-V3's report says (arXiv 2412.19437, sections
 * 2.1.2, 3.2.2). */
#include "exchange/token_routes.h"

#include <math.h>

#include "cmocka_of_tests.h"

static pace_catalog *catalog;

static double time_s(const pace_exchange *exchange, int64_t ranks, double token_bytes, double nodes, double copies) {
    pace_group_place place;
    pace_estimate out;
    const pace_token_routes routes = {nodes, copies};
    assert_int_equal(pace_group_place_find(&place, &exchange->machine, 0, ranks, 1), PACE_OK);
    pace_exchange_question question = {.collective = PACE_ALLTOALL,
                                       .bytes = token_bytes * copies,
                                       .ranks_per_node = place.ranks_per_node,
                                       .nodes = place.nodes,
                                       .algorithm = PACE_ANY,
                                       .protocol = PACE_ANY};
    assert_int_equal(pace_token_exchange_time(&out, exchange, &question, &place, &routes), PACE_OK);
    return out.median;
}

static void open_machine(pace_exchange *out, const char *name) {
    pace_machine machine;
    assert_int_equal(pace_machine_parse(&machine, catalog, name), PACE_OK);
    assert_int_equal(pace_exchange_open(out, catalog, &machine, PACE_LIBRARY_TEXTBOOK, NULL), PACE_OK);
}

/* Eight experts on at most four nodes: a token crosses four times instead of eight. Thirteen cost as much, as long as
 * nodes are joined that much better inside than to each other (160 to 50 GB/s there; a DGX H100 more so). */
TEST(test_limit) {
    pace_exchange exchange;
    const double bytes = 64e6;
    open_machine(&exchange, "dgx-h100*8");
    double routed = time_s(&exchange, 64, bytes, 4, 8), any = time_s(&exchange, 64, bytes, 0, 8);
    assert_true(any / routed > 2 && any / routed < 2.3); /* what stays inside hides, too */
    assert_true(fabs(time_s(&exchange, 64, bytes, 4, 13) / routed - 1) < 1e-12);
    assert_true(time_s(&exchange, 64, bytes, 0, 13) > 1.5 * any);
}

/* Behind that the links inside are the slower ones: from some three experts a node on where these are 3.2 times as
 * fast. */
TEST(test_inside) {
    pace_exchange exchange;
    const double bytes = 64e6;
    open_machine(&exchange, "dgx-h100*8");
    double before = time_s(&exchange, 64, bytes, 4, 8), far = exchange.machine.between.bytes_per_s;
    exchange.machine.inside.bytes_per_s = exchange.machine.brick_bytes_per_s = 3.2 * far;
    assert_true(fabs(time_s(&exchange, 64, bytes, 4, 11) / before - 1) < 1e-12);
    assert_true(time_s(&exchange, 64, bytes, 4, 16) > 1.1 * before);
}

/* Inside a node nothing is routed; of one expert each token goes to one node. */
TEST(test_plain) {
    pace_exchange exchange;
    open_machine(&exchange, "dgx-h100*8");
    assert_true(time_s(&exchange, 8, 1e6, 4, 8) == time_s(&exchange, 8, 1e6, 0, 8));
    assert_true(fabs(pace_token_nodes(&(pace_token_routes){4, 1}, 8) - 1) < 1e-12);
    assert_true(pace_token_nodes(&(pace_token_routes){4, 8}, 8) == 4);
    assert_true(fabs(pace_token_nodes(&(pace_token_routes){8, 2}, 2) - 1.5) < 1e-12);
}

static int open_catalog(void **state) {
    (void)state;
    return pace_catalog_open(&catalog) == PACE_OK ? 0 : -1;
}

static int close_catalog(void **state) {
    (void)state;
    pace_catalog_free(catalog);
    return 0;
}

int main(void) { return run_tests_of_file(open_catalog, close_catalog); }
