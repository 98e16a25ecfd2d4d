/* What may be written where a device is meant: names, files, changed figures; and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "machine/device_resolve.h"
#include "catalog_of_tests.h"

static pace_device_catalog catalog;

static int load(void **state) {
    (void)state;
    unsetenv("PACELINE_CATALOG");
    return pace_device_catalog_load(&catalog, test_catalog());
}

static int unload(void **state) {
    (void)state;
    pace_device_catalog_free(&catalog);
    test_catalog_close();
    return pace_memory_live() != 0;
}

static const pace_device *resolve(const char *text) {
    const pace_device *device = NULL;
    pace_status status = pace_device_resolve(&device, &catalog, text, 0);
    if (status != PACE_OK) fail_msg("%s: %s", text, pace_message());
    return device;
}

static void refuse(const char *text, pace_status expected, const char *word) {
    const pace_device *device = NULL;
    assert_int_equal(pace_device_resolve(&device, &catalog, text, 0), expected);
    assert_null(device);
    if (!strstr(pace_message(), word)) fail_msg("%s: expected \"%s\" in: %s", text, word, pace_message());
}

TEST(test_names) {
    assert_ptr_equal(resolve("A100-40-SXM"), pace_device_find(&catalog, "a100-40-sxm", 0));
    assert_string_equal(resolve("NVIDIA A100-SXM4-40GB")->name, "a100-40-sxm");
    refuse("v1000-sxm2-16", PACE_E_MISSING, "\"v100-sxm2-16\"");
    refuse("", PACE_E_USAGE, "does not name its devices");
    refuse("a100-40-sxm*4", PACE_E_USAGE, "one device");
}

/* What was measured under a peak goes with it; everything else stays. */
TEST(test_changed_figures) {
    const pace_device *plain = resolve("v100-sxm2-16"), *device = resolve("v100-sxm2-16 memory=1.8TB/s fp16=2x");
    assert_true(device != plain);
    assert_true(device->memory_bytes_per_s == 1.8e12);
    assert_true(device->flop_per_s[PACE_FP16] == 2 * plain->flop_per_s[PACE_FP16]);
    assert_true(device->flop_per_s[PACE_FP32] == plain->flop_per_s[PACE_FP32]);
    if (plain->achievable_bytes_per_s > 0) {
        double share = plain->achievable_bytes_per_s / plain->memory_bytes_per_s;
        assert_true(fabs(device->achievable_bytes_per_s / 1.8e12 - share) < 1e-12);
    }
    assert_int_equal(device->sm_count, plain->sm_count);
    assert_non_null(strstr(device->name, "v100-sxm2-16 memory=1.8TB/s"));
}

TEST(test_units) {
    assert_true(resolve("v100-sxm2-16 memory_size=32GiB")->memory_bytes == 34359738368.0);
    assert_true(resolve("v100-sxm2-16 memory_size=32GB")->memory_bytes == 32e9);
    assert_true(resolve("v100-sxm2-16 launch=4us")->launch_s == 4e-6);
    assert_true(resolve("v100-sxm2-16, launch_s=4e-6")->launch_s == 4e-6);
    assert_true(resolve("v100-sxm2-16 fp32=20TFLOP/s")->flop_per_s[PACE_FP32] == 2e13);
    const pace_device *plain = resolve("v100-sxm2-16"), *slow = resolve("v100-sxm2-16 clock=0.765GHz");
    assert_true(slow->boost_hz == 0.765e9 && plain->boost_hz == 1.53e9);
    assert_true(slow->flop_per_s[PACE_FP16] ==
                plain->flop_per_s[PACE_FP16] / 2); /* what is computed goes with the clock */
    assert_true(slow->memory_bytes_per_s == plain->memory_bytes_per_s);
    assert_true(resolve("v100-sxm2-16 memory=800Gb/s")->memory_bytes_per_s == 1e11); /* bits */
    assert_true(resolve("v100-sxm2-16 l2=9TB/s")->l2_bytes_per_s == 9e12);
}

