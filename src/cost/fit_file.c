#include "cost/fit.h"

#include <string.h>

static const char magic[7] = {'P', 'A', 'C', 'E', 'F', 'I', 'T'};

/* One description of the layout serves both ways: `put` writes the bytes of a field, or reads them. */
typedef struct {
    PACE_VEC(unsigned char) bytes; /* when writing */
    const unsigned char *from;     /* when reading; NULL when writing */
    size_t at, length;
    pace_status status;
} stream;

static void field(stream *s, void *value, size_t size) {
    if (s->status != PACE_OK) return;
    if (s->from) {
        if (s->length - s->at < size) {
            s->status = PACE_E_INPUT;
            return;
        }
        memcpy(value, s->from + s->at, size);
        s->at += size;
        return;
    }
    const unsigned char *bytes = value;
    for (size_t i = 0; i < size && s->status == PACE_OK; i++) s->status = PACE_PUSH(&s->bytes, bytes[i]);
}

static void text(stream *s, char *value, size_t size) {
    field(s, value, size);
    value[size - 1] = '\0';
}

static void number(stream *s, int *value) {
    int32_t stored = (int32_t)*value;
    field(s, &stored, sizeof stored);
    *value = stored;
}

/* An array with its count in front. When reading, no more is reserved than bytes are left for. */
static void array(stream *s, void *items, size_t *count, size_t *capacity, size_t size) {
    uint32_t stored = (uint32_t)*count;
    field(s, &stored, sizeof stored);
    if (s->status != PACE_OK) return;
    if (s->from) {
        if (stored > (s->length - s->at) / size) {
            s->status = PACE_E_INPUT;
            return;
        }
        s->status = pace_grow(items, capacity, stored ? stored : 1, size);
        if (s->status != PACE_OK) return;
        *count = stored;
    }
    void *first;
    memcpy(&first, items, sizeof first);
    if (stored > 0) field(s, first, stored * size);
}

#define ARRAY(s, vec) array(s, &(vec)->items, &(vec)->count, &(vec)->capacity, sizeof *(vec)->items)

static void trees(stream *s, pace_trees *t) {
    int features = (int)t->features;
    number(s, &features);
    t->features = features >= 0 ? (unsigned)features : UINT32_MAX;
    field(s, &t->start, sizeof t->start);
    ARRAY(s, &t->roots);
    ARRAY(s, &t->nodes);
}

static void one_series(stream *s, pace_series *series) {
    int pass = (int)series->pass, precision = (int)series->precision;
    text(s, series->device, sizeof series->device);
    text(s, series->kind, sizeof series->kind);
    text(s, series->source, sizeof series->source);
    number(s, &pass);
    number(s, &precision);
    number(s, &series->element_bytes);
    field(s, &series->class_index, sizeof series->class_index);
    field(s, &series->first, sizeof series->first);
    field(s, &series->count, sizeof series->count);
    field(s, series->place, sizeof series->place);
    field(s, &series->spread, sizeof series->spread);
    if (pass < 0 || pass >= PACE_PASSES || precision < 0 || precision >= PACE_PRECISIONS) s->status = PACE_E_INPUT;
    if (s->status != PACE_OK) return;
    series->pass = (pace_pass)pass;
    series->precision = (pace_precision)precision;
}

static void all_series(stream *s, pace_learned *learned) {
    uint32_t count = (uint32_t)learned->series.count;
    field(s, &count, sizeof count);
    for (uint32_t i = 0; i < count && s->status == PACE_OK; i++) {
        pace_series fresh = {0};
        if (!s->from) {
            one_series(s, &learned->series.items[i]);
            continue;
        }
        one_series(s, &fresh);
        if (s->status == PACE_OK) s->status = PACE_PUSH(&learned->series, fresh);
    }
}

static void family(stream *s, pace_learned *learned) {
    int family = (int)learned->family;
    number(s, &family);
    if (family <= PACE_OP_UNKNOWN || family >= PACE_OP_FAMILIES) s->status = PACE_E_INPUT;
    if (s->status != PACE_OK) return;
    learned->family = (pace_op_family)family;
    field(s, &learned->far_spread, sizeof learned->far_spread);
    field(s, &learned->far_share, sizeof learned->far_share);
    field(s, &learned->far_reach, sizeof learned->far_reach);
    field(s, learned->scale, sizeof learned->scale);
    all_series(s, learned);
    ARRAY(s, &learned->bases);
    ARRAY(s, &learned->points);
    ARRAY(s, &learned->values);
    trees(s, &learned->trees);
}

