#include "ask/plan/plan_asked.h"
#include "ask/plan/launcher.h"
#include "ask/plan/plan_beyond.h"
#include "ask/plan/plan_together.h"
#include "ask/plan/plan_words.h"
#include "ask/plan/plan_yours.h"
#include "base/order.h"
#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pace_status add_place(pace_plan_asked *a, const char *name, const pace_machine *machine, double price) {
    pace_plan_place *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    pace_status status = PACE_PUSH(&a->places, p);
    if (status != PACE_OK) {
        pace_free(p);
        return status;
    }
    p->machine = *machine;
    p->device_price = price;
    PACE_TRY(pace_plan_place_open(p, a, name));
    return pace_plan_place_answer(p, a);
}

/* So many of a machine's nodes. */
typedef struct {
    pace_plan_asked *asked;
    const char *name;
    const pace_machine *machine;
    double price;
} parts;

static pace_status add_part(const parts *of, int nodes) {
    pace_machine part = *of->machine;
    if (of->asked->stopped) return PACE_OK;
    if (nodes == part.nodes) return add_place(of->asked, of->name, &part, of->price);
    pace_machine_take_nodes(&part, nodes);
    return add_place(of->asked, of->name, &part, of->price);
}

static bool last_is_done(const pace_plan_asked *a) {
    return pace_plan_is_done(a, a->places.items[a->places.count - 1], false);
}

PACE_ORDER_AT(by_devices, pace_plan_place, PACE_UP(space.devices))

/* Adds parts between one that is done and one that is not, until they are neighbours. */
static pace_status narrow(const parts *of, int done, int undone) {
    while (abs(done - undone) > 1 && !of->asked->stopped) {
        int nodes = undone + (done - undone) / 2;
        PACE_TRY(add_part(of, nodes));
        *(last_is_done(of->asked) ? &done : &undone) = nodes;
    }
    return PACE_OK;
}

/* Twice as many nodes each time; then between the last two the smallest part that is done in time or, where only a
 * budget was said, the largest that is done for it. */
static pace_status add_parts(const parts *of) {
    pace_plan_asked *a = of->asked;
    size_t first = a->places.count;
    int most = of->machine->nodes, smallest = 0, below = 0, largest = 0, above = 0;
    for (int nodes = 1;; nodes = nodes < most / 2 + most % 2 ? 2 * nodes : most) {
        PACE_TRY(add_part(of, nodes));
        bool done = last_is_done(a);
        if (done && !smallest) smallest = nodes;
        if (!smallest) below = nodes;
        if (done) largest = nodes, above = 0;
        else if (largest && !above) above = nodes;
        if (nodes == most || a->stopped) break;
    }
    if (a->options->within && smallest) PACE_TRY(narrow(of, smallest, below));
    if (!a->options->within && above) PACE_TRY(narrow(of, largest, above));
    qsort(a->places.items + first, a->places.count - first, sizeof *a->places.items, by_devices);
    return PACE_OK;
}

static pace_status add_machine(pace_plan_asked *a, const char *name, size_t number) {
    pace_machine machine;
    parts of = {a, name, &machine, NAN};
    PACE_TRY(pace_machine_asked(&machine, a->options->context->catalog, a->options->on.items[number]));
    PACE_TRY(pace_plan_price(&of.price, &a->options->price, number, a->options->on.count));
    return a->options->within || a->options->budget ? add_parts(&of) : add_part(&of, machine.nodes);
}

/* Of all machines: unless a batch is given, that of the largest is everybody's. */
static pace_status count_devices(pace_plan_asked *a) {
    for (size_t i = 0; i < a->options->on.count; i++) {
        pace_machine machine;
        PACE_TRY(pace_machine_asked(&machine, a->options->context->catalog, a->options->on.items[i]));
        a->most_devices = fmax(a->most_devices, (double)machine.devices * machine.nodes);
    }
    return PACE_OK;
}

/* --- where nothing fits ------------------------------------------------------------------------------------------- */

/* Searches once more with the options and machine as they are now; what fits is kept in `out`. */
static pace_status try_change(pace_plan_place *out, pace_plan_asked *a, const char *name, const pace_machine *machine,
                              pace_plan_loosened *change) {
    pace_plan_place *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    p->machine = *machine;
    pace_status status = pace_plan_place_open(p, a, name);
    if (status == PACE_OK) status = pace_plan_place_search(p, a);
    if (status == PACE_OK && p->found.fitting.count > 0) {
        change->config = p->found.fitting.items[0].config;
        status = PACE_PUSH(&out->loosened, *change);
    }
    pace_plan_place_close(p);
    return status == PACE_E_MEMORY ? status : PACE_OK;
}

/* Whether a setting is one that a search may choose; the batch that all share only says what divides. */
static bool may_be_left_out(const pace_plan_place *p, const char *key) {
    bool is = strcmp(key, "dp") == 0 || (p->found.tried == 0 && strcmp(key, "global_batch") == 0);
    for (int f = 0; f < PACE_PLAN_FIELDS; f++) is |= strcmp(key, pace_plan_field_names[f]) == 0;
    return is;
}

