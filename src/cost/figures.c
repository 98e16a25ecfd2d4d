#include "cost/figures.h"

#include "base/intern.h"
#include "base/yaml_member.h"

#include <string.h>

static const char *const known[] = {"family",           "device",          "kind",   "pass",       "vendor",
                                    "below_generation", "from_generation", "matrix", "precision",  "own",
                                    "compute",          "strided",         "pixel",  "memory",     "fixed_s",
                                    "scores",           "clock_flop",      "spread", "confidence", "source"};

static pace_status refuse_unknown(const pace_yaml *yaml, const pace_yaml_node *entry) {
    PACE_YAML_EACH (one, entry) {
        size_t at = 0;
        while (at < PACE_COUNT(known) && strcmp(known[at], pace_yaml_key_of(one)) != 0) at++;
        if (at == PACE_COUNT(known))
            return pace_yaml_fail(yaml, one, "unknown member \"%.80s\" of a cost", pace_yaml_key_of(one));
    }
    return PACE_OK;
}

static pace_status read_figure(double *out, const pace_yaml *yaml, const pace_yaml_node *entry, const char *key,
                               double most) {
    const pace_yaml_node *node = pace_yaml_get(entry, key);
    double value = 0;
    if (!node) return pace_yaml_fail(yaml, entry, "a cost needs \"%s\"", key);
    PACE_TRY(pace_yaml_number(&value, yaml, node));
    if (!(value > 0) || value > most)
        return pace_yaml_fail(yaml, node, "expected \"%s\" above 0 and at most %g", key, most);
    *out = value;
    return PACE_OK;
}

/* -1 unless given. */
static pace_status read_precision(int *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const char *word = pace_yaml_text_of(entry, "precision");
    *out = word ? PACE_PRECISIONS : -1;
    for (int p = 0; word && p < PACE_PRECISIONS; p++)
        if (strcmp(word, pace_precision_key((pace_precision)p)) == 0) *out = p;
    return *out == PACE_PRECISIONS ? pace_yaml_fail(yaml, entry, "unknown precision \"%.40s\"", word) : PACE_OK;
}

static pace_status read_where(pace_cost_figure *row, const pace_yaml *yaml, const pace_yaml_node *entry) {
    const char *family = pace_yaml_text_of(entry, "family");
    const char *kind = pace_yaml_text_of(entry, "kind");
    const char *pass = pace_yaml_text_of(entry, "pass");
    const char *vendor = pace_yaml_text_of(entry, "vendor");
    const pace_yaml_node *device = pace_yaml_get(entry, "device");
    row->family = family ? pace_op_family_find(family) : PACE_OP_FAMILIES;
    if (row->family == PACE_OP_FAMILIES) return pace_yaml_fail(yaml, entry, "expected a family of operations");
    if (kind && strlen(kind) >= sizeof row->kind)
        return pace_yaml_fail(yaml, entry, "kind is longer than %zu characters", sizeof row->kind - 1);
    if (vendor && strlen(vendor) >= sizeof row->vendor)
        return pace_yaml_fail(yaml, entry, "vendor is longer than %zu characters", sizeof row->vendor - 1);
    row->cpu = device != NULL;
    if (device && (!pace_yaml_text(device) || strcmp(pace_yaml_text(device), "cpu") != 0))
        return pace_yaml_fail(yaml, device, "expected the device \"cpu\", or none for any");
    if (kind) memcpy(row->kind, kind, strlen(kind) + 1);
    if (vendor) memcpy(row->vendor, vendor, strlen(vendor) + 1);
    PACE_TRY(pace_yaml_flag(&row->matrix, yaml, entry, "matrix"));
    PACE_TRY(pace_yaml_flag(&row->own, yaml, entry, "own"));
    double below = 0, from = 0;
    if (pace_yaml_get(entry, "below_generation")) PACE_TRY(read_figure(&below, yaml, entry, "below_generation", 1000));
    if (pace_yaml_get(entry, "from_generation")) PACE_TRY(read_figure(&from, yaml, entry, "from_generation", 1000));
    row->below_generation = (int)below, row->from_generation = (int)from;
    PACE_TRY(read_precision(&row->precision, yaml, entry));
    row->pass = -1;
    for (int i = 0; pass && i < PACE_PASSES; i++)
        if (strcmp(pace_pass_names[i], pass) == 0) row->pass = i;
    if (pass && row->pass < 0) return pace_yaml_fail(yaml, entry, "unknown pass \"%.40s\"", pass);
    return PACE_OK;
}

