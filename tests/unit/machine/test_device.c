/* The device catalogue and the kernel classes, as compiled in and from a directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "machine/device.h"
#include "machine/kernel_class.h"
#include "catalog_of_tests.h"

static const double GIB = 1073741824.0;

static int load(void **state) {
    static pace_device_catalog catalog;
    *state = &catalog;
    unsetenv("PACELINE_CATALOG");
    return pace_device_catalog_load(&catalog, test_catalog());
}

static int unload(void **state) {
    pace_device_catalog_free(*state);
    test_catalog_close();
    return pace_memory_live() != 0;
}

TEST(test_names_in_traces) {
    static const struct {
        const char *trace;
        double memory;
        const char *device;
    } cases[] = {
        {"NVIDIA A100-SXM4-40GB", 0, "a100-40-sxm"},
        {"NVIDIA A100-SXM4-80GB", 0, "a100-80-sxm"},
        {"A100-SXM-80GB", 0, "a100-80-sxm"},
        {"NVIDIA B300 SXM6 AC", 0, "b300"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 0, "rtx-pro-6000"},
        {"TPU v5 lite", 0, "tpu-v5e"}, /* device_kind of JAX */
        {"HL-225", 0, "gaudi2"},       /* hl-smi */
        {"A100-PG509-200", 0, "a100-40-sxm"},
        {"NVIDIA PG509-210", 0, NULL},
        {"NVIDIA A100 80GB PCIe", 0, "a100-80-pcie"},
        {"NVIDIA A100-PCIE-40GB", 0, "a100-40-pcie"},
        {"NVIDIA A100", 85.0e9, "a100-80-sxm"},
        {"Tesla V100-SXM2-32GB", 0, "v100-sxm2-32"},
        {"Tesla V100-SXM2-16GB", 0, "v100-sxm2-16"},
        {"Tesla V100-DGXS-32GB", 0, "v100-dgxs-32"},
        {"Tesla V100-SXM2", 34e9, "v100-sxm2-32"},
        {"Tesla M40 24GB", 0, "m40-24"},
        {"NVIDIA H100 80GB HBM3", 0, "h100-80-sxm"},
        {"NVIDIA H100 PCIe", 0, "h100-80-pcie"},
        {"NVIDIA H200", 0, "h200-141-sxm"},
        {"NVIDIA L40S", 0, "l40s"},
        {"NVIDIA L4", 0, "l4"},
        {"NVIDIA A10", 0, "a10"},
        {"NVIDIA A10G", 0, "a10g"},
        {"NVIDIA GB200", 0, "gb200"},
        {"AMD Instinct MI300X VF", 0, "mi300x"},
        {"AMD Instinct MI250X/MI250", 0, "mi250x-gcd"},
        {"AMD Instinct MI210", 0, "mi210"},
        {"H100-80-SXM", 0, "h100-80-sxm"},
        {"RTX2080Ti", 0, "rtx-2080-ti"},
        {"", 0, NULL},
        {"Some Other Device", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pace_device *found = pace_device_find(*state, cases[i].trace, cases[i].memory);
        if (!cases[i].device) {
            if (found) fail_msg("%s was found as %s", cases[i].trace, found->name);
            continue;
        }
        if (!found) fail_msg("%s was not found", cases[i].trace);
        assert_string_equal(found->name, cases[i].device);
    }
    assert_null(pace_device_find(*state, NULL, 0));
}

TEST(test_figures) {
    const pace_device *device = pace_device_find(*state, "a100-40-sxm", 0);
    assert_non_null(device);
    assert_string_equal(device->vendor, "NVIDIA");
    assert_true(device->flop_per_s[PACE_BF16] == 312e12); /* NVIDIA A100 datasheet */
    assert_true(device->flop_per_s[PACE_FP32] == 19.5e12);
    assert_true(device->flop_per_s[PACE_FP8] == 0);
    assert_true(device->memory_bytes == 40 * GIB);
    assert_true(device->memory_bytes_per_s == 1555e9);
    assert_int_equal(device->sm_count, 108);
    assert_non_null(strstr(device->source, "A100 datasheet"));
}

