#include "ask/validate/case_words.h"

#include <stdio.h>
#include <string.h>

static const char *of_column(const pace_case_place *at, const char *name) {
    int column = at->csv ? pace_csv_find(at->csv, name) : -1;
    return column < 0 ? NULL : pace_csv_cell(at->csv, at->row, (size_t)column);
}

static const char *look_up(const pace_case_place *at, const char *name) {
    if (strcmp(name, "data") == 0) return at->folder;
    if (strcmp(name, "cases") == 0) return at->one->beside;
    if (strcmp(name, "before") == 0) return at->written;
    if (strcmp(name, "table") == 0) return at->table;
    return of_column(at, name);
}

/* Of the name that `text` begins with, up to its brace. */
static pace_status value_of(const char **out, const pace_case_place *at, const char *text) {
    char name[64];
    size_t length = strcspn(text, "}");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *out = text[length] ? look_up(at, name) : NULL;
    if (*out) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "case %s: nothing is named \"{%.40s}\"", at->one->name, name);
}

pace_status pace_case_fill(char out[PACE_CASE_WORDS], bool *whole, const pace_case_place *at, const char *text) {
    size_t used = 0;
    *whole = true;
    while (*text) {
        size_t plain = strcspn(text, "{");
        const char *value = "";
        int length = snprintf(out + used, PACE_CASE_WORDS - used, "%.*s", (int)plain, text);
        used += (size_t)length;
        text += plain;
        if (*text == '{') {
            PACE_TRY(value_of(&value, at, text + 1));
            text += strcspn(text, "}") + 1;
            *whole &= *value != '\0';
        }
        if (used < PACE_CASE_WORDS) used += (size_t)snprintf(out + used, PACE_CASE_WORDS - used, "%s", value);
        if (used >= PACE_CASE_WORDS) return pace_fail(PACE_E_LIMIT, "case %s: words are too long", at->one->name);
    }
    out[used] = '\0';
    return PACE_OK;
}
