/* The report of `paceline predict --kind exchange --approach A,B`: one exchange by each approach, against size. */
#include "ask/predict/approach_exchange.h"
#include "report/engines.h"
#include "report/predict/predict_parts.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>

typedef struct {
    const char *approach;
    pace_approach_size of;
} size_row;

enum { SEVERAL = 1 };

PACE_TABLE(sizes, "sizes", "Time by approach and size", PACE_FOR_ALL, 0,
           {"approach", "approach", PACE_SHOW_TEXT, PACE_OF(size_row, approach), .shown_if = SEVERAL},
           {"bytes", "size B", PACE_SHOW_INT, PACE_WHOLE_OF(size_row, of.bytes)},
           {"time_us", "time µs", PACE_SHOW_REAL, PACE_US_OF(size_row, of.time_s)},
           {"low_us", NULL, PACE_SHOW_REAL, PACE_LOW_US_OF(size_row, of.time_s)},
           {"high_us", NULL, PACE_SHOW_REAL, PACE_HIGH_US_OF(size_row, of.time_s)},
           {"times_first", "times first", PACE_SHOW_REAL, PACE_OF(size_row, of.times_first), .shown_if = SEVERAL},
           {"messages_us", "messages", PACE_SHOW_REAL, PACE_US_OF(size_row, of.parts.messages_s)},
           {"adding_us", "adding", PACE_SHOW_REAL, PACE_US_OF(size_row, of.parts.adding_s)},
           {"staging_us", "copies", PACE_SHOW_REAL, PACE_US_OF(size_row, of.parts.staging_s)},
           {"queries_us", "queries", PACE_SHOW_REAL, PACE_US_OF(size_row, of.parts.queries_s)},
           {"control_us", NULL, PACE_SHOW_REAL, PACE_US_OF(size_row, of.parts.control_s)},
           {"coordinator_us", NULL, PACE_SHOW_REAL, PACE_US_OF(size_row, of.parts.coordinator_s)},
           {"algorithm", "algorithm", PACE_SHOW_TEXT, PACE_OF(size_row, of.parts.algorithm)});

typedef struct {
    const char *approach, *becomes;
    int64_t from_bytes;
} crossing_row;

PACE_TABLE_IF_ROWS(crossings, "crossings", "Where one overtakes the first", PACE_FOR_ALL, 0,
                   {"approach", "approach", PACE_SHOW_TEXT, PACE_OF(crossing_row, approach)},
                   {"from_bytes", "from B", PACE_SHOW_INT, PACE_OF(crossing_row, from_bytes)},
                   {"becomes", "than the first it is", PACE_SHOW_TEXT, PACE_OF(crossing_row, becomes)});

static const char *label(const pace_approach_exchange_asked *a, size_t approach) {
    return a->approaches.labels.items[approach];
}

static void put_sizes(pace_node *root, const pace_approach_exchange_asked *a) {
    pace_node *table = pace_open_table(root, &sizes, a->opened.count > 1 ? SEVERAL : 0);
    PACE_ITEMS (const pace_approach_size, p, &a->points) pace_table_put(table, &(size_row){label(a, p->approach), *p});
}

static void put_crossings(pace_node *root, const pace_approach_exchange_asked *a) {
    pace_node *table = pace_open_table(root, &crossings, 0);
    PACE_ITEMS (const pace_approach_crossing, c, &a->crossings) {
        pace_table_put(table,
                       &(crossing_row){label(a, c->approach), c->slower ? "slower" : "faster", llround(c->from_bytes)});
    }
}

static void put_chart(pace_node *root, const pace_approach_exchange_asked *a) {
    if (a->sizes.count < 2) return;
    pace_node *chart = pace_node_chart(root, "Time by size", "bytes; µs", PACE_CHART_LOG_X | PACE_CHART_LOG_Y);
    for (size_t i = 0; i < a->opened.count; i++) {
        pace_chart_curve(chart, PACE_CURVE_LINE, "%s", label(a, i));
        for (size_t s = 0; s < a->sizes.count; s++) {
            const pace_approach_size *p = &a->points.items[i * a->sizes.count + s];
            if (p->bytes > 0 && p->time_s.median > 0) pace_chart_point(chart, p->bytes, p->time_s.median * 1e6);
        }
    }
}

/* Of each approach but the first the least and the most that it takes of the first's time. */
static void say(pace_node *root, const pace_approach_exchange_asked *a, size_t approach) {
    const pace_approach_size *points = &a->points.items[approach * a->sizes.count], *least = points, *most = points;
    for (size_t s = 0; s < a->sizes.count; s++) {
        if (points[s].times_first < least->times_first) least = &points[s];
        if (points[s].times_first > most->times_first) most = &points[s];
    }
    if (least == most) {
        pace_node_sentence(root, true, "%s takes %.3g times as long as %s.", label(a, approach), most->times_first,
                           label(a, 0));
        return;
    }
    pace_node_sentence(root, true, "%s takes %.3g times as long as %s at %s, and %.3g times at %s.", label(a, approach),
                       most->times_first, label(a, 0), pace_show_bytes(most->bytes).text, least->times_first,
                       pace_show_bytes(least->bytes).text);
}

static void say_all(pace_node *root, const pace_approach_exchange_asked *a) {
    const pace_approach_size *p = &a->points.items[a->sizes.count - 1];
    int ranks = a->machine.devices * a->machine.nodes;
    pace_node_sentence(root, true,
                       "%s exchanges %s between %d rank%s of %s in %.4g ms (90 %% interval %.4g to %.4g ms).",
                       label(a, 0), pace_show_bytes(p->bytes).text, ranks, ranks == 1 ? "" : "s", a->machine.name,
                       p->time_s.median * 1e3, pace_estimate_low(p->time_s) * 1e3, pace_estimate_high(p->time_s) * 1e3);
    for (size_t i = 1; ranks > 1 && i < a->opened.count; i++) say(root, a, i);
}

static pace_status build(pace_report *report, void *context) {
    const pace_approach_exchange_asked *a = context;
    const pace_machine *m = &a->machine;
    const pace_approach_size *largest = &a->points.items[a->sizes.count - 1];
    pace_node *root = pace_report_root(report);
    pace_node_text(root, "machine", m->name);
    pace_node_int(root, "ranks", (int64_t)m->devices * m->nodes);
    pace_node_int(root, "nodes", m->nodes);
    if (m->devices * m->nodes == 1)
        pace_report_warn(report, PACE_WARN_EXCHANGE_IDLE, m->name,
                         "%s is a single device, which exchanges nothing: name a machine, such as \"%s*16\"", m->name,
                         m->name);
    say_all(root, a);
    put_sizes(root, a);
    put_chart(root, a);
    put_crossings(root, a);
    PACE_TRY(pace_put_assumptions(root, a->options->context->catalog, &largest->used, largest->time_s));
    pace_node_note(
        root,
        "One all-reduce of a buffer on devices; of servers one tensor, pushed and pulled. A framework's "
        "coordinator is not in it. copies: between device and host; queries: asking the driver where an address lies.");
    pace_put_machine_note(root, m);
    return PACE_OK;
}

pace_status pace_predict_approaches(pace_report **out, const pace_exchange_options *options) {
    pace_approach_exchange_asked a = {0};
    pace_status status = pace_approach_exchange_ask(&a, options);
    if (status == PACE_OK)
        status = pace_report_build(out, "exchange_approaches", "How long an exchange takes, by approach", build, &a);
    pace_approach_exchange_asked_free(&a);
    return status;
}
