#include "ask/predict/exchange_asked.h"
#include "ask/predict/predict_fits.h"
#include "ask/rows/exchange_stack.h"
#include "ask/rows/fit_system.h"
#include "base/print.h"
#include "base/text.h"
#include "exchange/measured_ways.h"

#include <math.h>
#include <string.h>

const char *const pace_exchange_libraries[3] = {"nccl", "rccl", "textbook"};

pace_status pace_read_library(pace_exchange_library *out, const char **line, const char *text) {
    *line = NULL;
    *out = PACE_LIBRARY_AUTO;
    if (!text) return PACE_OK;
    *out = pace_strcasecmp(text, "textbook") == 0 ? PACE_LIBRARY_TEXTBOOK : PACE_LIBRARY_NCCL;
    if (pace_strncasecmp(text, "nccl-", 5) == 0) *line = text + 5;
    if (pace_strcasecmp(text, "rccl") == 0) *line = "rccl";
    if (*out == PACE_LIBRARY_TEXTBOOK || pace_strcasecmp(text, "nccl") == 0 || *line) return PACE_OK;
    return pace_word_fail("library", PACE_WORDS(pace_exchange_libraries), " or a version such as nccl-2.7 or nccl-2.30",
                          text);
}

const pace_exchange_fit *pace_exchange_asked_curves(const pace_exchange_asked *a) {
    bool own = a->system && PACE_FIND(a->own.curves.items, a->own.curves.count, system, a->system);
    return own ? &a->own : &a->fit;
}

/* Measured curves are of what the library chose: they say nothing of what is asked for by name. */
static pace_status load_fit(pace_exchange_asked *a, const pace_exchange_options *options) {
    const char *word = options->algorithm ? options->algorithm : options->protocol;
    if (word)
        return pace_fail(PACE_E_USAGE, "fit: has no effect on %s '%.40s': measured curves are of what was chosen",
                         options->algorithm ? "algorithm" : "protocol", word);
    PACE_TRY(pace_predict_fit_of_kind(options->fit_path, "exchange"));
    PACE_TRY(pace_exchange_fit_load(&a->fit, options->fit_path));
    PACE_TRY(pace_fit_system_of(&a->system, &a->fit, options->context->catalog, &a->exchange.machine, true));
    return pace_exchange_fit_own(&a->own, &a->fit);
}

int pace_exchange_asked_per_node(const pace_exchange_asked *a) {
    return a->question.ranks_per_node ? a->question.ranks_per_node : a->exchange.machine.devices;
}

int pace_exchange_asked_nodes(const pace_exchange_asked *a) {
    return a->question.nodes ? a->question.nodes : a->exchange.machine.nodes;
}

/* The first devices of one node, or whole nodes: closed forms take ranks to lie evenly. */
static pace_status place_ranks(pace_exchange_asked *a, double ranks) {
    const pace_machine *m = &a->exchange.machine;
    if (ranks == 0) return PACE_OK;
    if (ranks != floor(ranks) || ranks < 2 || ranks > (double)m->devices * m->nodes)
        return pace_fail(PACE_E_USAGE, "ranks: expected a whole number from 2 to %.0f, the devices of %s, found %g",
                         (double)m->devices * m->nodes, m->name, ranks);
    if (ranks > m->devices && fmod(ranks, m->devices) != 0)
        return pace_fail(
            PACE_E_USAGE,
            "ranks: %.0f ranks do not divide into nodes of %d: expected at most %d, or whole nodes; " PACE_FIELD
            "simulate with " PACE_FIELD "algorithm ring takes any number",
            ranks, m->devices, m->devices);
    a->question.ranks_per_node = ranks < m->devices ? (int)ranks : m->devices;
    a->question.nodes = (int)ranks / a->question.ranks_per_node;
    return PACE_OK;
}

pace_status pace_exchange_ask(pace_exchange_asked *a, const pace_exchange_options *options) {
    pace_machine machine;
    pace_exchange_library library;
    const char *line;
    a->options = options;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: " PACE_FIELD "on dgx-h100*2 (see docs/exchange.md)");
    PACE_TRY(pace_read_library(&library, &line, options->library));
    PACE_TRY(pace_machine_asked(&machine, options->context->catalog, options->on));
    PACE_TRY(pace_nccl_check_age(options->context->catalog, &machine, line));
    PACE_TRY(pace_exchange_open(&a->exchange, options->context->catalog, &machine, library, line));
    a->exchange.stack = pace_exchange_stack_of("", options->library ? options->library : "");
    if (options->fit_path) a->exchange.stack = pace_exchange_stack_beside_curves(a->exchange.stack);
    a->question = (pace_exchange_question){.collective = PACE_ALLREDUCE, .algorithm = PACE_ANY, .protocol = PACE_ANY};
    PACE_TRY(place_ranks(a, options->ranks));
    PACE_TRY(pace_read_collective(&a->question.collective, options->collective));
    if (options->algorithm)
        PACE_TRY(pace_exchange_name_algorithm(&a->question.algorithm, &a->exchange, options->algorithm));
    if (options->protocol)
        PACE_TRY(pace_exchange_name_protocol(&a->question.protocol, &a->exchange, options->protocol));
    if (options->fit_path) PACE_TRY(load_fit(a, options));
    return pace_read_sizes(&a->sizes, options->bytes ? options->bytes : "8..1G");
}

