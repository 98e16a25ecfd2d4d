/* Fuzz target of fits: any bytes are refused or give a fit that answers without harm and can be written again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cost/fit.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const pace_fit_model *fit) {
    pace_device device = {.name = "a100-80-sxm",
                          .flop_per_s = {[PACE_FP32] = 19.5e12, [PACE_BF16] = 312e12},
                          .memory_bytes_per_s = 2e12,
                          .sm_count = 108};
    static pace_doubts doubts;
    if (doubts.figure[PACE_DOUBT_WALK] == 0 && pace_doubts_load(&doubts, test_catalog()) != PACE_OK) abort();
    for (int family = PACE_OP_GEMM; family < PACE_OP_FAMILIES; family++) {
        pace_op op = {.family = (pace_op_family)family, .precision = PACE_FP32, .element_bytes = 4};
        for (int i = 0; i < PACE_OP_SIZES; i++) op.size[i] = i < 9 ? 8 : 1;
        pace_estimate time;
        if (pace_op_complete(&op) && pace_fit_time(&time, fit, &op, &device, "", NAN, &doubts) && !(time.median > 0))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_fit_model fit;
    unsigned char *bytes;
    size_t length;
    if (pace_fit_parse(&fit, "fuzz", data, size) != PACE_OK) return 0;
    ask(&fit);
    if (pace_fit_write(&bytes, &length, &fit) == PACE_OK) pace_free(bytes);
    pace_fit_free(&fit);
    return 0;
}
