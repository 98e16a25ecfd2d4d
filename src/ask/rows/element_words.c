#include "ask/rows/element_words.h"
#include "base/memory.h"
#include "base/text.h"

double pace_element_word_bytes(const char *dtype) {
    static const struct {
        const char *word;
        double bytes;
    } table[] = {{"", 4},      {"float", 4},  {"float32", 4},  {"fp32", 4},   {"half", 2},    {"float16", 2},
                 {"fp16", 2},  {"bf16", 2},   {"bfloat16", 2}, {"int8", 1},   {"uint8", 1},   {"char", 1},
                 {"byte", 1},  {"fp8", 1},    {"float8", 1},   {"double", 8}, {"float64", 8}, {"fp64", 8},
                 {"int32", 4}, {"uint32", 4}, {"int", 4},      {"int64", 8},  {"uint64", 8},  {"tf32", 4},
                 {"f16", 2},   {"f32", 4},    {"f64", 8},      {"i8", 1},     {"u8", 1},      {"i32", 4},
                 {"i64", 8},   {"na", 4},     {"n/a", 4},      {"none", 4},   {"-", 4}};
    if (pace_strncasecmp(dtype, "torch.", 6) == 0) dtype += 6;
    if (pace_strncasecmp(dtype, "nccl", 4) == 0) dtype += 4;
    if (pace_strncasecmp(dtype, "f8", 2) == 0 || pace_strncasecmp(dtype, "fp8_", 4) == 0 ||
        pace_strncasecmp(dtype, "float8_", 7) == 0)
        return 1;
    for (size_t i = 0; i < PACE_COUNT(table); i++)
        if (pace_strcasecmp(table[i].word, dtype) == 0) return table[i].bytes;
    return 0;
}
