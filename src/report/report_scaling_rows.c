/* `paceline predict --rows --kind scaling`: throughputs of models on many workers, row by row. */
#include "insight/scaling.h"
#include "base/intern.h"
#include "machine/device_resolve.h"
#include "report/answered_rows.h"
#include "report/fit_kinds.h"
#include "report/model_settings.h"
#include "rows/scaling_rows.h"
#include "source/model_inputs.h"

#include <stdio.h>
#include <string.h>

static const pace_column answer_columns[] = {PACE_ANSWERED_TIME, PACE_ANSWERED_STATUS};
enum { MOST_SETTINGS = 32 };

/* Rows of a table mostly ask for the same again. What was made is kept with the name of its question: the first has
 * name 1, the next name 2. Only what could be made is kept. */
typedef struct {
    pace_machine machine;
    const pace_device *device;
} place;

/* One worker's step. */
typedef struct {
    double spread;
    pace_gradient_profile profile;
} worker_step;

/* A question by the names of its parts. Hashed as bytes, so it has no padding. */
typedef struct {
    double number; /* batch, or workers */
    pace_name part[4];
} question;

typedef struct {
    pace_scaling_rows rows;
    const char *on; /* NULL = not given */
    pace_device_catalog devices;
    pace_approaches approaches;
    pace_names texts, place_names, step_names, exchange_names;
    PACE_VEC(place) places;
    PACE_VEC(worker_step) steps;
    PACE_VEC(pace_scaling_exchange) exchanges;
} asked;

static void close_asked(asked *a) {
    for (size_t i = 0; i < a->steps.count; i++) pace_gradient_profile_free(&a->steps.items[i].profile);
    PACE_VEC_FREE(&a->steps);
    PACE_VEC_FREE(&a->places);
    PACE_VEC_FREE(&a->exchanges);
    pace_names_free(&a->texts);
    pace_names_free(&a->place_names);
    pace_names_free(&a->step_names);
    pace_names_free(&a->exchange_names);
    pace_scaling_rows_free(&a->rows);
    pace_approaches_free(&a->approaches);
    pace_device_catalog_free(&a->devices);
}

static pace_status name_of(pace_name *out, asked *a, const char *text) {
    return pace_names_add(out, &a->texts, text, strlen(text));
}

