#include "ask/plan/tune_asked.h"
#include "ask/rows/exchange_stack.h"
#include "base/halving.h"
#include "base/normal.h"
#include "exchange/measured_ways.h"

#include <math.h>
#include <string.h>

enum { MOST_PLACES = 64 };

/* What a search of one place, a collective on so many nodes, needs. */
typedef struct {
    const pace_tune_options *options;
    pace_exchange_asked asked;    /* its fit holds the curves of the library's own choice */
    const pace_exchange_fit *fit; /* all curves */
    pace_tuned *out;
} place;

double pace_tuned_saving(double ratio) { return 1 - 1 / ratio; }

void pace_tuned_free(pace_tuned *t) {
    PACE_VEC_FREE(&t->rows, &t->sizes);
    pace_free(t->text);
}

static bool same_way(pace_tuned_way a, pace_tuned_way b) {
    return strcmp(a.algorithm, b.algorithm) == 0 && strcmp(a.protocol, b.protocol) == 0 && a.channels == b.channels;
}

/* --- one size ----------------------------------------------------------------------------------------------------- */

static pace_fit_question fit_question(const place *p, double bytes) {
    const pace_machine *m = &p->asked.exchange.machine;
    return (pace_fit_question){.system = p->asked.system,
                               .collective = p->asked.question.collective,
                               .bytes = bytes,
                               .ranks_per_node = m->devices,
                               .nodes = m->nodes,
                               .stack = pace_exchange_stack_of_curves(p->fit, NULL, PACE_STACK_UNSAID),
                               .model = &p->asked.exchange,
                               .doubts = &p->asked.exchange.doubts};
}

/* Where NCCL's model says what the library does by itself. What RCCL would gain by another way was held against no
 * measurement. */
static bool is_modelled(const place *p) {
    return p->asked.exchange.library == PACE_LIBRARY_NCCL && p->asked.exchange.machine.generation > 0;
}

/* What measured curves say of a way. */
static bool measured_s(pace_estimate *out, pace_measured_way *way, const place *p, const pace_exchange_question *q) {
    pace_fit_question question = fit_question(p, q->bytes);
    *way = (pace_measured_way){q->algorithm, q->protocol, PACE_ANY, false};
    return p->fit->curves.count > 0 && pace_measured_way_time(out, p->fit, &question, way) == PACE_OK;
}

static pace_tuned_way named(const pace_exchange_question *q, int channels) {
    return (pace_tuned_way){pace_nccl_algorithm_names[q->algorithm], pace_nccl_protocol_names[q->protocol], channels};
}

/* The library's own choice: of its curves, else of curves of that way, else in closed form. */
static pace_status own_time(pace_estimate *out, const place *p, const pace_exchange_question *q) {
    pace_exchange_answer answer;
    if (p->fit->curves.count && !p->asked.fit.curves.count) {
        pace_measured_way way;
        if (measured_s(out, &way, p, q)) return PACE_OK;
        return pace_fail(
            PACE_E_MISSING,
            "fit: holds no curve of the library's own choice, nor %s of %.0f bytes with %s %s on %d node%s",
            pace_collective_rows[q->collective].name, q->bytes, pace_nccl_algorithm_names[q->algorithm],
            pace_nccl_protocol_names[q->protocol], q->nodes, q->nodes == 1 ? "" : "s");
    }
    PACE_TRY(pace_exchange_asked_answer(&answer, &p->asked, q->bytes));
    *out = answer.time_s;
    return PACE_OK;
}

static bool may_choose(const place *p, int algorithm) {
    return !p->out->dialect->tree_and_ring || algorithm == PACE_NCCL_TREE || algorithm == PACE_NCCL_RING;
}

/* How far the model may be off between two ways: more where the exchange waits than where it moves bytes. */
static pace_status choice_spread(double *out, pace_doubts_used *used, const place *p, const pace_exchange_question *q,
                                 double time_s) {
    pace_exchange_question empty = *q;
    pace_estimate waiting;
    empty.bytes = fmin(q->bytes, p->asked.exchange.doubts.figure[PACE_DOUBT_CURVE_FLOOR_BYTES]);
    PACE_TRY(pace_exchange_time(&waiting, &p->asked.exchange, &empty));
    *out = pace_way_doubt(used, &p->asked.exchange.doubts, fmin(waiting.median / time_s, 1));
    return PACE_OK;
}

