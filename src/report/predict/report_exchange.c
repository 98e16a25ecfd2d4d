/* The report of `paceline predict --kind exchange`: time and bandwidth against size, in the form of nccl-tests. */
#include "base/print.h"
#include "report/engines.h"
#include "report/predict/predict_parts.h"
#include "ask/predict/exchange_asked.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    double bytes, algbw, busbw, faster_us;
    pace_exchange_answer of;
    const char *rung;
} size_row;

PACE_TABLE(sizes, "sizes", "Time and bandwidth by size", PACE_FOR_ALL, 0,
           {"bytes", "size B", PACE_SHOW_INT, PACE_WHOLE_OF(size_row, bytes)},
           {"time_us", "time µs", PACE_SHOW_REAL, PACE_US_OF(size_row, of.time_s)},
           {"algbw_GB_per_s", "algbw GB/s", PACE_SHOW_REAL, PACE_OF(size_row, algbw)},
           {"busbw_GB_per_s", "busbw GB/s", PACE_SHOW_REAL, PACE_OF(size_row, busbw)},
           {"algorithm", "algorithm", PACE_SHOW_TEXT, PACE_OF(size_row, of.algorithm)},
           {"protocol", "protocol", PACE_SHOW_TEXT, PACE_OF(size_row, of.protocol)},
           {"low_us", "low µs", PACE_SHOW_REAL, PACE_LOW_US_OF(size_row, of.time_s)},
           {"high_us", "high µs", PACE_SHOW_REAL, PACE_HIGH_US_OF(size_row, of.time_s)},
           {"faster_us", NULL, PACE_SHOW_REAL, PACE_OF(size_row, faster_us)},
           {"faster_algorithm", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, of.faster_algorithm)},
           {"faster_protocol", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, of.faster_protocol)},
           {"bottleneck", "limited by", PACE_SHOW_TEXT, PACE_OF(size_row, of.bottleneck)},
           {"rung", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, rung)});

PACE_TABLE(help, "help", "What would help most", PACE_FOR_ALL, 0,
           {"change", "Change", PACE_SHOW_TEXT, PACE_OF(pace_exchange_saving, change)},
           {"smallest_saved_share", "saves of smallest size", PACE_SHOW_SHARE,
            PACE_OF(pace_exchange_saving, of_smallest)},
           {"largest_saved_share", "of largest size", PACE_SHOW_SHARE, PACE_OF(pace_exchange_saving, of_largest)});

PACE_TABLE(changes, "changes", "Which way goes from which size on", PACE_FOR_ALL, 0,
           {"from_bytes", "from B", PACE_SHOW_INT, PACE_OF(pace_exchange_change, from_bytes)},
           {"algorithm", "algorithm", PACE_SHOW_TEXT, PACE_OF(pace_exchange_change, algorithm)},
           {"protocol", "protocol", PACE_SHOW_TEXT, PACE_OF(pace_exchange_change, protocol)});

static void warn_of_sizes(pace_report *report, size_t beyond, size_t count) {
    if (beyond)
        pace_report_warn(report, PACE_WARN_EXTRAPOLATED, "sizes",
                         "%zu of %zu sizes: smaller or larger than any that was measured; there time goes on as the "
                         "machine's model says, moved to pass by the measured sizes",
                         beyond, count);
}

static void warn_of_fit(pace_report *report, size_t unfitted, size_t count, const char *why) {
    if (unfitted)
        pace_report_warn(report, PACE_WARN_EXTRAPOLATED, "fit", "The fit is not used for %zu of %zu sizes: %s",
                         unfitted, count, why);
}

/* Where the library's choice costs most. */
typedef struct {
    size_t count;
    double bytes;
    pace_exchange_answer of;
} misjudged;

static void misjudge(misjudged *worst, const pace_exchange_answer *given, double bytes) {
    if (!(given->faster_s > 0)) return;
    bool first = worst->count++ == 0;
    if (!first && given->time_s.median * worst->of.faster_s <= worst->of.time_s.median * given->faster_s) return;
    worst->bytes = bytes;
    worst->of = *given;
}

