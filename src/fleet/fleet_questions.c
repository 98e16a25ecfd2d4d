#include "fleet/fleet_questions.h"
#include "base/words.h"

#include "fleet/rate_text.h"
#include "machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what is asked ------------------------------------------------------------------------------------------------ */

static double rate_of(const pace_job_setting *setting, int resource) {
    if (resource == PACE_JOB_NVLINK && setting->nvlink_aggregate)
        return setting->machine.figure[PACE_FIGURE_NVLINK_AGGREGATE];
    return setting->machine.figure[PACE_FIGURE_RATE + resource];
}

static void raise_resource(pace_fleet_question *question, const pace_job_setting *setting, int place, int resource,
                           double rate) {
    question->resource[place] = resource;
    question->rate[place] = rate;
    question->faster.resource[place] = (pace_job_resource)resource;
    question->faster.factor[place] = rate_of(setting, resource) / rate;
    if (place == 0) /* until another is raised */
        question->faster.resource[1] = (pace_job_resource)((resource + 1) % PACE_JOB_RESOURCES);
    for (int p = 0; p < PACE_JOB_PARTS; p++)
        if ((int)pace_job_part_resources[p] == resource)
            question->change.factor[p] *= rate_of(setting, resource) / rate;
}

static pace_fleet_question no_change(const pace_job_setting *setting, pace_asked_kind kind) {
    return (pace_fleet_question){.kind = kind,
                                 .resource = {-1, -1},
                                 .change = pace_job_unchanged(setting),
                                 .faster = {.factor = {1, 1}},
                                 .samples = 1,
                                 .price = NAN,
                                 .confidence = ""};
}

static pace_status ask_rate(pace_fleet_questions *out, const pace_job_setting *setting, int resource, double rate,
                            const char *confidence) {
    pace_fleet_question question = no_change(setting, PACE_ASKED_HARDWARE);
    if (rate == rate_of(setting, resource)) return PACE_OK;
    raise_resource(&question, setting, 0, resource, rate);
    question.confidence = confidence;
    snprintf(question.text, sizeof question.text, "%s %s", pace_job_resource_names[resource],
             pace_show_resource_rate((pace_job_resource)resource, rate).text);
    return PACE_PUSH(&out->items, question);
}

/* "network=200Gb/s,400Gb/s" of this resource; NULL = not given. */
static const char *given_rates(const pace_words *sweeps, int resource) {
    const char *name = pace_job_resource_names[resource];
    for (size_t i = 0; i < sweeps->count; i++) {
        size_t length = strlen(name);
        if (strncmp(sweeps->items[i], name, length) == 0 && sweeps->items[i][length] == '=')
            return sweeps->items[i] + length + 1;
    }
    return NULL;
}

static pace_status parse_rate(double *out, const char *option, int resource, const char *word) {
    if (pace_job_figure_parse(out, resource, word)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: %s: expected a rate such as %s, found \"%.40s\"", option,
                     pace_job_resource_names[resource], resource == PACE_JOB_COMPUTE ? "32TFLOP/s" : "100Gb/s", word);
}

static pace_status ask_given(pace_fleet_questions *out, const pace_job_setting *setting, int resource,
                             const char *text) {
    char words[256], *rest = NULL;
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        double rate;
        PACE_TRY(parse_rate(&rate, "sweep", resource, word));
        PACE_TRY(ask_rate(out, setting, resource, rate, "given"));
    }
    return PACE_OK;
}

/* The catalogue's values, where one of them is an upgrade of the machine; twice and four times its rate elsewhere. */
static pace_status ask_catalog(pace_fleet_questions *out, const pace_job_setting *setting,
                               const pace_job_sweep *sweep) {
    double base = rate_of(setting, (int)sweep->resource);
    bool upgrade = false;
    for (size_t i = 0; i < sweep->values.count; i++) upgrade = upgrade || sweep->values.items[i] > base;
    for (size_t i = 0; upgrade && i < sweep->values.count; i++)
        PACE_TRY(ask_rate(out, setting, (int)sweep->resource, sweep->values.items[i], sweep->source.confidence));
    for (int k = 2; !upgrade && k <= 4; k *= 2)
        PACE_TRY(ask_rate(out, setting, (int)sweep->resource, k * base, "high"));
    return PACE_OK;
}

