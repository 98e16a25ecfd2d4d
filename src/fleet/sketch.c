#include "fleet/sketch.h"

#include "base/each_cpu.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 1 << PACE_SKETCH_PART_BITS,
    MOST_BINS = (PACE_SKETCH_HIGH - PACE_SKETCH_LOW) * PARTS,
    MANTISSA_BITS = 52,
    BIAS = 1023,
    SHIFT = MANTISSA_BITS - PACE_SKETCH_PART_BITS,
};

static const uint64_t LOWEST = (uint64_t)(BIAS + PACE_SKETCH_LOW) << PACE_SKETCH_PART_BITS;

static inline double least_binned(void) { return ldexp(1, PACE_SKETCH_LOW); }
static inline double least_vast(void) { return ldexp(1, PACE_SKETCH_HIGH); }

void pace_sketch_free(pace_sketch *sketch) {
    pace_free(sketch->bins);
    PACE_VEC_FREE(&sketch->values);
    *sketch = (pace_sketch){0};
}

/* Exponent and first bits of the mantissa, counted from the lowest bin. Only for 2^LOW <= value < 2^HIGH. */
static size_t bin_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (size_t)((bits >> SHIFT) - LOWEST);
}

static double lower_edge(size_t bin) {
    uint64_t bits = (LOWEST + bin) << SHIFT;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double middle(size_t bin) { return 0.5 * (lower_edge(bin) + lower_edge(bin + 1)); }

/* Makes room for the octaves of the bins [first, last]. */
static pace_status widen(pace_sketch *sketch, size_t first, size_t last) {
    size_t begin = first / PARTS * PARTS, end = (last / PARTS + 1) * PARTS;
    if (sketch->count > 0) {
        if (sketch->first < begin) begin = sketch->first;
        if (sketch->first + sketch->count > end) end = sketch->first + sketch->count;
        if (begin == sketch->first && end == sketch->first + sketch->count) return PACE_OK;
    }
    uint64_t *bins = pace_alloc(end - begin, sizeof *bins);
    if (!bins) return PACE_E_MEMORY;
    if (sketch->count > 0) memcpy(bins + (sketch->first - begin), sketch->bins, sketch->count * sizeof *bins);
    pace_free(sketch->bins);
    sketch->bins = bins;
    sketch->first = begin;
    sketch->count = end - begin;
    return PACE_OK;
}

static void note_range(pace_sketch *sketch, double least, double greatest, uint64_t weight) {
    if (sketch->total == 0 || least < sketch->least) sketch->least = least;
    if (sketch->total == 0 || greatest > sketch->greatest) sketch->greatest = greatest;
    sketch->total += weight;
}

static pace_status add_to_bin(pace_sketch *sketch, double value, uint64_t weight) {
    if (value < least_binned()) {
        sketch->tiny += weight;
    } else if (value >= least_vast()) {
        sketch->vast += weight;
    } else {
        size_t bin = bin_of(value);
        if (PACE_UNLIKELY(bin - sketch->first >= sketch->count)) PACE_TRY(widen(sketch, bin, bin));
        sketch->bins[bin - sketch->first] += weight;
    }
    return PACE_OK;
}

static inline pace_status add(pace_sketch *sketch, double value, uint64_t weight) {
    if (PACE_UNLIKELY(!(value >= 0)))
        return pace_fail(PACE_E_INTERNAL, "a distribution: expected a value of at least 0, found %g", value);
    if (weight == 0) return PACE_OK;
    if (value == 0) value = 0; /* no negative zero: its bits would differ */
    if (sketch->exact) {
        PACE_TRY(PACE_PUSH(&sketch->values, ((pace_weighted){value, weight})));
        sketch->sorted = false;
    } else {
        PACE_TRY(add_to_bin(sketch, value, weight));
    }
    note_range(sketch, value, value, weight);
    return PACE_OK;
}

/* --- many at once ------------------------------------------------------------------------------------------------- */

typedef struct {
    double least, least_binned, greatest; /* least_binned: vast where all fall below the bins */
    uint64_t weight;
    bool plain; /* no NaN, nothing below 0, no weight of 0 */
} summary;

static inline int64_t bits_of(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double of_bits(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Bits of numbers from 0 on ascend with them, those of NaN are above all; numbers below 0 and a zero with a sign have
 * bits below 0. Whole numbers are compared without a branch for what is no number. */
PACE_FOR_EACH_CPU
static summary summarize(const double *values, const uint64_t *weights, size_t count) {
    const int64_t lowest = bits_of(least_binned()), vast = bits_of(least_vast());
    int64_t least = INT64_MAX, greatest = INT64_MIN, binned = vast;
    uint64_t weight = weights ? 0 : count, weightless = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t bits = bits_of(values[i]), in_bin = bits >= lowest ? bits : vast;
        least = bits < least ? bits : least;
        greatest = bits > greatest ? bits : greatest;
        binned = in_bin < binned ? in_bin : binned;
    }
    for (size_t i = 0; weights && i < count; i++) {
        weightless |= weights[i] == 0;
        weight += weights[i];
    }
    return (summary){of_bits(least), of_bits(binned), of_bits(greatest), weight,
                     least >= 0 && greatest <= bits_of(INFINITY) && !weightless};
}

/* Of values above 0 and not vast, for which there are bins. Zeros fall below all bins. */
static void add_to_bins(pace_sketch *sketch, const double *values, const uint64_t *weights, size_t count) {
    uint64_t tiny = 0, lowest = LOWEST + sketch->first, *bins = sketch->bins;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits, weight = weights ? weights[i] : 1;
        memcpy(&bits, &values[i], sizeof bits);
        if (values[i] < least_binned()) tiny += weight;
        else bins[(bits >> SHIFT) - lowest] += weight;
    }
    sketch->tiny += tiny;
}

static pace_status add_one_by_one(pace_sketch *sketch, const double *values, const uint64_t *weights, size_t count) {
    for (size_t i = 0; i < count; i++) PACE_TRY(add(sketch, values[i], weights ? weights[i] : 1));
    return PACE_OK;
}

pace_status pace_sketch_add_all(pace_sketch *sketch, const double *values, const uint64_t *weights, size_t count) {
    if (count == 0) return PACE_OK;
    summary s = summarize(values, weights, count);
    if (sketch->exact || !s.plain || s.greatest >= least_vast()) return add_one_by_one(sketch, values, weights, count);
    if (s.least == s.greatest) return add(sketch, s.least, s.weight);
    if (s.greatest >= least_binned()) PACE_TRY(widen(sketch, bin_of(s.least_binned), bin_of(s.greatest)));
    add_to_bins(sketch, values, weights, count);
    note_range(sketch, s.least == 0 ? 0 : s.least, s.greatest, s.weight);
    return PACE_OK;
}

static void add_to_both(pace_sketch *sketch, pace_sketch *weighted, const double *values, const uint64_t *weights,
                        size_t count) {
    uint64_t tiny = 0, weight = 0, *bins = sketch->bins, *heavy = weighted->bins;
    uint64_t lowest = LOWEST + sketch->first, lowest_heavy = LOWEST + weighted->first;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        if (values[i] < least_binned()) {
            tiny++;
            weight += weights[i];
            continue;
        }
        bins[(bits >> SHIFT) - lowest]++;
        heavy[(bits >> SHIFT) - lowest_heavy] += weights[i];
    }
    sketch->tiny += tiny;
    weighted->tiny += weight;
}

