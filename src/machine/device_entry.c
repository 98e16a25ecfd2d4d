#include "machine/device_entry.h"
#include "base/print.h"

#include <math.h>
#include <string.h>

typedef struct {
    const pace_yaml *yaml;
    const pace_yaml_node *entry, *sources;
} reader;

static const char *const precision_keys[PACE_PRECISIONS] = {
    [PACE_FP64] = "fp64", [PACE_FP32] = "fp32", [PACE_FP32_MATRIX] = "fp32_matrix",
    [PACE_TF32] = "tf32", [PACE_FP16] = "fp16", [PACE_BF16] = "bf16",
    [PACE_FP8] = "fp8",   [PACE_INT8] = "int8", [PACE_FP4] = "fp4",
};

static const char *const text_keys[] = {"name", "vendor", "kind", "match", "source", "confidence"};

/* No device is near these limits: a figure beyond them is a slipped digit or the wrong unit. */
static const pace_figure_limits flop_limits = {1e6, 1e17, PACE_IN_FLOP_PER_S}, sm_limits = {1, 1e5, PACE_IN_NONE},
                                generation_limits = {20, 500, PACE_IN_NONE}; /* compute capability times ten */

typedef struct {
    const char *key;
    size_t offset;
    pace_figure_limits limits;
} number_key;

static const number_key number_keys[] = {
    {"base_hz", offsetof(pace_device, base_hz), {1e6, 1e10, PACE_IN_HZ}},
    {"boost_hz", offsetof(pace_device, boost_hz), {1e6, 1e10, PACE_IN_HZ}},
    {"sustained_hz", offsetof(pace_device, sustained_hz), {1e6, 1e10, PACE_IN_HZ}},
    {"memory_bytes", offsetof(pace_device, memory_bytes), {1e6, 1e14, PACE_IN_BYTES}},
    {"memory_bytes_per_s", offsetof(pace_device, memory_bytes_per_s), {1e6, 1e14, PACE_IN_BYTES_PER_S}},
    {"achievable_bytes_per_s", offsetof(pace_device, achievable_bytes_per_s), {1e6, 1e14, PACE_IN_BYTES_PER_S}},
    {"l2_bytes", offsetof(pace_device, l2_bytes), {1e3, 1e12, PACE_IN_BYTES}},
    {"l2_bytes_per_s", offsetof(pace_device, l2_bytes_per_s), {1e6, 1e15, PACE_IN_BYTES_PER_S}},
    {"launch_s", offsetof(pace_device, launch_s), {1e-10, 1e-2, PACE_IN_S}},
    {"pcie_bytes_per_s", offsetof(pace_device, pcie_bytes_per_s), {1e6, 1e13, PACE_IN_BYTES_PER_S}},
    {"pcie_pinned_bytes_per_s", offsetof(pace_device, pcie_pinned_bytes_per_s), {1e6, 1e13, PACE_IN_BYTES_PER_S}},
    {"pcie_pageable_bytes_per_s", offsetof(pace_device, pcie_pageable_bytes_per_s), {1e6, 1e13, PACE_IN_BYTES_PER_S}},
    {"tdp_w", offsetof(pace_device, tdp_w), {1e-3, 1e5, PACE_IN_NONE}},
};

/* The first figure is at most the second, when both are known. */
typedef struct {
    const char *less;
    size_t less_offset;
    const char *more;
    size_t more_offset;
} figure_order;

static const figure_order orders[] = {
    {"base_hz", offsetof(pace_device, base_hz), "boost_hz", offsetof(pace_device, boost_hz)},
    {"sustained_hz", offsetof(pace_device, sustained_hz), "boost_hz", offsetof(pace_device, boost_hz)},
    {"l2_bytes", offsetof(pace_device, l2_bytes), "memory_bytes", offsetof(pace_device, memory_bytes)},
    {"achievable_bytes_per_s", offsetof(pace_device, achievable_bytes_per_s), "memory_bytes_per_s",
     offsetof(pace_device, memory_bytes_per_s)},
    {"memory_bytes_per_s", offsetof(pace_device, memory_bytes_per_s), "l2_bytes_per_s",
     offsetof(pace_device, l2_bytes_per_s)},
    {"pcie_pinned_bytes_per_s", offsetof(pace_device, pcie_pinned_bytes_per_s), "pcie_bytes_per_s",
     offsetof(pace_device, pcie_bytes_per_s)},
    {"pcie_pageable_bytes_per_s", offsetof(pace_device, pcie_pageable_bytes_per_s), "pcie_bytes_per_s",
     offsetof(pace_device, pcie_bytes_per_s)},
};

static double *number_at(pace_device *device, size_t offset) { return (double *)(void *)((char *)device + offset); }

static double number_of(const pace_device *device, size_t offset) {
    return *(const double *)(const void *)((const char *)device + offset);
}

const char *pace_precision_key(pace_precision precision) { return precision_keys[precision]; }

