#include "fleet/rate_text.h"

#include <math.h>
#include <stdio.h>

pace_rate_text pace_show_resource_rate(pace_job_resource resource, double rate) {
    static const char *const units[PACE_JOB_RESOURCES] = {"FLOP/s", "B/s", "B/s", "b/s", "B/s"};
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    pace_rate_text out;
    size_t prefix = 0;
    if (resource == PACE_JOB_NETWORK) rate *= 8;
    for (; rate >= 1000 && prefix + 1 < PACE_COUNT(prefixes); prefix++) rate /= 1000;
    /* Without printf's point of the locale, and without zeros at the end: 100 Gb/s, 2.039 TB/s. */
    int64_t thousandths = llround(fmin(rate, 9e12) * 1000);
    int length = snprintf(out.text, sizeof out.text, "%lld", (long long)(thousandths / 1000));
    int64_t fraction = thousandths % 1000;
    int digits = fraction % 10 ? 3 : fraction % 100 ? 2 : fraction ? 1 : 0;
    for (int i = digits; i < 3; i++) fraction /= 10;
    if (digits)
        length += snprintf(out.text + length, sizeof out.text - (size_t)length, ".%0*lld", digits, (long long)fraction);
    snprintf(out.text + length, sizeof out.text - (size_t)length, " %s%s", prefixes[prefix], units[resource]);
    return out;
}
