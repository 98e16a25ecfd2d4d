#include "ask/fleet/usage_models.h"
#include "base/text.h"
#include "model/config.h"
#include "model/model_catalog.h"
#include "model/model_names.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_usage_models *out;
    const pace_usage *usage;
    const pace_model_names *names;
    pace_config config;
} finding;

static void widen(pace_usage_span *span, double value) {
    span->low = fmin(span->low, value); /* fmin and fmax leave NAN out */
    span->high = fmax(span->high, value);
}

/* Whether a model is what a type of work means: any of a family of that name, else the one model so called. */
static bool is_meant(const finding *f, const pace_usage_model *row, const pace_model *model) {
    const char *type = pace_usage_name(f->usage, row->type);
    const char *name = pace_names_text(&model->names, model->name),
               *family = pace_names_text(&model->names, model->family);
    for (size_t i = 0; i < f->names->all.count; i++)
        if (pace_same_word(f->names->all.items[i].family, type)) return pace_same_word(family, type);
    const pace_model_called *called = pace_model_names_find(f->names, type);
    return called && strcmp(called->model, name) == 0;
}

static pace_status take_model(void *context, const pace_model *model) {
    const finding *f = context;
    pace_model_totals total = pace_model_total(model, &f->config);
    const double bytes_of_fp32 = 4, passes = 3, of_a_product = 2, ways = 2;
    PACE_ITEMS (pace_usage_model, row, &f->out->items) {
        if (!is_meant(f, row, model)) continue;
        row->variants++;
        widen(&row->weight_bytes, total.parameters * bytes_of_fp32);
        widen(&row->weight_traffic_bytes, total.parameters * bytes_of_fp32 * ways);
        widen(&row->flop_per_sample, total.multiply_adds * of_a_product * passes);
    }
    return PACE_OK;
}

/* The types of work that name something of the catalogue. */
static pace_status list_types(finding *f, const pace_usage_figures *figures) {
    static const pace_usage_span unknown = {NAN, NAN};
    const pace_usage_groups *types = &figures->by[PACE_BY_TYPE];
    for (size_t i = 0; i < types->count; i++) {
        const char *type = types->items[i].name ? pace_usage_name(f->usage, types->items[i].name) : "";
        if (!*type || !pace_model_names_find(f->names, type)) continue;
        PACE_TRY(PACE_PUSH(&f->out->items, ((pace_usage_model){.type = types->items[i].name,
                                                               .gpu_hours = types->items[i].gpu_hours,
                                                               .weight_bytes = unknown,
                                                               .weight_traffic_bytes = unknown,
                                                               .flop_per_sample = unknown})));
        f->out->gpu_hours += types->items[i].gpu_hours;
    }
    return PACE_OK;
}

pace_status pace_usage_models_find(pace_usage_models *out, pace_catalog *catalog, const pace_usage *usage,
                                   const pace_usage_figures *figures) {
    pace_model_names names;
    *out = (pace_usage_models){0};
    if (figures->by[PACE_BY_TYPE].count == 0) return PACE_OK;
    PACE_TRY(pace_model_names_load(&names, catalog));
    finding f = {out, usage, &names, pace_config_default()};
    pace_status status = list_types(&f, figures);
    if (status == PACE_OK && out->items.count) status = pace_model_each(catalog, take_model, &f);
    pace_model_names_free(&names);
    return status;
}

void pace_usage_models_free(pace_usage_models *models) { PACE_VEC_FREE(&models->items); }
