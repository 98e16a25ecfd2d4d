#include "cost/learn.h"

#include "cost/formula.h"
#include "cost/learn_features.h"

#include <math.h>
#include <string.h>

static pace_estimate estimate(double ln_s, double spread) {
    return (pace_estimate){exp(ln_s), spread, PACE_RUNG_LEARNED};
}

bool pace_learned_time(pace_estimate *out_s, const pace_learned *learned, const pace_op *op, const pace_device *device,
                       const char *source, const pace_doubts *doubts) {
    float features[PACE_LEARN_FEATURES];
    pace_sample sample;
    double local;
    if (op->family != learned->family || !pace_sample_of(&sample, op, device)) return false;
    uint32_t best = 0;
    unsigned least = UINT32_MAX;
    for (uint32_t i = 0; i < learned->series.count; i++) {
        unsigned unlike = pace_learn_unlike(&learned->series.items[i], op, device->name, source);
        if (unlike < least) least = unlike, best = i;
    }
    if (least < PACE_LEARN_NEAR) {
        const pace_series *series = &learned->series.items[best];
        pace_learn_near(features, &local, learned, best, &sample, UINT32_MAX);
        double value = local + pace_trees_predict(&learned->trees, features);
        *out_s = estimate(value + log(pace_base_time_s(&learned->bases.items[series->class_index], &sample)),
                          (double)series->spread * pace_learn_doubt(features));
    } else {
        pace_learn_view views[PACE_LEARN_FAR_VIEWS];
        unsigned count = pace_learn_far(views, learned, op, &sample, device->name, source, NULL, UINT32_MAX);
        if (count == 0) return false;
        pace_learn_rule rule = {(double)learned->far_share, (double)learned->far_reach};
        double doubt, value = pace_learn_blend(&doubt, views, count, &rule);
        double spread = doubt * (double)learned->far_spread;
        bool strange = (least & (PACE_UNLIKE_KIND | PACE_UNLIKE_PRECISION)) != 0;
        *out_s = estimate(value, strange ? fmax(spread, doubts->figure[PACE_DOUBT_LEARNED_KIND]) : spread);
    }
    return isfinite(out_s->median) && out_s->median > 0;
}

void pace_learned_free(pace_learned *learned) {
    for (size_t i = 0; i < learned->series.count; i++) pace_nearest_free(&learned->series.items[i].near);
    PACE_VEC_FREE(&learned->series);
    PACE_VEC_FREE(&learned->bases);
    PACE_VEC_FREE(&learned->points);
    PACE_VEC_FREE(&learned->values);
    pace_trees_free(&learned->trees);
}

static pace_status in_order(const pace_learned *learned) {
    size_t count = learned->values.count;
    unsigned features = PACE_SAMPLE_TRAITS + 4;
    unsigned axes = pace_sample_axes(learned->family);
    if (axes > 1) features += 2 * axes;
    bool good = learned->points.count == count * PACE_NEAREST_AXES && pace_trees_valid(&learned->trees) &&
                learned->trees.features == features && learned->far_spread > 0 && learned->far_spread < 100 &&
                fabsf(learned->far_share) <= 2 && learned->far_reach > 0 && learned->far_reach < 100;
    for (size_t i = 0; good && i < learned->points.count; i++) good = fabsf(learned->points.items[i]) < 1e6f;
    for (size_t i = 0; good && i < count; i++) good = fabsf(learned->values.items[i]) < 1e3f;
    for (size_t i = 0; good && i < PACE_NEAREST_AXES; i++) good = learned->scale[i] >= 0 && learned->scale[i] < 1e3f;
    for (size_t i = 0; good && i < learned->bases.count; i++)
        for (int k = 0; good && k < PACE_BASE_CONSTANTS; k++) good = fabs(learned->bases.items[i].constant[k]) < 100;
    for (size_t i = 0; good && i < learned->series.count; i++) {
        const pace_series *series = &learned->series.items[i];
        good = series->class_index < learned->bases.count && series->first <= count &&
               series->count <= count - series->first && series->spread > 0 && series->spread < 100;
    }
    return good ? PACE_OK
                : pace_fail(PACE_E_INPUT, "a fit of family %s is damaged", pace_op_family_name(learned->family));
}

pace_status pace_learned_ready(pace_learned *learned) {
    PACE_TRY(in_order(learned));
    for (size_t i = 0; i < learned->series.count; i++) {
        pace_series *series = &learned->series.items[i];
        pace_nearest_free(&series->near);
        PACE_TRY(pace_nearest_build(&series->near, learned->points.items + (size_t)series->first * PACE_NEAREST_AXES,
                                    NULL, series->count, pace_sample_axes(learned->family)));
    }
    return PACE_OK;
}