pace_status pace_sketch_add_both(pace_sketch *sketch, pace_sketch *weighted, const double *values,
                                 const uint64_t *weights, size_t count) {
    if (count == 0) return PACE_OK;
    summary s = summarize(values, weights, count);
    if (sketch->exact || weighted->exact || !s.plain || s.greatest >= least_vast() || s.least == s.greatest) {
        PACE_TRY(pace_sketch_add_all(sketch, values, NULL, count));
        return pace_sketch_add_all(weighted, values, weights, count);
    }
    if (s.greatest >= least_binned()) {
        PACE_TRY(widen(sketch, bin_of(s.least_binned), bin_of(s.greatest)));
        PACE_TRY(widen(weighted, bin_of(s.least_binned), bin_of(s.greatest)));
    }
    add_to_both(sketch, weighted, values, weights, count);
    note_range(sketch, s.least == 0 ? 0 : s.least, s.greatest, count);
    note_range(weighted, s.least == 0 ? 0 : s.least, s.greatest, s.weight);
    return PACE_OK;
}

static pace_status merge_bins(pace_sketch *into, const pace_sketch *other) {
    if (other->count > 0) PACE_TRY(widen(into, other->first, other->first + other->count - 1));
    for (size_t i = 0; i < other->count; i++) into->bins[other->first - into->first + i] += other->bins[i];
    into->tiny += other->tiny;
    into->vast += other->vast;
    return PACE_OK;
}

