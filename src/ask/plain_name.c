#include "ask/plain_name.h"

#include "base/text.h"

#include <string.h>

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/* The two letters that stand for micro, in UTF-8. */
static bool is_micro(const char *at) { return memcmp(at, "\xc2\xb5", 2) == 0 || memcmp(at, "\xce\xbc", 2) == 0; }

void pace_plain_name(char out[PACE_PLAIN_NAME], const char *name) {
    size_t n = 0;
    bool gap = false;
    for (const char *at = name; *at && n + 2 < PACE_PLAIN_NAME; at++) {
        bool micro = at[1] && is_micro(at);
        bool hump = is_upper(*at) && at > name && at[-1] >= 'a' && at[-1] <= 'z';
        if (!micro && !pace_is_alnum(*at) && *at != '%') {
            gap = true;
            continue;
        }
        if ((gap || hump) && n > 0) out[n++] = '_';
        out[n++] = micro ? 'u' : pace_lower(*at);
        at += micro;
        gap = false;
    }
    out[n] = '\0';
}

static bool is_joint(char c) { return c == '_' || c == '-' || c == '.' || c == ' '; }

bool pace_same_word_span(const char *a, size_t length, const char *b) {
    for (const char *end = a + length;;) {
        while (a < end && is_joint(*a)) a++;
        while (is_joint(*b)) b++;
        if (a == end || !*b) return a == end && !*b;
        if (pace_lower(*a++) != pace_lower(*b++)) return false;
    }
}

bool pace_same_word(const char *a, const char *b) { return pace_same_word_span(a, strlen(a), b); }

bool pace_word_listed(const pace_yaml_node *list, const char *word) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *text = pace_yaml_text(pace_yaml_item(list, i));
        if (text && pace_same_word(text, word)) return true;
    }
    return false;
}