/* How far two measured times may be apart from what they are in the mean. Where both were measured at this size a half
 * of their variance is of a next measurement, which is not asked about; re-measurements differ by so much at least. */
static double spread_of_ratio(const place *p, const pace_tuned_size *own, pace_estimate other, bool exact) {
    pace_fit_question question = fit_question(p, own->bytes);
    double next = hypot(own->own_s.spread, other.spread);
    if (!exact || !pace_own_size_measured(p->fit, &question)) return next;
    return fmax(next, 2 * question.doubts->figure[PACE_DOUBT_CURVE_LEAST]) / sqrt(2);
}

/* Two times that measurements tell err each for itself. Where the other way was not measured, the two differ as the
 * model says: what is wrong with the machine is wrong with both, and the rest is a doubt of its own. */
static pace_status way_gain(pace_tuned_size *out, const place *p, const pace_exchange_question *q,
                            const pace_tuned_size *own, double own_model_s) {
    pace_estimate model, s;
    pace_measured_way way;
    double spread;
    if (is_modelled(p)) PACE_TRY(pace_exchange_time(&model, &p->asked.exchange, q));
    *out = *own;
    out->best = named(q, PACE_ANY);
    out->used = (pace_doubts_used){{0}, false};
    if (measured_s(&s, &way, p, q)) {
        out->best = named(q, way.channels);
        out->best_s = s;
        out->gain = (pace_estimate){own->own_s.median / s.median, spread_of_ratio(p, own, s, way.exact), s.rung, 0};
        out->used.added[s.rung == PACE_RUNG_MEASURED ? PACE_DOUBT_CURVE_PROBES : PACE_DOUBT_CHOICE] = out->gain.spread;
        return PACE_OK;
    }
    if (!is_modelled(p)) return PACE_E_MISSING;
    PACE_TRY(choice_spread(&spread, &out->used, p, q, model.median));
    out->gain = (pace_estimate){own_model_s / model.median, spread, PACE_RUNG_FORMULA, 0};
    double scale = p->fit->curves.count ? own->own_s.median / own_model_s : 1;
    out->best_s = (pace_estimate){model.median * scale, hypot(own->own_s.spread, spread), PACE_RUNG_FORMULA, 0};
    return PACE_OK;
}

/* A sure gain comes before a larger one that may be none. */
static bool is_better(const pace_tuned_size *a, const pace_tuned_size *b) {
    bool sure = pace_estimate_low(a->gain) > 1, other = pace_estimate_low(b->gain) > 1;
    return sure != other ? sure : a->gain.median > b->gain.median;
}

/* `tried` counts those that may gain. */
static void try_way(pace_tuned_size *size, size_t *tried, const place *p, const pace_exchange_question *q,
                    double own_model_s) {
    pace_tuned_size other;
    pace_tuned_way way = named(q, PACE_ANY);
    if (!may_choose(p, q->algorithm) || way_gain(&other, p, q, size, own_model_s) != PACE_OK) return;
    bool forced =
        other.gain.rung == PACE_RUNG_MEASURED; /* then it is not what the library does, whatever the model says */
    if (!forced && same_way(way, size->own)) return;
    *tried += pace_estimate_high(other.gain) > 1;
    if (is_better(&other, size)) *size = other;
}

/* The best of several looks better than it is by what it owes to chance: each is as likely to gain nothing as all of
 * them together may be (Bonferroni). */
static double spread_of_best(double spread, size_t tried) {
    return tried > 1 ? spread * pace_normal_reach(pace_normal_above(PACE_NORMAL_90) / (double)tried) / PACE_NORMAL_90
                     : spread;
}

/* What the library does by itself: as the model says, or as it was measured without a word of it. */
static pace_status find_own(pace_tuned_way *way, pace_estimate *own_s, pace_estimate *model, const place *p,
                            pace_exchange_question *q) {
    *way = (pace_tuned_way){"own", "", PACE_ANY};
    *model = (pace_estimate){NAN, 0, PACE_RUNG_FORMULA, 0};
    if (is_modelled(p)) {
        PACE_TRY(pace_exchange_time(model, &p->asked.exchange, q)); /* says why where nothing can be done */
        (void)pace_exchange_choice(&q->algorithm, &q->protocol, &p->asked.exchange, q);
        *way = named(q, PACE_ANY);
    }
    return own_time(own_s, p, q);
}