static void head(stream *s, pace_fit_model *fit, uint32_t *families) {
    text(s, fit->unit, sizeof fit->unit);
    field(s, &fit->unit_s, sizeof fit->unit_s);
    text(s, fit->device, sizeof fit->device);
    field(s, &fit->figures, sizeof fit->figures);
    field(s, families, sizeof *families);
}

pace_status pace_fit_write(unsigned char **out, size_t *length, const pace_fit_model *fit) {
    stream s = {.status = PACE_OK};
    pace_fit_model copy = *fit; /* the description takes what it writes by address */
    char start[sizeof magic];
    unsigned char version = PACE_FIT_VERSION;
    uint32_t families = (uint32_t)fit->families.count;
    memcpy(start, magic, sizeof start);
    field(&s, start, sizeof start);
    field(&s, &version, 1);
    head(&s, &copy, &families);
    for (uint32_t i = 0; i < families; i++) family(&s, &fit->families.items[i]);
    if (s.status != PACE_OK) {
        PACE_VEC_FREE(&s.bytes);
        return s.status;
    }
    *out = s.bytes.items;
    *length = s.bytes.count;
    return PACE_OK;
}

static pace_status read_families(pace_fit_model *fit, stream *s, uint32_t families) {
    for (uint32_t i = 0; i < families && s->status == PACE_OK; i++) {
        pace_learned learned = {0};
        family(s, &learned);
        if (s->status == PACE_OK) s->status = pace_learned_ready(&learned);
        if (s->status == PACE_OK) s->status = PACE_PUSH(&fit->families, learned);
        if (s->status != PACE_OK) pace_learned_free(&learned);
    }
    return s->status;
}

pace_status pace_fit_parse(pace_fit_model *out, const char *name, const unsigned char *bytes, size_t length) {
    stream s = {.from = bytes, .length = length, .status = PACE_OK};
    pace_fit_model fit = {0};
    uint32_t families = 0;
    if (length <= sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a fit as `paceline fit` writes it", name);
    if (bytes[sizeof magic] != PACE_FIT_VERSION)
        return pace_fail(PACE_E_INPUT, "%s: a fit of version %d; this program reads version %d: fit again", name,
                         bytes[sizeof magic], PACE_FIT_VERSION);
    s.at = sizeof magic + 1;
    head(&s, &fit, &families);
    if (s.status == PACE_OK && !(fit.unit_s > 0 && fit.unit_s <= 1)) s.status = PACE_E_INPUT;
    if (s.status == PACE_OK) read_families(&fit, &s, families);
    if (s.status == PACE_OK && s.at != length) s.status = PACE_E_INPUT;
    if (s.status != PACE_OK) {
        size_t at = s.at;
        pace_fit_free(&fit);
        if (s.status == PACE_E_MEMORY) return s.status;
        return pace_fail(PACE_E_INPUT, "%s: damaged near byte %zu of %zu: fit again", name, at, length);
    }
    *out = fit;
    return PACE_OK;
}

void pace_fit_free(pace_fit_model *fit) { PACE_VEC_FREE_EACH(&fit->families, pace_learned_free); }

bool pace_fit_knows_kind(const pace_fit_model *fit, const pace_op *op) {
    PACE_ITEMS (const pace_learned, learned, &fit->families) {
        for (size_t k = 0; learned->family == op->family && k < learned->series.count; k++)
            if (learned->series.items[k].pass == op->pass && strcmp(learned->series.items[k].kind, op->kind) == 0)
                return true;
    }
    return false;
}

static const pace_learned *family_of(const pace_fit_model *fit, pace_op_family family) {
    for (size_t i = 0; i < fit->families.count; i++)
        if (fit->families.items[i].family == family) return &fit->families.items[i];
    return NULL;
}

bool pace_fit_beyond(const char **out, const pace_fit_model *fit, const pace_op *op, const pace_device *device,
                     const char *source) {
    const pace_learned *learned = family_of(fit, op->family);
    return learned && pace_learned_beyond(out, learned, op, device, source);
}

bool pace_fit_time(pace_estimate *out_s, const pace_fit_model *fit, const pace_op *op, const pace_device *device,
                   const char *source, double formula_s, const pace_doubts *doubts) {
    const pace_learned *learned = family_of(fit, op->family);
    return learned && pace_learned_time(out_s, learned, op, device, source, formula_s, doubts);
}
