/* The report of `paceline predict --kind exchange`: time and bandwidth against size, in the form of nccl-tests. */
#include "exchange/calibration.h"
#include "report/engines.h"
#include "ask/context.h"
#include "base/text.h"
#include "exchange/exchange.h"
#include "report/report_assumptions.h"
#include "report/machine_note.h"
#include "ask/exchange_words.h"
#include "report/report.h"
#include "report/show.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    int64_t bytes;
    double time_us, algbw, busbw, low_us, high_us;
    const char *algorithm, *protocol, *bottleneck, *rung;
} size_row;

static const pace_table sizes = {"sizes", "Time and bandwidth by size", PACE_FOR_ALL, 0,
                                 PACE_CELLS({"bytes", "size B", PACE_SHOW_INT, PACE_OF(size_row, bytes)},
                                            {"time_us", "time us", PACE_SHOW_REAL, PACE_OF(size_row, time_us)},
                                            {"algbw_GB_per_s", "algbw GB/s", PACE_SHOW_REAL, PACE_OF(size_row, algbw)},
                                            {"busbw_GB_per_s", "busbw GB/s", PACE_SHOW_REAL, PACE_OF(size_row, busbw)},
                                            {"algorithm", "algorithm", PACE_SHOW_TEXT, PACE_OF(size_row, algorithm)},
                                            {"protocol", "protocol", PACE_SHOW_TEXT, PACE_OF(size_row, protocol)},
                                            {"low_us", "low us", PACE_SHOW_REAL, PACE_OF(size_row, low_us)},
                                            {"high_us", "high us", PACE_SHOW_REAL, PACE_OF(size_row, high_us)},
                                            {"bottleneck", "limited by", PACE_SHOW_TEXT, PACE_OF(size_row, bottleneck)},
                                            {"rung", NULL, PACE_SHOW_TEXT, PACE_OF(size_row, rung)})};

typedef struct {
    const char *change;
    double of_smallest, of_largest;
} help_row;

static const pace_table help = {
    "help", "What would help most", PACE_FOR_ALL, 0,
    PACE_CELLS({"change", "Change", PACE_SHOW_TEXT, PACE_OF(help_row, change)},
               {"smallest_saved_share", "saves of smallest size", PACE_SHOW_SHARE, PACE_OF(help_row, of_smallest)},
               {"largest_saved_share", "of largest size", PACE_SHOW_SHARE, PACE_OF(help_row, of_largest)})};

typedef struct {
    const pace_exchange_options *options;
    pace_exchange exchange;
    pace_exchange_fit fit;
    pace_exchange_question question;
    pace_sizes sizes;
} asked;

static pace_status read_library(pace_exchange_library *out, const char **line, const char *text) {
    *line = NULL;
    *out = PACE_LIBRARY_AUTO;
    if (!text) return PACE_OK;
    *out = strcmp(text, "textbook") == 0 ? PACE_LIBRARY_TEXTBOOK : PACE_LIBRARY_NCCL;
    if (pace_starts(text, "nccl-")) *line = text + 5;
    if (*out == PACE_LIBRARY_TEXTBOOK || strcmp(text, "nccl") == 0 || *line) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "library: expected nccl, nccl-2.3, nccl-2.7, nccl-2.18, nccl-2.30 or textbook, "
                     "found \"%.40s\"",
                     text);
}

static pace_status open_asked(asked *a, const pace_exchange_options *options) {
    pace_machine machine;
    pace_exchange_library library;
    const char *line;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: " PACE_FIELD "on dgx-h100*2 (see docs/exchange.md)");
    PACE_TRY(read_library(&library, &line, options->library));
    PACE_TRY(pace_machine_asked(&machine, options->context->catalog, options->on));
    PACE_TRY(pace_exchange_open(&a->exchange, options->context->catalog, &machine, library, line));
    a->question = (pace_exchange_question){.collective = PACE_ALLREDUCE, .algorithm = PACE_ANY, .protocol = PACE_ANY};
    PACE_TRY(pace_read_collective(&a->question.collective, options->collective));
    if (options->algorithm)
        PACE_TRY(pace_exchange_name_algorithm(&a->question.algorithm, &a->exchange, options->algorithm));
    if (options->protocol)
        PACE_TRY(pace_exchange_name_protocol(&a->question.protocol, &a->exchange, options->protocol));
    if (options->fit_path) PACE_TRY(pace_exchange_fit_load(&a->fit, options->fit_path));
    return pace_read_sizes(&a->sizes, options->bytes ? options->bytes : "8..1G");
}

/* Measured curves first; what they do not tell is answered in closed form, and the rung says so. */
static pace_status answer(pace_exchange_answer *out, const asked *a, double bytes) {
    pace_exchange_question q = a->question;
    const pace_machine *m = &a->exchange.machine;
    pace_fit_question measured = {.collective = q.collective,
                                  .bytes = bytes,
                                  .ranks_per_node = m->devices,
                                  .nodes = m->nodes,
                                  .model = &a->exchange,
                                  .doubts = &a->exchange.doubts};
    pace_estimate s;
    pace_doubts_used used;
    measured.used = &used;
    q.bytes = bytes;
    PACE_TRY(pace_exchange_answer_question(out, &a->exchange, &q));
    if (a->fit.curves.count > 0 && q.algorithm == PACE_ANY && q.protocol == PACE_ANY &&
        pace_exchange_fit_time(&s, &a->fit, &measured) == PACE_OK)
        *out = (pace_exchange_answer){s, "measured", "", out->bottleneck, used};
    return PACE_OK;
}

