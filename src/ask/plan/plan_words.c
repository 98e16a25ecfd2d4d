#include "ask/plan/plan_words.h"
#include "base/decimal.h"
#include "base/print.h"
#include "machine/machine.h"

#include <math.h>
#include <string.h>

/* "15T", "300G", "300B", "1e12": how many. */
static bool parse_count(double *out, const char *text) {
    char number[32];
    size_t length = strlen(text);
    bool billions = length > 0 && text[length - 1] == 'B';
    if (length >= sizeof number) return false;
    pace_snprintf(number, sizeof number, "%.*s", (int)(billions ? length - 1 : length), text);
    if (billions ? !pace_number_parse(out, number) : !pace_parse_amount(out, number, "")) return false;
    if (billions) *out *= 1e9;
    return *out >= 1 && *out <= 1e18;
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
    const double most_s = 1e6 * 86400;
    bool span = within && pace_parse_span(&words.within_days, within) && words.within_days > 0;
    if (within && (strchr(within, 'm') || !span || words.within_days > most_s))
        return pace_fail(PACE_E_USAGE, "within: expected days, hours or years, such as 30d or 12h, found \"%.40s\"%s",
                         within, strchr(within, 'm') ? ", which may be minutes or months" : "");
    words.within_days /= 86400;
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
    return pace_fail(
        PACE_E_USAGE,
        "price: expected what one device costs an hour, such as 2.5 (once for each machine if they differ), found \"%.40s\"",
        text);
}

pace_status pace_plan_failures(pace_failures *out, const char *text) {
    pace_failures f = {0};
    double *const times[] = {&f.between_failures_s, &f.save_s, &f.restart_s};
    char words[96], *rest = words;
    size_t count = 0;
    bool good = strlen(text) < sizeof words;
    pace_snprintf(words, sizeof words, "%s", text);
    for (char *word; good && (word = strsep(&rest, ":")); count++)
        good = count < PACE_COUNT(times) && pace_parse_span(times[count], word) && *times[count] < 1e12;
    if (!good || !(f.between_failures_s > 0) || !(f.save_s > 0))
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