pace_status pace_sketch_merge(pace_sketch *into, const pace_sketch *other) {
    if (into->exact != other->exact)
        return pace_fail(PACE_E_INTERNAL, "an exact distribution cannot be merged with one of bins");
    if (other->total == 0) return PACE_OK;
    if (into->exact) {
        for (size_t i = 0; i < other->values.count; i++) PACE_TRY(PACE_PUSH(&into->values, other->values.items[i]));
        into->sorted = false;
    } else {
        PACE_TRY(merge_bins(into, other));
    }
    note_range(into, other->least, other->greatest, other->total);
    return PACE_OK;
}

PACE_ORDER(by_value, pace_weighted, PACE_UP(value))

/* Ascending, equal values joined: one form for the same values. */
static void sort_values(pace_sketch *sketch) {
    if (sketch->sorted || sketch->values.count == 0) return;
    pace_weighted *values = sketch->values.items;
    qsort(values, sketch->values.count, sizeof *values, by_value);
    size_t kept = 0;
    for (size_t i = 1; i < sketch->values.count; i++) {
        if (values[i].value == values[kept].value) values[kept].weight += values[i].weight;
        else values[++kept] = values[i];
    }
    sketch->values.count = kept + 1;
    sketch->sorted = true;
}

static double within_range(const pace_sketch *sketch, double value) {
    return value < sketch->least ? sketch->least : value > sketch->greatest ? sketch->greatest : value;
}

double pace_sketch_quantile(pace_sketch *sketch, double q) {
    if (sketch->total == 0) return NAN;
    double wanted = ceil((q < 0 ? 0 : q > 1 ? 1 : q) * (double)sketch->total);
    uint64_t rank = wanted < 1 ? 1 : wanted >= (double)sketch->total ? sketch->total : (uint64_t)wanted, seen = 0;
    if (rank == sketch->total) return sketch->greatest;
    if (sketch->exact) {
        sort_values(sketch);
        for (size_t i = 0; i < sketch->values.count; i++)
            if ((seen += sketch->values.items[i].weight) >= rank) return sketch->values.items[i].value;
    }
    if ((seen = sketch->tiny) >= rank) return within_range(sketch, 0);
    for (size_t i = 0; i < sketch->count; i++)
        if ((seen += sketch->bins[i]) >= rank) return within_range(sketch, middle(sketch->first + i));
    return sketch->greatest;
}

double pace_sketch_below(pace_sketch *sketch, double x) {
    if (sketch->total == 0) return NAN;
    uint64_t below = 0;
    if (sketch->exact) {
        for (size_t i = 0; i < sketch->values.count; i++)
            if (sketch->values.items[i].value < x) below += sketch->values.items[i].weight;
        return (double)below / (double)sketch->total;
    }
    if (x > sketch->greatest) return 1;
    if (x <= sketch->least) return 0;
    below = sketch->tiny;
    for (size_t i = 0; i < sketch->count && middle(sketch->first + i) < x; i++) below += sketch->bins[i];
    return (double)below / (double)sketch->total;
}

