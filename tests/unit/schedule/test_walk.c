/* The walk against clocks moved by hand: one host thread, several streams, waits, synchronisations, several ranks. */
#include "schedule/walk.h"

#include <string.h>

#include "cmocka_of_tests.h"

enum { T1 = 3000, T2 = 5000, T3 = 2000, T4 = 4000, T5 = 1000, LAG = 6000, BETWEEN = 1500, MOST = 400 };

static pace_host_costs costs;

static int make_costs(void **state) {
    (void)state;
    const double ns[PACE_OVERHEAD_TYPES] = {T1, T2, T3, T4, T5};
    if (pace_host_costs_init(&costs) != PACE_OK) return -1;
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (pace_host_costs_add(&costs, (pace_overhead_type)type, "x", (pace_host_cost){ns[type], 0, 1}) != PACE_OK)
            return -1;
    return 0;
}

static int free_costs(void **state) {
    (void)state;
    pace_host_costs_free(&costs);
    return 0;
}

static pace_walk_options options_for(unsigned repeats) {
    return (pace_walk_options){.scale = {1, 1, 1, 1, 1}, .repeats = repeats};
}

static pace_walk_rank rank_of(const pace_graph *graph, const double *launch_ns) {
    return (pace_walk_rank){
        .graph = graph, .launch_ns = launch_ns, .costs = &costs, .launch_lag_ns = LAG, .between_ns = BETWEEN};
}

static void walk(pace_step *out, const pace_graph *graph, const double *launch_ns, const pace_walk_options *options) {
    pace_walk_rank rank = rank_of(graph, launch_ns);
    if (pace_walk(out, &rank, 1, options) != PACE_OK) fail_msg("%s", pace_message());
}

static uint32_t node(pace_graph *graph, const char *name, uint32_t parent, uint32_t thread) {
    uint32_t out;
    assert_int_equal(pace_graph_add_node(&out, graph, PACE_TASK_OP, name, parent, thread), PACE_OK);
    return out;
}

static uint32_t launch(pace_graph *graph, uint32_t by, uint32_t stream) {
    uint32_t out;
    assert_int_equal(pace_graph_add_launch(&out, graph, by, PACE_TASK_KERNEL, NULL, stream), PACE_OK);
    return out;
}

/* End of the last device task and of the last host task. */
static void ends(const pace_step *step, int64_t *device_ns, int64_t *host_ns) {
    *device_ns = *host_ns = 0;
    for (uint32_t i = 0; i < step->count; i++) {
        int64_t *end = step->lanes.items[pace_task_lane(step, i)].device ? device_ns : host_ns;
        if (pace_step_end_ns(step, i) > *end) *end = pace_step_end_ns(step, i);
    }
}

/* Launches cost T1 + T2 + T4 + T3 each when kernels are short; long kernels follow each other with the gap between. */
TEST(bound_by_host_or_device) {
    enum { OPS = 50 };
    for (int device_bound = 0; device_bound < 2; device_bound++) {
        pace_graph graph;
        double ns[OPS];
        pace_step step;
        int64_t device, host, kernel = device_bound ? 100000 : 10;
        assert_int_equal(pace_graph_init(&graph), PACE_OK);
        for (int i = 0; i < OPS; i++) {
            launch(&graph, node(&graph, "op", PACE_NO_NODE, 0), 0);
            ns[i] = (double)kernel;
        }
        pace_walk_options options = options_for(1);
        walk(&step, &graph, ns, &options);
        assert_int_equal(pace_step_check(&step), PACE_OK);
        ends(&step, &device, &host);
        assert_int_equal(host, OPS * (T1 + T2 + T4 + T3));
        if (device_bound) assert_int_equal(device, T1 + T2 + LAG + OPS * kernel + (OPS - 1) * BETWEEN);
        else assert_int_equal(device, host - T3 - T4 + LAG + kernel);
        assert_int_equal(step.linked_kernels, OPS);
        pace_step_free(&step);
        pace_graph_free(&graph);
    }
}

/* A queue of four takes the fifth launch when the first has ended: the host waits in its call, the device does not. */
TEST(waits_for_the_queue) {
    enum { OPS = 20, QUEUE = 4, KERNEL = 100000 };
    pace_graph graph;
    double ns[OPS];
    pace_step step;
    int64_t device, host;
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    for (int i = 0; i < OPS; i++) {
        launch(&graph, node(&graph, "op", PACE_NO_NODE, 0), 0);
        ns[i] = KERNEL;
    }
    pace_walk_options options = options_for(3);
    pace_walk_rank rank = rank_of(&graph, ns);
    rank.queue = QUEUE;
    if (pace_walk(&step, &rank, 1, &options) != PACE_OK) fail_msg("%s", pace_message());
    ends(&step, &device, &host);
    int64_t last = 3 * OPS - 1 - QUEUE;
    assert_int_equal(device, T1 + T2 + LAG + 3 * OPS * KERNEL + (3 * OPS - 1) * BETWEEN);
    assert_int_equal(host, T1 + T2 + LAG + (last + 1) * KERNEL + last * BETWEEN + T4 + T3);
    pace_step_free(&step);
    pace_graph_free(&graph);
}