static pace_status tune_size(pace_tuned_size *out, const place *p, double bytes) {
    pace_exchange_question q = p->asked.question;
    pace_estimate own_s, model;
    pace_tuned_way way;
    size_t tried = 0;
    q.bytes = bytes;
    q.ranks_per_node = p->asked.exchange.machine.devices;
    q.nodes = p->asked.exchange.machine.nodes;
    PACE_TRY(find_own(&way, &own_s, &model, p, &q));
    *out = (pace_tuned_size){.bytes = bytes, .own = way, .best = way, .own_s = own_s, .best_s = own_s};
    out->gain = (pace_estimate){1, 0, own_s.rung, 0};
    for (q.algorithm = 0; q.algorithm < PACE_NCCL_ALGORITHMS; q.algorithm++)
        for (q.protocol = 0; q.protocol < PACE_NCCL_PROTOCOLS; q.protocol++) try_way(out, &tried, p, &q, model.median);
    out->gain.spread = spread_of_best(out->gain.spread, tried);
    out->changes = pace_estimate_low(out->gain) > 1;
    return PACE_OK;
}

/* --- sizes together ----------------------------------------------------------------------------------------------- */

static bool same_outcome(const pace_tuned_size *a, const pace_tuned_size *b) {
    return a->changes == b->changes && same_way(a->changes ? a->best : a->own, b->changes ? b->best : b->own);
}

typedef struct {
    const place *place;
    const pace_tuned_size *low;
} outcome;

static pace_status holds_at(bool *out, void *context, uint64_t bytes) {
    const outcome *o = context;
    pace_tuned_size there;
    PACE_TRY(tune_size(&there, o->place, (double)bytes));
    *out = same_outcome(o->low, &there);
    return PACE_OK;
}

/* The last byte up to which what holds at `low` holds, before `high`, where something else does. */
static pace_status find_end(uint64_t *out, const place *p, const pace_tuned_size *low, double high) {
    outcome o = {p, low};
    return pace_halve(out, (uint64_t)low->bytes, (uint64_t)high, holds_at, &o);
}

/* Of a row that changes the mean gain; of one that stays the largest, whose way is named. */
static void sum_up(pace_tuned_row *row, const pace_tuned *t) {
    double logs = 0;
    const pace_tuned_size *sizes = t->sizes.items + row->first, *most = sizes;
    row->low = INFINITY, row->high = -INFINITY;
    for (size_t i = 0; i < row->count; i++) {
        const pace_tuned_size *s = &sizes[i];
        logs += log(s->gain.median);
        if (s->gain.median > most->gain.median) most = s;
        if (!row->changes) continue;
        row->low = fmin(row->low, pace_tuned_saving(pace_estimate_low(s->gain)));
        row->high = fmax(row->high, pace_tuned_saving(pace_estimate_high(s->gain)));
    }
    row->own = row->changes ? sizes[0].own : most->own;
    row->best = most->best;
    row->gain = pace_tuned_saving(row->changes ? exp(logs / (double)row->count) : most->gain.median);
    if (row->changes) return;
    row->low = pace_tuned_saving(pace_estimate_low(most->gain));
    row->high = pace_tuned_saving(pace_estimate_high(most->gain));
}

static pace_status end_row(const place *p, pace_tuned_row *row, uint64_t to) {
    row->to_bytes = to;
    sum_up(row, p->out);
    return PACE_PUSH(&p->out->rows, *row);
}

static void note_doubts(pace_tuned *t, const pace_tuned_size *size) {
    if (!(size->gain.spread > 0)) return;
    for (int d = 0; d < PACE_DOUBTS; d++) t->used.added[d] = fmax(t->used.added[d], size->used.added[d]);
    t->widest = fmax(t->widest, size->gain.spread);
}

