/* What started an exchange, from words that published tables and logs use. */
#include "ask/rows/exchange_stack.h"

#include "cmocka_of_tests.h"

TEST(test_words) {
    static const struct {
        const char *system, *variant;
        pace_nccl_stack stack;
    } table[] = {
        {"a100_sxm", "nccl 2.27.3", PACE_STACK_CURRENT},
        {"h200", "NCCL v2.21.5+cuda12.4", PACE_STACK_CURRENT},
        {"h200", "cuda12.2/2.19.3", PACE_STACK_CURRENT},
        {"2x p3dn.24xlarge", "NCCL 2.4.8", PACE_STACK_OLDER},
        {"NV_P100", "NCCL 2.0 MPI", PACE_STACK_OLDER},
        {"8x A100-SXM4-40GB (1 node, 1 process)", "NCCL (version not printed)", PACE_STACK_ONE_PROCESS},
        {"a100", "Single-Process/nccl 2.20.5", PACE_STACK_ONE_PROCESS},
        {"a100", "PyTorch 2.1", PACE_STACK_FRAMEWORK},
        {"a100", "CUDA 12.2", PACE_STACK_UNSAID},
        {"a100", "", PACE_STACK_UNSAID},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(pace_exchange_stack_of(table[i].system, table[i].variant), table[i].stack);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