static pace_status check_confidence(const reader *r, const pace_yaml_node *node) {
    static const char *const known[] = {"high", "medium", "low"};
    const char *text = pace_yaml_text(node);
    if (pace_word_number(known, PACE_COUNT(known), text) >= 0) return PACE_OK;
    return pace_yaml_fail(r->yaml, node, "expected a confidence: high, medium or low");
}

static pace_status check_source(const reader *r, const pace_yaml_node *node) {
    const char *key = pace_yaml_text(node);
    if (key && pace_yaml_text_of(r->sources, key)) return PACE_OK;
    return pace_yaml_fail(r->yaml, node, "\"%.80s\" is not in the file's map \"sources\"", key ? key : "");
}

/* The number of a figure that says where it is from; NULL when there is none. */
static pace_status check_sourced(const pace_yaml_node **value, const reader *r, const pace_yaml_node *figure) {
    *value = NULL;
    PACE_YAML_EACH (member, figure) {
        const char *key = pace_yaml_key_of(member);
        if (strcmp(key, "value") == 0) *value = member;
        else if (strcmp(key, "source") == 0) PACE_TRY(check_source(r, member));
        else if (strcmp(key, "confidence") == 0) PACE_TRY(check_confidence(r, member));
        else return pace_yaml_fail(r->yaml, member, "unknown member \"%.80s\" of a figure", key);
    }
    if (*value) return PACE_OK;
    return pace_yaml_fail(r->yaml, figure, "a figure needs a \"value\"");
}

static pace_status read_number(double *out, const reader *r, const pace_yaml_node *node,
                               const pace_figure_limits *limits) {
    double value = 0;
    if (pace_yaml_is_map(node)) PACE_TRY(check_sourced(&node, r, node));
    PACE_TRY(pace_figure_read(&value, r->yaml, node, limits->dimension));
    if (!(value > 0))
        return pace_yaml_fail(r->yaml, node, "a figure of a device is positive, found %g; leave out what is unknown",
                              value);
    if (value > limits->most || value < limits->least)
        return pace_yaml_fail(r->yaml, node, "%g is beyond any device, expected %g to %g%s%s", value, limits->least,
                              limits->most, limits->dimension == PACE_IN_NONE ? "" : ", or one with its unit, such as ",
                              limits->dimension == PACE_IN_NONE ? "" : pace_figure_example(limits->dimension));
    *out = value;
    return PACE_OK;
}

static pace_status read_text(char *out, size_t size, const reader *r, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(r->entry, key);
    const char *text = pace_yaml_text(node);
    if (!text || !*text) return pace_yaml_fail(r->yaml, node ? node : r->entry, "a device needs the text \"%s\"", key);
    if (strlen(text) >= size) return pace_yaml_fail(r->yaml, node, "longer than %zu characters", size - 1);
    memcpy(out, text, strlen(text) + 1);
    return PACE_OK;
}

static pace_status read_rates(double *rates, const reader *r, const pace_yaml_node *node) {
    if (!pace_yaml_is_map(node)) return pace_yaml_fail(r->yaml, node, "expected a map of precisions");
    PACE_YAML_EACH (value, node) {
        int precision = pace_word_number(precision_keys, PACE_PRECISIONS, pace_yaml_key_of(value));
        if (precision < 0)
            return pace_yaml_fail(r->yaml, value, "unknown precision \"%.80s\"", pace_yaml_key_of(value));
        PACE_TRY(read_number(&rates[precision], r, value, &flop_limits));
    }
    return PACE_OK;
}

/* What is not said is an accelerator. */
static pace_status read_kind(bool *is_cpu, const reader *r) {
    const pace_yaml_node *node = pace_yaml_get(r->entry, "kind");
    const char *text = pace_yaml_text(node);
    if (node && (!text || strcmp(text, "cpu") != 0))
        return pace_yaml_fail(r->yaml, node, "expected the kind \"cpu\", or none for an accelerator");
    *is_cpu = node != NULL;
    return PACE_OK;
}

static pace_status check_match(const reader *r) {
    const pace_yaml_node *match = pace_yaml_get(r->entry, "match");
    if (match && !pace_yaml_is_list(match)) return pace_yaml_fail(r->yaml, match, "expected a list of phrases");
    PACE_YAML_EACH (phrase, match) {
        const char *text = pace_yaml_text(phrase);
        if (!text || !*text) return pace_yaml_fail(r->yaml, phrase, "expected a phrase");
    }
    return PACE_OK;
}

static pace_status read_count(int *out, const reader *r, const pace_yaml_node *node, const pace_figure_limits *limits) {
    double value = 0;
    PACE_TRY(read_number(&value, r, node, limits));
    if (value != floor(value)) return pace_yaml_fail(r->yaml, node, "expected a count");
    *out = (int)value;
    return PACE_OK;
}

static pace_status read_peer_access(pace_device *device, const reader *r, const pace_yaml_node *value) {
    const char *text = pace_yaml_text(value);
    if (!text || strcmp(text, "nvlink") != 0)
        return pace_yaml_fail(r->yaml, value, "peer_access: expected \"nvlink\", or nothing for access over any link");
    device->peers_over_nvlink = true;
    return PACE_OK;
}

