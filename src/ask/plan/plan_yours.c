#include "ask/plan/plan_yours.h"

#include "ask/plan/launcher_config.h"
#include "base/order.h"
#include "base/print.h"
#include "model/model_settings.h"
#include "plan/plan_settle.h"
#include "source/model_inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what the file fixes ------------------------------------------------------------------------------------------ */

static bool is_said(const pace_words *set, const char *key) {
    return pace_settings_name(set, (const char *const[]){key, NULL});
}

/* What a search chooses is yours, and so is what goes with it. */
static bool is_searched(const char *key) {
    bool searched = strcmp(key, "sequence_parallel") == 0;
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) searched |= strcmp(key, pace_plan_field_names[f]) == 0;
    return searched && strcmp(key, "precision") != 0;
}

/* What a file says and the question does not. */
static pace_status fix(pace_plan_asked *a, const pace_texts *settings) {
    for (size_t i = 0; i < settings->count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(settings->items[i], "="), settings->items[i]);
        if (!is_searched(key) && !is_said(&a->options->set, key)) PACE_TRY(PACE_PUSH(&a->set, settings->items[i]));
    }
    return PACE_OK;
}

/* Replicas on the machine that is asked about. */
static double replicas_of(const pace_plan_asked *a) { return pace_launcher_replicas(&a->file, a->most_devices); }

static pace_status say(pace_plan_asked *a, const char *key, double value) {
    char text[64];
    if (!(value >= 1 && isfinite(value)) || value != floor(value) || pace_launcher_says(&a->file, key)) return PACE_OK;
    pace_snprintf(text, sizeof text, "%s=%.0f", key, value);
    return pace_texts_add(&a->file.settings, text);
}

/* Programs take a step of micro-batch x passes x replicas unless given, or the micro-batch that gives the
 * step that somebody says. */
static pace_status fill_batch(pace_plan_asked *a) {
    const pace_launcher_settings *file = &a->file;
    double replicas = replicas_of(a), passes = fmax(1, file->accumulation);
    if (file->local_batch > 0) {
        bool stages = pace_launcher_number(file, "pp", 1) > 1;
        PACE_TRY(say(a, "micro_batch", stages ? fmax(1, file->stage_batch) : file->local_batch));
        PACE_TRY(say(a, "global_batch", file->local_batch * replicas));
    }
    PACE_TRY(say(a, "global_batch", pace_launcher_number(file, "micro_batch", 0) * passes * replicas));
    return say(a, "micro_batch",
               file->accumulation > 0 ? pace_launcher_number(file, "global_batch", 0) / (passes * replicas) : 0);
}

/* The model that is asked about where the question names none. */
static pace_status take_model(pace_plan_asked *a) {
    pace_launcher_settings *file = &a->file;
    if (a->name) return PACE_OK;
    a->name = *file->model ? file->model : file->described;
    if (!a->name && *file->undescribed)
        return pace_fail(PACE_E_USAGE, "expected a model: %s names none, and its sizes describe none (%s)",
                         a->options->from, file->undescribed);
    if (!a->name)
        return pace_fail(PACE_E_USAGE, "expected a model: %s neither names one nor states its sizes", a->options->from);
    return *file->model ? PACE_OK : fix(a, &file->model_sizes);
}

pace_status pace_plan_yours_read(pace_plan_asked *a) {
    const pace_plan_options *o = a->options;
    if (!o->from && !a->name) return pace_fail(PACE_E_USAGE, "expected one model, found none");
    if (!o->from) return PACE_OK;
    if (o->on.count > 1) return pace_fail(PACE_E_USAGE, "from: expected one machine (on), found %zu", o->on.count);
    if (o->within || o->budget) return pace_fail(PACE_E_USAGE, "from: expected no parts of machines (within, budget)");
    PACE_TRY(pace_launcher_read(&a->file, o->context->catalog, o->from));
    for (size_t i = 0; i < o->set.count; i++) PACE_TRY(PACE_PUSH(&a->set, o->set.items[i]));
    if (!pace_framework_asked(&o->set)) PACE_TRY(PACE_PUSH(&a->set, a->file.framework));
    PACE_TRY(fill_batch(a));
    PACE_TRY(fix(a, &a->file.settings));
    PACE_TRY(take_model(a));
    a->with_file = *o;
    a->with_file.set = (pace_words){a->set.items, a->set.count};
    a->options = &a->with_file;
    return PACE_OK;
}

