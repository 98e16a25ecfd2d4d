/*
 * Texts that are too wide for their column. Names of C++ kernels first lose what tells them least apart: their return
 * type, parameters and namespaces, then the numbers and wrappers around what an element-wise kernel computes. What is
 * still too wide loses its middle; a path, of which the end tells most, its beginning.
 */
#include "report/render/function_words.h"
#include "report/show.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

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

/* Takes bytes out of a text. */
static void drop(char *at, size_t count) { memmove(at, at + count, strlen(at + count) + 1); }

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

/* The bracket that closes the template arguments that begin at `at`, or NULL. */
static char *closing(char *at) {
    for (size_t depth = 1; *at; at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (depth == 0) return at;
    }
    return NULL;
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
        char *wrapper = strstr(text, wrappers[i]), *end = wrapper ? closing(wrapper + strlen(wrappers[i])) : NULL;
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
    if (pace_text_width(simple) > width) pace_function_reduce(simple, width);
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