static void say_misjudged(pace_node *root, const misjudged *worst, size_t count) {
    const pace_exchange_answer *of = &worst->of;
    if (!worst->count) return;
    bool same = strcmp(of->algorithm, of->faster_algorithm) == 0 && strcmp(of->protocol, of->faster_protocol) == 0;
    pace_node_note(
        root,
        "At %zu of %zu sizes the library's own estimate favours a way that is not the fastest, by what is "
        "usually reached: at %s %s/%s takes %.4g µs, %s/%s%s would take %.4g µs. Over slower links the "
        "library may take the faster way, so that faster links can cost time; the intervals hold both times.",
        worst->count, count, pace_show_bytes(worst->bytes).text, of->algorithm, of->protocol, of->time_s.median * 1e6,
        of->faster_algorithm, of->faster_protocol, same ? " over more channels" : "", of->faster_s * 1e6);
}

static pace_status put_sizes(pace_node *root, const pace_exchange_asked *a, pace_size_times *times) {
    int ranks = pace_exchange_asked_per_node(a) * pace_exchange_asked_nodes(a);
    double factor = pace_bus_factor(a->question.collective, ranks);
    pace_node *table = pace_open_table(root, &sizes, 0);
    size_t beyond = 0, unfitted = 0;
    misjudged worst = {0};
    char why[PACE_WHY_UNFITTED], first[PACE_WHY_UNFITTED] = "";
    for (size_t i = 0; i < a->sizes.count; i++) {
        pace_exchange_answer given;
        double bytes = a->sizes.items[i];
        PACE_TRY(pace_exchange_asked_answer(&given, a, bytes));
        pace_exchange_asked_unfitted(why, a, bytes);
        if (*why && unfitted++ == 0) pace_snprintf(first, sizeof first, "%s", why);
        beyond += given.used.beyond_sizes;
        double algbw = given.time_s.median > 0 ? bytes / given.time_s.median / 1e9 : NAN;
        misjudge(&worst, &given, bytes);
        PACE_TRY(pace_size_times_add(times, bytes, given.time_s.median, given.algorithm, given.protocol));
        double faster_us = given.faster_s > 0 ? given.faster_s * 1e6 : NAN;
        pace_table_put(table,
                       &(size_row){bytes, algbw, algbw * factor, faster_us, given, pace_rung_names[given.time_s.rung]});
    }
    say_misjudged(root, &worst, a->sizes.count);
    warn_of_sizes(pace_node_report(root), beyond, a->sizes.count);
    warn_of_fit(pace_node_report(root), unfitted, a->sizes.count, first);
    return PACE_OK;
}

/* A page leads with its curves; where they change stands below the sizes. */
static pace_status put_answers(pace_node *root, const pace_exchange_asked *a) {
    pace_exchange_curves curves = {0};
    pace_status status = pace_exchange_curves_make(&curves, a);
    if (status == PACE_OK) pace_put_exchange_charts(root, &curves);
    pace_size_times times = {0};
    if (status == PACE_OK) status = put_sizes(root, a, &times);
    if (status == PACE_OK) pace_say_reversals(root, &times);
    PACE_VEC_FREE(&times);
    if (status == PACE_OK) PACE_PUT_ROWS(root, &changes, &curves.changes);
    pace_exchange_curves_free(&curves);
    return status;
}

/* Sizes go from what waits to what moves bytes: both ends are said. */
static pace_status say_smallest(pace_node *root, const pace_exchange_asked *a, double largest) {
    pace_exchange_answer given;
    double bytes = largest;
    for (size_t i = 0; i < a->sizes.count; i++) bytes = fmin(bytes, a->sizes.items[i]);
    if (!(bytes < largest)) return PACE_OK;
    PACE_TRY(pace_exchange_asked_answer(&given, a, bytes));
    pace_node_sentence(root, true, "%s takes %.4g ms (%.4g to %.4g ms), limited by %s.", pace_show_bytes(bytes).text,
                       given.time_s.median * 1e3, pace_estimate_low(given.time_s) * 1e3,
                       pace_estimate_high(given.time_s) * 1e3, given.bottleneck);
    return PACE_OK;
}

static void say_losses(pace_node *root, const pace_exchange_saving *savings, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (fmin(savings[i].of_smallest, savings[i].of_largest) < -0.001) {
            pace_node_note(root, "A change that saves less than nothing makes the library's own estimate favour a way "
                                 "that is slower by what is usually reached.");
            return;
        }
}

