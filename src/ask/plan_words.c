#include "ask/plan_words.h"

#include "base/decimal.h"

#include <math.h>
#include <string.h>

/* "15T", "300G", "1e12": how many. */
static bool parse_count(double *out, const char *text) {
    static const struct {
        char letter;
        double factor;
    } suffixes[] = {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'B', 1e9}, {'T', 1e12}};
    char number[32];
    size_t length = strlen(text);
    double factor = 1;
    if (length == 0 || length >= sizeof number) return false;
    memcpy(number, text, length + 1);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (number[length - 1] == suffixes[i].letter) factor = suffixes[i].factor;
    if (factor > 1) number[length - 1] = '\0';
    if (!pace_number_parse(out, number)) return false;
    *out *= factor;
    return *out >= 1 && *out <= 1e18;
}

/* "30d", "12h": days. */
static bool parse_days(double *out, const char *text) {
    char number[32];
    size_t length = strlen(text);
    if (length < 2 || length >= sizeof number) return false;
    memcpy(number, text, length + 1);
    bool hours = number[length - 1] == 'h';
    if (!hours && number[length - 1] != 'd') return false;
    number[length - 1] = '\0';
    if (!pace_number_parse(out, number) || !(*out > 0 && *out < 1e6)) return false;
    if (hours) *out /= 24;
    return true;
}

pace_status pace_plan_words_read(pace_plan_words *out, const char *tokens, const char *within) {
    pace_plan_words words = {NAN, NAN};
    if (tokens && !parse_count(&words.amount, tokens))
        return pace_fail(PACE_E_USAGE, "tokens: expected how many are trained on, such as 15T or 300G, found \"%.40s\"",
                         tokens);
    if (within && !parse_days(&words.within_days, within))
        return pace_fail(PACE_E_USAGE, "within: expected days or hours, such as 30d or 12h, found \"%.40s\"", within);
    if (within && !tokens)
        return pace_fail(PACE_E_USAGE, "within: has no effect without " PACE_FIELD "tokens, which say what is trained");
    *out = words;
    return PACE_OK;
}

pace_status pace_plan_price(double *out, const pace_words *price, size_t number, size_t machines) {
    if (price->count > 1 && price->count != machines)
        return pace_fail(PACE_E_USAGE, "price: expected one, or one for each of %zu machines, found %zu", machines,
                         price->count);
    *out = NAN;
    if (price->count == 0) return PACE_OK;
    const char *text = price->items[price->count > 1 ? number : 0];
    if (pace_number_parse(out, text) && *out > 0 && *out < 1e6) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "price: expected what one device costs an hour, such as 2.5, found \"%.40s\"", text);
}
