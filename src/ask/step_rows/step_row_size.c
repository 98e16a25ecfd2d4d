/* A model of which a row says only how large it is: "7B", "8x7B", "30B-A3B", 1.3. */
#include "ask/step_rows/step_cells.h"
#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* What multiplies a number to billions: "7B", "350m", "1T", "13 billion"; 0 when no unit stands there. */
static double unit_of(const char *text) {
    static const struct {
        const char *word;
        double billions;
    } units[] = {{"billion", 1}, {"bn", 1}, {"b", 1}, {"million", 1e-3}, {"m", 1e-3}, {"trillion", 1e3}, {"t", 1e3}};
    for (size_t i = 0; i < PACE_COUNT(units); i++) {
        size_t length = strlen(units[i].word);
        if (pace_strncasecmp(text, units[i].word, length) == 0 && !pace_is_alnum(text[length]))
            return units[i].billions;
    }
    return 0;
}

pace_step_size pace_step_size_of(const char *text) {
    pace_step_size out = {0};
    for (const char *c = text; *c; c++) {
        char before = c == text ? ' ' : pace_lower(c[-1]);
        if (!pace_is_digit(*c) || pace_is_digit(before) || before == '.') continue;
        double value;
        const char *end = pace_number_read(&value, c);
        if (!end) continue;
        double unit = unit_of(*end == ' ' || *end == '-' ? end + 1 : end);
        if (unit > 0 && before == 'a' && out.billions > 0) out.active = value * unit;
        else if (unit > 0 && out.billions == 0) out.billions = value * unit;
        else if (unit == 0 && pace_lower(*end) == 'x' && pace_is_digit(end[1])) out.experts = value;
        c = end - 1;
    }
    return out;
}

pace_step_size pace_step_size_stated(const pace_step_reader *r, size_t row) {
    const char *cell = pace_step_cell(r, row, PACE_STEP_PARAMS_B);
    pace_step_size out = pace_step_size_of(cell);
    double value;
    if (out.billions == 0 && pace_step_number(&value, r, row, PACE_STEP_PARAMS_B)) out.billions = value;
    if (out.billions == 0) out = pace_step_size_of(pace_step_cell(r, row, PACE_STEP_MODEL));
    if (pace_step_number(&value, r, row, PACE_STEP_EXPERTS) && value > 1) out.experts = value;
    return out;
}

/* Width and depth of layers that hold `each` h^2 parameters, in the proportion that catalog/model_names.yaml says. */
static void proportion(pace_step_sizes *out, const pace_step_reader *r, double billions, double each) {
    const pace_yaml *yaml = r->things->names.words;
    const pace_yaml_node *size = pace_yaml_get(pace_yaml_root(yaml), "size");
    double wide = 128, step = 1024, least = 1;
    bool large = pace_yaml_number(&least, yaml, pace_yaml_get(size, "least")) != PACE_OK || billions >= least;
    const char *keys[] = {large ? "wide" : "small_wide", large ? "step" : "small_step"};
    if (pace_yaml_number(&wide, yaml, pace_yaml_get(size, keys[0])) != PACE_OK) wide = 128;
    if (pace_yaml_number(&step, yaml, pace_yaml_get(size, keys[1])) != PACE_OK) step = 1024;
    out->hidden = step * fmax(1, round(cbrt(billions * 1e9 * wide / each) / step));
    out->layers = fmax(1, round(billions * 1e9 / (each * out->hidden * out->hidden)));
}

/* 12 h^2 parameters a layer: attention has 4, two products of 4 h the rest. A gated expert of 3.5 h has 10.5. Of
 * "30B-A3B" the 3 are a decoder's, in which 8 of 128 experts take the place of the feed-forward layer. */
bool pace_step_sizes_guess(pace_step_sizes *out, pace_step_row *row, const pace_step_reader *r, pace_step_size size) {
    bool mixture = size.experts > 1 || size.active > 0;
    if (!(size.billions >= 0.01 && size.billions <= 3000)) return false;
    if (!mixture) {
        proportion(out, r, size.billions, 12);
        pace_step_note(row, "assumed a decoder of %g billion parameters: %g layers of %g", size.billions, out->layers,
                       out->hidden);
        pace_step_doubt(row, r, PACE_DOUBT_ROW_SIZE);
        return true;
    }
    if (size.active > 0) {
        if (size.active >= size.billions) return false;
        proportion(out, r, size.active, 12);
        out->experts = size.experts > 8 ? size.experts : 128;
        out->topk = 8;
        double others = (size.billions - size.active) * 1e9 / (out->experts - out->topk) / out->layers;
        out->ffn = 64 * fmax(1, round(others / (3 * out->hidden) / 64));
    } else {
        bool each = pace_step_size_of(pace_step_cell(r, row->row, PACE_STEP_MODEL)).experts > 1; /* "8x7B" */
        proportion(out, r, size.billions, each ? 13 : 2.5 + 10.5 * size.experts);
        out->experts = size.experts;
        out->topk = 2;
        out->ffn = 256 * round(3.5 * out->hidden / 256);
    }
    pace_step_note(row, "assumed %g layers of %g with %g experts of %g, %g a token", out->layers, out->hidden,
                   out->experts, out->ffn, out->topk);
    pace_step_doubt(row, r, PACE_DOUBT_ROW_EXPERTS);
    return true;
}