TEST(test_refused_figures) {
    refuse("v100-sxm2-16 speed=3", PACE_E_USAGE, "unknown figure");
    refuse("v100-sxm2-16 memory=fast", PACE_E_USAGE, "expected a value");
    refuse("v100-sxm2-16 memory=-1", PACE_E_USAGE, "expected a value");
    refuse("v100-sxm2-16 memory=0", PACE_E_USAGE, "expected a value");
    refuse("v100-sxm2-16 memory=nan", PACE_E_USAGE, "expected a value");
    refuse("v100-sxm2-16 memory=1e400", PACE_E_USAGE, "expected a value");
    refuse("v100-sxm2-16 memory=1e20B/s", PACE_E_USAGE, "beyond any device");
    refuse("v100-sxm2-16 memory=2B/s", PACE_E_USAGE, "beyond any device");
    refuse("v100-sxm2-16 clock=3Hz", PACE_E_USAGE, "beyond any device");
    refuse("v100-sxm2-16 memory=2e12", PACE_E_USAGE, "with its unit such as 2TB/s");
    refuse("v100-sxm2-16 memory=900GB", PACE_E_USAGE, "with its unit");
    refuse("v100-sxm2-16 memory_size=80GB/s", PACE_E_USAGE, "with its unit");
    refuse("v100-sxm2-16 fp16=5us", PACE_E_USAGE, "with its unit");
    refuse("v100-sxm2-16 memory=2x memory=3x", PACE_E_USAGE, "twice");
    refuse("v100-sxm2-16 memory=2x memory_bytes_per_s=3e12", PACE_E_USAGE, "twice");
    refuse("v100-sxm2-16 memory=9e11x", PACE_E_USAGE, "beyond any device");
    refuse("v100-sxm2-16 fp8=2x", PACE_E_USAGE, "not known");
    refuse("v100-sxm2-16 memory=90TB/s", PACE_E_USAGE, "is more than l2_bytes_per_s");
    refuse("memory=2e12", PACE_E_USAGE, "before its figures");
    refuse("v100-sxm2-16 =2e12", PACE_E_USAGE, "FIGURE=VALUE");
}

