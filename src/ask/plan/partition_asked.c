#include "ask/plan/partition_asked.h"
#include "model/model_settings.h"
#include "ask/plan/plan_words.h"
#include "plan/framework.h"
#include "source/model_inputs.h"
#include "base/texts.h"
#include "base/words.h"
#include "base/decimal.h"
#include "model/config.h"

#include <math.h>
#include <string.h>

/* --- words about the sharing -------------------------------------------------------------------------------------- */

/* "KEY=VALUE" words about a network partitioned over hosts: those of the sharing, and parameters of the model. */

typedef struct {
    pace_partition_fixed fixed;
    double segments[PACE_PARTITION_LAYERS]; /* as said: one for all layers, or one each */
    size_t segment_count;                   /* 0 = not said */
    double global_batch, staleness;         /* 0 = not said */
    int exchange;                           /* a pace_partition_exchange; -1 = not said */
    pace_words others;                      /* of the model; borrowed words in `others_list` */
    PACE_VEC(const char *) others_list;
} partition_settings;

static pace_status read_whole(double *out, const char *key, const char *value, double least) {
    if (pace_number_parse(out, value) && *out == floor(*out) && *out >= least && *out <= 1e9) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a whole number from %.0f, found \"%.40s\"", key, least, value);
}

static pace_status read_exchange(int *out, const char *value) {
    int word = 0;
    while (pace_partition_exchange_names[word] && strcmp(pace_partition_exchange_names[word], value) != 0) word++;
    if (!pace_partition_exchange_names[word])
        return pace_fail(PACE_E_USAGE, "exchange: expected one of async, sync, stale, found \"%.40s\"", value);
    *out = word;
    return PACE_OK;
}

/* "4" or "4/4/1". */
static pace_status read_segments(partition_settings *s, const char *value) {
    char number[16];
    s->segment_count = 0;
    for (const char *at = value; at; at = at[strcspn(at, "/")] ? at + strcspn(at, "/") + 1 : NULL) {
        size_t length = strcspn(at, "/");
        if (length == 0 || length >= sizeof number || s->segment_count == PACE_PARTITION_LAYERS)
            return pace_fail(PACE_E_USAGE, "segments: expected numbers such as 4 or 4/4/1, found \"%.60s\"", value);
        memcpy(number, at, length);
        number[length] = '\0';
        PACE_TRY(read_whole(&s->segments[s->segment_count++], "segments", number, 1));
    }
    return PACE_OK;
}

static pace_status refuse(const char *key) {
    return pace_fail(
        PACE_E_USAGE,
        "set: %.40s has no effect on hosts: expected dp, tp, threads, segments, servers, exchange, staleness, "
        "global_batch, or a parameter of the model",
        key);
}

static pace_status read_word(partition_settings *s, const char *word) {
    char key[64];
    size_t length = strcspn(word, "=");
    const char *value = word + length + 1;
    if (word[length] != '=' || length == 0 || !*value || length >= sizeof key)
        return pace_fail(PACE_E_USAGE, "set: expected KEY=VALUE, found '%.80s'", word);
    memcpy(key, word, length);
    key[length] = '\0';
    const struct {
        const char *key;
        double *value;
        double least;
    } numbers[] = {{"dp", &s->fixed.replicas, 1},     {"tp", &s->fixed.workers, 1},
                   {"threads", &s->fixed.threads, 1}, {"servers", &s->fixed.servers, 0},
                   {"staleness", &s->staleness, 1},   {"global_batch", &s->global_batch, 1}};
    for (size_t i = 0; i < PACE_COUNT(numbers); i++)
        if (strcmp(key, numbers[i].key) == 0) return read_whole(numbers[i].value, key, value, numbers[i].least);
    if (strcmp(key, "exchange") == 0) return read_exchange(&s->exchange, value);
    if (strcmp(key, "segments") == 0) return read_segments(s, value);
    if (pace_config_has(key) || strcmp(key, "framework") == 0) return refuse(key);
    return PACE_PUSH(&s->others_list, word);
}

/* Reads them. PACE_E_USAGE for what means nothing here, with what was expected. Free it, also after a failure. */
static pace_status partition_settings_read(partition_settings *out, const pace_words *set) {
    out->fixed.servers = -1;
    out->exchange = -1;
    for (size_t i = 0; i < set->count; i++) PACE_TRY(read_word(out, set->items[i]));
    if (out->staleness > 0 && out->exchange != PACE_PARTITION_STALE)
        return pace_fail(PACE_E_USAGE, "staleness: has no effect without exchange=stale");
    if (out->exchange == PACE_PARTITION_STALE && !(out->staleness > 0))
        return pace_fail(PACE_E_USAGE, "exchange: stale needs staleness, how many exchanges a replica may be ahead");
    out->others = (pace_words){(const char *const *)out->others_list.items, out->others_list.count};
    return PACE_OK;
}

