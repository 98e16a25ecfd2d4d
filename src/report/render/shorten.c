/*
 * Texts that are too wide for their column. Names of C++ kernels first lose what tells them least apart: their return
 * type, parameters and namespaces, then the numbers and wrappers around what an element-wise kernel computes. What is
 * still too wide loses its middle; a path, of which the end tells most, its beginning.
 */
#include "report/show.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <stddef.h>
#include <stdbool.h>

/* --- what tells long names of kernels apart ----------------------------------------------------------------------- */

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

/* Takes out of the clean name of a kernel, in place, what says least of it, until it fits `width` columns: the lambdas
 * and parameters within a C++ function's template arguments; then arguments that are numbers, plain types or helpers;
 * then wrappers around the one argument that tells. Of a kernel that a compiler fused, the operators that only view. */
static void function_reduce(char *text, size_t width) {
    void (*const steps[])(char *) = {drop_lambdas, drop_parameters, drop_dull, unwrap_all};
    if (pace_starts(text, "triton_")) drop_views(text, width);
    if (pace_starts(text, "Cijk_")) drop_settings(text);
    if (!strchr(text, '<')) return;
    for (size_t i = 0; i < PACE_COUNT(steps) && pace_text_width(text) > width; i++) steps[i](text);
}

/* The bytes at the head of `text` that fit `width` columns. */
static size_t head_bytes(const char *text, size_t width) {
    const char *at = text;
    while (*at) {
        const char *next = at;
        size_t columns = pace_code_width(pace_utf8_next(&next));
        if (columns > width) break;
        width -= columns;
        at = next;
    }
    return (size_t)(at - text);
}

/* Where the tail of at most `width` columns begins. */
static size_t tail_at(const char *text, size_t width) {
    size_t left = pace_text_width(text);
    const char *at = text;
    while (*at && left > width) {
        const char *next = at;
        left -= pace_code_width(pace_utf8_next(&next));
        at = next;
    }
    return (size_t)(at - text);
}

static char *cut(const char *text, size_t width) {
    if (pace_text_width(text) <= width) return pace_copy_text(text, strlen(text));
    if (width == 0) return pace_copy_text("", 0);
    size_t tail_width = width < 8 ? 0 : (width - 1) / 3;
    const char *tail = text + tail_at(text, tail_width);
    size_t head = head_bytes(text, width - 1 - tail_width), size = head + strlen(tail) + 4;
    char *shorter = pace_alloc(size, 1);
    if (shorter) snprintf(shorter, size, "%.*s\xe2\x80\xa6%s", (int)head, text, tail);
    return shorter;
}

bool pace_text_is_path(const char *text) { return strchr(text, '/') && !strpbrk(text, " (<[{:,'\""); }

/* From a slash on, if the name of the file fits. */
static char *cut_path(const char *text, size_t width) {
    if (width == 0) return pace_copy_text("", 0);
    const char *tail = text + tail_at(text, width - 1), *slash = strchr(tail, '/');
    if (slash && slash[1]) tail = slash;
    size_t size = strlen(tail) + 4;
    char *shorter = pace_alloc(size, 1);
    if (shorter) snprintf(shorter, size, "\xe2\x80\xa6%s", tail);
    return shorter;
}

/* Where the parameter list that ends a function's name begins, or its length when there is none. */
static size_t parameters_at(const char *text, size_t length) {
    size_t depth = 0;
    if (length == 0 || text[length - 1] != ')') return length;
    for (size_t at = length; at-- > 1;) {
        if (text[at] == ')') depth++;
        if (text[at] == '(' && --depth == 0) {
            bool called = pace_is_name(text[at - 1]) || text[at - 1] == '>' || text[at - 1] == ')';
            return called ? at : length;
        }
    }
    return length;
}

/* The bytes of a namespace and its "::" at the head of `text`; 0 when there is none. */
static size_t namespace_bytes(const char *text) {
    static const char unnamed[] = "(anonymous namespace)::";
    size_t length = 0;
    if (pace_starts(text, unnamed)) return sizeof unnamed - 1;
    while (pace_is_name(text[length])) length++;
    return length && pace_starts(text + length, "::") ? length + 2 : 0;
}

/* "at::native::Kernel<4>": a name with its arguments to the end, as of kernels in SYCL. */
static bool is_template(const char *text) {
    size_t head = strcspn(text, "<"), length = strlen(text);
    for (size_t i = 0; i < head; i++)
        if (!pace_is_name(text[i]) && text[i] != ':') return false;
    return head && head < length && text[length - 1] == '>';
}