static pace_status read_row(pace_cost_figure *row, const pace_yaml *yaml, const pace_yaml_node *entry) {
    if (!pace_yaml_is_map(entry)) return pace_yaml_fail(yaml, entry, "a cost is a map");
    PACE_TRY(refuse_unknown(yaml, entry));
    PACE_TRY(read_where(row, yaml, entry));
    PACE_TRY(read_figure(&row->compute, yaml, entry, "compute", 1));
    row->strided = row->compute;
    row->pixel = row->compute;
    if (pace_yaml_get(entry, "pixel")) PACE_TRY(read_figure(&row->pixel, yaml, entry, "pixel", 1));
    if (pace_yaml_get(entry, "strided")) PACE_TRY(read_figure(&row->strided, yaml, entry, "strided", 1));
    if (pace_yaml_get(entry, "scores")) PACE_TRY(read_figure(&row->scores, yaml, entry, "scores", 10));
    if (pace_yaml_get(entry, "clock_flop")) PACE_TRY(read_figure(&row->clock_flop, yaml, entry, "clock_flop", 1e6));
    PACE_TRY(read_figure(&row->memory, yaml, entry, "memory", 1));
    PACE_TRY(read_figure(&row->fixed_s, yaml, entry, "fixed_s", 1));
    return read_figure(&row->spread, yaml, entry, "spread", 10);
}

static pace_status read_rows(pace_cost_figures *figures, const pace_yaml *yaml) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "costs");
    if (!pace_yaml_is_list(list)) return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected a list \"costs\"");
    PACE_YAML_EACH (one, list) {
        pace_cost_figure row = {0};
        PACE_TRY(read_row(&row, yaml, one));
        row.before = figures->last_of[row.family];
        PACE_TRY(PACE_PUSH(&figures->rows, row));
        figures->last_of[row.family] = (uint32_t)figures->rows.count;
    }
    const pace_yaml_node *l2 = pace_yaml_get(pace_yaml_root(yaml), "l2_over_memory");
    if (!l2) return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected \"l2_over_memory\"");
    PACE_TRY(read_figure(&figures->l2_over_memory, yaml, l2, "value", 1000));
    const pace_yaml_node *reaction = pace_yaml_get(pace_yaml_root(yaml), "power_reaction_s");
    if (!reaction) return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected \"power_reaction_s\"");
    return read_figure(&figures->power_reaction_s, yaml, reaction, "value", 1);
}

static pace_status read_loads(pace_cost_figures *figures, const pace_yaml *yaml) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "load");
    if (!pace_yaml_is_list(list)) return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected a list \"load\"");
    PACE_YAML_EACH (entry, list) {
        const char *device = pace_yaml_text_of(entry, "device");
        pace_cost_load load = {0};
        if (!device || !*device || strlen(device) >= sizeof load.device)
            return pace_yaml_fail(yaml, entry, "expected a device of 1 to %zu characters", sizeof load.device - 1);
        memcpy(load.device, device, strlen(device) + 1);
        PACE_TRY(read_precision(&load.precision, yaml, entry));
        PACE_TRY(read_figure(&load.factor, yaml, entry, "factor", 10));
        PACE_TRY(PACE_PUSH(&figures->loads, load));
    }
    return PACE_OK;
}

static pace_status read_emulated(pace_cost_figures *figures, const pace_yaml *yaml) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "emulated");
    if (!pace_yaml_is_list(list)) return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected a list \"emulated\"");
    PACE_YAML_EACH (entry, list) {
        int precision;
        double below = 0;
        pace_cost_emulated one = {0};
        PACE_TRY(read_precision(&precision, yaml, entry));
        if (precision < 0) return pace_yaml_fail(yaml, entry, "expected a precision");
        PACE_TRY(read_figure(&below, yaml, entry, "below_generation", 1000));
        PACE_TRY(read_figure(&one.share, yaml, entry, "share", 1));
        PACE_TRY(read_figure(&one.spread, yaml, entry, "spread", 10));
        one.precision = (pace_precision)precision, one.below_generation = (int)below;
        PACE_TRY(PACE_PUSH(&figures->emulated, one));
    }
    return PACE_OK;
}

static pace_status read_guess(pace_cost_guess *out, const pace_yaml *yaml, const char *key, bool tensors) {
    const pace_yaml_node *entry = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "guess"), key);
    if (!pace_yaml_is_map(entry))
        return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected a map \"guess\" with \"%s\"", key);
    if (tensors) PACE_TRY(read_figure(&out->memory, yaml, entry, "memory", 1));
    PACE_TRY(read_figure(&out->fixed_s, yaml, entry, "fixed_s", 1));
    return read_figure(&out->spread, yaml, entry, "spread", 10);
}

