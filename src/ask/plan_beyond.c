#include "ask/plan_beyond.h"
#include "model/model_settings.h"

#include <stdio.h>

/* The fastest of a machine under the options as they are now; `out` is untouched where nothing fits or can be. */
static pace_status answer_beside(pace_plan_beside *out, pace_plan_asked *a, const char *name,
                                 const pace_machine *machine, double price) {
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

pace_status pace_plan_find_other(pace_plan_asked *a, const char *name) {
    const pace_plan_options *all = a->options;
    const pace_plan_place *best = pace_plan_chosen(a);
    if (!best || best->space.values[PACE_PLAN_PRECISION].count < 2) return PACE_OK;
    const pace_plan_values *both = &best->space.values[PACE_PLAN_PRECISION];
    pace_config config = best->choices.items[0].candidate.config;
    config.precision = (int)both->items[config.precision == (int)both->items[0]];
    pace_plan_options other = *all;
    const char **words = pace_alloc(all->set.count + 1, sizeof *words);
    if (!words) return PACE_E_MEMORY;
    char setting[32];
    snprintf(setting, sizeof setting, "precision=%s", pace_config_word(&config, "precision"));
    for (size_t i = 0; i < all->set.count; i++) words[i] = all->set.items[i];
    words[all->set.count] = setting;
    other.set = (pace_words){words, all->set.count + 1};
    other.top = 1;
    a->options = &other;
    const pace_machine machine = best->machine;
    pace_status status = answer_beside(&a->other, a, name, &machine, best->device_price);
    a->options = all;
    pace_free(words);
    return status;
}

static pace_status try_nodes(pace_plan_beside *out, bool *enough, pace_plan_asked *a, const char *name, int nodes) {
    const pace_plan_place *last = a->places.items[a->places.count - 1];
    pace_machine more = last->machine;
    pace_plan_beside beside = {.devices = 0};
    pace_machine_take_nodes(&more, nodes);
    PACE_TRY(answer_beside(&beside, a, name, &more, last->device_price));
    *enough = beside.devices > 0 && beside.choice.days <= a->within_days;
    if (*enough) *out = beside;
    else a->nearly = beside;
    return PACE_OK;
}

pace_status pace_plan_find_enough(pace_plan_asked *a, const char *name) {
    if (!a->options->within || pace_plan_smallest(a, false) || a->places.count == 0) return PACE_OK;
    const pace_machine *offered = &a->places.items[a->places.count - 1]->machine;
    int less = offered->nodes, nodes = less;
    bool enough = false;
    while (!enough && offered->nics > 0 && nodes < PACE_PLAN_NODES_MOST * offered->nodes) {
        less = nodes;
        nodes *= 2;
        PACE_TRY(try_nodes(&a->enough, &enough, a, name, nodes));
    }
    while (enough && nodes > less + 1) {
        int middle = less + (nodes - less) / 2;
        bool is;
        PACE_TRY(try_nodes(&a->enough, &is, a, name, middle));
        *(is ? &nodes : &less) = middle;
    }
    return PACE_OK;
}