/* The search once more with other settings. */
static pace_status try_settings(pace_plan_place *p, pace_plan_asked *a, const char *name, pace_words set,
                                pace_plan_loosened *change) {
    const pace_plan_options *all = a->options;
    pace_plan_options other = *all;
    bool assumed = a->batch_assumed;
    other.set = set;
    a->options = &other;
    pace_status status = try_change(p, a, name, &p->machine, change);
    a->batch_assumed = assumed;
    a->options = all;
    return status;
}

/* The settings without one of a number, and another. */
static pace_status settings_without(const char ***out, pace_words *set, const pace_words *all, size_t one,
                                    size_t other) {
    const char **words = pace_alloc(all->count, sizeof *words);
    if (!words) return PACE_E_MEMORY;
    *set = (pace_words){words, 0};
    for (size_t i = 0; i < all->count; i++)
        if (i != one && i != other) words[set->count++] = all->items[i];
    *out = words;
    return PACE_OK;
}

/* Splits "KEY=VALUE"; false: it is none that may be left out. */
static bool read_setting(pace_plan_loosened *out, const pace_plan_place *p, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals) return false;
    snprintf(out->field, sizeof out->field, "%.*s", (int)(equals - word), word);
    snprintf(out->value, sizeof out->value, "%s", equals + 1);
    return may_be_left_out(p, out->field);
}

/* One setting left out, or with `other` unlike `number` two. */
static pace_status leave_out(pace_plan_place *p, pace_plan_asked *a, const char *name, size_t number, size_t other) {
    pace_plan_loosened change = {.nodes = 0}, second = {.nodes = 0};
    const pace_words *set = &a->options->set;
    const char **words;
    pace_words less;
    if (!read_setting(&change, p, set->items[number]) || !read_setting(&second, p, set->items[other])) return PACE_OK;
    if (other != number) {
        snprintf(change.field, sizeof change.field, "%.30s and %.25s", set->items[number], second.field);
        snprintf(change.value, sizeof change.value, "%s", second.value);
    }
    PACE_TRY(settings_without(&words, &less, set, number, other));
    pace_status status = try_settings(p, a, name, less, &change);
    pace_free(words);
    return status;
}

/* Single changes with which something fits: each setting left out, and more nodes of the same machine; where none
 * helps, two settings left out. */
