/* Numbers of the last token: exact integers, nanoseconds, doubles. */
#include "base/decimal.h"
#include "base/json_reader.h"
#include "base/json_state.h"

/* A decimal literal taken apart; `digits` and `fraction` are runs of digits, the exponent is clamped. */
typedef struct {
    bool negative;
    const char *digits, *fraction;
    size_t digit_count, fraction_count;
    int64_t exponent;
} decimal;

enum { EXPONENT_MAX = 100000000 };

static const char *run_end(const char *at, const char *end) {
    while (at < end && pace_is_digit(*at)) at++;
    return at;
}

static const char *split_exponent(decimal *out, const char *at, const char *end) {
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *stop = run_end(at, end);
    if (stop == at) return NULL;
    for (; at < stop; at++) {
        if (out->exponent < EXPONENT_MAX) out->exponent = out->exponent * 10 + (*at - '0');
    }
    if (negative) out->exponent = -out->exponent;
    return stop;
}

static bool split_decimal(decimal *out, const char *at, size_t length) {
    const char *end = at + length;
    *out = (decimal){.negative = length > 0 && *at == '-'};
    if (out->negative) at++;
    out->digits = at;
    at = out->fraction = run_end(at, end);
    out->digit_count = (size_t)(at - out->digits);
    if (out->digit_count == 0) return false;
    if (at < end && *at == '.') {
        out->fraction = ++at;
        at = run_end(at, end);
        out->fraction_count = (size_t)(at - out->fraction);
        if (out->fraction_count == 0) return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) at = split_exponent(out, at + 1, end);
    return at == end;
}

static unsigned digit_at(const decimal *number, size_t i) {
    if (i < number->digit_count) return (unsigned)(number->digits[i] - '0');
    i -= number->digit_count;
    return i < number->fraction_count ? (unsigned)(number->fraction[i] - '0') : 0;
}

static bool with_sign(int64_t *out, uint64_t magnitude, bool negative) {
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *out = negative ? (int64_t)(UINT64_C(0) - magnitude) : (int64_t)magnitude;
    return true;
}

/* number × 10^scale as an integer, what is behind the point rounded half away from zero; *exact tells whether
 * there was nothing to round. */
static bool to_scaled_int(int64_t *out, const decimal *number, int scale, bool *exact) {
    size_t count = number->digit_count + number->fraction_count;
    int64_t kept = (int64_t)number->digit_count + number->exponent + scale;
    uint64_t value = 0;
    for (int64_t i = 0; i < kept && (value > 0 || (size_t)i < count); i++) {
        unsigned digit = digit_at(number, (size_t)i);
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *exact = true;
    for (size_t i = kept > 0 ? (size_t)kept : 0; i < count && *exact; i++) *exact = digit_at(number, i) == 0;
    if (kept >= 0 && digit_at(number, (size_t)kept) >= 5) value++;
    return with_sign(out, value, number->negative);
}

bool pace_json_value_any_int(const pace_json_value *value, int64_t *out) {
    decimal number;
    int64_t whole;
    bool exact;
    if (value->kind == PACE_JSON_VALUE_OTHER || !split_decimal(&number, value->text, value->length)) return false;
    if (!to_scaled_int(&whole, &number, 0, &exact) || !exact) return false;
    *out = whole;
    return true;
}

/* The first three digits behind the point, rounded by the fourth. */
static uint64_t thousandths_of(const pace_json_value *value) {
    static const uint64_t missing[] = {1000, 100, 10, 1};
    const char *fraction = value->text + value->whole + 1;
    if (value->fraction == 0) return 0;
    unsigned count = value->fraction < 3 ? value->fraction : 3;
    return pace_decimal_of(fraction, count) * missing[count] + (value->fraction > 3 && fraction[3] >= '5');
}

bool pace_json_value_any_us_to_ns(const pace_json_value *value, int64_t *out_ns) {
    if (value->whole) return with_sign(out_ns, pace_json_value_whole(value) * 1000 + thousandths_of(value), false);
    decimal number;
    int64_t ns;
    bool exact;
    if (value->kind == PACE_JSON_VALUE_OTHER || !split_decimal(&number, value->text, value->length)) return false;
    if (!to_scaled_int(&ns, &number, 3, &exact)) return false;
    *out_ns = ns;
    return true;
}

bool pace_json_int(const pace_json *json, int64_t *out) {
    pace_json_value value = pace_json_value_of(json);
    return pace_json_value_int(&value, out);
}

bool pace_json_us_to_ns(const pace_json *json, int64_t *out_ns) {
    pace_json_value value = pace_json_value_of(json);
    return pace_json_value_us_to_ns(&value, out_ns);
}

static bool quick_double(double *out, const decimal *number) {
    size_t count = number->digit_count + number->fraction_count;
    if (count > 19) return false;
    uint64_t mantissa = 0;
    for (size_t i = 0; i < count; i++) mantissa = mantissa * 10 + digit_at(number, i);
    double value;
    if (!pace_decimal_quick(&value, mantissa, number->exponent - (int64_t)number->fraction_count)) return false;
    *out = number->negative ? -value : value;
    return true;
}

/* NaN and the infinities are no values to calculate with, and neither is a literal too large for a double. */
bool pace_json_double(const pace_json *json, double *out) {
    decimal number;
    bool numeric = json->last == PACE_JSON_NUMBER || json->last == PACE_JSON_STRING;
    if (!numeric || !split_decimal(&number, json->text, json->length)) return false;
    return quick_double(out, &number) || pace_decimal_read(out, json->text, json->text + json->length);
}
