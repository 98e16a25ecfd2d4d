#include "cost/learn_features.h"

#include "cost/krige.h"

#include <math.h>
#include <string.h>

/* Neighbours, reach in doublings of a size, and a measurement's noise relative to the field's variance. */
static const double reach = 8, nugget = 2e-3;
enum { NEIGHBOURS = 20, VIEW_NEIGHBOURS = 12 };
static const double loose = 1, tight = 10;

static double value_at(double *variance, const pace_series *series, const float *values, const float *at,
                       const double *scale, uint32_t but, unsigned most) {
    pace_krige here;
    if (!pace_krige_at(&here, &series->near, values + series->first, at, scale, but, most, reach, nugget)) {
        *variance = 2;
        return 0;
    }
    *variance = here.variance;
    return here.value;
}

static double whole_view(double *variance, const pace_learned *learned, const pace_series *series, const float *at,
                         uint32_t but) {
    double scale[PACE_NEAREST_AXES];
    for (int i = 0; i < PACE_NEAREST_AXES; i++) scale[i] = (double)learned->scale[i];
    return value_at(variance, series, learned->values.items, at, scale, but, NEIGHBOURS);
}

unsigned pace_learn_near(float *features, double *local, const pace_learned *learned, uint32_t index,
                         const pace_sample *sample, uint32_t but) {
    const pace_series *series = &learned->series.items[index];
    unsigned axes = pace_sample_axes(learned->family), used = 0;
    double variance;
    *local = whole_view(&variance, learned, series, sample->at, but);
    memcpy(features, sample->trait, sizeof sample->trait);
    used = PACE_SAMPLE_TRAITS;
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

unsigned pace_learn_unlike(const pace_series *series, const pace_op *op, const char *source) {
    if (series->pass != op->pass) return UINT32_MAX;
    return 8u * (strncmp(series->kind, op->kind, sizeof series->kind) != 0) +
           4u * (series->precision != op->precision) + 2u * (series->element_bytes != op->element_bytes) +
           1u * (*source && strcmp(series->source, source) != 0);
}

bool pace_learn_far(float *features, double *local, unsigned *devices, const pace_learned *learned, const pace_op *op,
                    const pace_sample *sample, const char *device, const char *source, uint32_t but) {
    unsigned least = UINT32_MAX;
    for (size_t i = 0; i < learned->series.count; i++) {
        const pace_series *series = &learned->series.items[i];
        if (series->count == 0 || strcmp(series->device, device) == 0) continue;
        unsigned unlike = pace_learn_unlike(series, op, source);
        if (unlike < least) least = unlike;
    }
    if (least == UINT32_MAX) return false;
    double sum = 0, squares = 0, variances = 0, base = 0;
    unsigned count = 0;
    for (size_t i = 0; i < learned->series.count; i++) {
        const pace_series *series = &learned->series.items[i];
        if (series->count == 0 || strcmp(series->device, device) == 0) continue;
        if (pace_learn_unlike(series, op, source) != least) continue;
        double variance, value = whole_view(&variance, learned, series, sample->at, but);
        sum += value, squares += value * value, variances += variance, count++;
        base += log2(pace_base_time_s(&learned->bases.items[series->class_index], sample));
    }
    double mean = sum / count, spread = squares / count - mean * mean;
    memcpy(features, sample->trait, sizeof sample->trait);
    features[PACE_SAMPLE_TRAITS] = (float)(base / count);
    features[PACE_SAMPLE_TRAITS + 1] = (float)mean;
    features[PACE_SAMPLE_TRAITS + 2] = (float)sqrt(spread > 0 ? spread : 0);
    features[PACE_SAMPLE_TRAITS + 3] = (float)(variances / count);
    *local = mean + log(2) * base / count; /* ln seconds */
    *devices = count;
    return true;
}
