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

/* Usual sizes, of catalog/model_names.yaml. */
typedef struct {
    double wide, step, least, small_wide, small_step; /* proportions */
    double layer, shared, ffn, ffn_step, topk, active_experts, active_topk, active_step;
} usual_sizes;

static bool read_usual(usual_sizes *out, const pace_step_reader *r) {
    const pace_yaml *yaml = r->things->names.words;
    const pace_yaml_node *size = pace_yaml_get(pace_yaml_root(yaml), "size");
    const struct {
        const char *key;
        double *figure;
    } all[] = {{"wide", &out->wide},
               {"step", &out->step},
               {"least", &out->least},
               {"small_wide", &out->small_wide},
               {"small_step", &out->small_step},
               {"layer", &out->layer},
               {"shared", &out->shared},
               {"ffn", &out->ffn},
               {"ffn_step", &out->ffn_step},
               {"topk", &out->topk},
               {"active_experts", &out->active_experts},
               {"active_topk", &out->active_topk},
               {"active_step", &out->active_step}};
    for (size_t i = 0; i < PACE_COUNT(all); i++)
        if (pace_yaml_number(all[i].figure, yaml, pace_yaml_get(size, all[i].key)) != PACE_OK || !(*all[i].figure > 0))
            return false;
    return true;
}

/* Width and depth of layers that hold `each` h^2 parameters. */
static void proportion(pace_step_sizes *out, const usual_sizes *usual, double billions, double each) {
    bool large = billions >= usual->least;
    double wide = large ? usual->wide : usual->small_wide, step = large ? usual->step : usual->small_step;
    out->hidden = step * fmax(1, round(cbrt(billions * 1e9 * wide / each) / step));
    out->layers = fmax(1, round(billions * 1e9 / (each * out->hidden * out->hidden)));
}

/* Of "30B-A3B" the 3 are a decoder's, in which the experts of a token take the place of the feed-forward layer. */
static void guess_active(pace_step_sizes *out, const usual_sizes *usual, pace_step_size size) {
    proportion(out, usual, size.active, usual->layer);
    out->topk = usual->active_topk;
    out->experts = size.experts > out->topk ? size.experts : usual->active_experts;
    double others = (size.billions - size.active) * 1e9 / (out->experts - out->topk) / out->layers;
    out->ffn = usual->active_step * fmax(1, round(others / (3 * out->hidden) / usual->active_step));
}

/* "8x7B" says the size of each, "8 experts" of all. A gated expert has three products. */
static void guess_experts(pace_step_sizes *out, const usual_sizes *usual, pace_step_size size, bool each) {
    proportion(out, usual, size.billions, usual->shared + 3 * usual->ffn * (each ? 1 : size.experts));
    out->experts = size.experts;
    out->topk = usual->topk;
    out->ffn = usual->ffn_step * round(usual->ffn * out->hidden / usual->ffn_step);
}

bool pace_step_sizes_guess(pace_step_sizes *out, pace_step_row *row, const pace_step_reader *r, pace_step_size size) {
    usual_sizes usual;
    bool mixture = size.experts > 1 || size.active > 0;
    if (!(size.billions >= 0.01 && size.billions <= 3000)) return false;
    if ((size.active > 0 && size.active >= size.billions) || !read_usual(&usual, r)) return false;
    bool each = pace_step_size_of(pace_step_cell(r, row->row, PACE_STEP_MODEL)).experts > 1;
    if (size.active > 0) guess_active(out, &usual, size);
    else if (mixture) guess_experts(out, &usual, size, each);
    else proportion(out, &usual, size.billions, usual.layer);
    if (mixture)
        pace_step_note(row, "assumed %g layers of %g with %g experts of %g, %g a token", out->layers, out->hidden,
                       out->experts, out->ffn, out->topk);
    else
        pace_step_note(row, "assumed a decoder of %g billion parameters: %g layers of %g", size.billions, out->layers,
                       out->hidden);
    pace_step_doubt(row, r, mixture ? PACE_DOUBT_ROW_EXPERTS : PACE_DOUBT_ROW_SIZE);
    return true;
}
