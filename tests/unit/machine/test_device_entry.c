/* One entry of the device catalogue: figures with and without a source of their own, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "machine/device_entry.h"

static pace_status read_entry(pace_device *device, pace_yaml **yaml, const char *text) {
    *device = (pace_device){0};
    assert_int_equal(pace_yaml_parse(yaml, "d.yaml", text, strlen(text)), PACE_OK);
    const pace_yaml_node *root = pace_yaml_root(*yaml);
    return pace_device_entry_read(device, *yaml, pace_yaml_get(root, "device"), pace_yaml_get(root, "sources"));
}

TEST(test_figures) {
    pace_yaml *yaml;
    pace_device device;
    assert_int_equal(read_entry(&device, &yaml,
                                "sources: {lab: somebody}\n"
                                "device:\n"
                                "  name: x\n"
                                "  vendor: y\n"
                                "  flop_per_s: {fp32_matrix: 4e13, bf16: 3e14}\n"
                                "  achievable_flop_per_s: {bf16: {value: 2.5e14, source: lab, confidence: low}}\n"
                                "  memory_bytes_per_s: {value: 2e12, confidence: medium}\n"
                                "  sm_count: 108\n"
                                "  source: paper\n"),
                     PACE_OK);
    assert_true(device.flop_per_s[PACE_FP32_MATRIX] == 4e13 && device.flop_per_s[PACE_BF16] == 3e14);
    assert_true(device.achievable_flop_per_s[PACE_BF16] == 2.5e14);
    assert_true(device.memory_bytes_per_s == 2e12 && device.l2_bytes_per_s == 0);
    assert_int_equal(device.sm_count, 108);
    assert_string_equal(device.source, "paper");
    pace_yaml_free(yaml);
}

static const char before[] = "device: {name: x, vendor: y, ";

TEST(test_refused) {
    static const struct {
        const char *members, *at; /* where in the members the message points to; NULL = the entry */
        const char *message;
    } cases[] = {
        {"memory: 1", "1", "unknown member \"memory\" of a device: expected flop_per_s, base_hz"},
        {"flop_per_s: {fp12: 3}, memory_bytes_per_s: 1e12", "3", "unknown precision \"fp12\""},
        {"flop_per_s: 1e12, memory_bytes_per_s: 1e12", "1e12", "map of precisions"},
        {"sm_count: 1.5", "1.5", "a count"},
        {"memory_bytes_per_s: 0", "0", "is positive, found 0"},
        {"memory_bytes: -1", "-1", "is positive, found -1"},
        {"launch_s: 2", "2", "beyond any device"},
        {"flop_per_s: {fp16: 2e17}, memory_bytes_per_s: 1e12", "2e17", "2e+17 is beyond any device"},
        {"flop_per_s: {fp16: 1e14}, memory_bytes_per_s: 2e14", "2e14", "2e+14 is beyond any device"},
        {"boost_hz: 1e999", "1e999", "out of range"},
        {"boost_hz: fast", "fast", "expected a number"},
        {"base_hz: 2e9, boost_hz: 1e9", "2e9", "base_hz 2e+09 is more than boost_hz 1e+09"},
        {"flop_per_s: {fp16: 1e14}, memory_bytes_per_s: 2e12, l2_bytes_per_s: 1e12", "2e12",
         "memory_bytes_per_s 2e+12 is more than l2_bytes_per_s 1e+12"},
        {"flop_per_s: {fp16: 1e14}, memory_bytes_per_s: 2e12, achievable_bytes_per_s: 3e12", "3e12",
         "achievable_bytes_per_s 3e+12 is more than memory_bytes_per_s 2e+12"},
        {"flop_per_s: {fp16: 1e14}, memory_bytes_per_s: 2e12, achievable_flop_per_s: {fp16: 2e14}", "2e14",
         "the achievable fp16 rate 2e+14 is more than the peak 1e+14"},
        {"flop_per_s: {fp16: 1e14}, memory_bytes_per_s: 2e12, achievable_flop_per_s: {bf16: 1e13}", "1e13",
         "the achievable bf16 rate 1e+13 is more than the peak 0"},
        {"pcie_bytes_per_s: 1e10, pcie_pinned_bytes_per_s: 2e10", "2e10", "is more than pcie_bytes_per_s"},
        {"memory_bytes: 1e9, l2_bytes: 2e9", "2e9", "is more than memory_bytes"},
        {"flop_per_s: {fp16: 1e14}", NULL, "\"x\" gives flop_per_s but no memory_bytes_per_s"},
        {"memory_bytes_per_s: 1e12", NULL, "\"x\" gives memory_bytes_per_s but no flop_per_s"},
        {"tdp_w: {value: 1, source: rumour}", "rumour", "\"rumour\" is not in the file's map \"sources\""},
        {"tdp_w: {value: 1, confidence: sure}", "sure", "high, medium or low"},
        {"tdp_w: {source: lab}", "{source", "needs a \"value\""},
        {"tdp_w: {value: 1, unit: W}", "W", "unknown member \"unit\" of a figure"},
        {"confidence: sure", "sure", "high, medium or low"},
        {"match: x", "x", "list of phrases"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], place[32];
        pace_yaml *yaml;
        pace_device device;
        snprintf(text, sizeof text, "sources: {lab: somebody}\n%s%s}\n", before, cases[i].members);
        size_t column = cases[i].at ? sizeof before + (size_t)(strstr(cases[i].members, cases[i].at) - cases[i].members)
                                    : strlen("device: {");
        snprintf(place, sizeof place, "d.yaml:2:%zu: ", column);
        assert_int_equal(read_entry(&device, &yaml, text), PACE_E_INPUT);
        if (strncmp(pace_message(), place, strlen(place)) != 0 || !strstr(pace_message(), cases[i].message))
            fail_msg("\"%s\" is not \"%s%s\"", pace_message(), place, cases[i].message);
        pace_yaml_free(yaml);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
