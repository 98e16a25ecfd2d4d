/* Max-min fair rates: on random links the conditions that define them (Bertsekas, Gallager §6.5.2: a feasible vector is
 * max-min fair exactly when every flow has a bottleneck), and cases worked by hand. */
#include "exchange/rates.h"

#include <math.h>

#include "cmocka_of_tests.h"

#define OK(expression) assert_int_equal((expression), PACE_OK)

enum { LINKS = 24, FLOWS = 60, HOPS = 6 };

static uint64_t seed;

static double uniform(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

typedef struct {
    double capacity[LINKS];
    pace_hop hops[FLOWS][HOPS];
    pace_flow flows[FLOWS];
    double rate[FLOWS];
    uint32_t links, count;
} network;

static void draw(network *n, bool weighted, bool limited) {
    n->links = 1 + (uint32_t)(uniform() * LINKS);
    n->count = 1 + (uint32_t)(uniform() * FLOWS);
    if (n->links > LINKS) n->links = LINKS;
    for (uint32_t l = 0; l < n->links; l++) n->capacity[l] = uniform() < 0.3 ? 10 : 1 + 99 * uniform();
    for (uint32_t f = 0; f < n->count; f++) {
        bool used[LINKS] = {false};
        uint32_t hops = 0;
        for (int h = 0; h < HOPS; h++) {
            uint32_t link = (uint32_t)(uniform() * n->links);
            if (used[link] || (h > 0 && uniform() < 0.4)) continue;
            used[link] = true;
            n->hops[f][hops++] = (pace_hop){link, weighted ? 0.25 + uniform() : 1};
        }
        n->flows[f] = (pace_flow){n->hops[f], hops, limited && uniform() < 0.5 ? 5 * uniform() + 0.01 : INFINITY};
    }
}

static double used_of(const network *n, uint32_t link) {
    double used = 0;
    for (uint32_t f = 0; f < n->count; f++)
        for (uint32_t h = 0; h < n->flows[f].hop_count; h++)
            if (n->hops[f][h].link == link) used += n->rate[f] * n->hops[f][h].times;
    return used;
}

static double most_on(const network *n, uint32_t link) {
    double most = 0;
    for (uint32_t f = 0; f < n->count; f++)
        for (uint32_t h = 0; h < n->flows[f].hop_count; h++)
            if (n->hops[f][h].link == link && n->rate[f] > most) most = n->rate[f];
    return most;
}

static void assert_max_min(const network *n) {
    const double eps = 1e-9;
    for (uint32_t l = 0; l < n->links; l++) assert_true(used_of(n, l) <= n->capacity[l] * (1 + eps));
    for (uint32_t f = 0; f < n->count; f++) {
        assert_true(n->rate[f] > 0 && n->rate[f] <= n->flows[f].limit_bytes_per_s);
        bool bottleneck = n->rate[f] == n->flows[f].limit_bytes_per_s;
        for (uint32_t h = 0; h < n->flows[f].hop_count && !bottleneck; h++) {
            uint32_t link = n->hops[f][h].link;
            bool full = used_of(n, link) >= n->capacity[link] * (1 - eps);
            bottleneck = full && n->rate[f] >= most_on(n, link) * (1 - eps);
        }
        assert_true(bottleneck);
    }
}

TEST(every_flow_has_a_bottleneck_and_no_link_too_much) {
    for (int i = 0; i < 1500; i++) {
        network n;
        pace_rates rates;
        seed = (uint64_t)i + 1;
        draw(&n, i & 1, i & 2);
        OK(pace_rates_init(&rates, n.capacity, n.links));
        OK(pace_rates_solve(n.rate, &rates, n.flows, n.count));
        assert_max_min(&n);
        /* scratch is clean: fewer flows later, and the same again */
        OK(pace_rates_solve(n.rate, &rates, n.flows, n.count / 2));
        double first = n.rate[0];
        n.count = n.count / 2;
        assert_max_min(&n);
        if (n.count) {
            OK(pace_rates_solve(n.rate, &rates, n.flows, n.count));
            assert_true(first == n.rate[0]);
        }
        pace_rates_free(&rates);
    }
}

/* Bertsekas, Gallager, figure 6.10: a long flow and others over links of capacity 1 each. */
TEST(worked_by_hand) {
    const double capacity[3] = {1, 1, 1};
    const pace_hop hops[] = {{0, 1}, {1, 1}, {2, 1}};
    const pace_flow flows[] = {{hops, 3, INFINITY},
                               {hops, 1, INFINITY},
                               {hops + 1, 1, INFINITY},
                               {hops + 1, 1, INFINITY},
                               {hops + 2, 1, 0.25}};
    double rate[5];
    pace_rates rates;
    OK(pace_rates_init(&rates, capacity, 3));
    OK(pace_rates_solve(rate, &rates, flows, 5));
    const double expected[] = {1 / 3.0, 2 / 3.0, 1 / 3.0, 1 / 3.0, 0.25};
    for (int i = 0; i < 5; i++) assert_true(fabs(rate[i] - expected[i]) < 1e-15);
    pace_rates_free(&rates);
}

TEST(a_link_without_bandwidth_is_refused) {
    const double bad[] = {1, 0}, negative[] = {-3};
    pace_rates rates;
    assert_int_equal(pace_rates_init(&rates, bad, 2), PACE_E_INPUT);
    pace_rates_free(&rates);
    assert_int_equal(pace_rates_init(&rates, negative, 1), PACE_E_INPUT);
    pace_rates_free(&rates);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
