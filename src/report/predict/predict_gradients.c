#include "report/predict/predict_parts.h"

#include "forecast/exchange_delay.h"
#include "report/show.h"
#include "base/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_object(pace_node *root, const pace_scenario *scenario, const pace_forecast_exchange *exchange) {
    pace_node *node = pace_node_object(root, "exchange", NULL, PACE_FOR_JSON);
    pace_node_text(node, "approach", scenario->approach.name);
    pace_node_text(node, "family", pace_approach_family_names[scenario->approach.family]);
    pace_node_int(node, "ranks", exchange->ranks);
    pace_node_int(node, "exchange_ns", exchange->bottleneck ? pace_ns(exchange->exchange_s) : PACE_NO_INT);
    pace_node_int(node, "exposed_ns", pace_ns(exchange->exposed_s));
    pace_node *by = pace_node_list(node, "exposed_by_group");
    for (int g = PACE_GROUP_UNKNOWN + 1; g < PACE_GROUPS; g++) {
        if (exchange->exposed_by_s[g] <= 0) continue;
        pace_node *one = pace_node_item(by);
        pace_node_text(one, "group", pace_group_names[g]);
        pace_node_int(one, "exposed_ns", pace_ns(exchange->exposed_by_s[g]));
    }
    pace_node_real(node, "jitter_share", exchange->jitter);
    pace_node_int(node, "skew_ns", pace_ns(exchange->skew_s));
    pace_node_text(node, "bottleneck", exchange->bottleneck);
}

/* " (tp 1.4 s, pp 101 ms)", of what is at least a hundredth. */
static const char *by_groups(const pace_forecast_exchange *exchange, char *text, size_t size) {
    text[0] = '\0';
    for (int g = PACE_GROUP_UNKNOWN + 1; g < PACE_GROUPS && pace_exposes_more(exchange); g++) {
        double own_s = exchange->exposed_by_s[g];
        if (own_s < 0.01 * exchange->exposed_s) continue;
        pace_append(text, size, "%s%s %s", *text ? ", " : " (", pace_group_names[g], pace_show_ns(pace_ns(own_s)).text);
    }
    if (*text) pace_append(text, size, ")");
    return text;
}

/* The limit of the exchange, if the lanes name a specific one. */
static const char *limit_of(const pace_forecast_exchange *exchange, char *text, size_t size) {
    const char *limit = exchange->bottleneck;
    text[0] = '\0';
    if (limit && strcmp(limit, "exchange") != 0 && strcmp(limit, "compute") != 0 &&
        strcmp(limit, "slowest worker") != 0)
        snprintf(text, size, ", limited by the %s", limit);
    return text;
}

void pace_put_gradients(pace_report *report, const pace_scenario *scenario, const pace_forecast_result *result) {
    const pace_forecast_exchange *exchange = &result->exchange;
    pace_node *root = pace_report_root(report);
    char limit[64], groups[192];
    if (!scenario->has_approach || exchange->ranks < 2) return;
    pace_node_sentence(root, false,
                       "%" PRId64
                       " ranks exchange gradients by %s%s %s of communication is exposed%s%s. Waiting for the "
                       "slowest rank (step times vary by %.3g %%) adds %s%s.",
                       exchange->ranks, scenario->approach.name, pace_exposes_more(exchange) ? "; in all," : ":",
                       pace_show_ns(pace_ns(exchange->exposed_s)).text, by_groups(exchange, groups, sizeof groups),
                       limit_of(exchange, limit, sizeof limit), 100 * exchange->jitter,
                       pace_show_ns(pace_ns(exchange->skew_s)).text,
                       exchange->skew_s > 0 ? ", which timelines of ranks do not show" : "");
    put_object(root, scenario, exchange);
}
