#include "ask/rows/exchange_stack.h"
#include "base/print.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CURRENT_MINOR = 19 }; /* NCCL 2.19: late 2023 */

static bool has(const char *text, const char *word) { return strcasestr(text, word) != NULL; }

/* The minor number of "2.27.3", "v2.4.8", "NCCL 2.0": a word that starts with NCCL's major number; -1 = none.
 * "CUDA 12.2" is none, for its 2 stands within a number. */
static int minor_of(const char *text) {
    for (const char *at = text; (at = strstr(at, "2.")) != NULL; at++) {
        bool starts = at == text || !(pace_is_digit(at[-1]) || at[-1] == '.');
        if (starts && pace_is_digit(at[2])) return atoi(at + 2);
    }
    return -1;
}

pace_nccl_stack pace_exchange_stack_of(const char *system, const char *variant) {
    static const char *const frameworks[] = {"torch", "tensorflow", "horovod", "deepspeed", "paddle", "mxnet", "jax"};
    static const char *const one[] = {"1 process", "one process", "single process", "single-process"};
    for (size_t i = 0; i < PACE_COUNT(one); i++)
        if (has(system, one[i]) || has(variant, one[i])) return PACE_STACK_ONE_PROCESS;
    for (size_t i = 0; i < PACE_COUNT(frameworks); i++)
        if (has(variant, frameworks[i])) return PACE_STACK_FRAMEWORK;
    int minor = minor_of(variant);
    return minor < 0 ? PACE_STACK_UNSAID : minor >= FIRST_CURRENT_MINOR ? PACE_STACK_CURRENT : PACE_STACK_OLDER;
}

const char *pace_exchange_version_of(char out[8], const char *words) {
    int minor = minor_of(words);
    if (minor < 0 || minor > 999) return NULL;
    pace_snprintf(out, 8, "2.%d", minor);
    return out;
}

pace_nccl_stack pace_exchange_stack_beside_curves(pace_nccl_stack stack) {
    return stack == PACE_STACK_UNSAID || stack == PACE_STACK_OLDER ? PACE_STACK_CURRENT : stack;
}

pace_nccl_stack pace_exchange_stack_of_curves(const pace_exchange_fit *fit, const char *system, pace_nccl_stack said) {
    for (size_t i = 0; said == PACE_STACK_UNSAID && i < fit->curves.count; i++) {
        const pace_exchange_curve *curve = &fit->curves.items[i];
        if (!system || strcmp(curve->system, system) == 0) return pace_exchange_stack_of(curve->system, curve->variant);
    }
    return said;
}
