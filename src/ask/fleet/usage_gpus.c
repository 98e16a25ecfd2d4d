#include "ask/fleet/usage_gpus.h"
#include "base/decimal.h"
#include "base/text.h"
#include "base/yaml_member.h"
#include "machine/device.h"
#include "source/usage/usage_words.h"

#include <math.h>
#include <string.h>

static pace_status read_price(double *out, const char *text) {
    if (pace_number_parse(out, text) && *out >= 0 && *out < 1e6) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "price: expected what a GPU costs an hour, 2.5 or a100=1.8, found \"%.40s\"", text);
}

/* Whether a GPU is called so: by its own name, or by a word of it. */
static bool is_called(const char *gpu, const char *name, size_t length) {
    char wanted[64], has[64];
    pace_snprintf(wanted, sizeof wanted, "%.*s", (int)(length < 60 ? length : 60), name);
    pace_squeeze(has, sizeof has, gpu, "");
    pace_squeeze(wanted, sizeof wanted, wanted, "");
    return *wanted && strstr(has, wanted);
}

static pace_status state_price(pace_usage_prices *out, const char *word, const pace_names *names, const bool *used) {
    const char *equals = strchr(word, '=');
    double price;
    bool found = false;
    PACE_TRY(read_price(&price, equals ? equals + 1 : word));
    for (size_t n = 0; n < pace_names_count(names); n++) {
        if (!used[n] || (equals && !is_called(pace_names_text(names, (pace_name)n), word, (size_t)(equals - word))))
            continue;
        if (equals || isnan(out->of[n])) out->of[n] = price;
        found = true;
    }
    if (found || !equals) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "price: no record has a GPU called \"%.*s\"", (int)(equals - word), word);
}

/* Prices of some GPUs stand before one of all. */
static pace_status state_prices(pace_usage_prices *out, const pace_words *price, const pace_names *names,
                                const bool *used) {
    for (int plain = 0; plain < 2; plain++)
        for (size_t i = 0; i < price->count; i++)
            if ((strchr(price->items[i], '=') == NULL) == (plain != 0))
                PACE_TRY(state_price(out, price->items[i], names, used));
    return PACE_OK;
}

/* The entry that lists a word under `key`; NULL = none. */
static const pace_yaml_node *entry_with(const pace_yaml_node *list, const char *key, const char *word) {
    for (size_t i = 0; word && i < pace_yaml_count(list); i++)
        if (pace_word_listed(pace_yaml_get(pace_yaml_item(list, i), key), word)) return pace_yaml_item(list, i);
    return NULL;
}

static pace_status note_source(pace_usage_prices *out, const pace_yaml_node *entry, const char *gpu, double price) {
    char text[320];
    const char *source = pace_yaml_text_of(entry, "source"), *confidence = pace_yaml_text_of(entry, "confidence");
    pace_snprintf(text, sizeof text, "%.40s: %g USD an hour (%.160s; %.40s)", gpu, price, source ? source : "",
                  confidence ? confidence : "");
    return pace_texts_add(&out->sources, text);
}

static pace_status look_up(pace_usage_prices *out, pace_name name, const pace_names *names, const pace_yaml *yaml,
                           const pace_device_catalog *devices) {
    char model[128];
    const char *gpu = pace_names_text(names, name);
    pace_usage_text of = pace_usage_sliced_model((pace_usage_text){gpu, strlen(gpu)});
    pace_snprintf(model, sizeof model, "%.*s", (int)(of.length < 120 ? of.length : 120), of.data);
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "prices");
    const pace_device *device = *model ? pace_device_find(devices, model, 0) : NULL;
    const pace_yaml_node *entry = entry_with(list, "names", *model ? model : NULL);
    if (!entry) entry = entry_with(list, "devices", device ? device->name : NULL);
    if (!entry) return PACE_OK;
    PACE_TRY(pace_yaml_positive(&out->of[name], yaml, entry, "usd_per_hour", 1e6));
    return note_source(out, entry, gpu, out->of[name]);
}

static pace_status look_up_all(pace_usage_prices *out, pace_catalog *catalog, const pace_names *names,
                               const bool *used) {
    const pace_yaml *yaml;
    pace_device_catalog devices = {0};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "prices.yaml"));
    PACE_TRY(pace_device_catalog_load(&devices, catalog));
    pace_status status = PACE_OK;
    for (size_t n = 0; status == PACE_OK && n < pace_names_count(names); n++)
        if (used[n] && isnan(out->of[n])) status = look_up(out, (pace_name)n, names, yaml, &devices);
    pace_device_catalog_free(&devices);
    return status;
}

static int by_text(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

pace_status pace_usage_prices_find(pace_usage_prices *out, pace_catalog *catalog, const pace_words *price,
                                   const pace_names *names, const bool *used) {
    *out = (pace_usage_prices){0};
    if (!(out->of = pace_alloc(pace_names_count(names), sizeof *out->of))) return PACE_E_MEMORY;
    for (size_t n = 0; n < pace_names_count(names); n++) out->of[n] = NAN;
    PACE_TRY(state_prices(out, price, names, used));
    PACE_TRY(look_up_all(out, catalog, names, used));
    PACE_SORT(&out->sources, by_text);
    return PACE_OK;
}

void pace_usage_prices_free(pace_usage_prices *prices) {
    pace_free(prices->of);
    pace_texts_free(&prices->sources);
}

/* --- what they can do --------------------------------------------------------------------------------------------- */

/* Rates of matrix units, from the slowest precision that trains on them to the fastest. */
static void take_device(pace_usage_rates *out, const pace_device *device) {
    static const pace_precision precisions[] = {PACE_FP32_MATRIX, PACE_TF32, PACE_FP16, PACE_BF16, PACE_FP8};
    for (size_t i = 0; i < PACE_COUNT(precisions); i++) {
        double rate = device->flop_per_s[precisions[i]];
        if (!(rate > 0)) continue;
        out->flop_per_s_low = fmin(out->flop_per_s_low, rate); /* fmin and fmax leave NAN out */
        out->flop_per_s_high = fmax(out->flop_per_s_high, rate);
    }
    if (device->memory_bytes_per_s > 0) out->memory_bytes_per_s = device->memory_bytes_per_s;
}

pace_status pace_usage_rates_find(pace_usage_rates **out, pace_catalog *catalog, const pace_names *names,
                                  const bool *used) {
    size_t count = pace_names_count(names);
    pace_device_catalog devices;
    PACE_TRY(pace_device_catalog_load(&devices, catalog));
    pace_usage_rates *rates = pace_alloc(count, sizeof *rates);
    for (size_t n = 0; rates && n < count; n++) {
        const char *name = pace_names_text(names, (pace_name)n);
        const pace_device *device = used[n] && *name ? pace_device_find(&devices, name, 0) : NULL;
        rates[n] = (pace_usage_rates){NAN, NAN, NAN};
        if (device) take_device(&rates[n], device);
    }
    pace_device_catalog_free(&devices);
    *out = rates;
    return rates ? PACE_OK : PACE_E_MEMORY;
}
