#include "base/text.h"

#include <string.h>

bool pace_starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

bool pace_ends(const char *text, const char *with) { return pace_span_ends(text, strlen(text), with); }

bool pace_span_is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool pace_span_starts(const char *text, size_t length, const char *with) {
    size_t size = strlen(with);
    return length >= size && memcmp(text, with, size) == 0;
}

bool pace_span_ends(const char *text, size_t length, const char *with) {
    size_t size = strlen(with);
    return length >= size && memcmp(text + length - size, with, size) == 0;
}

bool pace_span_holds(const char *text, size_t length, const char *word) {
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++)
        if (memcmp(text + i, word, size) == 0) return true;
    return false;
}

const char *pace_span_listed(const char *text, size_t length, const char *list) {
    for (size_t size; *list; list += size + (list[size] == ' ')) {
        for (size = 0; list[size] && list[size] != ' ';) size++; /* names are short: no call pays */
        size_t same = size - (list[size - 1] == '*');
        if ((length == same || (same < size && length > same)) && memcmp(text, list, same) == 0) return list;
    }
    return NULL;
}

void pace_squeeze(char *out, size_t size, const char *text, const char *also) {
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        if (pace_is_alnum(*text) || strchr(also, *text)) out[n++] = pace_lower(*text);
    out[n] = '\0';
}

enum { MOST_EDITED = PACE_EDITED_LETTERS };

/* The next row of the table of Wagner and Fischer (1974): row[j] = edits from the letters of one word so far, of which
 * this is the next, to the first j of `other`. */
static void next_row(size_t *row, char letter, const char *other, size_t width) {
    size_t corner = row[0]++;
    for (size_t j = 0; j < width; j++) {
        size_t best = corner + (pace_lower(letter) != pace_lower(other[j]));
        corner = row[j + 1];
        if (row[j] + 1 < best) best = row[j] + 1;
        if (corner + 1 < best) best = corner + 1;
        row[j + 1] = best;
    }
}

size_t pace_beginnings_edits(size_t out[MOST_EDITED + 1], const char *text, const char *other) {
    size_t row[MOST_EDITED + 1], width = strnlen(other, MOST_EDITED), length = 0;
    for (size_t j = 0; j <= width; j++) row[j] = j;
    for (out[0] = width; length < MOST_EDITED && text[length]; out[length] = row[width])
        next_row(row, text[length++], other, width);
    return length;
}

size_t pace_word_edits(const char *a, const char *b) {
    size_t edits[MOST_EDITED + 1];
    return edits[pace_beginnings_edits(edits, a, b)];
}

const char *pace_word_nearer(const char *wanted, const char *best, const char *name) {
    bool nearer = !best || !*best || pace_word_edits(wanted, name) < pace_word_edits(wanted, best);
    return nearer ? name : best;
}

bool pace_word_is_near(const char *wanted, const char *name) {
    size_t edits = pace_word_edits(wanted, name), length = strlen(wanted);
    return edits * 3 <= length || ((length > 2 || edits < 2) && strcasestr(name, wanted));
}

const char *pace_first_letter(const char *text, const char *end) {
    while (text < end && *text && !pace_is_alnum(*text)) text++; /* a NUL is no part of a spelling */
    return text;
}

bool pace_same_letters_of(const char *a, size_t a_length, const char *b, size_t b_length) {
    for (const char *a_end = a + a_length, *b_end = b + b_length;;) {
        a = pace_first_letter(a, a_end);
        b = pace_first_letter(b, b_end);
        if (a == a_end || b == b_end) return a == a_end && b == b_end;
        if (pace_lower(*a++) != pace_lower(*b++)) return false;
    }
}

bool pace_same_letters(const char *a, size_t length, const char *b) {
    return pace_same_letters_of(a, length, b, strlen(b));
}

const char *pace_behind_letters(const char *text, const char *end, const char *with) {
    for (; *with; with++) {
        if (!pace_is_alnum(*with)) continue;
        text = pace_first_letter(text, end);
        if (text == end || pace_lower(*text++) != pace_lower(*with)) return NULL;
    }
    return text;
}

/* Most words differ in their first letters: this decides without their lengths. */
bool pace_same_word(const char *a, const char *b) {
    if (pace_is_alnum(*a) && pace_is_alnum(*b) && pace_lower(*a) != pace_lower(*b)) return false;
    return pace_same_letters(a, strlen(a), b);
}

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

/* The digits of a number at the head of a text, without zeros before them. */
static const char *number_at(size_t *length, const char *text) {
    while (*text == '0' && pace_is_digit(text[1])) text++;
    for (*length = 0; pace_is_digit(text[*length]);) ++*length;
    return text;
}

int pace_natural_order(const char *a, const char *b) {
    const char *x = a, *y = b;
    while (*x && *y) {
        if (pace_is_digit(*x) && pace_is_digit(*y)) {
            size_t x_length, y_length;
            x = number_at(&x_length, x);
            y = number_at(&y_length, y);
            if (x_length != y_length) return x_length < y_length ? -1 : 1;
            int order = memcmp(x, y, x_length);
            if (order) return order;
            x += x_length;
            y += y_length;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    if (!*x && !*y) return strcmp(a, b); /* "1" and "01" */
    return *x ? 1 : -1;
}

char pace_between_names(const char *header, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = header[i];
        if (pace_is_alnum(c) || (unsigned char)c >= 0x80 || memchr("_-. /()[]%#*\"'", c, 15)) continue;
        return memchr(header + i + 1, c, length - i - 1) ? c : '\0';
    }
    return '\0';
}