static pace_status check_sweeps(const pace_words *sweeps) {
    for (size_t i = 0; i < sweeps->count; i++) {
        bool known = false;
        for (int r = 0; r < PACE_JOB_RESOURCES; r++)
            known = known || given_rates(&(pace_words){&sweeps->items[i], 1}, r);
        if (!known)
            return pace_fail(PACE_E_USAGE,
                             "sweep: expected compute=, memory=, pcie=, network= or nvlink=, found \"%.60s\"",
                             sweeps->items[i]);
    }
    return PACE_OK;
}

static pace_status ask_hardware(pace_fleet_questions *out, const pace_job_setting *setting, const pace_words *sweeps) {
    PACE_TRY(check_sweeps(sweeps));
    PACE_ITEMS (const pace_job_sweep, sweep, &setting->catalog->sweeps) {
        const char *given = given_rates(sweeps, (int)sweep->resource);
        if (given) PACE_TRY(ask_given(out, setting, (int)sweep->resource, given));
        else PACE_TRY(ask_catalog(out, setting, sweep));
    }
    return PACE_OK;
}

/* The fastest that was asked of a resource; its place among the questions, or -1. */
static int fastest(const pace_fleet_questions *questions, int resource, size_t count) {
    int best = -1;
    for (size_t i = 0; i < count; i++) {
        const pace_fleet_question *q = &questions->items.items[i];
        if (q->resource[0] == resource && (best < 0 || q->rate[0] > questions->items.items[best].rate[0]))
            best = (int)i;
    }
    return best;
}

static pace_status ask_pairs(pace_fleet_questions *out, const pace_job_setting *setting) {
    size_t count = out->items.count;
    for (int a = 0; a < PACE_JOB_RESOURCES; a++)
        for (int b = a + 1; b < PACE_JOB_RESOURCES; b++) {
            int first = fastest(out, a, count), second = fastest(out, b, count);
            if (first < 0 || second < 0) continue;
            pace_fleet_question both = no_change(setting, PACE_ASKED_PAIR);
            const pace_fleet_question *qa = &out->items.items[first], *qb = &out->items.items[second];
            raise_resource(&both, setting, 0, a, qa->rate[0]);
            raise_resource(&both, setting, 1, b, qb->rate[0]);
            both.price = qa->price + qb->price;
            both.confidence = qa->confidence;
            snprintf(both.text, sizeof both.text, "%.45s, %.45s", qa->text, qb->text);
            PACE_TRY(PACE_PUSH(&out->items, both));
        }
    return PACE_OK;
}

static pace_status ask_software(pace_fleet_questions *out, const pace_job_setting *setting) {
    PACE_ITEMS (const pace_job_lever, lever, &setting->catalog->software) {
        pace_fleet_question question = no_change(setting, PACE_ASKED_SOFTWARE);
        for (int p = 0; p < PACE_JOB_PARTS; p++)
            question.change.factor[p] = lever->factor[p < PACE_CHANGE_WEIGHT ? p : PACE_CHANGE_WEIGHT];
        question.change.rows = lever->rows;
        question.samples = lever->samples;
        question.spread = lever->spread;
        question.name = lever->name;
        question.confidence = lever->source.confidence;
        snprintf(question.text, sizeof question.text, "%s", lever->title);
        PACE_TRY(PACE_PUSH(&out->items, question));
    }
    return PACE_OK;
}

static pace_status refuse_price(const char *text) {
    return pace_fail(PACE_E_USAGE,
                     "price: expected the price of an upgrade, such as network=100Gb/s:3000, found \"%.60s\"; a GPU's "
                     "hour has a price where records of a cluster's scheduler are asked about",
                     text);
}

/* "network=100Gb/s:3000" */
static pace_status set_price(pace_fleet_questions *out, const char *text) {
    char words[128];
    double rate, price;
    snprintf(words, sizeof words, "%s", text);
    char *value = strchr(words, '='), *cost = strrchr(words, ':');
    if (!value || !cost || cost < value || strlen(text) >= sizeof words) return refuse_price(text);
    *value++ = *cost++ = '\0';
    pace_job_resource resource;
    if (!pace_job_resource_find(&resource, words)) return refuse_price(text);
    PACE_TRY(parse_rate(&rate, "price", (int)resource, value));
    if (!pace_parse_amount(&price, cost, ""))
        return pace_fail(PACE_E_USAGE, "price: expected a price behind the colon, found \"%.40s\"", cost);
    PACE_ITEMS (pace_fleet_question, q, &out->items) {
        if (strcmp(pace_job_resource_names[q->resource[0]], words) != 0 || fabs(q->rate[0] / rate - 1) > 1e-9) continue;
        q->price = price;
        return PACE_OK;
    }
    return pace_fail(PACE_E_USAGE, "price: nothing is asked about %.40s %.40s; ask with " PACE_FIELD "sweep", words,
                     value);
}