static uint64_t seed;
static uint32_t draw(uint32_t below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* A random graph on one thread, and the same walked by moving clocks. */
TEST(against_moving_clocks) {
    for (seed = 1; seed < 4000000; seed += 13331) {
        pace_graph graph;
        static double ns[MOST];
        static int64_t end_ns[MOST];
        int64_t host = 0, stream[3] = {0}, latest = 0;
        bool used[3] = {false};
        assert_int_equal(pace_graph_init(&graph), PACE_OK);
        uint32_t ops = 1 + draw(40);
        for (uint32_t i = 0; i < ops; i++) {
            uint32_t by = node(&graph, "op", PACE_NO_NODE, 0), calls = draw(4);
            host += T1;
            for (uint32_t k = 0; k < calls; k++) {
                uint32_t on = draw(3), number = launch(&graph, by, on);
                ns[number] = draw(30000);
                host += k ? T5 : T2;
                int64_t start = host + LAG;
                if (used[on] && stream[on] + BETWEEN > start) start = stream[on] + BETWEEN;
                for (int w = 0; w < 2 && number > 0; w++) {
                    if (draw(3)) continue;
                    uint32_t waited = draw(number);
                    graph.launches.items[number].waits[w] = waited;
                    if (end_ns[waited] > start) start = end_ns[waited];
                }
                used[on] = true;
                stream[on] = end_ns[number] = start + (int64_t)ns[number];
                if (end_ns[number] > latest) latest = end_ns[number];
                host += T4;
            }
            if (!calls) host += T5;
            if (graph.launches.count && draw(5) == 0) {
                uint32_t waited = draw((uint32_t)graph.launches.count);
                graph.nodes.items[by].waits_launch = waited;
                if (end_ns[waited] > host) host = end_ns[waited];
            }
            if (calls) host += T3;
        }
        pace_walk_options options = options_for(1);
        pace_step step;
        int64_t device_end, host_end;
        walk(&step, &graph, ns, &options);
        assert_int_equal(pace_step_check(&step), PACE_OK);
        ends(&step, &device_end, &host_end);
        assert_int_equal(device_end, latest);
        assert_int_equal(host_end, host);
        pace_step_free(&step);
        pace_graph_free(&graph);
    }
}

/* The caller of the backward thread waits for it: forward, backward, then what follows, one after the other. */
TEST(threads_hand_over) {
    pace_graph graph;
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    uint32_t forward = node(&graph, "forward", PACE_NO_NODE, 0), caller = node(&graph, "call", PACE_NO_NODE, 0);
    uint32_t backward = node(&graph, "backward", PACE_NO_NODE, 1);
    node(&graph, "update", PACE_NO_NODE, 0);
    graph.nodes.items[backward].after = forward;
    graph.nodes.items[caller].waits_node = backward;
    for (uint32_t i = 0; i < 5; i++) launch(&graph, backward, 0);
    double ns[5] = {0};
    pace_step step;
    int64_t device, host;
    pace_walk_options options = options_for(1);
    walk(&step, &graph, ns, &options);
    ends(&step, &device, &host);
    int64_t backward_end = T1 + T5 + T1 + T2 + 5 * T4 + 4 * T5 + T3;
    assert_int_equal(host, backward_end + T1 + T5);
    pace_step_free(&step);
    pace_graph_free(&graph);
}

/* Ranks that all-reduce start together when the slower has arrived; a message waits for its sender. */
TEST(ranks_meet) {
    pace_graph graphs[2];
    double ns[2][3] = {{10000, 7000, 5000}, {90000, 7000, 5000}};
    for (int rank = 0; rank < 2; rank++) {
        pace_graph *graph = &graphs[rank];
        assert_int_equal(pace_graph_init(graph), PACE_OK);
        graph->rank = rank;
        uint32_t by = node(graph, "op", PACE_NO_NODE, 0);
        const char *collective[2] = {"allreduce", rank ? "recv" : "send"};
        launch(graph, by, 0);
        for (int i = 0; i < 2; i++) {
            pace_graph_exchange exchange = {.peer = 1 - rank};
            assert_int_equal(pace_names_add(&exchange.collective, &graph->names, collective[i], strlen(collective[i])),
                             PACE_OK);
            assert_int_equal(PACE_PUSH(&graph->exchanges, exchange), PACE_OK);
            graph->launches.items[launch(graph, by, 0)].exchange = (uint32_t)i + 1;
        }
    }
    pace_walk_rank ranks[2] = {rank_of(&graphs[0], ns[0]), rank_of(&graphs[1], ns[1])};
    pace_walk_options options = options_for(1);
    pace_step steps[2];
    assert_int_equal(pace_walk(steps, ranks, 2, &options), PACE_OK);
    for (int rank = 0; rank < 2; rank++) {
        int64_t device, host;
        ends(&steps[rank], &device, &host);
        assert_int_equal(device, T1 + T2 + LAG + 90000 + BETWEEN + 7000 + BETWEEN + 5000);
        pace_step_free(&steps[rank]);
    }
    ranks[0].start_ns = 200000; /* later than rank 1's long kernel ends */
    assert_int_equal(pace_walk(steps, ranks, 2, &options), PACE_OK);
    for (int rank = 0; rank < 2; rank++) {
        int64_t device, host;
        ends(&steps[rank], &device, &host);
        assert_int_equal(device, 200000 + T1 + T2 + LAG + 10000 + BETWEEN + 7000 + BETWEEN + 5000);
        pace_step_free(&steps[rank]);
    }
    graphs[1].exchanges.items[1].peer = 5; /* nobody here receives what rank 0 sends to rank 1 */
    assert_int_equal(pace_walk(steps, ranks, 2, &options), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "no counterpart"));
    for (int rank = 0; rank < 2; rank++) pace_graph_free(&graphs[rank]);
}