static void write_text(char *path, const char *text) {
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

TEST(test_files) {
    char path[] = "/tmp/paceline-device-XXXXXX.yaml", text[128];
    write_text(path, "sources: {here: \"a test\"}\n"
                     "devices:\n"
                     "  - {name: one, vendor: v, flop_per_s: {fp32: 1e12}, memory_bytes_per_s: 1e11, source: s,\n"
                     "     l2_bytes_per_s: {value: 5.0e11, source: here, confidence: high}}\n"
                     "  - {name: two, vendor: v, flop_per_s: {fp32: 2e12}, memory_bytes_per_s: 1e11, source: s}\n");
    refuse(path, PACE_E_USAGE, ".yaml:one");
    snprintf(text, sizeof text, "%s:two", path);
    assert_true(resolve(text)->flop_per_s[PACE_FP32] == 2e12);
    snprintf(text, sizeof text, "%s:one memory=2x", path);
    assert_true(resolve(text)->memory_bytes_per_s == 2e11);
    snprintf(text, sizeof text, "%s:one", path);
    pace_figure_source source = pace_device_figure_source(&catalog, resolve(text), "l2_bytes_per_s", NULL);
    assert_string_equal(source.source, "a test");
    snprintf(text, sizeof text, "%s:three", path);
    refuse(text, PACE_E_MISSING, "no device \"three\"");
    unlink(path);
    refuse(path, PACE_E_IO, path);
    char bad[] = "/tmp/paceline-device-XXXXXX.yaml";
    write_text(bad, "devices:\n  - {name: one, vendor: v, flop_per_s: {fp32: -1}, memory_bytes_per_s: 1e11}\n");
    refuse(bad, PACE_E_INPUT, ":2:");
    unlink(bad);
    char none[] = "/tmp/paceline-device-XXXXXX.yaml";
    write_text(none, "devices: []\n");
    refuse(none, PACE_E_INPUT, "empty");
    unlink(none);
}

static void is_part(const char *text, const char *whole, double compute, double memory) {
    const pace_device *part = resolve(text), *all = resolve(whole);
    assert_true(strncmp(part->name, whole, strlen(whole)) == 0);
    assert_true(fabs(part->flop_per_s[PACE_FP16] / all->flop_per_s[PACE_FP16] - compute) < 1e-12);
    assert_true(fabs(part->achievable_flop_per_s[PACE_BF16] - all->achievable_flop_per_s[PACE_BF16] * compute) < 1);
    assert_int_equal(part->sm_count, (int)(all->sm_count * compute + 1e-9));
    assert_true(fabs(part->memory_bytes / all->memory_bytes - memory) < 1e-12);
    assert_true(fabs(part->memory_bytes_per_s / all->memory_bytes_per_s - memory) < 1e-12);
    assert_true(part->pcie_bytes_per_s == all->pcie_bytes_per_s && part->boost_hz == all->boost_hz);
}

/* The shares are those of NVIDIA's table of MIG profiles. */
TEST(test_parts) {
    is_part("a100 mig=3g.20gb", "a100-40-sxm", 3 / 7.0, 4 / 8.0);
    is_part("a100 mig=3g.40gb", "a100-80-sxm", 3 / 7.0, 4 / 8.0);
    is_part("a100-40-sxm mig=1g.5gb", "a100-40-sxm", 1 / 7.0, 1 / 8.0);
    is_part("a100-40-sxm mig=1g.10gb", "a100-40-sxm", 1 / 7.0, 2 / 8.0);
    is_part("a100-80-sxm MIG 1g.10gb+me", "a100-80-sxm", 1 / 7.0, 1 / 8.0);
    is_part("NVIDIA A100-SXM4-40GB MIG 2g.10gb", "a100-40-sxm", 2 / 7.0, 2 / 8.0);
    is_part("a100-80-pcie mig-7g.80gb", "a100-80-pcie", 1, 1);
    is_part("h100-80-sxm mig=4g.40gb", "h100-80-sxm", 4 / 7.0, 4 / 8.0);
    is_part("h200-141-sxm mig=1g.18gb", "h200-141-sxm", 1 / 7.0, 1 / 8.0);
    is_part("h200-141-sxm mig=3g.71gb", "h200-141-sxm", 3 / 7.0, 4 / 8.0);
    is_part("b200 mig=1g.45gb", "b200", 1 / 7.0, 2 / 8.0);
    is_part("b300 mig=1g.34gb", "b300", 1 / 7.0, 1 / 8.0);
    is_part("a30 mig=2g.12gb", "a30", 2 / 4.0, 2 / 4.0);
    is_part("rtx-pro-6000 mig=1g.24gb", "rtx-pro-6000", 1 / 4.0, 1 / 4.0);
    const pace_device *slow = resolve("a100-40-sxm clock=705MHz mig=3g.20gb"),
                      *whole = resolve("a100-40-sxm mig=3g.20gb");
    assert_true(fabs(slow->flop_per_s[PACE_FP16] / whole->flop_per_s[PACE_FP16] - 0.5) < 1e-12);
    refuse("a100-40-sxm mig=3g.30gb", PACE_E_USAGE, "1g.5gb, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb");
    refuse("a100 mig=5g.20gb", PACE_E_USAGE, "no such part");
    refuse("v100-sxm2-16 mig=1g.2gb", PACE_E_USAGE, "not known to be cut");
    refuse("a100 mig=3g.20gb clock=1GHz", PACE_E_USAGE, "nothing behind it");
    refuse("a100 mig=half", PACE_E_USAGE, "3g.20gb");
}

TEST(test_allocations_fail) {
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n++) {
        const pace_device *device;
        pace_memory_fail_at(n);
        status = pace_device_resolve(&device, &catalog, "v100-sxm2-16 memory=1.1x", 0);
        pace_memory_fail_at(0);
        assert_true(status == PACE_OK || status == PACE_E_MEMORY);
    }
}

int main(void) { return run_tests_of_file(load, unload); }
