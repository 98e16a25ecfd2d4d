#include "step/op_shapes.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *type;
    unsigned char bytes;
} element_types[] = {
    {"float", 4},
    {"double", 8},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"long int", 8},
    {"long", 8},
    {"int", 4},
    {"short", 2},
    {"signed char", 1},
    {"unsigned char", 1},
    {"bool", 1},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::complex<float>", 8},
};

/* "float"; "TensorList(float)" where the type of a list's tensors is known. */
static unsigned char bytes_of_type(const char *text, size_t length) {
    static const char list[] = "TensorList(";
    if (length > sizeof list && memcmp(text, list, sizeof list - 1) == 0) {
        text += sizeof list - 1;
        length -= sizeof list; /* and its bracket */
    }
    for (size_t i = 0; i < PACE_COUNT(element_types); i++)
        if (pace_span_is(text, length, element_types[i].type)) return element_types[i].bytes;
    return 0;
}

static int64_t read_int(const char **at) {
    int64_t value = 0;
    while (pace_is_digit(**at)) {
        if (value < INT64_MAX / 16) value = value * 10 + (**at - '0');
        ++*at;
    }
    return value;
}

static void end_of_tensor(pace_op_shapes *out, unsigned argument, unsigned index, double elements) {
    if (!(elements > 0)) return;
    out->list_count[argument]++;
    out->list_elements[argument] += elements;
    if (elements > out->list_largest[argument]) out->list_largest[argument] = elements;
    if (index < 8) out->list_mask[argument] |= (unsigned char)(1U << index);
}

/* One argument's dims. Of a list of tensors ([[2,3],[4]] at this place) the elements are summed; scalars have none. */
static void read_dims(pace_op_shapes *out, unsigned argument, const char **at) {
    unsigned depth = 0, index = 0;
    double elements = 0;
    do {
        if (**at == '[') {
            depth++, elements = 0;
            ++*at;
        } else if (**at == ']') {
            if (depth == 2 && argument < PACE_OP_ARGUMENTS) end_of_tensor(out, argument, index, elements);
            if (depth == 2) index++;
            depth--;
            ++*at;
        } else if (pace_is_digit(**at)) {
            int64_t value = read_int(at);
            if (argument < PACE_OP_ARGUMENTS && depth == 1 && out->rank[argument] < 6)
                out->dims[argument][out->rank[argument]++] = value;
            if (depth == 2) elements = (elements > 0 ? elements : 1) * (double)value;
        } else if (**at == '\n' || **at == '\0') return;
        else ++*at;
    } while (depth);
}

static double read_digits(const char **at, double value, int *count) {
    for (*count = 0; pace_is_digit(**at); ++*at, ++*count) value = value * 10 + (**at - '0');
    return value;
}

/* A decimal number with its fraction and exponent, whose first digit is at hand. */
static double read_number(const char **at) {
    int count, places = 0;
    double value = read_digits(at, 0, &count), exponent = 0;
    if (**at == '.') ++*at, value = read_digits(at, value, &places);
    const char *power = *at + 1;
    bool minus = *power == '-';
    if (*power == '-' || *power == '+') power++;
    if ((**at == 'e' || **at == 'E') && pace_is_digit(*power)) {
        exponent = read_digits(&power, 0, &count);
        *at = power;
    }
    double scale = (minus ? -exponent : exponent) - places;
    return scale < 0 ? value / pow(10, -scale) : value * pow(10, scale);
}

/* What a number says of a size: itself when it is whole; a fraction is no size. */
static int64_t as_size(double value) {
    const double most = 9007199254740992; /* 2^53: beyond, a double is not exact */
    if (!(value < most)) return (int64_t)most;
    return floor(value) < value ? 0 : (int64_t)value;
}

