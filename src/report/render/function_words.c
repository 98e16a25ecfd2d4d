#include "report/render/function_words.h"

#include "base/text.h"
#include "report/show.h"

#include <stdbool.h>
#include <string.h>

/* Takes bytes out of a text. */
static void drop(char *at, size_t count) { memmove(at, at + count, strlen(at + count) + 1); }

/* The bracket that closes the one at `at`; NULL = none does. Others of its kind nest. */
static char *closing(char *at, char open, char close) {
    size_t depth = 0;
    for (; *at; at++) {
        depth += *at == open;
        depth -= *at == close;
        if (depth == 0) return at;
    }
    return NULL;
}

static size_t name_bytes(const char *text) {
    size_t length = 0;
    while (pace_is_name(text[length])) length++;
    return length;
}

static size_t name_bytes_to(const char *text, char end) {
    size_t length = 0;
    while (text[length] && text[length] != end) length++;
    return length;
}

/* "sum_functor<float>::operator()(TensorIterator&)::{lambda(float)#1}" becomes "sum_functor<float>(…&)". */
static void drop_lambdas(char *text) {
    static const char *const words[] = {"::operator()", "operator()", " const", "::"};
    for (char *at; (at = strchr(text, '{'));) {
        char *end = closing(at, '{', '}');
        drop(at, end ? (size_t)(end + 1 - at) : strlen(at));
    }
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        for (char *at; (at = strstr(text, words[i]));) drop(at, strlen(words[i]));
}

/* Lists of parameters, which follow a name, template arguments or another list. */
static void drop_parameters(char *text) {
    for (char *at = strchr(text, '<'); at && *at; at++) {
        while (*at == '(') {
            char *end = closing(at, '(', ')');
            bool called = pace_is_name(at[-1]) || at[-1] == '>' || at[-1] == ' ';
            if (!end || !called) break;
            drop(at, (size_t)(end + 1 - at));
        }
    }
}

/* --- template arguments ------------------------------------------------------------------------------------------ */

/* A number, a constant of an enumeration, a plain type, or a helper that every kernel of its kind has. */
static bool is_dull(const char *argument, size_t length) {
    static const char *const words[] = {"true",
                                        "false",
                                        "int",
                                        "long",
                                        "unsigned",
                                        "float",
                                        "double",
                                        "bool",
                                        "char",
                                        "void",
                                        "half",
                                        "Half",
                                        "BFloat16",
                                        "bfloat16",
                                        "__nv_bfloat16",
                                        "__half",
                                        "Array",
                                        "array",
                                        "tuple",
                                        "LoadWithCast",
                                        "StoreWithCast",
                                        "integral_constant",
                                        "C",
                                        "OffsetCalculator",
                                        "LoadWithoutCast",
                                        "StoreWithoutCast",
                                        "TrivialOffsetCalculator",
                                        "Kind",
                                        "MatrixShape",
                                        "complex"};
    while (length && argument[0] == ' ') argument++, length--;
    if (length == 0 || pace_is_digit(argument[0]) || argument[0] == '-' || argument[0] == '(') return true;
    size_t name = name_bytes(argument);
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (pace_span_is(argument, name < length ? name : length, words[i])) return true;
    return false;
}

/* Where the template argument at `at` ends: at its comma or the bracket that closes the list; NULL = it is cut. */
static char *argument_end(char *at) {
    for (size_t depth = 0; *at; at++) {
        if (depth == 0 && (*at == ',' || *at == '>')) return at;
        depth += *at == '<' || *at == '(';
        depth -= (*at == '>' || *at == ')') && depth;
    }
    return NULL;
}

/* Of the list that begins behind `open`; the list goes with its last argument. */
static void drop_dull_of(char *open) {
    for (char *at = open + 1, *end; (end = argument_end(at));) {
        bool last = *end == '>';
        if (is_dull(at, (size_t)(end - at))) {
            drop(at, (size_t)(end - at) + !last);
            while (*at == ' ') drop(at, 1);
        } else {
            at = end + !last;
        }
        if (last) break;
    }
    char *at = open + 1;
    while (*at == ' ') at++;
    if (*at == '>') {
        drop(open, (size_t)(at + 1 - open));
        return;
    }
    char *end = closing(open, '<', '>');
    while (end && end > open && (end[-1] == ' ' || end[-1] == ',')) drop(--end, 1);
}

/* Inner lists first, for what is left of them decides nothing further out. */
static void drop_dull(char *text) {
    for (char *at = text + strlen(text); at-- > text;)
        if (*at == '<') drop_dull_of(at);
}

/* "Kernel2<cutlass_80_tensorop_gemm>" becomes "cutlass_80_tensorop_gemm". */
static void unwrap_all(char *text) {
    static const char *const wrappers[] = {
        "Kernel<",         "Kernel2<",  "device_kernel<",       "gpu_kernel_impl<", "gpu_kernel_impl_nocast<",
        "func_wrapper_t<", "ReduceOp<", "enable_sm90_or_later<"};
    for (size_t i = 0; i < PACE_COUNT(wrappers); i++)
        for (char *at = text; (at = strstr(at, wrappers[i]));) {
            size_t length = strlen(wrappers[i]);
            char *end = closing(at + length - 1, '<', '>');
            bool whole = at == text || !pace_is_name(at[-1]);
            if (!end || !whole || argument_end(at + length) != end) {
                at += length;
                continue;
            }
            drop(end, 1);
            drop(at, length);
        }
}

/* --- kernels that a compiler fused ------------------------------------------------------------------------------ */

/* Operators that move no data say least of what is fused; the underscore before each goes too. */
static void drop_views(char *text, size_t width) {
    static const char *const views[] = {"__to_copy", "__unsafe_view", "_unsqueeze", "_expand", "_permute", "_transpose",
                                        "_squeeze",  "_view",         "_clone",     "_detach", "_select",  "_slice"};
    for (size_t i = 0; i < PACE_COUNT(views) && pace_text_width(text) > width; i++) {
        char *at = strstr(text, views[i]);
        if (at && !pace_starts(at + strlen(views[i]), "_backward")) drop(at, strlen(views[i]));
    }
}

/* Of a product of Tensile's: what follows its tile ("MT256x192x64") and instruction ("MI16x16x1"). */
static void drop_settings(char *text) {
    char *at = strstr(text, "_MI");
    if (!at) at = strstr(text, "_MT");
    if (at) at[1 + name_bytes_to(at + 1, '_')] = '\0';
}

void pace_function_reduce(char *text, size_t width) {
    void (*const steps[])(char *) = {drop_lambdas, drop_parameters, drop_dull, unwrap_all};
    if (pace_starts(text, "triton_")) drop_views(text, width);
    if (pace_starts(text, "Cijk_")) drop_settings(text);
    if (!strchr(text, '<')) return;
    for (size_t i = 0; i < PACE_COUNT(steps) && pace_text_width(text) > width; i++) steps[i](text);
}