void pace_exchange_asked_free(pace_exchange_asked *a) {
    PACE_VEC_FREE(&a->sizes);
    pace_exchange_fit_free(&a->fit);
    pace_exchange_fit_free(&a->own);
}

static pace_status fitted(pace_estimate *out, pace_doubts_used *used, const pace_exchange_asked *a, double bytes) {
    pace_nccl_stack told = pace_exchange_stack_of("", a->options->library ? a->options->library : "");
    const pace_fit_question measured = {.system = a->system,
                                        .variant = "",
                                        .collective = a->question.collective,
                                        .bytes = bytes,
                                        .ranks_per_node = pace_exchange_asked_per_node(a),
                                        .nodes = pace_exchange_asked_nodes(a),
                                        .stack = pace_exchange_stack_of_curves(&a->fit, a->system, told),
                                        .model = &a->exchange,
                                        .doubts = &a->exchange.doubts,
                                        .used = used};
    return pace_exchange_fit_time(out, pace_exchange_asked_curves(a), &measured);
}

pace_status pace_exchange_asked_answer(pace_exchange_answer *out, const pace_exchange_asked *a, double bytes) {
    pace_exchange_question q = a->question;
    pace_estimate s;
    pace_doubts_used used = {{0}, false};
    q.bytes = bytes;
    PACE_TRY(pace_exchange_answer_question(out, &a->exchange, &q));
    if (a->system && fitted(&s, &used, a, bytes) == PACE_OK)
        *out = (pace_exchange_answer){.time_s = s,
                                      .algorithm = pace_doubts_beyond(&used) ? "extrapolated" : "measured",
                                      .protocol = "",
                                      .bottleneck = out->bottleneck,
                                      .used = used};
    return PACE_OK;
}

void pace_exchange_asked_unfitted(char why[PACE_WHY_UNFITTED], const pace_exchange_asked *a, double bytes) {
    pace_estimate s;
    pace_doubts_used used = {{0}, false};
    *why = '\0';
    if (a->system && fitted(&s, &used, a, bytes) != PACE_OK)
        pace_snprintf(why, PACE_WHY_UNFITTED, "%.199s", pace_message_marked());
}

pace_status pace_exchange_asked_own_choice(pace_exchange_own_choice *out, const pace_exchange_asked *a) {
    pace_exchange_own_choice own = {.ratio = 1};
    for (size_t i = 0; i < a->sizes.count; i++) {
        pace_exchange_question q = a->question;
        pace_exchange_answer named, free;
        q.bytes = a->sizes.items[i];
        PACE_TRY(pace_exchange_answer_question(&named, &a->exchange, &q));
        q.algorithm = q.protocol = PACE_ANY;
        PACE_TRY(pace_exchange_answer_question(&free, &a->exchange, &q));
        double ratio = named.time_s.median > 0 ? free.time_s.median / named.time_s.median : 1;
        bool alike = strcmp(named.algorithm, free.algorithm) == 0 && strcmp(named.protocol, free.protocol) == 0;
        own.alike += alike;
        if (alike || (own.algorithm && fabs(log(ratio)) <= fabs(log(own.ratio)))) continue;
        own.bytes = q.bytes, own.ratio = ratio, own.algorithm = free.algorithm, own.protocol = free.protocol;
    }
    *out = own;
    return PACE_OK;
}

/* The share of an exchange's time that is saved when the machine is changed so. */
static pace_status saved(double *out, const pace_exchange_asked *a, const pace_exchange *changed, double bytes) {
    pace_exchange_question q = a->question;
    pace_estimate before, after;
    q.bytes = bytes;
    PACE_TRY(pace_exchange_time(&before, &a->exchange, &q));
    PACE_TRY(pace_exchange_time(&after, changed, &q));
    *out = before.median > 0 ? 1 - after.median / before.median : 0;
    return PACE_OK;
}

pace_status pace_exchange_savings(pace_exchange_saving out[PACE_EXCHANGE_CHANGES], size_t *count,
                                  const pace_exchange_asked *a) {
    static const char *const changes[PACE_EXCHANGE_CHANGES] = {"links inside a node twice as fast",
                                                               "network twice as fast", "network latency halved"};
    double small = a->sizes.items[0], large = a->sizes.items[a->sizes.count - 1];
    *count = pace_exchange_asked_nodes(a) == 1 ? 1 : PACE_EXCHANGE_CHANGES;
    for (size_t i = 0; i < *count; i++) {
        pace_exchange changed = a->exchange;
        out[i].change = changes[i];
        if (i == 0) changed.machine.inside.bytes_per_s *= 2, changed.machine.brick_bytes_per_s *= 2;
        if (i == 1) changed.machine.between.bytes_per_s *= 2;
        if (i == 2) changed.machine.between.latency_s /= 2;
        PACE_TRY(saved(&out[i].of_smallest, a, &changed, small));
        PACE_TRY(saved(&out[i].of_largest, a, &changed, large));
    }
    return PACE_OK;
}