/* Where the last of the scopes begins that "_ZN2at6native6reduceILi4EEEvi", as linkers name functions, lists with their
 * lengths: "reduceILi4EEEvi". At the head of other texts. */
static size_t linked_name_at(const char *text) {
    size_t last = 0;
    for (size_t at = 3; pace_starts(text, "_ZN") && pace_is_digit(text[at]);) {
        size_t length = 0;
        while (pace_is_digit(text[at]) && length < 100) length = 10 * length + (size_t)(text[at++] - '0');
        if (length == 0 || strnlen(text + at, length) < length) return 0;
        last = at;
        at += length;
    }
    return last;
}

/* "void at::native::reduce<4, at::Sum>(int, char*)" becomes "reduce<4, Sum>". Other texts stay as they are. */
static void simplify(char *text) {
    static const char result[] = "void ", type[] = ">::type ", mangled[] = "typeinfo name for ",
                      engine[] = "autograd::engine::";
    size_t length = strlen(text), end = parameters_at(text, length), from = 0;
    size_t before = pace_starts(text, engine) ? sizeof engine - 1 : linked_name_at(text);
    if (before) {
        drop(text, before);
        return;
    }
    const char *chosen = strstr(text, type);
    if (pace_starts(text, result)) from = sizeof result - 1;
    else if (pace_starts(text, mangled)) from = sizeof mangled - 1;
    else if (end < length && chosen) from = (size_t)(chosen - text) + sizeof type - 1;
    if (from == 0 && end == length && !is_template(text)) return;
    size_t to = 0;
    for (bool in_word = false; from < end;) {
        size_t skip = in_word ? 0 : namespace_bytes(text + from);
        from += skip;
        if (skip || from >= end) continue;
        in_word = pace_is_name(text[from]);
        text[to++] = text[from++];
    }
    text[to] = '\0';
}

/* The bytes of template arguments that are numbers, "128, 4, ". */
static size_t number_bytes(const char *text) {
    size_t length = 0, end = 0;
    while (pace_is_digit(text[length])) {
        while (pace_is_digit(text[length])) length++;
        if (!pace_starts(text + length, ", ")) break;
        end = length += 2;
    }
    return end;
}

/* "elementwise_kernel<128, 4, gpu_kernel_impl<direct_copy(TensorIteratorBase&)> >" becomes
 * "elementwise_kernel<direct_copy >". */
static void unwrap(char *text) {
    static const char parameters[] = "(TensorIteratorBase&)";
    static const char *const wrappers[] = {"gpu_kernel_impl_nocast<", "gpu_kernel_impl<"};
    char *at = strchr(text, '<');
    if (!at) return;
    drop(at + 1, number_bytes(at + 1));
    if ((at = strstr(text, parameters))) drop(at, sizeof parameters - 1);
    for (size_t i = 0; i < PACE_COUNT(wrappers); i++) {
        char *wrapper = strstr(text, wrappers[i]),
             *end = wrapper ? closing(wrapper + strlen(wrappers[i]) - 1, '<', '>') : NULL;
        if (!end) continue;
        drop(end, 1);
        drop(wrapper, strlen(wrappers[i]));
    }
}

char *pace_text_simple(const char *text) {
    char *simple = pace_copy_text(text, strlen(text));
    if (simple) simplify(simple);
    return simple;
}

char *pace_text_shorten(const char *text, size_t width) {
    if (pace_text_width(text) <= width) return pace_copy_text(text, strlen(text));
    if (pace_text_is_path(text)) return cut_path(text, width);
    char *simple = pace_text_simple(text);
    if (!simple) return NULL;
    if (pace_text_width(simple) > width) unwrap(simple);
    if (pace_text_width(simple) > width) function_reduce(simple, width);
    char *shorter = cut(simple, width);
    pace_free(simple);
    return shorter;
}

const char *pace_show_name(char out[PACE_SHOWN_NAME], const char *name) {
    char *clean = pace_show_clean(name ? name : ""), *text = clean ? pace_text_shorten(clean, PACE_NAME_COLUMNS) : NULL;
    snprintf(out, PACE_SHOWN_NAME, "%s", text ? text : "");
    PACE_FREE(clean, text);
    return out;
}