static pace_status read_member(pace_device *device, const reader *r, const char *key, const pace_yaml_node *value) {
    if (strcmp(key, "sm_count") == 0) return read_count(&device->sm_count, r, value, &sm_limits);
    if (strcmp(key, "generation") == 0) return read_count(&device->generation, r, value, &generation_limits);
    if (strcmp(key, "peer_access") == 0) return read_peer_access(device, r, value);
    if (strcmp(key, "flop_per_s") == 0) return read_rates(device->flop_per_s, r, value);
    if (strcmp(key, "achievable_flop_per_s") == 0) return read_rates(device->achievable_flop_per_s, r, value);
    for (size_t i = 0; i < PACE_COUNT(number_keys); i++)
        if (strcmp(number_keys[i].key, key) == 0)
            return read_number(number_at(device, number_keys[i].offset), r, value, &number_keys[i].limits);
    if (pace_word_number(text_keys, PACE_COUNT(text_keys), key) >= 0) return PACE_OK;
    char rest[512] = "";
    for (size_t i = 0; i < PACE_COUNT(number_keys); i++) pace_list(rest, sizeof rest, ", ", "%s", number_keys[i].key);
    return pace_yaml_fail(r->yaml, value, "unknown member \"%.80s\" of a device: expected flop_per_s, %s, ...", key,
                          rest);
}

/* The first two figures in the wrong order; NULL when there are none. */
static const figure_order *disorder(const pace_device *device, double *less, double *more) {
    for (size_t i = 0; i < PACE_COUNT(orders); i++) {
        *less = number_of(device, orders[i].less_offset);
        *more = number_of(device, orders[i].more_offset);
        if (*less > 0 && *more > 0 && *less > *more) return &orders[i];
    }
    return NULL;
}

static pace_status check_orders(const pace_device *device, const reader *r) {
    double less, more;
    const figure_order *order = disorder(device, &less, &more);
    if (order)
        return pace_yaml_fail(r->yaml, pace_yaml_get(r->entry, order->less), "%s %g is more than %s %g", order->less,
                              less, order->more, more);
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (device->achievable_flop_per_s[i] > device->flop_per_s[i])
            return pace_yaml_fail(r->yaml,
                                  pace_yaml_get(pace_yaml_get(r->entry, "achievable_flop_per_s"), precision_keys[i]),
                                  "the achievable %s rate %g is more than the peak %g", precision_keys[i],
                                  device->achievable_flop_per_s[i], device->flop_per_s[i]);
    return PACE_OK;
}

pace_status pace_device_check(const pace_device *device) {
    double less, more;
    const figure_order *order = disorder(device, &less, &more);
    if (!order) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s %g is more than %s %g", order->less, less, order->more, more);
}

double *pace_device_figure(pace_device *device, const char *key, pace_figure_limits *limits) {
    const number_key *number = PACE_FIND(number_keys, PACE_COUNT(number_keys), key, key);
    int precision = pace_word_number(precision_keys, PACE_PRECISIONS, key);
    if (number) *limits = number->limits;
    else if (precision >= 0) *limits = flop_limits;
    return number ? number_at(device, number->offset) : precision >= 0 ? &device->flop_per_s[precision] : NULL;
}

/* A roofline needs both its sides: an entry gives a rate and a memory bandwidth, or neither (a generic device). */
static pace_status check_roofline(const pace_device *device, const reader *r) {
    bool rates = false;
    for (int i = 0; i < PACE_PRECISIONS; i++) rates |= device->flop_per_s[i] > 0;
    if (rates == (device->memory_bytes_per_s > 0)) return PACE_OK;
    return pace_yaml_fail(r->yaml, r->entry, "\"%s\" gives %s but no %s", device->name,
                          rates ? "flop_per_s" : "memory_bytes_per_s", rates ? "memory_bytes_per_s" : "flop_per_s");
}

pace_status pace_device_entry_read(pace_device *device, const pace_yaml *yaml, const pace_yaml_node *entry,
                                   const pace_yaml_node *sources) {
    const reader r = {yaml, entry, sources};
    if (!pace_yaml_is_map(entry)) return pace_yaml_fail(yaml, entry, "a device is a map");
    PACE_TRY(read_text(device->name, sizeof device->name, &r, "name"));
    PACE_TRY(read_text(device->vendor, sizeof device->vendor, &r, "vendor"));
    PACE_TRY(read_kind(&device->is_cpu, &r));
    PACE_TRY(check_match(&r));
    PACE_YAML_EACH (one, entry) PACE_TRY(read_member(device, &r, pace_yaml_key_of(one), one));
    const pace_yaml_node *confidence = pace_yaml_get(entry, "confidence");
    if (confidence) PACE_TRY(check_confidence(&r, confidence));
    PACE_TRY(check_orders(device, &r));
    PACE_TRY(check_roofline(device, &r));
    const char *source = pace_yaml_text_of(entry, "source");
    device->source = source ? source : "";
    return PACE_OK;
}
