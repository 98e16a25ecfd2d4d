/* Framework defaults: published figures come back, every row has a source, bad catalogues are refused with a place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "cost/host_costs_catalog.h"
#include "catalog_of_tests.h"

static void expect(const char *mode, pace_overhead_type type, const char *name, double mean_ns, bool known) {
    pace_host_costs costs;
    pace_launch_costs launch = {0};
    pace_host_level level;
    assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
    assert_int_equal(pace_host_costs_default(&costs, &launch, test_catalog(), mode, NULL), PACE_OK);
    pace_host_cost figure = pace_host_costs_get(&costs, type, name, true, &level);
    assert_int_equal(level == PACE_HOST_OWN, known);
    assert_true(figure.mean_ns > mean_ns - 1e-3 && figure.mean_ns < mean_ns + 1e-3);
    assert_true(launch.lag_ns > 1e3 && launch.lag_ns < 1e5); /* some microseconds, on every machine published */
    assert_true(launch.between_ns > 100 && launch.between_ns < 1e4);
    pace_host_costs_free(&costs);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

/* Lin et al. 2022, overhead figure and text. */
TEST(test_published) {
    expect(NULL, PACE_T1, NULL, 7700, false);
    expect("eager", PACE_T2, "AddmmBackward0", 33500, true);
    expect("eager", PACE_T3, "LookupFunctionBackward", 57000, true);
    expect("eager", PACE_T4, "cudaLaunchKernel", 4000, true);
    expect("eager", PACE_T5, "aten::view", 4400, true);
}

TEST(test_modes_without_host_work) {
    expect("compiled", PACE_T1, NULL, 0, false);
    expect("compiled", PACE_T4, "cudaLaunchKernel", 4400, false); /* neither a CPU's call nor a graph's is typical */
    expect("compiled", PACE_T4, "cudaMemcpyAsync", 4400, false);
    expect("cuda-graph", PACE_T2, "aten::linear", 0, false);
}

/* With a catalogue of `text` in place of the compiled-in file. */
static void expect_refused(const char *text, const char *mode, pace_status status, const char *message) {
    char directory[] = "/tmp/paceline-frameworks-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/frameworks.yaml", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    setenv("PACELINE_CATALOG", directory, 1);
    test_catalog_close();
    pace_host_costs costs;
    pace_launch_costs launch;
    assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
    assert_int_equal(pace_host_costs_default(&costs, &launch, test_catalog(), mode, NULL), status);
    if (!strstr(pace_message(), message)) fail_msg("expected '%s' in '%s'", message, pace_message());
    pace_host_costs_free(&costs);
    unsetenv("PACELINE_CATALOG");
    test_catalog_close();
    remove(path);
    rmdir(directory);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

#define HEAD                                           \
    "sources: [{name: a, confidence: low, text: b}]\n" \
    "modes: [{mode: eager, launch_lag_us: 1, between_kernels_us: 1, source: a}]\n"

/* Work that AMD's traces show to start 13 to 33 us after the call, NVIDIA's H100 after 6 to 7. */
TEST(test_launch_lag_of_vendors) {
    static const struct {
        const char *vendor;
        double least_ns, most_ns;
    } cases[] = {{"AMD", 13e3, 33e3}, {"NVIDIA", 6e3, 7e3}, {"", 6e3, 7e3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_host_costs costs;
        pace_launch_costs launch;
        pace_device device = {0};
        snprintf(device.vendor, sizeof device.vendor, "%s", cases[i].vendor);
        assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
        assert_int_equal(pace_host_costs_default(&costs, &launch, test_catalog(), "eager", &device), PACE_OK);
        assert_true(launch.lag_ns >= cases[i].least_ns && launch.lag_ns <= cases[i].most_ns);
        pace_host_costs_free(&costs);
    }
}

/* aten::mul before its launch, us: 19.4 in Lin et al. 2022, figure of overheads (V100); 9 in HTA's trace of DLRM on
 * A100, 3 to 4.4 in TraceLens' of Qwen on MI300X and H100. */
TEST(test_hosts_of_later_devices) {
    static const struct {
        pace_device device;
        double least_ns, most_ns;
    } cases[] = {{{.vendor = "NVIDIA", .generation = 70}, 17e3, 22e3},
                 {{.vendor = "NVIDIA", .generation = 80}, 4e3, 13e3},
                 {{.vendor = "NVIDIA", .generation = 100}, 3e3, 13e3},
                 {{.vendor = "AMD"}, 3e3, 13e3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_host_costs costs;
        pace_launch_costs launch;
        assert_int_equal(pace_host_costs_init(&costs), PACE_OK);
        assert_int_equal(pace_host_costs_default(&costs, &launch, test_catalog(), "eager", &cases[i].device), PACE_OK);
        double ns = pace_host_costs_get(&costs, PACE_T2, "aten::mul", true, NULL).mean_ns;
        assert_true(ns >= cases[i].least_ns && ns <= cases[i].most_ns);
        pace_host_costs_free(&costs);
    }
}

TEST(test_refused) {
    expect_refused(HEAD "overheads: []\n", "lazy", PACE_E_USAGE, "no mode of running, which are: eager");
    expect_refused(HEAD "overheads: [{mode: eager, type: t6, mean_us: 1, source: a}]\n", NULL, PACE_E_INPUT,
                   "frameworks.yaml:3:13: expected \"type\"");
    expect_refused(HEAD "overheads: [{mode: eager, type: t1, mean_us: -1, source: a}]\n", NULL, PACE_E_INPUT,
                   "\"mean_us\" of 0 to");
    expect_refused(HEAD "overheads: [{mode: eager, type: t1, mean_us: 1}]\n", NULL, PACE_E_INPUT, "\"source\"");
    expect_refused(HEAD "overheads: [{mode: eager, type: t1, mean_s: 1, source: a}]\n", NULL, PACE_E_INPUT,
                   "unknown member \"mean_s\"");
    expect_refused("modes: 3\n", NULL, PACE_E_INPUT, "lists");
}

int main(void) { return run_tests_of_file(NULL, NULL); }
