#include "report/predict/predict_parts.h"

#include "base/print.h"
#include "report/show.h"

#include <string.h>

/* Times are printed with four digits. */
static const double visible = 1e-4;

pace_status pace_size_times_add(pace_size_times *times, double bytes, double time_s, const char *algorithm,
                                const char *protocol) {
    pace_size_time one = {.bytes = bytes, .time_s = time_s};
    bool both = protocol && *protocol;
    pace_snprintf(one.how, sizeof one.how, "%s%s%s", algorithm, both ? "/" : "", both ? protocol : "");
    return PACE_PUSH(times, one);
}

/* The smaller one that takes longest, if that is longer; else NULL. */
static const pace_size_time *slower_and_smaller(const pace_size_times *times, const pace_size_time *than) {
    const pace_size_time *slowest = NULL;
    PACE_ITEMS (const pace_size_time, one, times)
        if (one->bytes < than->bytes && one->time_s > than->time_s * (1 + visible) &&
            (!slowest || one->time_s > slowest->time_s))
            slowest = one;
    return slowest;
}

void pace_say_reversals(pace_node *root, const pace_size_times *times) {
    const pace_size_time *larger = NULL, *smaller = NULL;
    size_t count = 0;
    PACE_ITEMS (const pace_size_time, one, times) {
        const pace_size_time *slower = slower_and_smaller(times, one);
        if (!slower) continue;
        count++;
        if (larger && slower->time_s * larger->time_s <= smaller->time_s * one->time_s) continue;
        larger = one;
        smaller = slower;
    }
    if (!count) return;
    pace_node_sentence(root, false,
                       "%zu of %zu sizes take%s less time than a smaller one: %s by %s %.4g µs, %s by %s %.4g µs%s.",
                       count, times->count, count == 1 ? "s" : "", pace_show_bytes(larger->bytes).text, larger->how,
                       larger->time_s * 1e6, pace_show_bytes(smaller->bytes).text, smaller->how, smaller->time_s * 1e6,
                       strcmp(larger->how, smaller->how) == 0
                           ? "; of more pieces more overlap on their way"
                           : "; which is taken goes by an estimate that is not this time");
}
