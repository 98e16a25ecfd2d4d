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

void pace_squeeze(char *out, size_t size, const char *text, const char *also) {
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        if (pace_is_alnum(*text) || strchr(also, *text)) out[n++] = pace_lower(*text);
    out[n] = '\0';
}

/* One row of the table of Wagner and Fischer (1974): row[j] = edits from the letters of `a` so far to the first j of b.
 */
size_t pace_word_edits(const char *a, const char *b) {
    enum { MOST = 63 };
    size_t row[MOST + 1], width = strnlen(b, MOST);
    for (size_t j = 0; j <= width; j++) row[j] = j;
    for (size_t i = 0; i < MOST && a[i]; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            size_t best = corner + (pace_lower(a[i]) != pace_lower(b[j]));
            corner = row[j + 1];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (corner + 1 < best) best = corner + 1;
            row[j + 1] = best;
        }
    }
    return row[width];
}