/* exact, total, least, greatest; then tiny, vast, the number of bins that are not empty, and those; or the values. */
pace_status pace_sketch_pack(pace_bytes *bytes, pace_sketch *sketch) {
    PACE_TRY(pace_pack_u64(bytes, sketch->exact));
    PACE_TRY(pace_pack_u64(bytes, sketch->total));
    PACE_TRY(pace_pack_real(bytes, sketch->least));
    PACE_TRY(pace_pack_real(bytes, sketch->greatest));
    if (sketch->exact) {
        sort_values(sketch);
        PACE_TRY(pace_pack_u64(bytes, sketch->values.count));
        for (size_t i = 0; i < sketch->values.count; i++) {
            PACE_TRY(pace_pack_real(bytes, sketch->values.items[i].value));
            PACE_TRY(pace_pack_u64(bytes, sketch->values.items[i].weight));
        }
        return PACE_OK;
    }
    uint64_t used = 0;
    for (size_t i = 0; i < sketch->count; i++) used += sketch->bins[i] > 0;
    PACE_TRY(pace_pack_u64(bytes, sketch->tiny));
    PACE_TRY(pace_pack_u64(bytes, sketch->vast));
    PACE_TRY(pace_pack_u64(bytes, used));
    for (size_t i = 0; i < sketch->count; i++) {
        if (sketch->bins[i] == 0) continue;
        PACE_TRY(pace_pack_u64(bytes, sketch->first + i));
        PACE_TRY(pace_pack_u64(bytes, sketch->bins[i]));
    }
    return PACE_OK;
}

static pace_status no_sketch(void) {
    return pace_fail(PACE_E_INPUT, "a partial result: these bytes are no distribution");
}

static pace_status unpack_values(pace_sketch *sketch, pace_unpack *from) {
    uint64_t count, sum = 0;
    PACE_TRY(pace_unpack_u64(&count, from));
    double before = -1;
    for (uint64_t i = 0; i < count; i++) {
        pace_weighted entry;
        PACE_TRY(pace_unpack_real(&entry.value, from));
        PACE_TRY(pace_unpack_u64(&entry.weight, from));
        if (!(entry.value > before) || entry.weight == 0 || entry.weight > UINT64_MAX - sum) return no_sketch();
        before = entry.value;
        sum += entry.weight;
        PACE_TRY(PACE_PUSH(&sketch->values, entry));
    }
    sketch->sorted = true;
    return sum == sketch->total ? PACE_OK : no_sketch();
}

static pace_status unpack_bins(pace_sketch *sketch, pace_unpack *from) {
    uint64_t used, next = 0, sum;
    PACE_TRY(pace_unpack_u64(&sketch->tiny, from));
    PACE_TRY(pace_unpack_u64(&sketch->vast, from));
    PACE_TRY(pace_unpack_u64(&used, from));
    if (sketch->tiny > UINT64_MAX - sketch->vast) return no_sketch();
    sum = sketch->tiny + sketch->vast;
    for (uint64_t i = 0; i < used; i++) {
        uint64_t bin, weight;
        PACE_TRY(pace_unpack_u64(&bin, from));
        PACE_TRY(pace_unpack_u64(&weight, from));
        if (bin < next || bin >= MOST_BINS || weight == 0 || weight > UINT64_MAX - sum) return no_sketch();
        next = bin + 1;
        sum += weight;
        PACE_TRY(widen(sketch, bin, bin));
        sketch->bins[bin - sketch->first] = weight;
    }
    return sum == sketch->total ? PACE_OK : no_sketch();
}

static pace_status unpack_all(pace_sketch *sketch, pace_unpack *from) {
    uint64_t exact;
    PACE_TRY(pace_unpack_u64(&exact, from));
    PACE_TRY(pace_unpack_u64(&sketch->total, from));
    PACE_TRY(pace_unpack_real(&sketch->least, from));
    PACE_TRY(pace_unpack_real(&sketch->greatest, from));
    if (exact > 1 || !(sketch->least >= 0) || !(sketch->greatest >= sketch->least)) return no_sketch();
    sketch->exact = exact == 1;
    return sketch->exact ? unpack_values(sketch, from) : unpack_bins(sketch, from);
}

pace_status pace_sketch_unpack(pace_sketch *out, pace_unpack *from) {
    pace_sketch sketch = {0};
    pace_status status = unpack_all(&sketch, from);
    return PACE_GIVE(out, sketch, status, pace_sketch_free(&sketch));
}