/* --- another model than the file's -------------------------------------------------------------------------------- */

static double parameters_of(pace_catalog *catalog, const char *name, const pace_texts *sizes) {
    pace_config config = pace_config_default();
    pace_model_settings settings = {0};
    pace_model model;
    const pace_words words = {(const char *const *)sizes->items, sizes->count};
    double parameters = 0;
    if (pace_model_settings_read(&settings, &config, catalog, &words) == PACE_OK &&
        pace_model_open(&model, catalog, name, settings.items.items, settings.items.count) == PACE_OK) {
        parameters = pace_model_total(&model, &config).parameters;
        pace_model_free(&model);
    }
    pace_model_settings_free(&settings);
    return parameters;
}

/* Parameters of the file's model, where the question names one that has more or fewer. */
static void compare_models(pace_plan_asked *a, const pace_plan_place *p) {
    enum { ALIKE = 10 }; /* percent: vocabularies are padded, and assumed */
    const pace_texts none = {0};
    const pace_launcher_settings *file = &a->file;
    pace_config config = pace_config_default();
    double of_file = 0, asked = pace_model_total(&p->step.model, &config).parameters;
    if (a->name == file->model || a->name == file->described) return;
    if (*file->model) of_file = parameters_of(a->options->context->catalog, file->model, &none);
    else if (file->described)
        of_file = parameters_of(a->options->context->catalog, file->described, &file->model_sizes);
    if (of_file > 0 && 100 * fabs(of_file / asked - 1) > ALIKE) a->file_parameters = of_file;
}

/* --- yours, and changes of it ------------------------------------------------------------------------------------- */

static void say_field(char out[32], const pace_config *config, int field) {
    const double values[] = {config->tp, config->pp,         config->vpp,        config->cp,
                             config->ep, config->zero_stage, config->zero_group, config->micro_batch};
    const char *word = pace_config_word(config, pace_plan_field_names[field]);
    if (word) snprintf(out, 32, "%s", word);
    else snprintf(out, 32, "%.0f", values[field]);
}

PACE_ORDER(by_change, pace_plan_change, PACE_UP(choice.time_s.median))

static pace_status try_field(pace_plan_asked *a, pace_plan_place *p, const pace_config *yours, int field) {
    bool pinned[PACE_PLAN_FIELDS];
    pace_plan_change change = {.field = pace_plan_field_names[field]};
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) pinned[f] = f != field;
    char refused[240];
    PACE_TRY(pace_plan_place_best(&change.choice, refused, sizeof refused, a, p, yours, pinned));
    double yours_s = a->yours.time_s.median;
    if (!(change.choice.time_s.median > 0) || (yours_s > 0 && change.choice.time_s.median >= 0.999 * yours_s))
        return PACE_OK;
    double spread = p->step.frameworks.plan_spread;
    change.choice.chance = yours_s > 0 ? pace_plan_chance(change.choice.time_s.median, yours_s, spread) : NAN;
    say_field(change.from, yours, field);
    say_field(change.to, &change.choice.candidate.config, field);
    return PACE_PUSH(&a->changes, change);
}

pace_status pace_plan_yours_improve(pace_plan_asked *a) {
    bool pinned[PACE_PLAN_FIELDS];
    if (!a->options->from) return PACE_OK;
    pace_plan_place *p = a->places.items[0];
    const pace_config yours = p->yours;
    compare_models(a, p);
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) pinned[f] = true;
    PACE_TRY(pace_plan_place_best(&a->yours, a->yours_refused, sizeof a->yours_refused, a, p, &yours, pinned));
    if (a->yours.time_s.median > 0 && p->choices.count)
        a->yours.chance =
            pace_plan_chance(p->choices.items[0].time_s.median, a->yours.time_s.median, p->step.frameworks.plan_spread);
    if (!(a->yours.time_s.median > 0)) {
        a->yours.candidate.config = yours;
        a->yours.candidate.config.dp = fmax(1, floor(replicas_of(a)));
    }
    bool precise = pace_settings_name(&a->options->set, (const char *const[]){"precision", NULL});
    for (int f = 0; f < PACE_PLAN_FIELDS; f++)
        if (f != PACE_PLAN_PRECISION || !precise) PACE_TRY(try_field(a, p, &yours, f));
    PACE_SORT(&a->changes, by_change);
    return PACE_OK;
}
