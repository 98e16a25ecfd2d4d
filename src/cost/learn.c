#include "cost/learn.h"

#include "cost/learn_features.h"

#include <math.h>

static pace_estimate estimate(double ln_s, double spread) {
    return (pace_estimate){exp(ln_s), spread, PACE_RUNG_LEARNED, 0};
}

/* The series most like an operation; `*least` = in what it differs, UINT32_MAX where none has this pass. */
static uint32_t series_like(unsigned *least, const pace_learned *learned, const pace_op *op, const pace_device *device,
                            const char *source) {
    uint32_t best = 0;
    *least = UINT32_MAX;
    for (uint32_t i = 0; i < learned->series.count; i++) {
        unsigned unlike = pace_learn_unlike(&learned->series.items[i], op, device->name, source);
        if (unlike < *least) *least = unlike, best = i;
    }
    return best;
}

/* Too few rows to learn from say what their own sizes take, and nothing of others. */
static bool is_narrow(const pace_learned *learned) { return learned->values.count < PACE_LEARN_LEAST; }

/* What a series' rows of these very sizes are off their base, in the mean of ln; false, and `off` stays as it is, when
 * it has none. */
static bool of_own_sizes(double *off, const pace_learned *learned, const pace_series *series,
                         const pace_sample *sample) {
    uint32_t near[PACE_NEAREST_MOST];
    double distance[PACE_NEAREST_MOST], scale[PACE_NEAREST_AXES], sum = 0;
    for (int i = 0; i < PACE_NEAREST_AXES; i++) scale[i] = (double)learned->scale[i];
    unsigned own = 0,
             count = pace_nearest_find(near, distance, &series->near, sample->at, scale, UINT32_MAX, PACE_NEAREST_MOST);
    for (; own < count && pace_learn_same_size((float)sqrt(distance[own]), 0); own++)
        sum += (double)learned->values.items[series->first + near[own]];
    if (own) *off = sum / own;
    return own > 0;
}

/* Whether a series may be asked. */
static bool may_answer(const pace_learned *learned, const pace_series *series, const pace_sample *sample,
                       unsigned unlike) {
    double off;
    return !is_narrow(learned) || (unlike < PACE_LEARN_NEAR && of_own_sizes(&off, learned, series, sample));
}

bool pace_learned_beyond(const char **out, const pace_learned *learned, const pace_op *op, const pace_device *device,
                         const char *source) {
    pace_sample sample;
    unsigned least;
    if (op->family != learned->family || !pace_sample_of(&sample, op, device, NAN)) return false;
    uint32_t like = series_like(&least, learned, op, device, source);
    if (least == UINT32_MAX || !may_answer(learned, &learned->series.items[like], &sample, least)) return false;
    float inside[PACE_NEAREST_AXES];
    bool sizes = !pace_learn_inside(inside, &learned->series.items[like], &sample, pace_sample_axes(learned->family));
    *out = least & PACE_UNLIKE_DEVICE      ? "device"
           : least & PACE_UNLIKE_KIND      ? "kind of operation"
           : least & PACE_UNLIKE_PRECISION ? "precision"
           : sizes                         ? "sizes"
                                           : NULL;
    return true;
}

/* Sizes that were measured take what they took; others what their neighbours say, and the trees. */
static pace_estimate near_time(const pace_learned *learned, uint32_t of, const pace_sample *sample) {
    float features[PACE_LEARN_FEATURES];
    double off;
    const pace_series *series = &learned->series.items[of];
    pace_sample edge = *sample;
    bool inside = pace_learn_inside(edge.at, series, sample, pace_sample_axes(learned->family));
    pace_learn_near(features, &off, learned, of, sample, UINT32_MAX);
    double spread = (double)series->spread * pace_learn_doubt(features);
    if (!inside) pace_learn_near(features, &off, learned, of, &edge, UINT32_MAX);
    double trees = pace_trees_predict(&learned->trees, features);
    if (!of_own_sizes(&off, learned, series, sample)) off += trees;
    return estimate(off + log(pace_base_time_s(&learned->bases.items[series->class_index], sample)), spread);
}

/* Without a named library, frameworks are taken to use the fastest that was measured. */
static pace_estimate fastest_near(const pace_learned *learned, unsigned least, const pace_op *op,
                                  const pace_device *device, const char *source, const pace_sample *sample) {
    pace_estimate best = {0};
    for (uint32_t i = 0; i < learned->series.count; i++) {
        const pace_series *series = &learned->series.items[i];
        if (pace_learn_unlike(series, op, device->name, source) != least) continue;
        if (!may_answer(learned, series, sample, least)) continue;
        pace_estimate one = near_time(learned, i, sample);
        if (!(best.median > 0) || one.median < best.median) best = one;
    }
    return best;
}

bool pace_learned_time(pace_estimate *out_s, const pace_learned *learned, const pace_op *op, const pace_device *device,
                       const char *source, double formula_s, const pace_doubts *doubts) {
    pace_sample sample;
    unsigned least;
    if (op->family != learned->family || !pace_sample_of(&sample, op, device, formula_s)) return false;
    series_like(&least, learned, op, device, source);
    if (least >= PACE_LEARN_NEAR && is_narrow(learned)) return false;
    if (least < PACE_LEARN_NEAR) {
        *out_s = fastest_near(learned, least, op, device, source, &sample);
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
    PACE_VEC_FREE(&learned->series, &learned->bases, &learned->points, &learned->values);
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
        good = learned->bases.items[i].fixed_s >= 0 && learned->bases.items[i].fixed_s < 1 &&
               fabs(learned->bases.items[i].off) < 100;
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
    PACE_ITEMS (pace_series, series, &learned->series) {
        const float *points = learned->points.items + (size_t)series->first * PACE_NEAREST_AXES;
        pace_nearest_free(&series->near);
        pace_learn_bound(series, points);
        PACE_TRY(pace_nearest_build(&series->near, points, NULL, series->count, pace_sample_axes(learned->family)));
    }
    return PACE_OK;
}