/* What a multiprocessor can do per clock bounds the rate: catches a slipped digit. */
TEST(test_figures_are_plausible) {
    const pace_device_catalog *catalog = *state;
    for (size_t i = 0; i < catalog->count; i++) {
        const pace_device *device = &catalog->devices[i];
        assert_true(*device->source);
        if (device->is_cpu) continue;
        assert_true(*pace_device_figure_source(catalog, device, "name", NULL).confidence);
        double fp32 = device->flop_per_s[PACE_FP32], fp16 = device->flop_per_s[PACE_FP16];
        assert_true(fp32 == 0 || (fp32 >= 1e12 && fp32 <= 200e12)); /* a matrix engine may have no vector rate */
        assert_true(fp16 == 0 || (fp16 >= 1.5 * fp32 && fp16 <= 40 * fp32));
        assert_true(device->memory_bytes_per_s >= 100e9 && device->memory_bytes_per_s <= 10e12);
        assert_true(device->memory_bytes >= 4 * GIB && device->memory_bytes <= 320 * GIB);
        assert_in_range(device->sm_count, 0, 400);
        if (strcmp(device->vendor, "NVIDIA") == 0 && device->generation == 0)
            fail_msg("%s: no generation", device->name);
    }
}

static void write_catalog(const char *directory, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    setenv("PACELINE_CATALOG", directory, 1);
    test_catalog_close();
}

static void expect_refused(const char *directory, const char *text, const char *message) {
    pace_device_catalog catalog;
    write_catalog(directory, "devices.yaml", text);
    assert_int_equal(pace_device_catalog_load(&catalog, test_catalog()), PACE_E_INPUT);
    if (!strstr(pace_message(), message)) fail_msg("\"%s\" lacks \"%s\"", pace_message(), message);
}

TEST(test_directory) {
    char directory[] = "/tmp/pace_catalog_XXXXXX";
    assert_non_null(mkdtemp(directory));
    pace_device_catalog catalog;
    pace_kernel_classes *classes = NULL;
    write_catalog(
        directory, "devices.yaml",
        "devices: [{name: x, vendor: y, match: [\"Z 1\"], flop_per_s: {fp16: 2e12}, memory_bytes_per_s: 1e11}]");
    assert_int_equal(pace_device_catalog_load(&catalog, test_catalog()), PACE_OK);
    assert_string_equal(pace_device_find(&catalog, "some z-1", 0)->name, "x");
    pace_device_catalog_free(&catalog);
    assert_int_equal(pace_kernel_classes_load(&classes, test_catalog()),
                     PACE_OK); /* not in the directory: compiled in */
    pace_kernel_classes_free(classes);
    expect_refused(directory, "devices: [{name: x, vendor: y}, {name: X, vendor: y}]", "second device");
    expect_refused(directory, "device: []", "list \"devices\"");
    write_catalog(directory, "kernels.yaml", "kernels:\n  - {match: [a], family: nonsense, bound: memory}\n");
    assert_int_equal(pace_kernel_classes_load(&classes, test_catalog()), PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "kernels.yaml:2:26: unknown kernel family"));
    char path[256];
    snprintf(path, sizeof path, "%s/kernels.yaml", directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/devices.yaml", directory);
    unlink(path);
    rmdir(directory);
    test_catalog_close();
    assert_int_equal(pace_device_catalog_load(&catalog, test_catalog()), PACE_E_MISSING);
    unsetenv("PACELINE_CATALOG");
    test_catalog_close();
}

