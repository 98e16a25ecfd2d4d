/* Device names as the measured tables of others spell them, and rates against what the architectures do per clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "machine/device.h"
#include "catalog_of_tests.h"

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

TEST(test_spellings) {
    static const struct {
        const char *spelling, *device; /* NULL: the table does not say which device it is */
    } cases[] = {
        /* NeuSight, aiconfigurator, DeepBench, DLRM performance model, vTrain */
        {"A100-PCIE-40GB", "a100-40-pcie"},
        {"P100-PCIE-16GB", "p100-pcie-16"},
        {"V100-PCIE-32GB", "v100-pcie-32"},
        {"T4", "t4"},
        {"AMD_Instinct_MI100", "mi100"},
        {"NVIDIA_A100-PCIE-40GB", "a100-40-pcie"},
        {"Tesla_V100-PCIE-32GB", "v100-pcie-32"},
        {"A100-SXM4-80GB", "a100-80-sxm"},
        {"H100-SXM5-80GB", "h100-80-sxm"},
        {"a100_sxm", "a100-80-sxm"},
        {"h100_sxm", "h100-80-sxm"},
        {"NV_P100", "p100-pcie-16"},
        {"NV_V100", "v100-sxm2-16"},
        {"NV_TitanX", "titan-x-gm200"},
        {"TITAN X (Pascal)", "titan-x-gp102"},
        {"TITAN Xp", "titan-xp"},
        {"GV100", "gv100"},
        {"A100", "a100-80-sxm"},
        {"k80", "k80"},
        {"p100", "p100-pcie-16"},
        {"v100", "v100-sxm2-16"},
        /* MLPerf training results */
        {"NVIDIA A100-PCIe-80GB", "a100-80-pcie"},
        {"NVIDIA A100 - PCIe - 80 GB", "a100-80-pcie"},
        {"NVIDIA A100-SXM-80GB CTS", "a100-80-sxm"},
        {"NVIDIA A100-SXM4-40GB", "a100-40-sxm"},
        {"NVIDIA A100-SXM-40GB", "a100-40-sxm"},
        {"NVIDIA H100-PCIe-80GB", "h100-80-pcie"},
        {"NVIDIA H100-PCIe", "h100-80-pcie"},
        {"NVIDIA H100-SXM-80GB", "h100-80-sxm"},
        {"NVIDIA H100-SXM5-80GB", "h100-80-sxm"},
        {"NVIDIA H100-SXM5-96GB", "h100-96-sxm"},
        {"NVIDIA H200-SXM5-141GB", "h200-141-sxm"},
        {"NVIDIA Blackwell GPU (B200-SXM-180GB)", "b200"},
        {"NVIDIA A30-PCIE-24GB", "a30"},
        {"NVIDIA A30", "a30"},
        {"NVIDIA A40", "a40"},
        {"NVIDIA A10G", "a10g"},
        {"NVIDIA L4", "l4"},
        {"NVIDIA L40", "l40"},
        {"NVIDIA L40S", "l40s"},
        {"NVIDIA RTX A5000", "rtx-a5000"},
        {"NVIDIA RTX A6000", "rtx-a6000"},
        {"NVIDIA GeForce RTX 4090", "rtx-4090"},
        {"AMD Radeon RX 7900 XTX", "rx-7900-xtx"},
        {"Habana Gaudi2", "gaudi2"},
        {"Intel Gaudi2", "gaudi2"},
        {"Intel(R) Gaudi(R) 2 AI Accelerator", "gaudi2"},
        {"TPU-v5e", "tpu-v5e"},
        {"TPU-v5p", "tpu-v5p"},
        {"TPU-trillium", "tpu-v6e"},
        {"N/A", NULL},
        /* ml-engineering, Megatron, MosaicML, torchtitan, Alibaba's cluster */
        {"NVIDIA A100 SXM", "a100-80-sxm"},
        {"NVIDIA A100 PCIe", "a100-80-pcie"},
        {"NVIDIA GH200 SXM", "gh200-144"},
        {"NVIDIA GH200 480GB", "gh200-96"},
        {"NVIDIA H100 SXM", "h100-80-sxm"},
        {"NVIDIA H100 NVL", "h100-94-nvl"},
        {"NVIDIA H200 SXM", "h200-141-sxm"},
        {"NVIDIA H200 NVL", "h200-141-nvl"},
        {"NVIDIA B200 SXM", "b200"},
        {"NVIDIA B300 SXM", "b300"},
        {"NVIDIA GB200 SXM", "gb200"},
        {"NVIDIA GB300", "gb300"},
        {"NVIDIA A800-SXM4-80GB", "a800-80-sxm"},
        {"Intel Gaudi 2", "gaudi2"},
        {"Intel Gaudi 3", "gaudi3"},
        {"AMD MI300X", "mi300x"},
        {"AMD MI325X", "mi325x"},
        {"AMD MI355X", "mi355x"},
        {"dgx_a100", "a100-80-sxm"},
        {"dgx_h100", "h100-80-sxm"},
        {"dgx_gb200", "gb200"},
        {"DGX-B200", "b200"},
        {"h100_80gb", "h100-80-sxm"},
        {"a100_80gb", "a100-80-sxm"},
        {"a100_40gb", "a100-40-sxm"},
        {"H100-SXM-96GB-HBM2e-500W", "h100-96-hbm2e"},
        {"H200-SXM", "h200-141-sxm"},
        {"V100M16", "v100-sxm2-16"},
        {"V100M32", "v100-sxm2-32"},
        {"A10", "a10"},
        {"G2", NULL},
        {"G3", NULL},
        /* systems of nccl-tests logs */
        {"12 of 16 V100-SXM3-32GB (DGX-2, NVSwitch), other GPUs busy", "v100-sxm3-32"},
        {"8x H100-SXM5 1 node", "h100-80-sxm"},
        {"2x RTX 2080 Ti NVLink bridge (sizes as printed)", "rtx-2080-ti"},
        {"AMD Radeon Graphics", NULL},
        {"NVIDIA GeForce RTX 3060 Ti", "rtx-3060-ti"}, /* another board than the RTX 3060, as the next */
        {"NVIDIA GeForce RTX 3080 12GB", "rtx-3080-12"},
        {"NVIDIA GeForce RTX 3080", "rtx-3080"},
        {"NVIDIA GeForce RTX 4070 Ti SUPER", "rtx-4070-ti-super"},
        {"NVIDIA GeForce RTX 4090 D", "rtx-4090-d"},
        {"Quadro RTX 8000", "quadro-rtx-8000"},
        {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"},
        {"NVIDIA GeForce RTX 5060", NULL}, /* another board than the RTX 5060 Ti */
        {"NVIDIA GeForce RTX 2070 SUPER", "rtx-2070-super"},
        {"Quadro RTX 5000", "quadro-rtx-5000"},
        {"NVIDIA RTX 5000 Ada Generation", "rtx-5000-ada"},
        {"Tesla V100S-PCIE-32GB", "v100s-pcie-32"},
        {"TPU v4", "tpu-v4"},
        {"V100-32GB-SXM", "v100-sxm2-32"}, /* the memory says which of the boards of one name */
        {"V100 32 GB", "v100-sxm2-32"},
        {"Tesla V100 16G", "v100-sxm2-16"},
        {"A100-40G", "a100-40-sxm"},
        {"A100-80G", "a100-80-sxm"},
        {"NVIDIA GeForce RTX 3050 Ti", NULL},
        {"NVIDIA GeForce RTX 3070 Laptop GPU", NULL},
        {"NVIDIA GeForce RTX 3080 Ti", "rtx-3080-ti"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pace_device *found = pace_device_find(*state, cases[i].spelling, 0);
        const char *name = found ? found->name : "nothing", *wanted = cases[i].device ? cases[i].device : "nothing";
        if (strcmp(name, wanted) != 0) fail_msg("%s: found %s, not %s", cases[i].spelling, name, wanted);
    }
}

/* Peak = SMs x boost clock x operations per SM and clock, which the architecture whitepapers give (an FMA is two). */
TEST(test_peaks_per_clock) {
    static const struct {
        const char *device;
        pace_precision precision;
        double per_clock;
    } cases[] = {
        {"k80", PACE_FP32, 384},
        {"m40", PACE_FP32, 256},
        {"titan-x-gm200", PACE_FP32, 256},
        {"titan-x-gp102", PACE_FP32, 256},
        {"p4", PACE_FP32, 256},
        {"p40", PACE_FP32, 256},
        {"p40", PACE_INT8, 1024},
        {"p100-sxm2", PACE_FP32, 128},
        {"p100-sxm2", PACE_FP16, 256},
        {"p100-pcie-16", PACE_FP32, 128},
        {"titan-xp", PACE_FP32, 256},
        {"v100-sxm2-16", PACE_FP32, 128},
        {"v100-sxm2-32", PACE_FP16, 1024},
        {"v100-sxm3-32", PACE_FP16, 1024},
        {"v100-pcie-16", PACE_FP16, 1024},
        {"t4", PACE_FP32, 128},
        {"t4", PACE_FP16, 1024},
        {"rtx-2080-ti", PACE_FP16, 512},
        {"gtx-1080", PACE_FP32, 256},
        {"titan-v", PACE_FP32, 128},
        {"rtx-2060", PACE_FP16, 512},
        {"rtx-2080-super", PACE_FP16, 512},
        {"gtx-1070", PACE_FP32, 256},
        {"gtx-1060", PACE_FP32, 256},
        {"quadro-p6000", PACE_FP32, 256},
        {"quadro-rtx-5000", PACE_FP16, 1024},
        {"quadro-rtx-8000", PACE_FP16, 1024},
        {"rtx-2070-super", PACE_FP16, 512},
        {"rtx-3050", PACE_FP16, 512},
        {"rtx-3060-ti", PACE_FP16, 512},
        {"rtx-3070-ti", PACE_FP16, 512},
        {"rtx-3080-12", PACE_FP16, 512},
        {"rtx-4060", PACE_FP16, 512},
        {"rtx-4070-super", PACE_FP16, 512},
        {"rtx-4070-ti-super", PACE_FP16, 512},
        {"rtx-4090-d", PACE_FP16, 512},
        {"rtx-5060-ti", PACE_FP16, 512},
        {"rtx-5070", PACE_FP16, 512},
        {"rtx-5070-ti", PACE_FP16, 512},
        {"rtx-a2000", PACE_FP16, 1024},
        {"rtx-a4500", PACE_FP16, 1024},
        {"rtx-a5500", PACE_FP16, 1024},
        {"a2", PACE_FP16, 1024},
        {"rtx-4000-ada", PACE_FP16, 1024},
        {"rtx-4500-ada", PACE_FP16, 1024},
        {"rtx-5000-ada", PACE_FP8, 2048},
        {"rtx-pro-6000-max-q", PACE_BF16, 1024},
        {"rtx-3060", PACE_FP16, 512},
        {"rtx-3070", PACE_FP16, 512},
        {"rtx-3080-ti", PACE_FP16, 512},
        {"rtx-3090-ti", PACE_FP16, 512},
        {"rtx-4060-ti", PACE_FP16, 512},
        {"rtx-4070", PACE_FP16, 512},
        {"rtx-4070-ti", PACE_FP16, 512},
        {"rtx-4080-super", PACE_FP16, 512},
        {"quadro-rtx-8000", PACE_FP16, 1024},
        {"rtx-4000-ada", PACE_TF32, 512},
        {"rtx-5070-ti", PACE_FP8, 1024},
        {"v100s-pcie-32", PACE_FP16, 1024},
        {"rtx-a4000", PACE_FP16, 1024},
        {"a10", PACE_FP16, 1024},
        {"a10", PACE_INT8, 2048},
        {"a10g", PACE_FP16, 512},
        {"a30", PACE_BF16, 2048},
        {"a40", PACE_FP16, 1024},
        {"rtx-a6000", PACE_FP16, 1024},
        {"rtx-a5000", PACE_TF32, 512},
        {"rtx-3090", PACE_FP16, 512},
        {"rtx-4090", PACE_FP16, 512},
        {"rtx-4090", PACE_INT8, 2048},
        {"a100-80-sxm", PACE_BF16, 2048},
        {"a100-40-pcie", PACE_TF32, 1024},
        {"a100-80-sxm", PACE_FP32, 128},
        {"l4", PACE_FP16, 1024},
        {"l40", PACE_FP16, 512},
        {"l40s", PACE_FP16, 1024},
        {"h100-80-sxm", PACE_FP32, 256},
        {"h100-80-pcie", PACE_FP32, 256},
        {"h100-94-nvl", PACE_FP32, 256},
        {"h200-141-sxm", PACE_FP32, 256},
        {"b200", PACE_FP32, 256},
        {"b300", PACE_FP32, 256},
        {"mi100", PACE_FP32, 128},
        {"mi100", PACE_FP32_MATRIX, 256},
        {"mi210", PACE_FP16, 1024},
        {"mi250x-gcd", PACE_FP16, 1024},
        {"mi300x", PACE_FP16, 2048},
        {"mi325x", PACE_FP8, 4096},
        {"mi350x", PACE_FP16, 4096},
        {"mi355x", PACE_FP16, 4096},
        {"rx-7900-xtx", PACE_FP16, 512},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pace_device *device = pace_device_find(*state, cases[i].device, 0);
        assert_non_null(device);
        double expected = device->sm_count * device->boost_hz * cases[i].per_clock;
        double peak = device->flop_per_s[cases[i].precision];
        if (fabs(peak / expected - 1) > 0.04)
            fail_msg("%s %s: %g, by its clock %g", cases[i].device, pace_precision_key(cases[i].precision), peak,
                     expected);
    }
}

int main(void) { return run_tests_of_file(load, unload); }
