#include "hosts.h"

#include "base/shared_object.h"
#include "machine/machine.h"

static const char script[] = "paceline-hosts.sh";

static pace_status read_rate(double *out, const char *text) {
    if (pace_parse_rate(out, text) && *out > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "link: expected memory, or a rate such as 1Gb/s, found \"%.40s\"", text);
}

pace_status pace_hosts_check_rate(const char *text) {
    double rate;
    return read_rate(&rate, text);
}

pace_status pace_hosts_word(pace_hosts *out, int count, const char *rate) {
    pace_hosts h;
    double bytes_per_s;
    PACE_TRY(read_rate(&bytes_per_s, rate));
    if (!pace_shared_object_find(h.script, sizeof h.script, NULL, script))
        return pace_fail(PACE_E_MISSING, "%s: it is not where Paceline's modules are%s", script,
                         pace_shared_object_elsewhere());
    pace_snprintf(h.count, sizeof h.count, "%d", count);
    pace_snprintf(h.rate, sizeof h.rate, "%.0f", bytes_per_s);
    *out = h;
    return PACE_OK;
}
