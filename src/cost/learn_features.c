#include "cost/learn_features.h"

#include "cost/krige.h"

#include <math.h>
#include <string.h>

/* Neighbours, reach in doublings of a size, and a measurement's noise relative to the field's variance. */
static const double field_reach = 8, nugget = 2e-3;
enum { NEIGHBOURS = 20, VIEW_NEIGHBOURS = 12 };
static const double loose = 1, tight = 10;

static double value_at(double *variance, const pace_series *series, const float *values, const float *at,
                       const double *scale, uint32_t but, unsigned most) {
    pace_krige here;
    if (!pace_krige_at(&here, &series->near, values + series->first, at, scale, but, most, field_reach, nugget)) {
        *variance = 2;
        return 0;
    }
    *variance = here.variance;
    return here.value;
}

void pace_learn_bound(pace_series *series, const float *points) {
    for (int axis = 0; axis < PACE_NEAREST_AXES; axis++) series->low[axis] = INFINITY, series->high[axis] = -INFINITY;
    for (size_t i = 0; i < (size_t)series->count * PACE_NEAREST_AXES; i++) {
        size_t axis = i % PACE_NEAREST_AXES;
        if (points[i] < series->low[axis]) series->low[axis] = points[i];
        if (points[i] > series->high[axis]) series->high[axis] = points[i];
    }
}

bool pace_learn_inside(float *at, const pace_series *series, const pace_sample *sample, unsigned axes) {
    bool inside = true;
    memcpy(at, sample->at, sizeof sample->at);
    for (unsigned i = 0; i < axes; i++) {
        float nearest = fminf(fmaxf(at[i], series->low[i]), series->high[i]);
        inside &= pace_learn_same_size(at[i], nearest);
        at[i] = nearest;
    }
    return inside;
}

static double whole_view(double *variance, const pace_learned *learned, const pace_series *series, const float *at,
                         uint32_t but) {
    double scale[PACE_NEAREST_AXES];
    for (int i = 0; i < PACE_NEAREST_AXES; i++) scale[i] = (double)learned->scale[i];
    return value_at(variance, series, learned->values.items, at, scale, but, NEIGHBOURS);
}

/* After the traits: the series, its base, what the neighbours say, and how far they are. */
enum { INDEX = PACE_SAMPLE_TRAITS, VARIANCE = INDEX + 3 };

double pace_learn_doubt(const float *features) {
    double variance = (double)features[VARIANCE];
    return 0.3 + sqrt(variance > 0 ? variance : 0);
}

unsigned pace_learn_near(float *features, double *local, const pace_learned *learned, uint32_t index,
                         const pace_sample *sample, uint32_t but) {
    const pace_series *series = &learned->series.items[index];
    unsigned axes = pace_sample_axes(learned->family), used = 0;
    double variance;
    *local = whole_view(&variance, learned, series, sample->at, but);
    memcpy(features, sample->trait, sizeof sample->trait);
    used = INDEX;
    features[used++] = (float)index;
    features[used++] = (float)log2(pace_base_time_s(&learned->bases.items[series->class_index], sample));
    features[used++] = (float)*local;
    features[used++] = (float)variance;
    /* Along one axis: neighbours that share the other sizes. */
    for (unsigned axis = 0; axes > 1 && axis < axes; axis++) {
        double scale[PACE_NEAREST_AXES];
        for (unsigned i = 0; i < axes; i++) scale[i] = i == axis ? loose : tight;
        double along = value_at(&variance, series, learned->values.items, sample->at, scale, but, VIEW_NEIGHBOURS);
        features[used++] = (float)(along - *local);
        features[used++] = (float)variance;
    }
    return used;
}

/* Matrix units multiply FP16 and BF16 at one rate, and libraries have the same kernels for both. */
static unsigned unlike_precision(pace_precision a, pace_precision b) {
    bool halves = (a == PACE_FP16 || a == PACE_BF16) && (b == PACE_FP16 || b == PACE_BF16);
    return a == b ? 0 : halves ? PACE_UNLIKE_HALF : PACE_UNLIKE_PRECISION;
}

unsigned pace_learn_unlike(const pace_series *series, const pace_op *op, const char *device, const char *source) {
    if (series->pass != op->pass) return UINT32_MAX;
    unsigned unlike = unlike_precision(series->precision, op->precision);
    if (strcmp(series->device, device) != 0) unlike |= PACE_UNLIKE_DEVICE;
    if (strncmp(series->kind, op->kind, sizeof series->kind) != 0) unlike |= PACE_UNLIKE_KIND;
    if (series->element_bytes != op->element_bytes) unlike |= PACE_UNLIKE_STORAGE;
    if (*source && strcmp(series->source, source) != 0) unlike |= PACE_UNLIKE_SOURCE;
    return unlike;
}

static unsigned unlike_or_left_out(const pace_series *series, const pace_op *op, const char *device, const char *source,
                                   const char *but_device) {
    if (series->count == 0 || (but_device && strcmp(series->device, but_device) == 0)) return UINT32_MAX;
    return pace_learn_unlike(series, op, device, source);
}

static double devices_apart(const float *a, const float *b) {
    double sum = 0;
    for (int i = 0; i < PACE_SAMPLE_PLACE; i++) sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

unsigned pace_learn_far(pace_learn_view *views, const pace_learned *learned, const pace_op *op,
                        const pace_sample *sample, const char *device, const char *source, const char *but_device,
                        uint32_t but) {
    unsigned least = UINT32_MAX, count = 0;
    double variance;
    for (size_t i = 0; i < learned->series.count; i++) {
        unsigned unlike = unlike_or_left_out(&learned->series.items[i], op, device, source, but_device);
        if (unlike < least) least = unlike;
    }
    if (least == UINT32_MAX) return 0;
    PACE_ITEMS (const pace_series, series, &learned->series) {
        float inside[PACE_NEAREST_AXES];
        if (unlike_or_left_out(series, op, device, source, but_device) != least) continue;
        double apart = devices_apart(series->place, sample->place);
        unsigned at = count;
        if (count == PACE_LEARN_FAR_VIEWS) {
            for (unsigned k = at = 0; k < count; k++)
                if (views[k].apart > views[at].apart) at = k;
            if (views[at].apart <= apart) continue;
        } else count++;
        views[at].apart = apart;
        pace_learn_inside(inside, series, sample, pace_sample_axes(learned->family));
        const pace_base_time *base = &learned->bases.items[series->class_index];
        views[at].local = whole_view(&variance, learned, series, inside, but) + base->off;
        views[at].base = log(pace_base_time_s(base, sample)) - base->off;
    }
    return count;
}

double pace_learn_blend(double *doubt, const pace_learn_view *views, unsigned count, const pace_learn_rule *rule) {
    double nearest = INFINITY, all = 0, sum = 0, full = 0, squares = 0;
    for (unsigned i = 0; i < count; i++)
        if (views[i].apart < nearest) nearest = views[i].apart;
    for (unsigned i = 0; i < count; i++) {
        double weight = exp((nearest - views[i].apart) / rule->reach);
        double all_of_it = views[i].base + views[i].local;
        all += weight, sum += weight * (views[i].base + rule->share * views[i].local);
        full += weight * all_of_it, squares += weight * all_of_it * all_of_it;
    }
    double variance = squares / all - full / all * (full / all);
    *doubt = PACE_LEARN_LEAST_DOUBT + sqrt(variance > 0 ? variance : 0);
    return sum / all;
}
