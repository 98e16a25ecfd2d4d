/* Rates, times and sizes as people write them. */
#include "base/decimal.h"
#include "base/text.h"
#include "machine/machine.h"

#include <string.h>

typedef struct {
    const char *word;
    double factor;
} unit;

typedef struct {
    char prefix;
    double factor;
} unit_prefix;

/* The case of a rate's "b" counts: bits or bytes. */
static const unit rates[] = {
    {"", 1},
    {"B/s", 1},
    {"kB/s", 1e3},
    {"KB/s", 1e3},
    {"MB/s", 1e6},
    {"GB/s", 1e9},
    {"TB/s", 1e12},
    {"Mb/s", 1.25e5},
    {"Gb/s", 1.25e8},
    {"Mbit/s", 1.25e5},
    {"Gbit/s", 1.25e8},
    {"GBps", 1e9},
    {"Gbps", 1.25e8},
    {"GiB/s", 1073741824.0},
    {"TiB/s", 1099511627776.0},
    {"Tb/s", 1e12 / 8},
    {"Tbit/s", 1e12 / 8},
};
static const unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
static const unit spans[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"y", 365.25 * 86400}};
static const unit sizes[] = {
    {"", 1},
    {"B", 1},
    {"K", 1024},
    {"M", 1048576},
    {"G", 1073741824.0},
    {"KiB", 1024},
    {"MiB", 1048576},
    {"GiB", 1073741824.0},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"k", 1024},
    {"m", 1048576},
    {"g", 1073741824.0},
    {"TB", 1e12},
    {"T", 1099511627776.0},
    {"t", 1099511627776.0},
    {"TiB", 1099511627776.0},
};

/* A number without a sign, up to its unit: "64 MiB" is "64MiB". */
static const char *read_number(double *out, const char *text) {
    const char *rest = pace_is_digit(*text) || *text == '.' ? pace_number_read(out, text) : NULL;
    if (rest && pace_is_alpha(rest[strspn(rest, " ")])) rest += strspn(rest, " ");
    return rest;
}

static bool read_with_unit(double *out, const char *text, const unit *units, size_t count) {
    double value;
    const char *rest = read_number(&value, text);
    const unit *known = PACE_FIND(units, count, word, rest);
    if (known) *out = value * known->factor;
    return known != NULL;
}

bool pace_parse_rate(double *out, const char *text) { return read_with_unit(out, text, rates, PACE_COUNT(rates)); }
bool pace_rate_is_meant(double bytes_per_s) {
    const double least = 1e4, most = 1e15;
    return bytes_per_s >= least && bytes_per_s <= most;
}
bool pace_parse_time(double *out, const char *text) { return read_with_unit(out, text, times, PACE_COUNT(times)); }
bool pace_parse_span(double *out_s, const char *text) { return read_with_unit(out_s, text, spans, PACE_COUNT(spans)); }
bool pace_parse_bytes(double *out, const char *text) { return read_with_unit(out, text, sizes, PACE_COUNT(sizes)); }

static const unit whole_bytes[] = {
    {"B", 1},     {"kB", 1e3},   {"KB", 1e3},      {"MB", 1e6},           {"GB", 1e9},
    {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
static const unit clocks[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};

/* "TFLOP/s", in the ways that people write it. */
static bool read_flop(double *out, const char *text) {
    static const char *const words[] = {"FLOP/s", "FLOPS", "flop/s", "flops", "FLOPs"};
    static const unit prefixes[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
    double value;
    const char *rest = read_number(&value, text);
    for (size_t i = 0; rest && i < PACE_COUNT(prefixes); i++)
        for (size_t k = 0; k < PACE_COUNT(words); k++)
            if (*rest == *prefixes[i].word && strcmp(rest + 1, words[k]) == 0) {
                *out = value * prefixes[i].factor;
                return true;
            }
    return false;
}

bool pace_parse_figure(double *out, const char *text, pace_dimension dimension) {
    size_t length = strlen(text);
    bool bare = length == 0 || pace_is_digit(text[length - 1]) || text[length - 1] == '.';
    switch (dimension) {
    case PACE_IN_BYTES: return read_with_unit(out, text, whole_bytes, PACE_COUNT(whole_bytes));
    case PACE_IN_BYTES_PER_S: return !bare && pace_parse_rate(out, text);
    case PACE_IN_FLOP_PER_S: return read_flop(out, text);
    case PACE_IN_HZ: return read_with_unit(out, text, clocks, PACE_COUNT(clocks));
    case PACE_IN_S: return pace_parse_time(out, text);
    case PACE_IN_NONE: break;
    }
    return false;
}

pace_status pace_figure_read(double *out, const pace_yaml *yaml, const pace_yaml_node *node, pace_dimension dimension) {
    const char *text = pace_yaml_text(node);
    return text && pace_parse_figure(out, text, dimension) ? PACE_OK : pace_yaml_number(out, yaml, node);
}

const char *pace_figure_example(pace_dimension dimension) {
    static const char *const examples[] = {"40GiB", "2TB/s", "20TFLOP/s", "1.2GHz", "4us", "2"};
    return examples[dimension];
}

/* What may follow a decimal prefix. */
static bool is_of(const char *of, const char *text) {
    static const char *const operations[] = {"FLOP", "FLOPs", "flop", "flops"};
    if (*text == '\0' || strcmp(text, of) == 0) return true;
    return strcmp(of, *operations) == 0 && pace_word_number(operations, PACE_COUNT(operations), text) >= 0;
}

bool pace_parse_amount(double *out, const char *text, const char *of) {
    static const unit_prefix prefixes[] = {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
    double value;
    const char *rest = read_number(&value, text);
    if (!rest) return false;
    if (strlen(rest) == 3 && strcmp(rest + 1, "iB") == 0) return *of == 'B' && pace_parse_bytes(out, text);
    for (size_t i = 0; i < PACE_COUNT(prefixes); i++)
        if (*rest == prefixes[i].prefix && is_of(of, rest + 1)) return *out = value * prefixes[i].factor, true;
    if (is_of(of, rest)) *out = value;
    return is_of(of, rest);
}
