#include "ask/plan/plan_beyond.h"

#include "ask/plan/launcher.h"
#include "ask/plan/plan_words.h"
#include "model/model_settings.h"

#include <math.h>
#include <stdio.h>

/* The fastest of a machine under the options as they are now; `out` is untouched where nothing fits or can be. */
static pace_status answer_now(pace_plan_beside *out, pace_plan_asked *a, const char *name, const pace_machine *machine,
                              double price) {
    bool assumed = a->batch_assumed, changed = a->order_changed;
    pace_plan_place *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    p->machine = *machine;
    p->device_price = price;
    pace_status status = pace_plan_place_open(p, a, name);
    if (status == PACE_OK) status = pace_plan_place_answer(p, a);
    if (status == PACE_OK && p->choices.count) {
        out->choice = p->choices.items[0];
        snprintf(out->machine, sizeof out->machine, "%s", machine->name);
        out->devices = p->space.devices;
    }
    pace_plan_place_close(p);
    a->batch_assumed = assumed;
    a->order_changed = changed;
    return status == PACE_E_MEMORY ? status : PACE_OK;
}

/* The fastest of a machine with one more setting (NULL = none), at the batch of an answered place (NULL = any). */
static pace_status answer_beside(pace_plan_beside *out, pace_plan_asked *a, const char *name,
                                 const pace_plan_place *like, const pace_machine *machine, double price,
                                 const char *setting) {
    const pace_plan_options *all = a->options;
    pace_plan_options other = *all;
    char batch[48];
    const char **words = pace_alloc(all->set.count + 2, sizeof *words);
    if (!words) return PACE_E_MEMORY;
    other.set = (pace_words){words, 0};
    for (size_t i = 0; i < all->set.count; i++) words[other.set.count++] = all->set.items[i];
    if (setting) words[other.set.count++] = setting;
    if (like) snprintf(batch, sizeof batch, "global_batch=%.0f", like->step.asked.config.global_batch);
    if (like && !pace_settings_name(&all->set, (const char *const[]){"global_batch", NULL}))
        words[other.set.count++] = batch;
    other.top = 1;
    a->options = &other;
    pace_status status = answer_now(out, a, name, machine, price);
    a->options = all;
    pace_free(words);
    return status;
}

/* The machine of a place once more, with one more setting. */
static pace_status answer_with(pace_plan_beside *out, pace_plan_asked *a, const char *name, const pace_plan_place *like,
                               const char *setting) {
    const pace_machine machine = like->machine;
    return answer_beside(out, a, name, like, &machine, like->device_price, setting);
}

pace_status pace_plan_find_other(pace_plan_asked *a, const char *name) {
    const pace_plan_place *best = pace_plan_chosen(a);
    if (!best || best->space.values[PACE_PLAN_PRECISION].count < 2) return PACE_OK;
    const pace_plan_values *both = &best->space.values[PACE_PLAN_PRECISION];
    pace_config config = best->choices.items[0].candidate.config;
    char setting[32];
    config.precision = (int)both->items[config.precision == (int)both->items[0]];
    snprintf(setting, sizeof setting, "precision=%s", pace_config_word(&config, "precision"));
    return answer_with(&a->other, a, name, best, setting);
}

pace_status pace_plan_find_framework(pace_plan_asked *a, const char *name) {
    const pace_plan_place *best = pace_plan_chosen(a), *like = best ? best : a->places.items[a->places.count - 1];
    const pace_step_case *one = &like->step.asked;
    const char *names[PACE_LAUNCHERS_MOST];
    size_t count;
    if (pace_framework_asked(&a->options->set) || !(pace_model_sequence(one->model, &one->config) > 0)) return PACE_OK;
    PACE_TRY(pace_launch_frameworks(names, &count, a->options->context->catalog));
    for (size_t i = 0; i < count; i++) {
        pace_plan_beside found = {.devices = 0};
        char setting[64];
        if (strcmp(names[i], one->framework->name) == 0) continue;
        snprintf(setting, sizeof setting, "framework=%s", names[i]);
        PACE_TRY(answer_with(&found, a, name, like, setting));
        bool faster = a->framework && found.choice.time_s.median >= a->framed.choice.time_s.median;
        if (!(found.devices > 0) || faster) continue;
        a->framed = found;
        a->framework = names[i];
    }
    return PACE_OK;
}

/* --- more nodes --------------------------------------------------------------------------------------------------- */

/* A machine of which more nodes than are offered are tried. */
typedef struct {
    pace_plan_asked *asked;
    const char *name;
    const pace_plan_place *like; /* whose batch it is; NULL = each number of nodes chooses its own */
    pace_machine machine;
    double price;
} growing;

static pace_status try_nodes(pace_plan_beside *out, bool *enough, const growing *g, int nodes) {
    pace_plan_asked *a = g->asked;
    pace_machine more = g->machine;
    pace_plan_beside beside = {.devices = 0};
    pace_machine_take_nodes(&more, nodes);
    PACE_TRY(answer_beside(&beside, a, g->name, g->like, &more, g->price, NULL));
    *enough = beside.devices > 0 && beside.choice.days <= a->within_days;
    if (*enough) *out = beside;
    else if (beside.devices > 0 && (!(a->nearly.devices > 0) || beside.choice.days < a->nearly.choice.days))
        a->nearly = beside;
    return PACE_OK;
}

/* The fewest nodes that are done in time: twice as many each time, then between the last two. */
static pace_status grow(pace_plan_beside *out, const growing *g) {
    int less = g->machine.nodes, nodes = less;
    bool enough = false;
    while (!enough && g->machine.nics > 0 && nodes < PACE_PLAN_NODES_MOST * g->machine.nodes) {
        less = nodes;
        nodes *= 2;
        PACE_TRY(try_nodes(out, &enough, g, nodes));
    }
    while (enough && nodes > less + 1) {
        int middle = less + (nodes - less) / 2;
        bool is;
        PACE_TRY(try_nodes(out, &is, g, middle));
        *(is ? &nodes : &less) = middle;
    }
    return PACE_OK;
}

/* Of two that are done the cheaper, without prices the one of fewer devices. */
static bool is_better(const pace_plan_beside *one, const pace_plan_beside *other) {
    if (!(one->devices > 0) || !(other->devices > 0)) return one->devices > 0;
    return isnan(one->choice.price) ? one->devices < other->devices : one->choice.price < other->choice.price;
}

pace_status pace_plan_find_enough(pace_plan_asked *a, const char *name) {
    const pace_plan_options *o = a->options;
    const pace_plan_place *fastest = pace_plan_best(a, false);
    if (!o->within || a->places.count == 0 || (fastest && fastest->choices.items[0].days <= a->within_days))
        return PACE_OK;
    for (size_t i = 0; i < o->on.count; i++) {
        growing g = {.asked = a, .name = name, .like = a->batch_chosen ? NULL : a->places.items[0]};
        pace_plan_beside found = {.devices = 0};
        PACE_TRY(pace_machine_asked(&g.machine, o->context->catalog, o->on.items[i]));
        PACE_TRY(pace_plan_price(&g.price, &o->price, i, o->on.count));
        PACE_TRY(grow(&found, &g));
        if (is_better(&found, &a->enough)) a->enough = found;
    }
    return PACE_OK;
}