/* Repeats share the device's queue; a captured graph leaves the host one launch at most. */
TEST(repeats_and_captured_graphs) {
    pace_graph graph;
    double ns[2] = {40000, 40000};
    assert_int_equal(pace_graph_init(&graph), PACE_OK);
    for (int i = 0; i < 2; i++) launch(&graph, node(&graph, "op", PACE_NO_NODE, 0), 0);
    pace_step step;
    int64_t device, host;
    pace_walk_options options = options_for(6);
    walk(&step, &graph, ns, &options);
    ends(&step, &device, &host);
    assert_int_equal(device, T1 + T2 + LAG + 12 * 40000 + 11 * BETWEEN);
    assert_int_equal(step.kind_count[PACE_TASK_ANNOTATION], 6);
    pace_step_free(&step);
    options.one_launch = true;
    walk(&step, &graph, ns, &options);
    ends(&step, &device, &host);
    assert_int_equal(device, LAG + 12 * 40000 + 11 * BETWEEN);
    assert_int_equal(host, 6 * T4);
    pace_step_free(&step);
    pace_graph_free(&graph);
}

/* A step of two gradients and an optimizer that visits them: as an operator its T2, as an annotation what passes until
 * the first operator under it launches. */
TEST(optimizers_visit_parameters) {
    enum { START = 50000, EACH = 1000, ADDED = START + 2 * EACH };
    static const char step_name[] = "Optimizer.step#SGD.step";
    pace_host_costs plain = costs;
    assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
    assert_int_equal(pace_host_costs_pool(&costs, &plain), PACE_OK);
    for (double parameters = 10; parameters < 200; parameters *= 10)
        assert_int_equal(pace_host_costs_add_optimizer(&costs, step_name, parameters, START + EACH * parameters),
                         PACE_OK);
    for (int annotated = 0; annotated < 2; annotated++) {
        pace_graph graph;
        pace_step step;
        double ns[2] = {10, 10};
        int64_t device, host;
        uint32_t optimizer;
        assert_int_equal(pace_graph_init(&graph), PACE_OK);
        for (int i = 0; i < 2; i++) node(&graph, "torch::autograd::AccumulateGrad", PACE_NO_NODE, 0);
        assert_int_equal(pace_graph_add_node(&optimizer, &graph, annotated ? PACE_TASK_ANNOTATION : PACE_TASK_OP,
                                             step_name, PACE_NO_NODE, 0),
                         PACE_OK);
        for (int i = 0; i < 2; i++) launch(&graph, node(&graph, "op", optimizer, 0), 0);
        pace_walk_options options = options_for(1);
        walk(&step, &graph, ns, &options);
        ends(&step, &device, &host);
        int64_t before = 2 * (T1 + T5), visit = annotated ? ADDED : T1 + ADDED;
        int64_t after = annotated ? T4 + T3 + T1 + T2 + T4 + T3 : T4 + T5 + T4 + T3;
        assert_int_equal(host, before + visit + after);
        pace_step_free(&step);
        pace_graph_free(&graph);
    }
    pace_host_costs_free(&costs);
    costs = plain;
}

int main(void) { return run_tests_of_file(make_costs, free_costs); }
