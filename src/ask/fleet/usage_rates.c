#include "ask/fleet/usage_rates.h"
#include "machine/device.h"

#include <math.h>

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
