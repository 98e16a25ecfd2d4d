/* A measured 1F1B of 8 stages and 16 micro-batches (AMD's Primus, primus_pp8): the turn walk of its own stage times
 * takes what its iterations 3 to 20 took. */
#include "base/yaml.h"
#include "plan/turn_walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmocka_of_tests.h"

enum { STAGES = 8, BATCHES = 16, FIRST = 3, LAST = 20, RUNS = LAST - FIRST + 1 };

typedef struct {
    double total, at[2][2][BATCHES]; /* ms: by forward and backward, by start and end */
} iteration;

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double number(const pace_yaml *yaml, const pace_yaml_node *node) {
    double value;
    assert_int_equal(pace_yaml_number(&value, yaml, node), PACE_OK);
    return value;
}

static void read_stage(iteration *out, const char *folder, int stage) {
    static const char *const keys[2][2] = {{"fwd_start", "fwd_end"}, {"bwd_start", "bwd_end"}};
    char path[512], run[8];
    pace_yaml *yaml;
    snprintf(path, sizeof path, "%.400s/kineto/primus_pp8/pp_rank_%d.json", folder, stage);
    assert_int_equal(pace_yaml_load(&yaml, path), PACE_OK);
    for (int i = 0; i < RUNS; i++) {
        snprintf(run, sizeof run, "%d", FIRST + i);
        const pace_yaml_node *one = pace_yaml_get(pace_yaml_root(yaml), run);
        out[i].total = number(yaml, pace_yaml_get(one, "total"));
        for (int k = 0; k < 4; k++)
            for (size_t m = 0; m < BATCHES; m++)
                out[i].at[k / 2][k % 2][m] = number(yaml, pace_yaml_item(pace_yaml_get(one, keys[k / 2][k % 2]), m));
    }
    pace_yaml_free(yaml);
}

static double pass_ms(const iteration *runs, int way) {
    double spans[RUNS * BATCHES];
    for (int i = 0; i < RUNS * BATCHES; i++) {
        const iteration *run = &runs[i / BATCHES];
        spans[i] = run->at[way][1][i % BATCHES] - run->at[way][0][i % BATCHES];
    }
    return median(spans, RUNS * BATCHES);
}

static double idle_share(const iteration *run) {
    double busy = 0;
    for (int k = 0; k < 2 * BATCHES; k++) busy += run->at[k % 2][1][k / 2] - run->at[k % 2][0][k / 2];
    return 1 - busy / run->total;
}

/* The first micro-batch finds each next stage waiting for it, and nothing else to do. */
static double message_ms(iteration stages[STAGES][RUNS]) {
    double waits[RUNS * (STAGES - 1)];
    for (int i = 0; i < RUNS * (STAGES - 1); i++)
        waits[i] = stages[i % (STAGES - 1) + 1][i / (STAGES - 1)].at[0][0][0] -
                   stages[i % (STAGES - 1)][i / (STAGES - 1)].at[0][1][0];
    return median(waits, RUNS * (STAGES - 1));
}

TEST(test_primus_pp8) {
    static iteration stages[STAGES][RUNS];
    const char *shared = getenv("PACELINE_SHARED");
    pace_turn_times times[STAGES] = {0};
    const pace_pipeline pipeline = {PACE_SCHEDULE_1F1B, STAGES, 1, BATCHES, false};
    double totals[RUNS], idle[RUNS], step_ms;
    FILE *file = NULL;
    char path[512];
    snprintf(path, sizeof path, "%.400s/kineto/primus_pp8/pp_rank_0.json", shared ? shared : "");
    if (shared) file = fopen(path, "rb");
    if (!file) {
        print_message("left out, not there: %s\n", path);
        skip();
    }
    fclose(file);
    for (int s = 0; s < STAGES; s++) {
        read_stage(stages[s], shared, s);
        times[s].device_s[PACE_TURN_FORWARD] = pass_ms(stages[s], 0);
        times[s].device_s[PACE_TURN_BACKWARD] = pass_ms(stages[s], 1);
    }
    for (int i = 0; i < RUNS; i++) totals[i] = stages[0][i].total, idle[i] = idle_share(&stages[0][i]);
    assert_int_equal(pace_turns_period(&step_ms, &pipeline, times, message_ms(stages), 0), PACE_OK);
    double busy = BATCHES * (times[0].device_s[PACE_TURN_FORWARD] + times[0].device_s[PACE_TURN_BACKWARD]);
    double measured_ms = median(totals, RUNS), measured_idle = median(idle, RUNS);
    print_message("step %.1f ms, measured %.1f; stage 0 idle %.1f %%, measured %.1f %%\n", step_ms, measured_ms,
                  100 * (1 - busy / step_ms), 100 * measured_idle);
    assert_true(fabs(measured_ms - 3247.3) < 0.1 && fabs(measured_idle - 0.364) < 0.001);
    assert_true(fabs(step_ms / measured_ms - 1) < 0.02);
    assert_true(fabs(1 - busy / step_ms - measured_idle) < 0.02);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