static pace_status put_sizes(pace_node *root, const asked *a) {
    int ranks = a->exchange.machine.devices * a->exchange.machine.nodes;
    double factor = pace_bus_factor(a->question.collective, ranks);
    pace_node *table = pace_open_table(root, &sizes, 0);
    for (size_t i = 0; i < a->sizes.count; i++) {
        pace_exchange_answer given;
        double bytes = a->sizes.items[i];
        PACE_TRY(answer(&given, a, bytes));
        double algbw = given.time_s.median > 0 ? bytes / given.time_s.median / 1e9 : NAN;
        pace_table_put(table, &(size_row){llround(bytes), given.time_s.median * 1e6, algbw, algbw * factor,
                                          pace_estimate_low(given.time_s) * 1e6, pace_estimate_high(given.time_s) * 1e6,
                                          given.algorithm, given.protocol, given.bottleneck,
                                          pace_rung_names[given.time_s.rung]});
    }
    return PACE_OK;
}

/* The share of an exchange's time that is saved when the machine is changed so. */
static pace_status saved(double *out, const asked *a, const pace_exchange *changed, double bytes) {
    pace_exchange_question q = a->question;
    pace_estimate before, after;
    q.bytes = bytes;
    PACE_TRY(pace_exchange_time(&before, &a->exchange, &q));
    PACE_TRY(pace_exchange_time(&after, changed, &q));
    *out = before.median > 0 ? 1 - after.median / before.median : 0;
    return PACE_OK;
}

static pace_status put_help(pace_node *root, const asked *a) {
    double small = a->sizes.items[0], large = a->sizes.items[a->sizes.count - 1];
    pace_node *table = pace_open_table(root, &help, 0);
    for (int i = 0; i < 3; i++) {
        static const char *const changes[] = {"links inside a node twice as fast", "network twice as fast",
                                              "network latency halved"};
        pace_exchange changed = a->exchange;
        help_row row = {.change = changes[i]};
        if (i == 0) changed.machine.inside.bytes_per_s *= 2, changed.machine.brick_bytes_per_s *= 2;
        if (i == 1) changed.machine.between.bytes_per_s *= 2;
        if (i == 2) changed.machine.between.latency_s /= 2;
        if (i > 0 && a->exchange.machine.nodes == 1) continue;
        PACE_TRY(saved(&row.of_smallest, a, &changed, small));
        PACE_TRY(saved(&row.of_largest, a, &changed, large));
        pace_table_put(table, &row);
    }
    return PACE_OK;
}

static pace_status build(pace_report *report, void *context) {
    const asked *a = context;
    const pace_machine *m = &a->exchange.machine;
    pace_node *root = pace_report_root(report);
    pace_exchange_answer largest;
    if (a->options->fit_path) pace_report_add_input(report, a->options->fit_path, 0);
    double bytes = a->sizes.items[a->sizes.count - 1];
    PACE_TRY(answer(&largest, a, bytes));
    pace_node_text(root, "machine", m->name);
    pace_node_text(root, "collective", pace_collective_rows[a->question.collective].name);
    pace_node_int(root, "ranks", (int64_t)m->devices * m->nodes);
    pace_node_int(root, "nodes", m->nodes);
    pace_node_text(root, "library", a->exchange.library == PACE_LIBRARY_NCCL ? a->exchange.nccl.line : "textbook");
    if (m->devices * m->nodes == 1)
        pace_report_warn(report,
                         "%s is a single device, which exchanges nothing: name a machine, such as dgx-h100, or "
                         "\"%s*8 nvlink=450GB/s\"",
                         m->name, m->name);
    pace_node_sentence(root, true,
                       "%s of %s on %d rank%s of %s takes %.4g ms (90 %% interval %.4g to %.4g ms), limited by %s.",
                       pace_collective_rows[a->question.collective].name, pace_show_bytes(bytes).text,
                       m->devices * m->nodes, m->devices * m->nodes == 1 ? "" : "s", m->name,
                       largest.time_s.median * 1e3, pace_estimate_low(largest.time_s) * 1e3,
                       pace_estimate_high(largest.time_s) * 1e3, largest.bottleneck);
    PACE_TRY(put_sizes(root, a));
    PACE_TRY(put_help(root, a));
    PACE_TRY(pace_put_assumptions(root, a->options->context->catalog, &largest.used));
    pace_node_note(
        root,
        "Size is defined as in nccl-tests: for allgather and reducescatter, the whole vector. algbw = size / time; "
        "busbw = algbw times the traffic factor of a ring. GB = 1e9 bytes.");
    pace_put_pieces_note(root, a->options->collective);
    pace_put_machine_note(root, m);
    return PACE_OK;
}

pace_status pace_predict_exchange(pace_report **out, const pace_exchange_options *options) {
    asked a = {.options = options};
    pace_status status = open_asked(&a, options);
    if (status == PACE_OK) status = pace_report_build(out, "exchange", "How long an exchange takes", build, &a);
    PACE_VEC_FREE(&a.sizes);
    pace_exchange_fit_free(&a.fit);
    return status;
}
