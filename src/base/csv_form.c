#include "base/csv_form.h"
#include "base/decimal.h"

#include <string.h>

typedef struct {
    const char *begin, *end;
} line;

/* The next line with more than blanks; false where there is none. */
static bool next_line(line *out, const char **at, const char *end) {
    while (*at < end) {
        const char *stop = memchr(*at, '\n', (size_t)(end - *at));
        line found = {*at, stop ? stop : end};
        *at = stop ? stop + 1 : end;
        while (found.end > found.begin && strchr(" \t\r", found.end[-1]) && found.end[-1]) found.end--;
        const char *first = found.begin;
        while (first < found.end && *first == ' ') first++;
        if (first == found.end || *first == '#') continue;
        *out = found;
        return true;
    }
    return false;
}

static bool has_any(line text, const char *characters) {
    for (const char *at = text.begin; at < text.end; at++)
        if (*at && strchr(characters, *at)) return true;
    return false;
}

static bool is_number(const char *word, size_t length) {
    char text[64];
    double value;
    if (length == 0 || length >= sizeof text) return false;
    memcpy(text, word, length);
    text[length] = '\0';
    return pace_number_parse(&value, text);
}

/* Words parted by so many blanks; *numbers: how many of them are numbers. */
static size_t count_words(size_t *numbers, line text, unsigned spaces) {
    size_t count = 0;
    *numbers = 0;
    for (const char *at = text.begin; at < text.end;) {
        while (at < text.end && *at == ' ') at++;
        const char *word = at;
        unsigned blanks = 0;
        for (; at < text.end && blanks < spaces; at++) blanks = *at == ' ' ? blanks + 1 : 0;
        size_t length = (size_t)(at - word) - blanks;
        count += length > 0;
        *numbers += is_number(word, length);
    }
    return count;
}

static bool is_rule(line text) {
    for (const char *at = text.begin; at < text.end; at++)
        if (!strchr("-=: |+", *at) || !*at) return false;
    return has_any(text, "-=");
}

/* Names, then as many cells, or one more: pandas prints a row's number and no name for it. */
static unsigned spaces_between(line names, const char *at, const char *end) {
    line row;
    if (!next_line(&row, &at, end)) return 0;
    if (is_rule(row) && !next_line(&row, &at, end)) return 0;
    if (has_any(row, "\t;|")) return 0;
    for (unsigned spaces = 2; spaces >= 1; spaces--) {
        size_t numbers, some;
        size_t count = count_words(&numbers, names, spaces), cells = count_words(&some, row, spaces);
        if (count >= 2 && numbers == 0 && some > 0 && (cells == count || cells == count + 1)) return spaces;
    }
    return 0;
}

/* "matmul-performance:": what Triton prints above a table. */
static bool is_title(line text) { return text.end > text.begin && text.end[-1] == ':' && !has_any(text, ",;\t|"); }

pace_csv_form pace_csv_form_of(const char *head, size_t length) {
    const char *at = head, *end = head + length;
    pace_csv_form form = {0};
    line names, rule;
    if (!next_line(&names, &at, end)) return form;
    if (is_title(names)) {
        const char *behind = at;
        if (!next_line(&names, &at, end) || has_any(names, ",;\t|") || !spaces_between(names, at, end)) return form;
        form.skip = (size_t)(behind - head);
    }
    if (has_any(names, ";\t")) return form;
    if (has_any(names, "|") && *names.begin != '|') {
        const char *below = at;
        form.piped = next_line(&rule, &below, end) && is_rule(rule) && has_any(rule, "|");
        return form;
    }
    if (!has_any(names, ",|")) form.spaces = spaces_between(names, at, end);
    return form;
}
