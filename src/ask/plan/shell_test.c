#include "ask/plan/shell_test.h"

#include "base/decimal.h"
#include "base/text.h"

#include <string.h>

enum { MOST_WORDS = 8, WORD = 128 };

typedef struct {
    char words[MOST_WORDS][WORD];
    size_t count;
} word_list;

static pace_shell_truth truth_of(bool is) { return is ? PACE_SHELL_YES : PACE_SHELL_NO; }

static pace_shell_truth opposite(pace_shell_truth truth) {
    return truth == PACE_SHELL_UNKNOWN ? truth : truth_of(truth == PACE_SHELL_NO);
}

/* One word, its quotes taken off; where it ends. */
static const char *read_word(char out[WORD], const char *at, const char *end) {
    char quote = '\0';
    size_t length = 0;
    for (; at < end && (quote || !pace_is_space(*at)); at++) {
        if (quote ? *at == quote : *at == '"' || *at == '\'') quote = quote ? '\0' : *at;
        else if (length + 1 < WORD) out[length++] = *at;
    }
    out[length] = '\0';
    return at;
}

static void split(word_list *out, const char *at, const char *end) {
    for (out->count = 0; out->count < MOST_WORDS; out->count++) {
        while (at < end && pace_is_space(*at)) at++;
        if (at == end) return;
        at = read_word(out->words[out->count], at, end);
    }
}

static bool has_variable(const char *word) { return strpbrk(word, "$`") != NULL; }

/* "$NAME" or "${NAME…}" of a variable that the script never sets. */
static bool is_unset(const char *word, pace_shell_is_set is_set, const void *context) {
    const char *name = word + 1 + (word[0] == '$' && word[1] == '{');
    size_t length = 0;
    while (word[0] == '$' && pace_is_name(name[length])) length++;
    return length > 0 && !is_set(context, name, length);
}

static pace_shell_truth is_empty(const char *word, pace_shell_is_set is_set, const void *context) {
    if (!has_variable(word)) return truth_of(!*word);
    return is_unset(word, is_set, context) ? PACE_SHELL_YES : PACE_SHELL_UNKNOWN;
}

static pace_shell_truth compare(const char *left, const char *sign, const char *right) {
    double a, b;
    if (has_variable(left) || has_variable(right)) return PACE_SHELL_UNKNOWN;
    if (strcmp(sign, "=") == 0 || strcmp(sign, "==") == 0)
        return strpbrk(right, "*?[") ? PACE_SHELL_UNKNOWN : truth_of(strcmp(left, right) == 0);
    if (strcmp(sign, "!=") == 0) return opposite(compare(left, "=", right));
    if (!pace_number_parse(&a, left) || !pace_number_parse(&b, right)) return PACE_SHELL_UNKNOWN;
    const struct {
        const char *sign;
        bool is;
    } signs[] = {{"-eq", a == b}, {"-ne", a != b}, {"-gt", a > b}, {"-ge", a >= b}, {"-lt", a < b}, {"-le", a <= b}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strcmp(sign, signs[i].sign) == 0) return truth_of(signs[i].is);
    return PACE_SHELL_UNKNOWN;
}

/* What stands between the signs "&&" and "||". */
static pace_shell_truth single(const char *at, const char *end, pace_shell_is_set is_set, const void *context) {
    word_list list;
    split(&list, at, end);
    char(*word)[WORD] = list.words;
    size_t count = list.count, first = count > 0 && strcmp(word[0], "!") == 0;
    if (first == 1) return opposite(single(strchr(at, '!') + 1, end, is_set, context));
    if (count == 1 && strcmp(word[0], "true") == 0) return PACE_SHELL_YES;
    if (count == 1 && strcmp(word[0], "false") == 0) return PACE_SHELL_NO;
    bool brackets = count >= 4 && word[0][0] == '[' && word[count - 1][0] == ']';
    bool negated = brackets && strcmp(word[1], "!") == 0;
    pace_shell_truth truth = PACE_SHELL_UNKNOWN;
    size_t from = 1 + negated, of = brackets ? count - 1 - from : 0;
    if (of == 2 && strcmp(word[from], "-z") == 0) truth = is_empty(word[from + 1], is_set, context);
    if (of == 2 && strcmp(word[from], "-n") == 0) truth = opposite(is_empty(word[from + 1], is_set, context));
    if (of == 3) truth = compare(word[from], word[from + 1], word[from + 2]);
    return negated ? opposite(truth) : truth;
}

static pace_shell_truth both(pace_shell_truth a, pace_shell_truth b) {
    if (a == PACE_SHELL_NO || b == PACE_SHELL_NO) return PACE_SHELL_NO;
    return a == PACE_SHELL_YES ? b : a;
}

pace_shell_truth pace_shell_test(const char *text, pace_shell_is_set is_set, const void *context) {
    pace_shell_truth so_far = PACE_SHELL_YES;
    bool either = false; /* the sign before this part is "||" */
    for (const char *at = text;;) {
        const char *end = at;
        while (*end && !pace_starts(end, "&&") && !pace_starts(end, "||")) end++;
        pace_shell_truth part = single(at, end, is_set, context);
        so_far = either ? opposite(both(opposite(so_far), opposite(part))) : both(so_far, part);
        if (!*end) return so_far;
        either = *end == '|';
        at = end + 2;
    }
}