/* The quote that ends a JSON string, or NULL. */
static const char *closing_quote(const char *at) {
    for (; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at : NULL;
}

/* A word: truth values are numbers, whichever way they are written; the digits of others are none. */
static bool read_word(const char **at, int64_t *value) {
    const char *from = *at;
    while (pace_is_name(**at)) ++*at;
    size_t length = (size_t)(*at - from);
    bool yes = pace_span_is(from, length, "True") || pace_span_is(from, length, "true");
    bool no = pace_span_is(from, length, "False") || pace_span_is(from, length, "false");
    *value = yes;
    return yes || no;
}

/* "Concrete Inputs": numbers, lists of numbers, booleans and words as text, "" for tensors. */
static void read_scalars(pace_op_shapes *out, const char *at) {
    for (unsigned argument = 0; argument < PACE_OP_ARGUMENTS && (at = strchr(at, '"')); argument++) {
        const char *end = closing_quote(++at);
        if (!end) return;
        unsigned char *count = &out->scalar_count[argument];
        while (at < end && *count < 4) {
            bool minus = *at == '-';
            int64_t value;
            if (minus) at++;
            if (pace_is_digit(*at)) {
                value = as_size(read_number(&at));
                out->scalars[argument][(*count)++] = minus ? -value : value;
            } else if (pace_is_name(*at)) {
                if (read_word(&at, &value)) out->scalars[argument][(*count)++] = value;
            } else if (at < end) {
                at++;
            }
        }
        at = end + 1;
    }
}

bool pace_op_shapes_parse(pace_op_shapes *out, const char *text) {
    *out = (pace_op_shapes){0};
    if (text[0] != '[') return false;
    const char *at = text + 1;
    while (*at == '[' || *at == ',' || (*at != ']' && *at != '\n' && *at)) {
        if (*at == '[') read_dims(out, out->count++, &at);
        else ++at;
    }
    if (out->count > PACE_OP_ARGUMENTS) out->count = PACE_OP_ARGUMENTS;
    at = strchr(at, '\n');
    if (!at) return out->count > 0;
    unsigned argument = 0;
    for (at++; *at && *at != '\n'; at++) {
        if (*at != '"') continue;
        const char *end = strchr(at + 1, '"');
        if (!end) break;
        if (argument < PACE_OP_ARGUMENTS) out->element_bytes[argument] = bytes_of_type(at + 1, (size_t)(end - at - 1));
        argument++;
        at = end;
    }
    if (*at == '\n') read_scalars(out, at + 1);
    return out->count > 0;
}

bool pace_op_amount_of(pace_op_amount *out, const pace_step *step, uint32_t op) {
    pace_op_shapes shapes;
    if (step->detail[op] == 0 || step->kind[op] != PACE_TASK_OP) return false;
    if (!pace_op_shapes_parse(&shapes, pace_names_text(&step->names, step->detail[op]))) return false;
    pace_op_amount amount = {0};
    if (!pace_op_work(pace_step_name(step, op), &shapes, &amount.flop, &amount.bytes, &amount.family)) return false;
    for (unsigned i = 0; i < shapes.count && !amount.element_bytes; i++)
        if (shapes.rank[i]) amount.element_bytes = shapes.element_bytes[i];
    *out = amount;
    return true;
}

void pace_op_cache_init(pace_op_cache *cache, const pace_step *step) {
    enum { MOST_SLOTS = 8192 };
    cache->count = pace_slots_for(step->count, MOST_SLOTS);
    cache->slots = pace_alloc(cache->count, sizeof *cache->slots);
}

void pace_op_cache_free(pace_op_cache *cache) {
    pace_free(cache->slots);
    cache->slots = NULL;
}

bool pace_op_cache_amount(pace_op_amount *out, pace_op_cache *cache, const pace_step *step, uint32_t op) {
    if (step->detail[op] == 0 || step->kind[op] != PACE_TASK_OP) return false;
    if (!cache->slots) return pace_op_amount_of(out, step, op);
    uint64_t key = (uint64_t)step->name[op] << 32 | step->detail[op]; /* never 0: the detail is not */
    size_t slot = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (cache->count - 1);
    if (cache->slots[slot].key != key) {
        cache->slots[slot].key = key;
        cache->slots[slot].known = pace_op_amount_of(&cache->slots[slot].amount, step, op);
    }
    if (cache->slots[slot].known) *out = cache->slots[slot].amount;
    return cache->slots[slot].known;
}