/* Figures of maps by themselves. */
static pace_status read_others(pace_cost_figures *f, const pace_yaml *yaml) {
    const struct {
        const char *map, *key;
        double *into, most;
    } all[] = {{"roofline", "share", &f->roofline.share, 1},
               {"roofline", "spread", &f->roofline.spread, 10},
               {"headroom", "clock", &f->clock_headroom, 2},
               {"quantise", "fixed_s", &f->quantise.fixed_s, 1},
               {"quantise", "row_s", &f->quantise.row_s, 1},
               {"quantise", "stride", &f->quantise.stride, 1e9},
               {"quantise", "memory", &f->quantise.memory, 1},
               {"depthwise", "clock_flop", &f->depthwise_clock_flop[0], 1e6},
               {"depthwise", "clock_flop_half", &f->depthwise_clock_flop[1], 1e6},
               {"block_scaled", "factor", &f->block_scaled, 10}};
    for (size_t i = 0; i < PACE_COUNT(all); i++) {
        const pace_yaml_node *map = pace_yaml_get(pace_yaml_root(yaml), all[i].map);
        if (!pace_yaml_is_map(map))
            return pace_yaml_fail(yaml, pace_yaml_root(yaml), "expected a map \"%s\"", all[i].map);
        PACE_TRY(read_figure(all[i].into, yaml, map, all[i].key, all[i].most));
    }
    return PACE_OK;
}

pace_status pace_cost_figures_load(pace_cost_figures *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_cost_figures figures = {0};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "costs.yaml"));
    pace_status status = read_rows(&figures, yaml);
    if (status == PACE_OK) status = read_loads(&figures, yaml);
    if (status == PACE_OK) status = read_emulated(&figures, yaml);
    if (status == PACE_OK) status = read_guess(&figures.of_tensors, yaml, "tensors", true);
    if (status == PACE_OK) status = read_guess(&figures.of_nothing, yaml, "nothing", false);
    if (status == PACE_OK) status = read_others(&figures, yaml);
    return PACE_GIVE(out, figures, status, pace_cost_figures_free(&figures));
}

void pace_cost_figures_free(pace_cost_figures *figures) {
    PACE_VEC_FREE(&figures->rows, &figures->loads, &figures->emulated);
}

uint64_t pace_cost_figures_mark(const pace_cost_figures *figures) {
    uint64_t mark = 0;
    PACE_ITEMS (const pace_cost_figure, row, &figures->rows) {
        const double numbers[] = {row->family,          row->pass,    row->precision,  row->below_generation,
                                  row->from_generation, row->compute, row->strided,    row->pixel,
                                  row->memory,          row->scores,  row->clock_flop, row->fixed_s};
        mark = UINT64_C(0x9e3779b97f4a7c15) * mark + pace_hash(numbers, sizeof numbers);
    }
    return mark;
}

const pace_cost_emulated *pace_cost_emulated_of(const pace_cost_figures *figures, const pace_op *op,
                                                const pace_device *device) {
    if (op->family != PACE_OP_GEMM || device->generation <= 0) return NULL;
    PACE_ITEMS (const pace_cost_emulated, one, &figures->emulated)
        if (one->precision == op->precision && device->generation < one->below_generation) return one;
    return NULL;
}

bool pace_cost_on_matrix_units(const pace_op *op, const pace_device *device) {
    if ((unsigned)op->precision >= PACE_PRECISIONS) return false;
    pace_precision precision = pace_device_rated_as(device, op->precision);
    if (precision == PACE_FP64) return false;
    double rate = pace_device_unit_rate(device, precision), single = device->flop_per_s[PACE_FP32];
    if (precision == PACE_TF32) return true;
    return rate > 3 * single || (rate > single && strcmp(device->vendor, "NVIDIA") == 0 && device->generation >= 80);
}

const pace_cost_figure *pace_cost_figures_of(const pace_cost_figures *figures, const pace_op *op,
                                             const pace_device *device) {
    if ((unsigned)op->family >= PACE_OP_FAMILIES) return NULL;
    for (uint32_t i = figures->last_of[op->family]; i; i = figures->rows.items[i - 1].before) {
        const pace_cost_figure *row = &figures->rows.items[i - 1];
        if (row->pass >= 0 && row->pass != (int)op->pass) continue;
        if (row->cpu && !device->is_cpu) continue;
        if (row->below_generation && !(device->generation > 0 && device->generation < row->below_generation)) continue;
        if (device->generation < row->from_generation) continue;
        if (row->matrix && !pace_cost_on_matrix_units(op, device)) continue;
        if (row->precision >= 0 && row->precision != (int)op->precision) continue;
        if (*row->vendor && strcmp(row->vendor, device->vendor) != 0) continue;
        if (*row->kind && (!*op->kind || !strstr(op->kind, row->kind))) continue;
        return row;
    }
    return NULL;
}

double pace_cost_figures_load_of(const pace_cost_figures *figures, const pace_op *op, const pace_device *device) {
    bool product = op->family == PACE_OP_GEMM || op->family == PACE_OP_ATTENTION || op->family == PACE_OP_CONVOLUTION;
    if (!product || device->is_cpu || !pace_cost_on_matrix_units(op, device)) return 1;
    PACE_ITEMS (const pace_cost_load, load, &figures->loads) {
        bool applies = load->precision < 0 || load->precision == (int)op->precision;
        if (applies && strncmp(device->name, load->device, strlen(load->device)) == 0) return load->factor;
    }
    return 1;
}
