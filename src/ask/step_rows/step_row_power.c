/* How a limit of power slows a row's kernels. What draws how much is data: catalog/columns.yaml, step, power_law. */
#include "base/decimal.h"
#include "base/text.h"
#include "ask/step_rows/step_cells.h"

#include <math.h>
#include <string.h>

/* The most power that a part with the device's peak is made for: what is known of its steps was measured so. */
static double full_power_w(const pace_device_catalog *devices, const pace_device *device) {
    double most = device->tdp_w;
    size_t family = strcspn(device->name, "-");
    for (size_t i = 0; i < devices->count; i++) {
        const pace_device *one = &devices->devices[i];
        bool same = strncmp(one->name, device->name, family) == 0 && one->name[family] == device->name[family] &&
                    one->flop_per_s[PACE_FP16] == device->flop_per_s[PACE_FP16];
        if (same && one->tdp_w > most) most = one->tdp_w;
    }
    return most;
}

/* Watts in words: "500W", "power=500 W". 0 without. */
static double watts_in(const char *text) {
    for (const char *c = text; *c; c++) {
        if (!pace_is_digit(*c) || (c > text && (pace_is_alnum(c[-1]) || c[-1] == '.'))) continue;
        double value;
        const char *end = pace_number_read(&value, c);
        if (!end) continue;
        while (*end == ' ') end++;
        if ((*end == 'W' || *end == 'w') && !pace_is_alnum(end[1]) && value >= 50 && value <= 3000) return value;
        c = end - 1;
    }
    return 0;
}

/* Of the power drawn at the full clock, what a share of this clock draws: some whatever the clock, some with it, the
 * rest with a high power of it, where the voltage rises, too. */
typedef struct {
    double idle, linear, exponent;
    double draw[2]; /* at the full clock over the most that the part is made for: single, half precision */
} power_law;

static bool read_law(power_law *out, const pace_yaml *yaml) {
    const pace_yaml_node *entry = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "step"), "power_law");
    const struct {
        const char *key;
        double *to;
    } fields[] = {{"idle", &out->idle},
                  {"linear", &out->linear},
                  {"exponent", &out->exponent},
                  {"single", &out->draw[0]},
                  {"half", &out->draw[1]}};
    for (size_t i = 0; i < PACE_COUNT(fields); i++) {
        const pace_yaml_node *node = pace_yaml_get(entry, fields[i].key);
        if (!node || pace_yaml_number(fields[i].to, yaml, node) != PACE_OK) return false;
    }
    return true;
}

/* The share of the full clock at which this share of its power is drawn, by bisection; 0 = it is below a twentieth. */
static double clock_at(const power_law *law, double share) {
    enum { TURNS = 40 };
    const double least = 0.05;
    double low = least, high = 1;
    if (share >= 1) return 1;
    for (int i = 0; i < TURNS; i++) {
        double clock = (low + high) / 2, rest = 1 - law->idle - law->linear;
        if (law->idle + law->linear * clock + rest * pow(clock, law->exponent) > share) high = clock;
        else low = clock;
    }
    return low > least ? low : 0;
}

/* In half precision what matrix units compute draws the most and is slowed alone; in single precision all kernels run
 * on the same units, at one clock. */
bool pace_step_row_power(pace_step_row *out, const pace_step_reader *r, size_t row) {
    double limit = 0, full = full_power_w(&r->things->devices, out->device);
    power_law law;
    if (!pace_step_number(&limit, r, row, PACE_STEP_POWER)) limit = watts_in(pace_step_cell(r, row, PACE_STEP_DEVICE));
    if (!(limit > 0)) limit = watts_in(pace_step_cell(r, row, PACE_STEP_NOTES));
    pace_precision products = pace_config_matrix_precision(&out->config);
    bool half = products == PACE_FP16 || products == PACE_BF16 || products == PACE_FP8;
    if (!(limit > 0) && half) limit = out->device->tdp_w;
    if (!(limit > 0) || !(full > limit) || !read_law(&law, r->things->columns)) return true;
    double clock = clock_at(&law, limit / (law.draw[half] * full)), times = 1 / clock;
    if (!(clock > 0)) {
        pace_step_note(out, "%g W: %s draws more at a twentieth of its clock", limit, out->device->name);
        return false;
    }
    out->matrix_factor *= times;
    out->attention_factor *= times;
    if (!half) out->stream_factor *= times;
    out->unsaid_spread = hypot(out->unsaid_spread, r->things->doubts.figure[PACE_DOUBT_ROW_POWER] * log(times));
    if (times > 1 && limit != out->device->tdp_w)
        pace_step_note(out, "%g W: kernels take %.2f times as long", limit, times);
    return true;
}