TEST(test_kernel_classes) {
    static const struct {
        const char *kernel, *family;
        pace_bound bound;
    } cases[] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication",
         PACE_BOUND_UNKNOWN},
        {"ncclKernel_AllReduce_RING_LL_Sum_float", "communication", PACE_BOUND_UNKNOWN},
        {"void deep_ep::internode::dispatch<8>()", "communication", PACE_BOUND_UNKNOWN},
        {"ampere_sgemm_128x64_tn", "gemm", PACE_BOUND_COMPUTE},
        {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x128", "gemm", PACE_BOUND_COMPUTE},
        {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", "gemm", PACE_BOUND_COMPUTE},
        {"volta_scudnn_128x64_relu_interior_nn_v1", "convolution", PACE_BOUND_COMPUTE},
        {"volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_exp_interior_nhwc_tn_v1", "convolution", PACE_BOUND_COMPUTE},
        {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, true>", "convolution", PACE_BOUND_COMPUTE},
        {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>", "attention", PACE_BOUND_COMPUTE},
        {"attn_fwd", "attention", PACE_BOUND_COMPUTE},
        {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>", "normalization",
         PACE_BOUND_MEMORY},
        {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>", "normalization",
         PACE_BOUND_MEMORY},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>", "elementwise",
         PACE_BOUND_MEMORY},
        {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, true>", "softmax",
         PACE_BOUND_MEMORY},
        {"triton_poi_fused_add_relu_3", "elementwise", PACE_BOUND_MEMORY},
        {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<>", "optimizer", PACE_BOUND_MEMORY},
        {"void cub::DeviceRadixSortOnesweepKernel<>", "reduction", PACE_BOUND_MEMORY},
        {"fused_moe_kernel", "gemm", PACE_BOUND_COMPUTE}, /* of servers, in their sources' names */
        {"_ZN5aiter23fmoe_fp8_blockscale_g1u1E", "gemm", PACE_BOUND_COMPUTE},
        {"void marlin::Marlin<__nv_bfloat16, 256, 4, 16, 4>", "gemm", PACE_BOUND_COMPUTE},
        {"_chunk_scan_fwd_kernel", "gemm", PACE_BOUND_COMPUTE},
        {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<>", "attention", PACE_BOUND_COMPUTE},
        {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<>", "attention", PACE_BOUND_MEMORY},
        {"void vllm::paged_attention_v2_kernel<unsigned short, unsigned short, 128>", "attention", PACE_BOUND_MEMORY},
        {"void vllm::reshape_and_cache_flash_kernel<>", "copy", PACE_BOUND_MEMORY},
        {"void flashinfer::norm::FusedAddRMSNormKernel<>", "elementwise", PACE_BOUND_MEMORY},
        {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<>", "communication",
         PACE_BOUND_UNKNOWN},
        {"quickreduce::allreduce_prototype_twoshot", "communication", PACE_BOUND_UNKNOWN},
        {"kuserbuffers_pushsend", "communication", PACE_BOUND_UNKNOWN},
        {"causal_conv1d_fwd_kernel", "convolution", PACE_BOUND_MEMORY},
        {"gen_conv", "convolution", PACE_BOUND_COMPUTE},
        {"global_scale_kernel", "unknown", PACE_BOUND_UNKNOWN}, /* no "gloo" in it */
        {"accl_occluded", "unknown", PACE_BOUND_UNKNOWN},       /* "ccl" is not a library */
        {"", "unknown", PACE_BOUND_UNKNOWN},
    };
    pace_kernel_classes *classes = NULL;
    assert_int_equal(pace_kernel_classes_load(&classes, test_catalog()), PACE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_kernel_class found = pace_kernel_classify(classes, cases[i].kernel);
        if (strcmp(found.family, cases[i].family) != 0) fail_msg("%s: %s", cases[i].kernel, found.family);
        assert_int_equal(found.bound, cases[i].bound);
        assert_int_equal(found.communication, strcmp(cases[i].family, "communication") == 0);
    }
    pace_kernel_class nccl = pace_kernel_classify(classes, cases[0].kernel);
    assert_string_equal(nccl.library, "nccl");
    pace_kernel_classes_free(classes);
}

/* Every seventh allocation of a load fails once: no leak, and the status says why. */
TEST(test_allocations_fail) {
    test_catalog_close();
    int64_t before = pace_memory_live();
    pace_status devices = PACE_E_MEMORY, kernels = PACE_E_MEMORY;
    for (uint64_t n = 1; devices != PACE_OK || kernels != PACE_OK; n += 7) {
        pace_device_catalog catalog;
        pace_kernel_classes *classes = NULL;
        assert_int_equal(test_catalog_open(), PACE_OK);
        pace_memory_fail_at(n);
        devices = pace_device_catalog_load(&catalog, test_catalog());
        pace_memory_fail_at(n);
        kernels = pace_kernel_classes_load(&classes, test_catalog());
        pace_memory_fail_at(0);
        assert_true(devices == PACE_OK || devices == PACE_E_MEMORY);
        assert_true(kernels == PACE_OK || kernels == PACE_E_MEMORY);
        if (devices == PACE_OK) pace_device_catalog_free(&catalog);
        pace_kernel_classes_free(classes);
        test_catalog_close();
        assert_int_equal(pace_memory_live(), before);
    }
}

int main(void) { return run_tests_of_file(load, unload); }