static pace_status tune_place(const place *p) {
    const pace_sizes *sizes = &p->asked.sizes;
    const pace_machine *m = &p->asked.exchange.machine;
    pace_tuned *t = p->out;
    pace_tuned_row row = {
        p->asked.question.collective, m->nodes, m->nodes * m->devices, 0, 0, 0, 0, {0}, {0}, false, 0, 0, 0};
    pace_tuned_size before = {0};
    for (size_t i = 0; i < sizes->count; i++) {
        pace_tuned_size size;
        uint64_t end;
        PACE_TRY(tune_size(&size, p, sizes->items[i]));
        if (row.count && !same_outcome(&before, &size)) {
            PACE_TRY(find_end(&end, p, &before, size.bytes));
            PACE_TRY(end_row(p, &row, end));
            row.count = 0;
            row.from_bytes = end + 1;
        } else if (!row.count) row.from_bytes = (uint64_t)size.bytes;
        if (row.count++ == 0) row.first = t->sizes.count, row.changes = size.changes;
        note_doubts(t, &size);
        PACE_TRY(PACE_PUSH(&t->sizes, size));
        before = size;
    }
    return end_row(p, &row, (uint64_t)before.bytes);
}

/* --- which places ------------------------------------------------------------------------------------------------- */

typedef struct {
    int of[MOST_PLACES];
    size_t count;
} numbers;

static pace_status add_nodes(numbers *out, double nodes) {
    if (nodes != floor(nodes) || nodes < 1 || nodes > 1 << 20)
        return pace_fail(PACE_E_USAGE, "nodes: expected whole numbers from 1, found %g", nodes);
    if (out->count == MOST_PLACES) return pace_fail(PACE_E_USAGE, "nodes: expected at most %d numbers", MOST_PLACES);
    for (size_t i = 0; i < out->count; i++)
        if (out->of[i] == (int)nodes) return PACE_OK;
    out->of[out->count++] = (int)nodes;
    return PACE_OK;
}

/* As said; else 1, 2, 4, … up to those of the machine, and these. */
static pace_status read_nodes(numbers *out, const char *text, const pace_machine *m) {
    pace_sizes said = {0};
    if (!text) {
        for (int nodes = 1; nodes < m->nodes; nodes *= 2) PACE_TRY(add_nodes(out, nodes));
        return add_nodes(out, m->nodes);
    }
    pace_status status = pace_read_sizes(&said, text);
    if (status == PACE_E_USAGE)
        status = pace_fail(PACE_E_USAGE, "nodes: expected numbers such as 1,2,4 or 1..32, found \"%.60s\"", text);
    for (size_t i = 0; status == PACE_OK && i < said.count; i++) status = add_nodes(out, said.items[i]);
    PACE_VEC_FREE(&said);
    return status;
}

/* Those that a plug-in is asked about. */
static const pace_collective tuned[] = {PACE_ALLREDUCE, PACE_ALLGATHER, PACE_REDUCESCATTER, PACE_BROADCAST,
                                        PACE_REDUCE};
enum { TUNED = PACE_COUNT(tuned) };

static pace_status add_collective(numbers *out, const char *word) {
    pace_collective found;
    PACE_TRY(pace_read_collective(&found, word));
    for (size_t i = 0; i < out->count; i++)
        if (out->of[i] == (int)found) return PACE_OK;
    for (int i = 0; i < TUNED; i++)
        if (tuned[i] == found) {
            out->of[out->count++] = (int)found;
            return PACE_OK;
        }
    return pace_fail(PACE_E_USAGE,
                     "collective: libraries ask no plug-in about %s: expected allreduce, allgather, reducescatter, "
                     "broadcast or reduce",
                     pace_collective_rows[found].name);
}

static pace_status read_collectives(numbers *out, const char *text) {
    char words[256], *rest = NULL;
    for (int i = 0; !text && i < TUNED; i++) out->of[out->count++] = (int)tuned[i];
    if (!text) return PACE_OK;
    if (strlen(text) >= sizeof words) return pace_fail(PACE_E_USAGE, "collective: found a text that is too long");
    memcpy(words, text, strlen(text) + 1);
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        PACE_TRY(add_collective(out, word));
    return out->count ? PACE_OK : pace_fail(PACE_E_USAGE, "collective: expected a name, found \"%.60s\"", text);
}

#define OF_NCCL "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"
#define OF_TORCHCOMMS "collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks"

