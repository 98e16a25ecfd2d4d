#include "ask/predict/scaling_asked.h"
#include "ask/predict/scaling_solve.h"
#include "machine/device_resolve.h"
#include "machine/machine_described.h"
#include "model/adapters.h"
#include "model/model_settings.h"
#include "source/model_inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SETTINGS = 32 };

/* A question by the names of its parts. Hashed as bytes, so it has no padding. */
typedef struct {
    double number, nodes; /* batch, or workers and their nodes */
    pace_name part[4];
} question;

pace_status pace_scaling_asked_open(pace_scaling_asked *out, pace_catalog *catalog) {
    PACE_TRY(pace_device_catalog_load(&out->devices, catalog));
    PACE_TRY(pace_approaches_load(&out->approaches, catalog));
    pace_doubts doubts;
    PACE_TRY(pace_doubts_load(&doubts, catalog));
    out->recipe_spread = doubts.figure[PACE_DOUBT_ROW_RECIPE];
    PACE_TRY(pace_names_init(&out->texts));
    PACE_TRY(pace_names_init(&out->place_names));
    PACE_TRY(pace_names_init(&out->step_names));
    return pace_names_init(&out->exchange_names);
}

void pace_scaling_asked_close(pace_scaling_asked *a) {
    for (size_t i = 0; i < a->steps.count; i++) pace_gradient_profile_free(&a->steps.items[i].profile);
    PACE_VEC_FREE(&a->steps, &a->places, &a->exchanges);
    pace_names_free(&a->texts);
    pace_names_free(&a->place_names);
    pace_names_free(&a->step_names);
    pace_names_free(&a->exchange_names);
    pace_approaches_free(&a->approaches);
    pace_device_catalog_free(&a->devices);
}

static pace_status name_of(pace_name *out, pace_scaling_asked *a, const char *text) {
    return pace_names_add(out, &a->texts, text, strlen(text));
}

/* "DEVICE*4 net=…": the row's own device in the machine's place of one. What words of the approach say of the network
 * ("Horovod NCCL RDMA") belongs to a machine that the row describes. */
static void machine_text(char *out, size_t size, const char *device, const char *machine, const char *network) {
    const char *star = strchr(machine, '*');
    if (*device && star && strchr(star, '=')) snprintf(out, size, "%.80s%s", device, star);
    else snprintf(out, size, "%s%s%s", machine, *network ? " " : "", network);
}

/* As --on would have it, else as tables name systems: "Piz Daint XC50, 1 P100 a node"; or as they describe them, which
 * leaves more open than an --on that stands in for it. */
static pace_status parse_or_name(pace_machine *out, pace_catalog *catalog, const char *text, double workers,
                                 bool described) {
    char refused[400];
    pace_status status = pace_machine_asked(out, catalog, text);
    if (status == PACE_OK || strchr(text, '=')) return status;
    snprintf(refused, sizeof refused, "%.399s", pace_message_marked());
    int nodes = workers > 1 ? 2 : 1;
    if (pace_machine_named(out, catalog, text, nodes) == PACE_OK) return PACE_OK;
    if (described && pace_machine_described(out, catalog, text, nodes) == PACE_OK) return PACE_OK;
    return pace_fail(status, "%s", refused);
}

/* The machine of a text and its device. */
static pace_status place_by(const pace_scaling_where **out, pace_scaling_asked *a, const pace_scaling_row *row,
                            const char *machine) {
    char text[512];
    pace_scaling_where made;
    pace_name name;
    const char *network = "";
    if (strlen(machine) >= sizeof text - 80) return pace_fail(PACE_E_INPUT, "machine: too long");
    if (machine == row->machine && strpbrk(machine, " /,"))
        PACE_TRY(pace_machine_network_word(&network, a->devices.documents, row->approach));
    machine_text(text, sizeof text, row->device, machine, strchr(machine, '=') ? "" : network);
    if (!pace_names_find(&name, &a->place_names, text, strlen(text))) {
        bool from_on = a->on && strcmp(machine, a->on) == 0;
        PACE_TRY(from_on ? pace_machine_asked(&made.machine, a->devices.documents, text)
                         : parse_or_name(&made.machine, a->devices.documents, text, row->workers, !a->on));
        PACE_TRY(pace_device_resolve(&made.device, &a->devices, made.machine.device, 0));
        PACE_TRY(PACE_PUSH(&a->places, made));
        pace_status status = pace_names_add(&name, &a->place_names, text, strlen(text));
        if (status != PACE_OK) {
            a->places.count--;
            return status;
        }
    }
    *out = &a->places.items[name - 1];
    return PACE_OK;
}

