#include "base/pattern.h"
#include "base/text.h"

#include <stdint.h>
#include <string.h>

/* Far beyond what names are matched with, and matched in little time and memory. */
enum { MOST_LENGTH = 1000, MOST_ATOMS = 2000, MOST_NESTING = 32, MOST_COUNT = 32767 };

/* What is read of a group so far: atoms, those of the last one apart, since a repetition may follow. */
typedef struct {
    uint64_t before, last;
} group;

static uint64_t read_count(const char **at) {
    uint64_t count = 0;
    for (; pace_is_digit(**at); (*at)++)
        if (count < MOST_COUNT) count = count * 10 + (uint64_t)(**at - '0');
    return count;
}

/* Behind a bracket expression, where ']' at the start and classes such as [:digit:] do not end it. */
static const char *skip_bracket(const char *at) {
    at += at[1] == '^' ? 2 : 1;
    if (*at == ']') at++;
    while (*at && *at != ']') {
        const char *end = *at == '[' && at[1] && strchr(".:=", at[1]) ? strchr(at + 2, ']') : NULL;
        at = end ? end + 1 : at + 1;
    }
    return *at ? at : at - 1;
}

/* How often "{m,n}" repeats the atom when it is written out; moves to its last character. */
static uint64_t repetitions(const char **at) {
    const char *c = *at + 1;
    uint64_t least = read_count(&c), most = least;
    if (*c == ',') {
        c++;
        most = pace_is_digit(*c) ? read_count(&c) : least + 1;
    }
    if (*c == '}') *at = c;
    return most > least ? most : least;
}

static void add_atom(group *g, uint64_t atoms) {
    g->before += g->last;
    g->last = atoms;
}

/* NULL, or what is wrong with an expression that would take too much to compile or to match. */
static const char *excess(const char *expression) {
    group groups[MOST_NESTING + 1] = {{0}}, *g = groups;
    if (!*expression) return "expected an expression; an empty one matches all";
    if (strlen(expression) > MOST_LENGTH) return "expected at most 1,000 characters";
    for (const char *c = expression; *c; c++) {
        if (*c == '(') {
            if (g == groups + MOST_NESTING) return "expected at most 32 groups within each other";
            *++g = (group){0};
        } else if (*c == ')' && g > groups) {
            uint64_t inner = g->before + g->last + 1;
            add_atom(--g, inner);
        } else if (*c == '{' && pace_is_digit(c[1])) {
            uint64_t times = repetitions(&c);
            g->last *= times > 0 ? times : 1;
        } else if (*c == '+') g->last *= 2;
        else if (!strchr("*?|^$", *c)) {
            if (*c == '\\' && pace_is_digit(c[1])) return "expected no back-reference";
            if (*c == '\\' && c[1]) c++;
            if (*c == '[') c = skip_bracket(c);
            add_atom(g, 1);
        }
        if (g->before + g->last > MOST_ATOMS)
            return "expected repetitions of at most 2,000 characters when written out";
    }
    return NULL;
}

pace_status pace_pattern_compile(regex_t *out, const char *what, const char *expression) {
    char text[256];
    const char *reason = excess(expression);
    if (reason) return pace_fail(PACE_E_USAGE, "%s '%.80s': %s", what, expression, reason);
    int error = regcomp(out, expression, REG_EXTENDED | REG_NOSUB);
    if (!error) return PACE_OK;
    regerror(error, out, text, sizeof text);
    return error == REG_ESPACE ? pace_fail(PACE_E_MEMORY, "out of memory")
                               : pace_fail(PACE_E_USAGE, "%s '%.200s': %s", what, expression, text);
}

bool pace_pattern_fits(const regex_t *pattern, const char *text) { return regexec(pattern, text, 0, NULL, 0) == 0; }