/* A way that was named, against what the library takes by itself. */
static pace_status say_own_choice(pace_node *root, const pace_exchange_asked *a) {
    pace_exchange_own_choice own;
    if (!a->options->algorithm && !a->options->protocol) return PACE_OK;
    PACE_TRY(pace_exchange_asked_own_choice(&own, a));
    if (own.alike == a->sizes.count)
        pace_node_note(root, "Left to choose, the library takes the same way for all sizes.");
    else
        pace_node_note(root,
                       "Left to choose, the library takes another way for %zu of %zu sizes: at %s, %s%s%s takes %.3g "
                       "times as long.",
                       a->sizes.count - own.alike, a->sizes.count, pace_show_bytes(own.bytes).text, own.algorithm,
                       *own.protocol ? " with " : "", own.protocol, own.ratio);
    return PACE_OK;
}

static pace_status build(pace_report *report, void *context) {
    const pace_exchange_asked *a = context;
    const pace_machine *m = &a->exchange.machine;
    int nodes = pace_exchange_asked_nodes(a), ranks = pace_exchange_asked_per_node(a) * nodes;
    pace_node *root = pace_report_root(report);
    pace_exchange_answer largest;
    pace_exchange_saving savings[PACE_EXCHANGE_CHANGES];
    size_t count;
    if (a->options->fit_path) pace_report_add_input(report, a->options->fit_path, 0);
    double bytes = a->sizes.items[a->sizes.count - 1];
    PACE_TRY(pace_exchange_asked_answer(&largest, a, bytes));
    pace_node_text(root, "machine", m->name);
    pace_node_text(root, "collective", pace_collective_rows[a->question.collective].name);
    pace_node_int(root, "ranks", ranks);
    pace_node_int(root, "nodes", nodes);
    pace_node_text(root, "library", a->exchange.library == PACE_LIBRARY_NCCL ? a->exchange.nccl.line : "textbook");
    if (ranks == 1)
        pace_report_warn(report, PACE_WARN_EXCHANGE_IDLE, m->name,
                         "%s is a single device, which exchanges nothing: name a machine, such as %s, or "
                         "\"%s*8 %s\"",
                         m->name, m->generation > 0 ? "dgx-h100" : "mi300x-node", m->name,
                         m->generation > 0 ? "nvlink=450GB/s" : "pcie=64GB/s");
    pace_node_sentence(root, true,
                       "%s of %s on %d rank%s of %s takes %.4g ms (90 %% interval %.4g to %.4g ms), limited by %s.",
                       pace_collective_rows[a->question.collective].name, pace_show_bytes(bytes).text, ranks,
                       ranks == 1 ? "" : "s", m->name, largest.time_s.median * 1e3,
                       pace_estimate_low(largest.time_s) * 1e3, pace_estimate_high(largest.time_s) * 1e3,
                       largest.bottleneck);
    PACE_TRY(say_smallest(root, a, bytes));
    PACE_TRY(put_answers(root, a));
    PACE_TRY(say_own_choice(root, a));
    PACE_TRY(pace_exchange_savings(savings, &count, a));
    pace_put_table(root, &help, savings, count, sizeof *savings);
    say_losses(root, savings, count);
    PACE_TRY(pace_put_assumptions(root, a->options->context->catalog, &largest.used, largest.time_s));
    pace_node_note(
        root,
        "Size is defined as in nccl-tests: for allgather and reducescatter, the whole vector. algbw = size / time; "
        "busbw = algbw times the traffic factor of a ring. GB = 1e9 bytes.");
    pace_put_pieces_note(root, a->options->collective);
    pace_put_machine_note(root, m);
    if (a->exchange.library == PACE_LIBRARY_NCCL && strstr(m->asked, ".y"))
        pace_node_note(root,
                       "latency_s of inside is not used: hops inside a node take what the library's model of this "
                       "generation says. The forms of --library textbook use it.");
    return PACE_OK;
}

pace_status pace_predict_exchange(pace_report **out, const pace_exchange_options *options) {
    pace_exchange_asked a = {0};
    pace_status status = pace_exchange_ask(&a, options);
    if (status == PACE_OK) status = pace_report_build(out, "exchange", "How long an exchange takes", build, &a);
    pace_exchange_asked_free(&a);
    return status;
}