/* A word that no catalogue knows gives way to --on. */
static pace_status place_of(const pace_scaling_where **out, pace_scaling_asked *a, const pace_scaling_row *row) {
    pace_status status = place_by(out, a, row, row->machine);
    a->took_on = status == PACE_E_MISSING && a->on && strcmp(a->on, row->machine) != 0;
    return a->took_on ? place_by(out, a, row, a->on) : status;
}

/* "KEY=VALUE KEY=VALUE" */
typedef struct {
    char text[512];
    const char *items[MOST_SETTINGS];
    pace_words words;
} row_settings;

static pace_status split_settings(row_settings *out, const pace_scaling_row *row) {
    char *rest = NULL;
    size_t count = 0;
    if (strlen(row->settings) >= sizeof out->text) return pace_fail(PACE_E_INPUT, "settings: too long");
    memcpy(out->text, row->settings, strlen(row->settings) + 1);
    for (char *word = strtok_r(out->text, " ;", &rest); word; word = strtok_r(NULL, " ;", &rest)) {
        if (count == MOST_SETTINGS) return pace_fail(PACE_E_INPUT, "settings: expected at most %d", MOST_SETTINGS);
        PACE_TRY(pace_settings_check_once(out->items, count, word));
        out->items[count++] = word;
    }
    out->words = (pace_words){out->items, count};
    return PACE_OK;
}

static pace_status make_step(pace_scaling_worker *step, pace_catalog *catalog, const pace_scaling_row *row,
                             const pace_device *device) {
    row_settings set;
    pace_config config = pace_config_default();
    pace_model_settings settings;
    pace_model model;
    pace_estimate step_s;
    PACE_TRY(split_settings(&set, row));
    PACE_TRY(pace_model_settings_read(&settings, &config, catalog, &set.words));
    config.micro_batch = row->batch;
    pace_status status = pace_model_open(&model, catalog, row->model, settings.items.items, settings.items.count);
    if (status == PACE_OK) {
        status = pace_model_take_adapters(&model, &config);
        if (status == PACE_OK)
            status = pace_gradient_profile_make(&step->profile, &step_s, catalog, &model, &config, device);
        pace_model_free(&model);
    }
    pace_model_settings_free(&settings);
    if (status == PACE_OK) step->spread = step_s.spread;
    return status;
}

static pace_status step_of(const pace_scaling_worker **out, pace_scaling_asked *a, const pace_scaling_row *row,
                           const pace_device *device) {
    pace_scaling_worker step;
    pace_name name;
    question key = {.number = row->batch};
    PACE_TRY(name_of(&key.part[0], a, row->model));
    PACE_TRY(name_of(&key.part[1], a, row->settings));
    PACE_TRY(name_of(&key.part[2], a, device->name));
    if (!pace_names_find(&name, &a->step_names, (const char *)&key, sizeof key)) {
        PACE_TRY(make_step(&step, a->devices.documents, row, device));
        pace_status status = PACE_PUSH(&a->steps, step);
        if (status == PACE_OK) {
            status = pace_names_add(&name, &a->step_names, (const char *)&key, sizeof key);
            if (status != PACE_OK) a->steps.count--;
        }
        if (status != PACE_OK) {
            pace_gradient_profile_free(&step.profile);
            return status;
        }
    }
    *out = &a->steps.items[name - 1];
    return PACE_OK;
}

/* The row's approach, with its own number of servers. */
static pace_status approach_of(pace_approach *out, const pace_scaling_asked *a, const pace_scaling_row *row) {
    pace_approach approach;
    PACE_TRY(pace_approach_of_cell(&approach, &a->approaches, *row->approach ? row->approach : "ddp"));
    if (row->servers > 0) approach.servers = row->servers;
    *out = approach;
    return PACE_OK;
}