static pace_status find_loosened(pace_plan_asked *a, const char *name) {
    pace_plan_place *p = a->places.items[a->places.count - 1];
    if (pace_plan_best(a, false)) return PACE_OK;
    for (size_t i = 0; i < a->options->set.count; i++) PACE_TRY(leave_out(p, a, name, i, i));
    pace_machine more = p->machine;
    size_t before = p->loosened.count;
    for (int times = 2; times <= PACE_PLAN_NODES_MOST && p->machine.nics > 0; times *= 2) {
        pace_machine_take_nodes(&more, p->machine.nodes * times);
        PACE_TRY(try_change(p, a, name, &more, &(pace_plan_loosened){.nodes = more.nodes}));
        if (p->loosened.count > before) break;
    }
    for (size_t i = 1; p->loosened.count == 0 && i < a->options->set.count; i++)
        for (size_t k = 0; k < i; k++) PACE_TRY(leave_out(p, a, name, k, i));
    return PACE_OK;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static pace_status lines_of(pace_texts *out, pace_plan_asked *a, const pace_plan_place *place,
                            const pace_config *config) {
    const pace_step_case *one = &place->step.asked;
    double ranks = pace_config_ranks(config), node = place->machine.devices;
    const pace_launching launch = {.config = config,
                                   .framework = one->framework->name,
                                   .nodes = ceil(ranks / node),
                                   .devices_of_node = fmin(ranks, node),
                                   .layers = place->layers,
                                   .sequence = pace_model_sequence(one->model, &one->config),
                                   .tables = pace_model_has_tables(one->model)};
    return pace_launch_lines(&a->launcher, out, a->options->context->catalog, &launch);
}

static bool sets(const pace_texts *lines, const char *line, size_t key) {
    for (size_t i = 0; i < lines->count; i++)
        if (strncmp(lines->items[i], line, key) == 0 && strcspn(lines->items[i], " =") == key) return true;
    return false;
}

/* What yours would say and the fastest does not: it would stay where only the fastest's lines are put in. */
static pace_status find_taken_out(pace_plan_asked *a, const pace_texts *yours) {
    for (size_t i = 0; i < yours->count; i++) {
        const char *line = yours->items[i];
        char key[96];
        size_t length = strcspn(line, " =");
        if (line[0] == ' ' || line[0] == '#' || sets(&a->launch, line, length)) continue;
        pace_snprintf(key, sizeof key, "%.*s", (int)length, line);
        PACE_TRY(pace_texts_add(&a->taken_out, key));
    }
    return PACE_OK;
}

static pace_status find_launch(pace_plan_asked *a) {
    const pace_plan_place *best = pace_plan_chosen(a);
    pace_texts yours = {0};
    if (!best) return PACE_OK;
    PACE_TRY(lines_of(&a->launch, a, best, &best->choices.items[0].candidate.config));
    if (!a->options->from || a->stopped) return PACE_OK;
    pace_status status = lines_of(&yours, a, best, &a->yours.candidate.config);
    if (status == PACE_OK) status = find_taken_out(a, &yours);
    pace_texts_free(&yours);
    return status;
}

/* The schedule of the fastest, where it has a pipeline small enough to be looked at. */
static pace_status draw_best(pace_plan_asked *a) {
    enum { TURNS_MOST = 4096 };
    pace_plan_place *best = NULL;
    for (size_t i = 0; i < a->places.count; i++)
        if (a->places.items[i] == pace_plan_chosen(a)) best = a->places.items[i];
    if (!best) return PACE_OK;
    pace_step_case one = best->step.asked;
    pace_step_solution settled;
    pace_memory_series memory = {0};
    one.config = best->choices.items[0].candidate.config;
    one.may_recompute = false;
    double turns = pace_config_micro_batches(&one.config) * one.config.vpp * one.config.pp;
    if (one.config.pp < 2 || turns > TURNS_MOST || !pace_step_is_drawn(&one)) return PACE_OK;
    PACE_TRY(pace_step_settle(&settled, &best->step.pricer, &one));
    if (!PACE_MAKE(a->picture, 1)) return PACE_E_MEMORY;
    pace_status status =
        pace_step_draw(a->picture, &memory, &a->stretch, a->options->context->catalog, &settled, &one,
                       pace_names_text(&one.model->names, one.model->name), best->choices.items[0].time_s.median);
    pace_memory_series_free(&memory);
    if (status == PACE_OK) return PACE_OK;
    pace_free(a->picture);
    a->picture = NULL;
    return status;
}

/* Of days and price. */
static void find_front(pace_plan_asked *a) {
    for (size_t i = 0; i < a->places.count; i++) {
        pace_plan_place *p = a->places.items[i];
        p->on_front = p->choices.count > 0 && p->choices.items[0].price > 0;
        for (size_t k = 0; p->on_front && k < a->places.count; k++) {
            const pace_plan_place *other = a->places.items[k];
            if (other == p || other->choices.count == 0) continue;
            const pace_plan_choice *one = &p->choices.items[0], *two = &other->choices.items[0];
            bool better = two->days < one->days || two->price < one->price;
            if (better && two->days <= one->days && two->price <= one->price) p->on_front = false;
        }
    }
}

static pace_status check_fits(pace_plan_asked *a) {
    pace_curves_told told = {0};
    for (size_t i = 0; i < a->places.count; i++) {
        const pace_step_asked *step = &a->places.items[i]->step;
        pace_curves_told_add(&told, pace_own_curves_of(&step->exchange));
        pace_predict_fits_note(&a->fits, step->pricer.cost);
    }
    PACE_TRY(pace_predict_fits_check(&a->fits));
    return pace_predict_fits_told(&a->warnings, &a->fits, &told);
}

pace_status pace_plan_ask(pace_plan_asked *out, const char *name, const pace_plan_options *options) {
    out->name = name;
    out->options = options;
    PACE_TRY(pace_plan_terms_read(out));
    PACE_TRY(pace_device_catalog_load(&out->devices, options->context->catalog));
    PACE_TRY(count_devices(out));
    PACE_TRY(pace_plan_yours_read(out));
    name = out->name;
    for (size_t i = 0; i < options->on.count; i++) PACE_TRY(add_machine(out, name, i));
    find_front(out);
    if (options->together && !out->stopped) PACE_TRY(pace_plan_share_out(out));
    if (!out->stopped) PACE_TRY(pace_plan_yours_improve(out));
    if (!out->stopped) PACE_TRY(find_loosened(out, name));
    if (!out->stopped) PACE_TRY(pace_plan_find_other(out, name));
    if (!out->stopped) PACE_TRY(pace_plan_find_framework(out, name));
    if (!out->stopped) PACE_TRY(pace_plan_find_enough(out, name));
    if (!out->stopped) PACE_TRY(draw_best(out));
    if (!out->stopped) PACE_TRY(check_fits(out));
    return find_launch(out);
}

void pace_plan_asked_free(pace_plan_asked *asked) {
    if (asked->picture) pace_analysis_free(asked->picture);
    pace_free(asked->picture);
    for (size_t i = 0; i < asked->places.count; i++) pace_plan_place_close(asked->places.items[i]);
    PACE_VEC_FREE(&asked->places, &asked->changes, &asked->together.shares, &asked->set);
    pace_launcher_settings_free(&asked->file);
    pace_texts_free(&asked->launch);
    pace_texts_free(&asked->taken_out);
    pace_predict_fits_free(&asked->fits);
    pace_warnings_free(&asked->warnings);
    pace_device_catalog_free(&asked->devices);
}