/* --- what is asked twice ------------------------------------------------------------------------------------------ */

static bool has_part(const pace_job_scheme *scheme, int part) {
    return part < PACE_PART_WEIGHT_NETWORK || scheme->link[pace_job_part_resources[part]];
}

/* Whether two questions are one for jobs of a scheme: all factors on what their steps consist of are the same. */
static bool same_question(const pace_fleet_question *a, const pace_fleet_question *b, const pace_job_scheme *scheme) {
    for (int p = 0; p < PACE_JOB_PARTS; p++)
        if (has_part(scheme, p) && a->change.factor[p] != b->change.factor[p]) return false;
    return a->change.rows == b->change.rows && a->samples == b->samples && a->spread == b->spread;
}

static void link_same(pace_fleet_questions *questions, int class, const pace_job_scheme *scheme) {
    pace_fleet_question *items = questions->items.items;
    for (size_t q = 0; q < questions->items.count; q++) items[q].first[class] = true, items[q].next[class] = SIZE_MAX;
    for (size_t q = 0; q < questions->items.count; q++) {
        size_t last = q;
        for (size_t other = q + 1; items[q].first[class] && other < questions->items.count; other++) {
            if (!items[other].first[class] || !same_question(&items[q], &items[other], scheme)) continue;
            items[other].first[class] = false;
            items[last].next[class] = other;
            last = other;
        }
    }
}

static void link_all(pace_fleet_questions *questions, const pace_job_catalog *catalog) {
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) link_same(questions, a, &catalog->schemes[a]);
    link_same(questions, PACE_CLASS_PROJECTED, &catalog->schemes[PACE_JOB_ALLREDUCE_LOCAL]);
}

/* --- what is doubted ---------------------------------------------------------------------------------------------- */

static pace_status doubt(pace_fleet_questions *out, const pace_job_setting *setting) {
    PACE_TRY(PACE_PUSH(&out->assumptions, *setting));
    PACE_TRY(PACE_PUSH(&out->levers, NULL));
    PACE_ITEMS (const pace_job_lever, lever, &setting->catalog->assumptions) {
        pace_job_setting other = *setting;
        if (lever->overlap > 0) other.overlap = lever->overlap;
        for (int r = 0; r < PACE_JOB_RESOURCES; r++)
            if (lever->efficiency[r] > 0) other.machine.figure[PACE_FIGURE_EFFICIENCY + r] = lever->efficiency[r];
        PACE_TRY(PACE_PUSH(&out->assumptions, other));
        PACE_TRY(PACE_PUSH(&out->levers, lever));
    }
    return PACE_OK;
}

static pace_status make(pace_fleet_questions *out, const pace_job_setting *setting, const pace_words *sweeps,
                        const pace_words *prices) {
    PACE_TRY(ask_hardware(out, setting, sweeps));
    for (size_t i = 0; i < prices->count; i++) PACE_TRY(set_price(out, prices->items[i]));
    PACE_TRY(ask_pairs(out, setting));
    PACE_TRY(ask_software(out, setting));
    link_all(out, setting->catalog);
    int network = fastest(out, PACE_JOB_NETWORK, out->items.count);
    out->fastest_network = network < 0 ? pace_job_unchanged(setting) : out->items.items[network].change;
    return doubt(out, setting);
}

pace_status pace_fleet_questions_make(pace_fleet_questions *out, const pace_job_setting *setting,
                                      const pace_words *sweeps, const pace_words *prices) {
    pace_fleet_questions questions = {0};
    pace_status status = make(&questions, setting, sweeps, prices);
    return PACE_GIVE(out, questions, status, pace_fleet_questions_free(&questions));
}

void pace_fleet_questions_free(pace_fleet_questions *questions) {
    PACE_VEC_FREE(&questions->items, &questions->assumptions, &questions->levers);
}