static void partition_settings_free(partition_settings *settings) { PACE_VEC_FREE(&settings->others_list); }

/* --- the network and its hosts ------------------------------------------------------------------------------------ */

pace_status pace_partition_is_of_hosts(bool *out, pace_catalog *catalog, const pace_words *on) {
    size_t hosts = 0;
    for (size_t i = 0; i < on->count; i++) {
        bool named;
        PACE_TRY(pace_hosts_named(&named, catalog, on->items[i]));
        hosts += named;
    }
    *out = hosts > 0;
    if (hosts == 0 || hosts == on->count) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "on: expected either hosts or machines of accelerators, found both");
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

static pace_status open_model(pace_partition_asked *a, const char *name, const pace_words *others) {
    pace_model_settings own;
    pace_config unused = pace_config_default();
    PACE_TRY(pace_model_settings_read(&own, &unused, a->options->context->catalog, others));
    pace_status status =
        pace_model_open(&a->model, a->options->context->catalog, name, own.items.items, own.items.count);
    pace_model_settings_free(&own);
    PACE_TRY(status);
    PACE_TRY(pace_neuron_layers_find(&a->chain, &a->model));
    if (a->chain.layers.count <= PACE_PARTITION_LAYERS) return PACE_OK;
    return pace_fail(PACE_E_LIMIT, "%s: %zu layers of neurons, of which %d are supported", name, a->chain.layers.count,
                     PACE_PARTITION_LAYERS);
}

static pace_status place_segments(pace_partition_asked *a, const partition_settings *s) {
    size_t layers = a->chain.layers.count;
    if (s->segment_count == 0) return PACE_OK;
    if (s->segment_count > 1 && s->segment_count != layers)
        return pace_fail(PACE_E_USAGE, "segments: expected one number, or one for each of %zu layers, found %zu",
                         layers, s->segment_count);
    for (size_t l = 0; l < layers; l++) {
        double most = pace_partition_most_segments(&a->chain.layers.items[l]);
        a->segments[l] = s->segment_count > 1 ? s->segments[l] : fmin(s->segments[0], most);
    }
    a->fixed.segments = a->segments;
    return PACE_OK;
}

/* --- places ------------------------------------------------------------------------------------------------------- */

/* Everybody is compared at one batch, as with accelerators. */
static pace_status choose_batch(pace_partition_asked *a, pace_partition_case *c, double said) {
    pace_frameworks frameworks;
    c->global_batch = said;
    if (said > 0) return PACE_OK;
    PACE_TRY(pace_frameworks_load(&frameworks, a->options->context->catalog));
    double machines = 1;
    for (size_t i = 0; i < a->places.count; i++) machines = fmax(machines, a->places.items[i].hosts.machines);
    c->global_batch = exp2(round(log2(frameworks.plan_samples * machines)));
    a->batch_assumed = true;
    return PACE_OK;
}

/* One configuration: 1 of what is not given, and a server where replicas or segments of convolutions need one. */
static void fix_one(pace_partition_asked *a) {
    double *const fields[] = {&a->fixed.replicas, &a->fixed.workers, &a->fixed.threads};
    for (size_t i = 0; i < PACE_COUNT(fields); i++)
        if (*fields[i] <= 0) *fields[i] = 1;
    if (a->fixed.servers < 0) a->fixed.servers = a->fixed.replicas > 1 ? 1 : 0;
}

static pace_status open_places(pace_partition_asked *a) {
    const pace_plan_options *o = a->options;
    for (size_t i = 0; i < o->on.count; i++) {
        pace_partition_place place = {0};
        PACE_TRY(pace_hosts_asked(&place.hosts, o->context->catalog, o->on.items[i]));
        PACE_TRY(pace_plan_price(&place.price_per_hour, &o->price, i, o->on.count));
        PACE_TRY(PACE_PUSH(&a->places, place));
    }
    return PACE_OK;
}

/* From the fastest, whose machines are most, to the one with fewest. */
static pace_status find_front(pace_partition_place *p) {
    double fewest = INFINITY;
    for (size_t i = 0; i < p->found.choices.count; i++) {
        double machines = pace_partition_machines(&p->found.choices.items[i].partition);
        if (machines >= fewest) continue;
        fewest = machines;
        PACE_TRY(PACE_PUSH(&p->front, i));
    }
    for (size_t i = 0; i < p->front.count / 2; i++) {
        size_t *one = &p->front.items[i], *other = &p->front.items[p->front.count - 1 - i], held = *one;
        *one = *other;
        *other = held;
    }
    return PACE_OK;
}

