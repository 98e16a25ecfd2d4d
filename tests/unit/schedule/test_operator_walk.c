/* The seed's walk against the clock its authors printed, operator by operator, and against the step they measured. */
#include "schedule/operator_walk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4096, LINE = 1024 };

static char folder[512];

static FILE *open_data(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "r");
}

static bool load(pace_host_costs *costs) {
    const char *shared = getenv("PACELINE_SHARED");
    snprintf(folder, sizeof folder, "%s/dlrm", shared ? shared : "/nonexistent");
    char path[1024];
    snprintf(path, sizeof path, "%s/v100_dlrm_default_b2048_overheads_20210504.json", folder);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    fclose(file);
    assert_int_equal(pace_host_costs_init(costs), PACE_OK);
    assert_int_equal(pace_host_costs_read(costs, path), PACE_OK);
    return true;
}

/* The authors modelled the kernels of these alone in 2021; without kernels the host clock is all there is. */
static void host_clock_of_2021(void **state) {
    (void)state;
    pace_host_costs costs;
    if (!load(&costs)) skip();
    FILE *file = open_data("v100_dlrm_default_b2048_golden_cpuwalk_20210504.csv");
    static char names[MOST][LINE];
    static pace_walk_operator operators[MOST];
    static double golden_us[MOST], host_ns[MOST];
    char line[LINE];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line, "%*d,%1023[^,],%lf", names[count], &golden_us[count]), 2);
        operators[count] =
            (pace_walk_operator){.name = names[count], .whole = strncmp(names[count], "Optimizer.", 10) == 0};
        count++;
    }
    fclose(file);
    assert_int_equal(count, 115);
    pace_operator_walk_options options = {.launch_share = 0.5, .t3_of_waiting_ns = -1};
    pace_operator_walk(operators, count, &costs, &options, host_ns);
    for (size_t i = 0; i < count; i++) assert_true(fabs(host_ns[i] / 1e3 - golden_us[i]) <= 1e-9);
    pace_host_costs_free(&costs);
}

typedef struct {
    int iteration, serial;
    char op[128];
    double us[64];
    uint32_t count;
} op_kernels;

static size_t read_kernels(op_kernels *out) {
    FILE *file = open_data("v100_dlrm_default_b2048_kernels_20210504.csv");
    char line[LINE];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        int iteration = atoi(line), repeats;
        char *at = strchr(line, ',') + 1, op[128];
        int serial = atoi(at);
        double us;
        char *tail = strrchr(line, ',');
        us = atof(tail + 1);
        *tail = '\0';
        tail = strrchr(line, ',');
        repeats = atoi(tail + 1);
        at = strchr(strchr(at, ',') + 1, ',') + 1;
        assert_int_equal(sscanf(at, "%127[^,]", op), 1);
        if (count == 0 || out[count - 1].iteration != iteration || out[count - 1].serial != serial) {
            out[count] = (op_kernels){.iteration = iteration, .serial = serial};
            strcpy(out[count++].op, op);
        }
        for (int i = 0; i < repeats; i++) out[count - 1].us[out[count - 1].count++] = us / repeats;
    }
    fclose(file);
    return count;
}

/* Measured kernels walked against the measured 10,339.2 us per iteration: within 2 %. */
static void measured_kernels(void **state) {
    (void)state;
    enum { ITERATIONS = 10, PER_ITERATION = 113 };
    pace_host_costs costs;
    if (!load(&costs)) skip();
    static op_kernels kernels[MOST];
    static char names[ITERATIONS * PER_ITERATION][LINE];
    static pace_walk_operator operators[PER_ITERATION];
    static double ns[PER_ITERATION][64];
    size_t with_kernels = read_kernels(kernels), next = 0;
    FILE *file = open_data("v100_dlrm_default_b2048_opseq_20210504.txt");
    double total_us = 0, kernel_us = 0;
    for (int i = 0; i < ITERATIONS; i++) {
        for (int k = 0; k < PER_ITERATION; k++) {
            char *name = names[i * PER_ITERATION + k];
            assert_non_null(fgets(name, LINE, file));
            name[strcspn(name, "\r\n")] = '\0';
            operators[k] = (pace_walk_operator){.name = name, .silent = strcmp(name, "aten::to") == 0};
            if (next == with_kernels || kernels[next].iteration != i || strcmp(kernels[next].op, name) != 0) continue;
            operators[k].silent = false;
            operators[k].waits = strcmp(name, "aten::to") == 0;
            operators[k].kernel_ns = ns[k];
            operators[k].kernel_count = kernels[next].count;
            for (uint32_t j = 0; j < kernels[next].count; j++) {
                ns[k][j] = kernels[next].us[j] * 1e3;
                kernel_us += kernels[next].us[j];
            }
            next++;
        }
        pace_operator_walk_options options = {.launch_share = 1, .t3_of_waiting_ns = 8000};
        total_us += pace_operator_walk(operators, PER_ITERATION, &costs, &options, NULL).end_ns / 1e3;
    }
    fclose(file);
    assert_int_equal(next, with_kernels);
    assert_true(fabs(kernel_us - 66692) < 1e-6);
    printf("walk %.1f us, measured 10339.2 us\n", total_us / ITERATIONS);
    assert_true(fabs(total_us / ITERATIONS / 10339.2 - 1) <= 0.02);
    pace_host_costs_free(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_clock_of_2021),
        cmocka_unit_test(measured_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
