/* Pods on nodes: small clusters counted by hand, and what must hold of any. */

#include "cmocka_of_tests.h"

#include "base/random.h"
#include "fleet/capacity.h"

#include <math.h>
#include <stdlib.h>

static void add_node(pace_cluster *c, int gpus, int model, int64_t cpu) {
    assert_int_equal(PACE_PUSH(&c->nodes, ((pace_node_capacity){cpu, 1000000, gpus, model})), PACE_OK);
}

static void add_pod(pace_cluster *c, int gpus, int milli, int64_t from, int64_t to, int64_t cpu) {
    const pace_pod pod = {.cpu_milli = cpu,
                          .memory_mib = 1,
                          .gpus = gpus,
                          .gpu_milli = milli,
                          .model = -1,
                          .created_s = from,
                          .scheduled_s = from,
                          .deleted_s = to};
    assert_int_equal(PACE_PUSH(&c->pods, pod), PACE_OK);
}

static void add_model(pace_cluster *c, const char *name) {
    char *copy = pace_copy_text(name, 2);
    assert_non_null(copy);
    assert_int_equal(PACE_PUSH(&c->models, copy), PACE_OK);
}

/* One node of two GPUs, one of one. Half a GPU for 3600 s, two GPUs for 7200 s from 1800 s on, one that fits nowhere.
 */
TEST(test_by_hand) {
    pace_cluster c = {0};
    pace_capacity got;
    add_model(&c, "A0"), add_model(&c, "B0");
    add_node(&c, 2, 0, 10000), add_node(&c, 1, 1, 1000);
    add_pod(&c, 1, 500, 0, 3600, 1000);     /* on the node with less free: B */
    add_pod(&c, 2, 1000, 1800, 9000, 1000); /* on A */
    add_pod(&c, 1, 1000, 2000, 3000, 1000); /* B has half a GPU left, A none */
    assert_int_equal(pace_capacity_of(&got, &c, 5), PACE_OK);
    assert_true(got.gpus == 3 && got.span_s == 9000);
    assert_true(fabs(got.mean_used - (0.5 * 3600 + 2 * 7200) / 9000) < 1e-12);
    assert_true(got.busiest_s == 1800);
    assert_true(fabs(got.models[0].used_gpu_hours - 4) < 1e-12 && fabs(got.models[1].used_gpu_hours - 0.5) < 1e-12);
    assert_int_equal(got.requests[PACE_REQUEST_ONE].unplaced, 1);
    assert_int_equal(got.requests[PACE_REQUEST_PART].pods, 1);
    assert_true(fabs(got.requests[PACE_REQUEST_TWO].gpu_hours - 4) < 1e-12);
    /* When busiest, half of B's GPU is free, but B's CPU is used up: lost to all. */
    assert_true(got.models[1].free == 0.5 && got.models[1].lost[PACE_REQUEST_PART] == 0.5);
    assert_true(got.models[1].lost_on_average == 0.5 && got.models[0].free == 0);
    assert_int_equal(got.instant_count, 5);
    assert_true(got.instants[0].used == 0.5 && got.instants[4].used == 2);
    assert_int_equal(got.requests[PACE_REQUEST_ONE].unplaced_filling, 1);
    pace_capacity_free(&got);
    pace_cluster_free(&c);
}

/* A free half is lost to whoever wants more of a GPU, and a node of one GPU is lost to whoever wants two. */
TEST(test_lost) {
    pace_cluster c = {0};
    pace_capacity got;
    add_model(&c, "A0");
    add_node(&c, 1, 0, 10000), add_node(&c, 2, 0, 10000);
    add_pod(&c, 1, 600, 0, 100, 1);    /* on the node of one GPU: 0.4 left */
    add_pod(&c, 1, 300, 200, 300, 1);  /* later */
    add_pod(&c, 2, 1000, 200, 201, 1); /* later */
    assert_int_equal(pace_capacity_of(&got, &c, 1), PACE_OK);
    assert_true(got.busiest_s == 200);
    assert_int_equal(got.requests[PACE_REQUEST_TWO].unplaced, 0);
    pace_capacity_free(&got);
    c.pods.items[1].scheduled_s = c.pods.items[2].scheduled_s = -1; /* never: the first is alone */
    assert_int_equal(pace_capacity_of(&got, &c, 1), PACE_OK);
    const pace_model_use *m = &got.models[0];
    assert_true(fabs(m->free - 2.4) < 1e-12);
    assert_true(fabs(m->lost[PACE_REQUEST_TWO] - 0.4) < 1e-12);        /* it may take the other node's two */
    assert_true(fabs(m->lost[PACE_REQUEST_PART] - 0.5 * 0.4) < 1e-12); /* 600 cannot take 400, 300 can */
    assert_true(fabs(m->lost_on_average - (0.4 + 0.4 + 0) / 3) < 1e-12);
    pace_capacity_free(&got);
    pace_cluster_free(&c);
}

TEST(test_any_cluster) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t stream = seed;
        pace_cluster c = {0};
        pace_capacity got;
        double hours = 0;
        add_model(&c, "A0"), add_model(&c, "B0");
        for (int n = 0; n < 12; n++) add_node(&c, (int)(pace_random_next(&stream) % 9), n % 2, 64000);
        add_node(&c, 8, 0, 64000);
        for (int p = 0; p < 400; p++) {
            int kind = (int)(pace_random_next(&stream) % 4);
            int64_t from = (int64_t)(pace_random_next(&stream) % 10000),
                    length = (int64_t)(pace_random_next(&stream) % 900);
            add_pod(&c, kind == 3 ? 4 : 1, kind == 0 ? 100 + 100 * (int)(pace_random_next(&stream) % 9) : 1000, from,
                    from + length, 1000);
            const pace_pod *pod = &c.pods.items[p];
            hours += pod->gpus * pod->gpu_milli / 1000.0 * (double)length / 3600;
        }
        assert_int_equal(pace_capacity_of(&got, &c, 10), PACE_OK);
        double used = got.models[0].used_gpu_hours + got.models[1].used_gpu_hours, asked = 0;
        size_t unplaced = 0;
        for (int k = 0; k < PACE_REQUESTS; k++)
            asked += got.requests[k].gpu_hours, unplaced += got.requests[k].unplaced;
        assert_true(fabs(asked - hours) < 1e-9 * hours);
        assert_true(unplaced ? used < hours : fabs(used - hours) < 1e-9 * hours);
        assert_true(fabs(used - got.mean_used * got.span_s / 3600) < 1e-9 * used);
        for (int m = 0; m < 2; m++) {
            const pace_model_use *use = &got.models[m];
            assert_true(fabs(use->busiest_used + use->free - (double)use->gpus) < 1e-9);
            assert_true(use->lost_on_average <= use->free + 1e-9);
        }
        for (size_t i = 0; i < got.filling_count; i++) {
            const pace_capacity_filling *at = &got.filling[i];
            assert_true(fabs(at->used + at->free - got.gpus) < 1e-9 && at->used <= at->asked &&
                        at->lost <= at->free + 1e-9);
            if (i > 0) assert_true(at->used >= at[-1].used && at->asked > at[-1].asked);
        }
        pace_capacity_free(&got);
        pace_cluster_free(&c);
    }
}

TEST(test_nothing) {
    pace_cluster c = {0};
    pace_capacity got;
    assert_int_equal(pace_capacity_of(&got, &c, 3), PACE_E_INPUT);
    add_model(&c, "A0");
    add_node(&c, 2, 0, 100);
    assert_int_equal(pace_capacity_of(&got, &c, 3), PACE_E_INPUT);
    pace_cluster_free(&c);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