#define PLUG_IN "NCCL_TUNER_PLUGIN=libnccl-tuner-paceline.so NCCL_TUNER_CONFIG_FILE=FILE.csv"

/* The usual one first. RCCL documents two algorithms. */
static const pace_tune_dialect dialects[] = {
    {"nccl", OF_NCCL, .use = PLUG_IN},
    {"rccl", OF_NCCL, .tree_and_ring = true, .use = PLUG_IN},
    {"torchcomms", OF_TORCHCOMMS, .of_rank = true, .use = "NCCLX_TUNER_CONFIG_FILE=FILE.csv"},
};

const pace_word_list pace_tune_dialect_names = {&dialects->name, PACE_COUNT(dialects), sizeof *dialects};

/* NULL = the usual one. */
static pace_status find_dialect(const pace_tune_dialect **out, const char *name) {
    int number = 0;
    if (name) PACE_TRY(pace_word_read(&number, "dialect", &pace_tune_dialect_names, name));
    *out = &dialects[number];
    return PACE_OK;
}

/* Without a model of the library's choice it must have been measured, as the others. */
static pace_status check_library(const place *p) {
    if (is_modelled(p)) return PACE_OK;
    if (!p->fit->curves.count)
        return pace_fail(
            PACE_E_USAGE,
            "%s: algorithms and protocols are modelled of NCCL on NVIDIA's devices alone: expected " PACE_FIELD
            "fit with curves of each, or another machine or library",
            p->asked.exchange.machine.name);
    if (p->asked.fit.curves.count) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "fit: expected curves of the library's own choice too, whose rows name no algorithm");
}

static pace_status tune_nodes(const place *base, int nodes, const numbers *collectives) {
    place p = *base;
    p.asked.exchange.machine.nodes = nodes;
    PACE_TRY(pace_machine_check(&p.asked.exchange.machine));
    for (size_t i = 0; i < collectives->count; i++) {
        p.asked.question.collective = (pace_collective)collectives->of[i];
        if (nodes * p.asked.exchange.machine.devices > 1) PACE_TRY(tune_place(&p));
    }
    return PACE_OK;
}

static pace_status tune(place *p) {
    numbers nodes = {{0}, 0}, collectives = {{0}, 0};
    PACE_TRY(check_library(p));
    pace_sizes_in_order(&p->asked.sizes); /* rows are made of neighbours */
    PACE_TRY(read_nodes(&nodes, p->options->nodes, &p->asked.exchange.machine));
    PACE_TRY(read_collectives(&collectives, p->options->collective));
    p->out->exchange = p->asked.exchange;
    p->out->machine = p->asked.exchange.machine;
    p->out->library = is_modelled(p) ? p->out->exchange.nccl.line : NULL;
    for (size_t i = 0; i < nodes.count; i++) PACE_TRY(tune_nodes(p, nodes.of[i], &collectives));
    if (p->out->rows.count) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s is a single device, which exchanges nothing: name a machine, such as dgx-h100",
                     p->out->machine.name);
}

/* The curves of the library's own choice answer for it; the others stand aside. */
static pace_status part_fit(place *p, pace_exchange_fit *all) {
    pace_exchange_fit own = {.unit_s = 0};
    *all = p->asked.fit;
    p->asked.fit = own;
    p->fit = all;
    PACE_TRY(pace_exchange_fit_own(&own, all));
    p->asked.fit = own;
    return PACE_OK;
}

pace_status pace_tune_ask(pace_tuned *out, const pace_tune_options *options) {
    pace_exchange_options exchange = {.context = options->context,
                                      .on = options->on,
                                      .bytes = options->bytes,
                                      .library = options->library,
                                      .fit_path = options->fit_path};
    place p = {.options = options, .out = out};
    pace_exchange_fit all = {.unit_s = 0};
    pace_status status = find_dialect(&out->dialect, options->dialect);
    if (status == PACE_OK) status = pace_exchange_ask(&p.asked, &exchange);
    if (status == PACE_OK) status = part_fit(&p, &all);
    if (status == PACE_OK) status = tune(&p);
    pace_exchange_asked_free(&p.asked);
    pace_exchange_fit_free(&all);
    return status;
}
