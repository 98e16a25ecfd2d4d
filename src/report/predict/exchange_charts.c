#include "report/predict/predict_parts.h"
#include "base/print.h"
#include "report/show.h"

typedef double (*drawn)(const pace_exchange_curves *curves, double bytes, double time_s);

static double as_time(const pace_exchange_curves *curves, double bytes, double time_s) {
    (void)curves, (void)bytes;
    return time_s * 1e6;
}

static double as_bandwidth(const pace_exchange_curves *curves, double bytes, double time_s) {
    return bytes * curves->bus_factor / time_s / 1e9;
}

/* Of the interval the ends: below, in the middle and above are numbered -1, 0, 1. */
static void put_curve(pace_node *chart, const pace_exchange_curves *c, drawn value, int end) {
    for (size_t i = 0; i < c->sizes.count; i++) {
        pace_estimate t = c->sizes.items[i].time_s;
        double time_s = end < 0 ? pace_estimate_low(t) : end > 0 ? pace_estimate_high(t) : t.median;
        if (time_s > 0) pace_chart_point(chart, c->sizes.items[i].bytes, value(c, c->sizes.items[i].bytes, time_s));
    }
}

static void put_interval(pace_node *chart, const pace_exchange_curves *c, drawn value) {
    pace_chart_curve(chart, PACE_CURVE_PALE, "90 %% interval: shortest time");
    put_curve(chart, c, value, -1);
    pace_chart_curve(chart, PACE_CURVE_PALE, "longest time");
    put_curve(chart, c, value, 1);
}

static void put_measured(pace_node *chart, const pace_exchange_curves *c, drawn value) {
    if (!c->measured.count) return;
    pace_chart_curve(chart, PACE_CURVE_DOTS, "measured");
    for (size_t i = 0; i < c->measured.count; i++)
        pace_chart_point(chart, c->measured.items[i].bytes,
                         value(c, c->measured.items[i].bytes, c->measured.items[i].time_s));
}

/* The first is no change. */
static void put_changes(pace_node *chart, const pace_exchange_curves *c) {
    for (size_t i = 1; i < c->changes.count; i++) {
        char name[96];
        const pace_exchange_change *change = &c->changes.items[i];
        double bytes = (double)change->from_bytes;
        pace_snprintf(name, sizeof name, "from %s: %s %s", pace_show_bytes(bytes).text, change->algorithm,
                      change->protocol);
        pace_chart_band(chart, bytes, bytes, name);
    }
}

static void put_chart(pace_node *root, const pace_exchange_curves *c, const char *title, const char *unit,
                      const char *name, drawn value, unsigned flags) {
    char axis[80];
    pace_snprintf(axis, sizeof axis, "bytes; %s%s", unit,
                  c->changes.count > 1 ? "; upright: from here on another algorithm or protocol" : "");
    pace_node *chart = pace_node_chart(root, title, axis, PACE_CHART_LOG_X | flags);
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s", name);
    put_curve(chart, c, value, 0);
    put_measured(chart, c, value);
    put_interval(chart, c, value);
    put_changes(chart, c);
}

void pace_put_exchange_charts(pace_node *root, const pace_exchange_curves *c) {
    if (c->sizes.count < 2) return;
    put_chart(root, c, "Time by size", "µs", "time", as_time, PACE_CHART_LOG_Y);
    put_chart(root, c, "Bus bandwidth by size", "GB/s", "bus bandwidth", as_bandwidth, 0);
}