/* What the row exchanges over. The number of servers is of the approach alone and opens nothing else. */
static pace_status exchange_of(const pace_scaling_exchange **out, pace_scaling_asked *a, const pace_scaling_row *row,
                               const pace_approach *approach, const pace_scaling_where *at) {
    pace_scaling_exchange opened;
    pace_name name;
    question key = {.number = row->workers, .nodes = row->nodes};
    PACE_TRY(name_of(&key.part[0], a, at->machine.name));
    PACE_TRY(name_of(&key.part[2], a, row->machine));
    PACE_TRY(name_of(&key.part[1], a, row->approach));
    if (!pace_names_find(&name, &a->exchange_names, (const char *)&key, sizeof key)) {
        PACE_TRY(pace_scaling_open(&opened, a->devices.documents, approach, &at->machine, at->device, (int)row->workers,
                                   (int)row->nodes));
        PACE_TRY(PACE_PUSH(&a->exchanges, opened));
        pace_status status = pace_names_add(&name, &a->exchange_names, (const char *)&key, sizeof key);
        if (status != PACE_OK) {
            a->exchanges.count--;
            return status;
        }
    }
    *out = &a->exchanges.items[name - 1];
    return PACE_OK;
}

/* All that a row's step follows from. The profile's arrays are the kept step's. */
typedef struct {
    pace_approach approach;
    pace_gradient_profile profile;
    const pace_device *device;
    double spread;
    pace_scaling_exchange over;
} row_step;

static pace_status row_step_of(row_step *out, pace_scaling_asked *a, const pace_scaling_row *row) {
    const pace_scaling_where *at = NULL;
    const pace_scaling_worker *step;
    const pace_scaling_exchange *over;
    row_step r;
    PACE_TRY(place_of(&at, a, row));
    PACE_TRY(approach_of(&r.approach, a, row));
    PACE_TRY(step_of(&step, a, row, at->device));
    PACE_TRY(exchange_of(&over, a, row, &r.approach, at));
    r.profile = step->profile;
    r.device = at->device;
    r.over = *over;
    r.spread = step->spread;
    *out = r;
    return PACE_OK;
}

pace_status pace_scaling_complete(pace_scaling_row *row, pace_scaling_asked *asked) {
    const pace_scaling_where *at = NULL;
    row_settings set;
    if (!row->batch_open || *row->status || strcmp(row->model, "") == 0) return PACE_OK;
    PACE_TRY(place_of(&at, asked, row));
    PACE_TRY(split_settings(&set, row));
    PACE_TRY(pace_scaling_own_batch(&row->batch, asked->devices.documents, row->model, &set.words, at->device));
    row->batch_open = false;
    row->batch_assumed = !pace_settings_name_batch(&set.words);
    return PACE_OK;
}

/* What a row asks, and what its words borrow. */
typedef struct {
    const pace_scaling_where *at;
    pace_approach approach;
    row_settings set;
    pace_scaling_words words;
} worded_row;

static pace_status word_row(worded_row *out, pace_scaling_asked *asked, const pace_scaling_row *row) {
    PACE_TRY(place_of(&out->at, asked, row));
    PACE_TRY(approach_of(&out->approach, asked, row));
    PACE_TRY(split_settings(&out->set, row));
    out->words = (pace_scaling_words){.name = row->model,
                                      .set = &out->set.words,
                                      .approach = &out->approach,
                                      .device = out->at->device,
                                      .machine = &out->at->machine,
                                      .workers = (int)row->workers,
                                      .nodes = (int)row->nodes,
                                      .batch = row->batch};
    return PACE_OK;
}

pace_status pace_scaling_row_advise(char *out, size_t size, pace_scaling_asked *asked, const pace_scaling_row *row) {
    worded_row worded;
    PACE_TRY(word_row(&worded, asked, row));
    return pace_scaling_advise(out, size, asked->devices.documents, &worded.words, "", "batch=", 1);
}

bool pace_scaling_says_recipe(const pace_scaling_row *row) { return row->one_worker > 0 || *row->approach; }

