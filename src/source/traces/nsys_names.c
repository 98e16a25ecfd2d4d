#include "source/traces/nsys_names.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char *find(const char *text, size_t length, const char *word) {
    return memmem(text, length, word, strlen(word));
}

/* Behind "seq =" or "seq=". */
static int64_t read_number(const char *at, const char *end) {
    while (at < end && *at == ' ') at++;
    if (at == end || !pace_is_digit(*at)) return -1;
    int64_t value = 0;
    for (; at < end && pace_is_digit(*at); at++)
        if (value < UINT32_MAX) value = value * 10 + (*at - '0');
    return value < UINT32_MAX ? value : -1;
}

/* The bracket that closes the one at hand, or NULL. */
static const char *closing(const char *at, const char *end) {
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '[') depth++;
        else if (*at == ']' && --depth == 0) return at;
    }
    return NULL;
}

static void read_sizes(pace_nvtx_range *out, const char *at, const char *end) {
    while (at < end && *at == ' ') at++;
    const char *last = at < end && *at == '[' ? closing(at, end) : NULL;
    if (!last) return;
    out->sizes = at;
    out->sizes_length = (size_t)(last - at) + 1;
}

/* Names that PyTorch gives its own operators, numbered or not. */
static bool is_framework_name(const char *text, size_t length) {
    static const char *const spaces[] = {"aten::", "autograd::", "torch::", "c10d::"};
    for (size_t i = 0; i < PACE_COUNT(spaces); i++)
        if (pace_span_starts(text, length, spaces[i])) return true;
    return false;
}

void pace_nvtx_range_read(pace_nvtx_range *out, const char *text, size_t length) {
    static const char *const parts[] = {", seq =", ", seq=", ", op_id =", ", sizes =", ", input_op_ids ="};
    const char *end = text + length, *name_end = end;
    *out = (pace_nvtx_range){.sequence = -1};
    for (size_t i = 0; i < PACE_COUNT(parts); i++) {
        const char *at = find(text, length, parts[i]);
        if (!at) continue;
        const char *value = at + strlen(parts[i]);
        if (at < name_end) name_end = at;
        if (i < 2) out->sequence = read_number(value, end);
        if (i == 3) read_sizes(out, value, end);
    }
    out->name_length = (size_t)(name_end - text);
    bool numbered = out->sequence >= 0, identified = find(text, length, ", op_id =") != NULL;
    out->is_operator = numbered || is_framework_name(text, out->name_length) ||
                       (identified && find(text, out->name_length, "::") != NULL);
    out->is_backward =
        numbered && !pace_span_starts(text, length, "aten::") &&
        (pace_span_starts(text, length, "autograd::engine") || pace_span_starts(text, length, "torch::autograd::") ||
         find(text, out->name_length, "Backward") != NULL);
}

/* ENUM_CUDA_MEMCPY_OPER of an export. */
static const char *const copies[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                     "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
enum { FIRST_MIGRATION = 11 };

/* ENUM_CUDA_MEM_KIND of an export. */
static const char *memory_name(int64_t kind) {
    static const char *const kinds[] = {"Pageable", "Pinned",        "Device",         "Array",
                                        "Managed",  "Device Static", "Managed Static", "Unknown"};
    return kind >= 0 && kind < (int64_t)(PACE_COUNT(kinds)) ? kinds[kind] : "Unknown";
}

void pace_nsys_copy_name(char *out, size_t size, int64_t kind, int64_t from, int64_t to) {
    if (kind < 0 || kind >= (int64_t)(PACE_COUNT(copies))) kind = 0;
    snprintf(out, size, "Memcpy %s (%s -> %s)", copies[kind], memory_name(from), memory_name(to));
}

void pace_nsys_memset_name(char *out, size_t size, int64_t memory) {
    snprintf(out, size, "Memset (%s)", memory_name(memory));
}

bool pace_nsys_copy_migrates(int64_t kind) { return kind >= FIRST_MIGRATION; }

size_t pace_nsys_call_length(const char *name, size_t length) {
    size_t digits = 0;
    while (digits < length && pace_is_digit(name[length - 1 - digits])) digits++;
    bool versioned = digits >= 4 && length > digits + 2 && memcmp(name + length - digits - 2, "_v", 2) == 0;
    return versioned ? length - digits - 2 : length;
}