/* One thread of one machine, which may need more memory than it has. */
static pace_status time_alone(pace_partition_place *p, const pace_neuron_layers *chain) {
    pace_partition alone = {.replicas = 1, .workers = 1, .threads = 1};
    pace_partition_time time;
    pace_hosts large = p->hosts;
    pace_partition_case one = p->asked;
    large.host.memory_bytes = INFINITY;
    one.hosts = &large;
    for (size_t l = 0; l < chain->layers.count; l++) alone.segments[l] = 1;
    PACE_TRY(pace_partition_time_of(&time, &one, &alone));
    p->alone_s = time.sample_s;
    return PACE_OK;
}

static pace_status search(pace_partition_asked *a, const partition_settings *s) {
    PACE_ITEMS (pace_partition_place, p, &a->places) {
        p->asked = (pace_partition_case){.chain = &a->chain,
                                         .hosts = &p->hosts,
                                         .value_bytes = sizeof(float),
                                         .jitter = a->doubts.jitter,
                                         .exchange = s->exchange < 0 ? PACE_PARTITION_ASYNC : s->exchange,
                                         .staleness = s->staleness};
        PACE_TRY(choose_batch(a, &p->asked, s->global_batch));
        if (a->fixed.replicas > p->asked.global_batch)
            return pace_fail(PACE_E_USAGE,
                             "dp: %.0f replicas share %.0f samples (global_batch): expected at most one each",
                             a->fixed.replicas, p->asked.global_batch);
        PACE_TRY(time_alone(p, &a->chain));
        PACE_TRY(pace_partition_search(&p->found, &p->asked, &a->fixed));
        PACE_TRY(find_front(p));
    }
    return PACE_OK;
}

static pace_status ask(pace_partition_asked *a, partition_settings *s, const char *name) {
    pace_plan_words words;
    const char *idle = a->options->failures         ? "failures"
                       : a->options->fits.count     ? "fit"
                       : a->options->together       ? "together"
                       : a->options->from           ? "from"
                       : a->options->critical_batch ? "critical_batch"
                       : a->options->budget         ? "budget"
                       : a->options->jitter         ? "jitter"
                                                    : NULL;
    if (idle) return pace_fail(PACE_E_USAGE, "%s: has no effect on hosts: expected machines of accelerators", idle);
    PACE_TRY(partition_settings_read(s, &a->options->set));
    PACE_TRY(pace_plan_words_read(&words, a->options));
    a->samples = words.amount;
    a->within_days = words.within_days;
    a->fixed = s->fixed;
    PACE_TRY(pace_host_doubts_load(&a->doubts, a->options->context->catalog));
    PACE_TRY(open_places(a));
    PACE_TRY(open_model(a, name, &s->others));
    PACE_TRY(place_segments(a, s));
    if (a->one) fix_one(a);
    return search(a, s);
}

pace_status pace_partition_ask(pace_partition_asked *out, const char *name, const pace_plan_options *options,
                               bool one) {
    partition_settings settings = {0};
    out->options = options;
    out->one = one;
    pace_status status = ask(out, &settings, name);
    partition_settings_free(&settings);
    return status;
}

void pace_partition_asked_free(pace_partition_asked *asked) {
    for (size_t i = 0; i < asked->places.count; i++) {
        pace_partition_found_free(&asked->places.items[i].found);
        PACE_VEC_FREE(&asked->places.items[i].front);
    }
    PACE_VEC_FREE(&asked->places);
    pace_neuron_layers_free(&asked->chain);
    pace_model_free(&asked->model);
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

double pace_partition_machines(const pace_partition *p) { return p->replicas * p->workers + p->servers; }

double pace_partition_days(const pace_partition_asked *asked, const pace_partition_choice *choice) {
    return asked->samples * choice->time.sample_s / 86400;
}

double pace_partition_price(const pace_partition_asked *asked, const pace_partition_place *place,
                            const pace_partition_choice *choice) {
    double hours = 24 * pace_partition_days(asked, choice);
    return hours * pace_partition_machines(&choice->partition) * place->price_per_hour;
}

pace_estimate pace_partition_estimate(const pace_partition_asked *asked, const pace_partition_choice *choice) {
    return (pace_estimate){choice->time.sample_s, asked->doubts.spread, PACE_RUNG_CALIBRATED, 0};
}

const pace_partition_place *pace_partition_best(const pace_partition_asked *asked) {
    const pace_partition_place *best = &asked->places.items[0];
    for (size_t i = 1; i < asked->places.count; i++) {
        const pace_partition_place *one = &asked->places.items[i];
        if (one->found.choices.items[0].time.sample_s < best->found.choices.items[0].time.sample_s) best = one;
    }
    return best;
}
