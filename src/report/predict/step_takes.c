#include "report/predict/predict_parts.h"
#include "base/print.h"
#include "report/show.h"

#include <math.h>

pace_shown_rate pace_show_step_rate(pace_step_rate rate) {
    pace_shown_rate out;
    char used[48] = "";
    if (!isnan(rate.mfu))
        pace_snprintf(used, sizeof used, " (MFU %.1f %% of the %s peak)", 100 * rate.mfu,
                      pace_precision_key(rate.precision));
    pace_snprintf(out.text, sizeof out.text, "%s %s/s per device%s", pace_show_real(rate.per_s).text,
                  rate.of_tokens ? "tokens" : "samples", used);
    return out;
}

pace_step_rate pace_put_step_takes(pace_node *root, const pace_step_asked *step, pace_estimate time_s) {
    const pace_step_case *asked = &step->asked;
    double ranks = pace_config_ranks(&asked->config), replicas = asked->config.dp;
    char count[32] = "", shared[64] = "";
    const pace_step_rate rate = pace_step_rate_of(asked, time_s.median, ranks);
    if (ranks > 1) pace_snprintf(count, sizeof count, "%.0f ", ranks);
    if (step->all_devices && replicas == ranks) pace_snprintf(shared, sizeof shared, ", data parallel");
    else if (step->all_devices)
        pace_snprintf(shared, sizeof shared, ", %.0f replicas of %.0f", replicas, ranks / replicas);
    pace_node_sentence(root, true, "The step would take %s (%s to %s) on %s%s%s: %s.",
                       pace_show_ns(pace_ns(time_s.median)).text, pace_show_ns(pace_estimate_low_ns(time_s)).text,
                       pace_show_ns(pace_estimate_high_ns(time_s)).text, count, asked->device->name, shared,
                       pace_show_step_rate(rate).text);
    return rate;
}