/* The machine of a row and its device. */
static pace_status place_of(const place **out, asked *a, const char *text) {
    place made;
    pace_name name;
    if (!*text || !pace_names_find(&name, &a->place_names, text, strlen(text))) {
        PACE_TRY(text == a->on ? pace_machine_asked(&made.machine, text) : pace_machine_parse(&made.machine, text));
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

/* A word that no catalogue knows gives way to --on: `word` receives which of the two it was. */
static pace_status place_of_row(const place **out, const char **word, asked *a, const pace_scaling_row *row) {
    pace_status status = place_of(out, a, row->machine);
    bool known = status != PACE_E_MISSING || !a->on;
    *word = known ? row->machine : a->on;
    return known ? status : place_of(out, a, a->on);
}

static pace_status make_step(worker_step *step, const pace_scaling_row *row, const pace_device *device) {
    char text[512], *rest = NULL;
    const char *words[MOST_SETTINGS];
    pace_words set = {words, 0};
    pace_config config = pace_config_default();
    pace_model_settings settings;
    pace_model model;
    pace_estimate step_s;
    if (strlen(row->settings) >= sizeof text) return pace_fail(PACE_E_INPUT, "settings: too long");
    memcpy(text, row->settings, strlen(row->settings) + 1);
    for (char *word = strtok_r(text, " ;", &rest); word && set.count < MOST_SETTINGS;
         word = strtok_r(NULL, " ;", &rest))
        words[set.count++] = word;
    PACE_TRY(pace_model_settings_read(&settings, &config, &set));
    config.micro_batch = row->batch;
    pace_status status = pace_model_open(&model, row->model, settings.items.items, settings.items.count);
    if (status == PACE_OK) {
        status = pace_gradient_profile_make(&step->profile, &step_s, &model, &config, device);
        pace_model_free(&model);
    }
    pace_model_settings_free(&settings);
    if (status == PACE_OK) step->spread = step_s.spread;
    return status;
}

static pace_status step_of(const worker_step **out, asked *a, const pace_scaling_row *row, const pace_device *device) {
    worker_step step;
    pace_name name;
    question key = {.number = row->batch};
    PACE_TRY(name_of(&key.part[0], a, row->model));
    PACE_TRY(name_of(&key.part[1], a, row->settings));
    PACE_TRY(name_of(&key.part[2], a, device->name));
    if (!pace_names_find(&name, &a->step_names, (const char *)&key, sizeof key)) {
        PACE_TRY(make_step(&step, row, device));
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

/* What the row exchanges over. The number of servers is of the approach alone and opens nothing else. */
static pace_status exchange_of(const pace_scaling_exchange **out, asked *a, const pace_scaling_row *row,
                               const pace_approach *approach, const place *at, const char *machine) {
    pace_scaling_exchange opened;
    pace_name name;
    question key = {.number = row->workers};
    double rate = at->device->pcie_bytes_per_s > 0 ? at->device->pcie_bytes_per_s : 1e10;
    PACE_TRY(name_of(&key.part[0], a, machine));
    PACE_TRY(name_of(&key.part[1], a, row->approach));
    if (!pace_names_find(&name, &a->exchange_names, (const char *)&key, sizeof key)) {
        PACE_TRY(pace_scaling_open(&opened, approach, &at->machine, rate, (int)row->workers));
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

/* Seconds of the row's step. With one worker measured, its time is that; the profile is put back behind. */
static pace_status answer(pace_estimate *out_s, const char **machine, asked *a, const pace_scaling_row *row) {
    pace_approach approach;
    const place *at;
    const worker_step *step;
    const pace_scaling_exchange *over;
    pace_scaling_point point;
    PACE_TRY(place_of_row(&at, machine, a, row));
    const pace_approach *spelled = pace_approach_spelled(&a->approaches, *row->approach ? row->approach : "ddp");
    if (spelled) approach = *spelled;
    else PACE_TRY(pace_approach_parse(&approach, &a->approaches, row->approach));
    if (row->servers > 0) approach.servers = row->servers;
    PACE_TRY(step_of(&step, a, row, at->device));
    PACE_TRY(exchange_of(&over, a, row, &approach, at, *machine));
    pace_gradient_profile profile = step->profile;
    double own_s = pace_gradient_profile_step_s(&profile);
    if (row->one_worker > 0) pace_gradient_profile_scale(&profile, row->batch / row->one_worker);
    pace_status status = pace_scaling_over(&point, &profile, row->one_worker > 0 ? 0 : step->spread, &approach, over);
    if (row->one_worker > 0) pace_gradient_profile_scale(&profile, own_s);
    if (status == PACE_OK) *out_s = point.step_s;
    return status;
}

/* In samples/s: the slow end of the step is the low end of the rate. */
static void add_answer(pace_answered_rows *rows, asked *a, const pace_scaling_row *row) {
    pace_estimate s = {0};
    const char *machine = row->machine;
    char note[128] = "ok";
    bool known = !*row->status && answer(&s, &machine, a, row) == PACE_OK;
    double samples = row->batch * row->workers;
    double values[] = {samples / s.median, samples / pace_estimate_high(s), samples / pace_estimate_low(s)};
    pace_answered_time(rows, known ? values : NULL, "samples/s", s.rung);
    if (row->one_sample) snprintf(note, sizeof note, "assumed a batch of 1");
    if (machine != row->machine) snprintf(note, sizeof note, "took --on for \"%.80s\"", row->machine);
    pace_table_text(rows->table, known ? note : *row->status ? row->status : pace_message());
}

static pace_status put_rows(pace_report *report, asked *a) {
    pace_answered_rows rows;
    PACE_TRY(pace_answered_begin(&rows, report, &a->rows.csv, answer_columns,
                                 sizeof answer_columns / sizeof *answer_columns));
    for (size_t i = 0; i < a->rows.rows.count; i++) {
        pace_answered_row(&rows, i);
        add_answer(&rows, a, &a->rows.rows.items[i]);
    }
    return pace_answered_end(&rows, report);
}

pace_status pace_predict_scaling_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = pace_device_catalog_load(&a.devices);
    if (status == PACE_OK) status = pace_approaches_load(&a.approaches);
    if (status == PACE_OK) status = pace_names_init(&a.texts);
    if (status == PACE_OK) status = pace_names_init(&a.place_names);
    if (status == PACE_OK) status = pace_names_init(&a.step_names);
    if (status == PACE_OK) status = pace_names_init(&a.exchange_names);
    a.on = options->device;
    if (status == PACE_OK) status = pace_scaling_rows_open(&a.rows, path, a.on);
    if (status == PACE_OK) status = pace_answered_report(&report, options, a.rows.csv.name, a.rows.csv.bytes);
    if (status == PACE_OK) status = put_rows(report, &a);
    close_asked(&a);
    return pace_report_give(out, report, status);
}