pace_status pace_scaling_answer(pace_estimate *out_s, pace_scaling_asked *asked, const pace_scaling_row *row,
                                const pace_scaling_fit *fit) {
    pace_scaling_fit none = pace_scaling_fit_none();
    const pace_scaling_fit *by = fit ? fit : &none;
    pace_step_solution solution;
    worded_row worded;
    bool known = row->one_worker > 0;
    PACE_TRY(word_row(&worded, asked, row));
    const pace_scaling_where *at = worded.at;
    pace_scaling_words *words = &worded.words;
    bool between = row->nodes > 1 || row->workers > at->machine.devices;
    if (by->jitter >= 0) worded.approach.skew = by->jitter;
    words->own_s = known ? row->batch / row->one_worker : 0;
    words->compute = pace_scaling_fit_compute(by, at->device->name, row->model);
    words->slowness = between ? by->between : by->inside;
    PACE_TRY(pace_scaling_solve(&solution, asked->devices.documents, words));
    *out_s = solution.time_s;
    asked->on_device = at->device->name;
    asked->unused_servers = row->servers > 0 && worded.approach.family != PACE_APPROACH_SERVER;
    asked->fitting = solution.fitting;
    asked->room = pace_step_tightest(&solution.plan, 0);
    if (!known) out_s->median += pace_scaling_fit_fixed_s(by, row->model);
    if (!pace_scaling_says_recipe(row)) out_s->spread = hypot(out_s->spread, asked->recipe_spread);
    asked->beyond = NULL;
    if (!fit) return PACE_OK;
    *out_s = (pace_estimate){out_s->median, pace_scaling_fit_spread(fit, at->device->name, row->model),
                             PACE_RUNG_LEARNED, 0};
    asked->beyond = pace_scaling_fit_beyond(fit, at->device->name, row->model, known, row->workers, row->batch);
    return PACE_OK;
}

/* --- for a fit ---------------------------------------------------------------------------------------------------- */

static pace_status take_curve(pace_scaling_sample *sample, row_step *r) {
    for (int i = 0; sample->workers > 1 && i < PACE_SCALING_RATIOS; i++) {
        pace_gradient_times times;
        r->over.setup.slowness = pace_scaling_ratio(i);
        PACE_TRY(pace_gradients_exchange(&times, &r->profile, &r->approach, &r->over.exchange, &r->over.setup));
        sample->exposed_s[i] = times.exposed_s + times.slowed_s[0] + times.slowed_s[1];
    }
    return PACE_OK;
}

/* A fit sees lanes; the answer is a walk, which has what lanes have not (PyTorch's copies into buckets). What it is
 * longer by is no error of the lanes that a factor should learn. */
static pace_status stand_beside(pace_scaling_sample *sample, pace_scaling_asked *asked, const pace_scaling_row *row) {
    pace_estimate walked_s;
    double exposed_s = sample->workers > 1 ? sample->exposed_s[PACE_SCALING_RATIOS / 2] : 0;
    double lanes_s = sample->own_s * (1 + sample->skew * sample->most) + exposed_s;
    PACE_TRY(pace_scaling_answer(&walked_s, asked, row, NULL));
    sample->measured_s *= lanes_s / walked_s.median;
    return PACE_OK;
}

pace_status pace_scaling_sample_of(pace_scaling_sample *out, pace_scaling_asked *asked, const pace_scaling_row *row) {
    row_step r;
    PACE_TRY(row_step_of(&r, asked, row));
    const pace_approach_setup *setup = &r.over.setup;
    double own_s = pace_gradient_profile_step_s(&r.profile);
    pace_scaling_sample sample = {.own_s = row->one_worker > 0 ? row->batch / row->one_worker : own_s,
                                  .skew = r.approach.skew,
                                  .most = pace_gradients_most(&r.approach, &r.over.exchange.machine,
                                                              setup->ranks_per_node, setup->nodes),
                                  .between = setup->nodes > 1,
                                  .own_known = row->one_worker > 0,
                                  .measured_s = row->batch * row->workers / row->measured,
                                  .batch = row->batch,
                                  .workers = row->workers,
                                  .device = r.device->name,
                                  .model = row->model};
    pace_gradient_profile_scale(&r.profile, sample.own_s);
    pace_status status = take_curve(&sample, &r);
    pace_gradient_profile_scale(&r.profile, own_s);
    if (status == PACE_OK) status = stand_beside(&sample, asked, row);
    if (status == PACE_OK) *out = sample;
    return status;
}
