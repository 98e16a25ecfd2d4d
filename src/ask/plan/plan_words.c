#include "ask/plan/plan_words.h"
#include "base/decimal.h"
#include "base/numbers.h"
#include "base/print.h"

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

/* What is measured against all tokens has no effect without them. */
static pace_status check_terms(const pace_plan_options *o) {
    if (o->within && !o->tokens)
        return pace_fail(PACE_E_USAGE, "within: has no effect without " PACE_FIELD "tokens, which say what is trained");
    if (o->budget && (!o->tokens || o->price.count == 0))
        return pace_fail(PACE_E_USAGE, "budget: has no effect without " PACE_FIELD
                                       "tokens, which say what is trained, and " PACE_FIELD "price of a device's hour");
    return PACE_OK;
}

pace_status pace_plan_words_read(pace_plan_words *out, const pace_plan_options *options) {
    const char *tokens = options->tokens, *within = options->within, *critical_batch = options->critical_batch;
    pace_plan_words words = {NAN, NAN, NAN, NAN};
    if (critical_batch && !parse_count(&words.critical, critical_batch))
        return pace_fail(PACE_E_USAGE, "critical_batch: expected the tokens of a step, such as 4M, found \"%.40s\"",
                         critical_batch);
    if (tokens && !parse_count(&words.amount, tokens))
        return pace_fail(PACE_E_USAGE, "tokens: expected how many are trained on, such as 15T or 300G, found \"%.40s\"",
                         tokens);
    if (within && !parse_days(&words.within_days, within))
        return pace_fail(PACE_E_USAGE, "within: expected days or hours, such as 30d or 12h, found \"%.40s\"", within);
    if (options->budget && !parse_count(&words.budget, options->budget))
        return pace_fail(PACE_E_USAGE,
                         "budget: expected what all tokens may cost, such as 2M or 50000, found \"%.40s\"",
                         options->budget);
    *out = words;
    return check_terms(options);
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

/* "60s", "10m", "50000h", "30d", "5y" up to the next colon; the place behind it, or the end. */
static const char *read_time(double *out_s, const char *text) {
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'y', 365.25 * 86400}};
    char number[32];
    size_t length = strcspn(text, ":"), unit = 0;
    if (length < 2 || length >= sizeof number) return NULL;
    while (unit < sizeof units / sizeof *units && units[unit].letter != text[length - 1]) unit++;
    memcpy(number, text, length);
    number[length - 1] = '\0';
    if (unit == sizeof units / sizeof *units || !pace_number_parse(out_s, number) || !(*out_s >= 0)) return NULL;
    *out_s *= units[unit].seconds;
    return *out_s < 1e12 ? text + length : NULL;
}

pace_status pace_plan_failures(pace_failures *out, const char *text) {
    pace_failures f = {0};
    const char *at = read_time(&f.between_failures_s, text);
    at = at && *at == ':' ? read_time(&f.save_s, at + 1) : NULL;
    if (at && *at == ':') at = read_time(&f.restart_s, at + 1);
    if (!at || *at || !(f.between_failures_s > 0) || !(f.save_s > 0))
        return pace_fail(
            PACE_E_USAGE,
            "failures: expected the time between failures of a device, of a checkpoint, and of a restart, such "
            "as 50000h:60s:10m, found \"%.60s\"",
            text);
    *out = f;
    return PACE_OK;
}

void pace_say_span(char out[32], double seconds) {
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    size_t unit = 0;
    while (unit < PACE_COUNT(units) && seconds < 2 * units[unit].seconds) unit++;
    if (unit == PACE_COUNT(units)) pace_snprintf(out, 32, "%.3g seconds", seconds);
    else pace_snprintf(out, 32, "%.1f %s", seconds / units[unit].seconds, units[unit].name);
}
