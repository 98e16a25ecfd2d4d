#include "ask/rows/row_kind.h"
#include "base/print.h"
#include "machine/place.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

pace_status pace_row_kind_find(const pace_row_kind **out, const pace_row_kinds *among, const char *name,
                               bool predicted) {
    char names[256] = "";
    size_t last = among->count;
    for (size_t i = 0; i < among->count; i++)
        if (!predicted || among->items[i]->answer) last = i;
    for (size_t i = 0; i < among->count; i++) {
        const pace_row_kind *kind = among->items[i];
        if (predicted && !kind->answer) continue;
        if (strcmp(kind->name, name) == 0) {
            *out = kind;
            return PACE_OK;
        }
        pace_list(names, sizeof names, i == last ? " or " : ", ", "%s", kind->name);
    }
    return pace_fail(PACE_E_USAGE, "kind: expected %s, found \"%.40s\"", names, name);
}

pace_status pace_row_kind_open(void **state, const pace_row_kind *kind, const pace_rows_options *options) {
    *state = pace_alloc(1, kind->size);
    return *state ? kind->open(*state, options) : PACE_E_MEMORY;
}

void pace_row_kind_close(const pace_row_kind *kind, void *state) {
    if (state) kind->close(state);
    pace_free(state);
}

pace_status pace_row_kind_read_file(const pace_row_kind *kind, void *state, const char *path) {
    return pace_input_read_file(state, path, kind->read);
}

pace_status pace_row_files_add(pace_row_files *files, pace_input *input) {
    const char *name = pace_input_name(input);
    pace_row_table one = {.name = pace_copy_text(name, strlen(name)), .bytes = pace_input_stored_bytes(input)};
    return one.name ? PACE_KEEP(files, one, pace_free((char *)one.name)) : PACE_E_MEMORY;
}

void pace_row_files_free(pace_row_files *files) {
    PACE_ITEMS (pace_row_table, one, files) pace_free((char *)one->name);
    PACE_VEC_FREE(files);
}

enum { HEAD = 1 << 16 };

static const pace_row_kind *firmest(const pace_row_kinds *among, const pace_columns *columns, const pace_csv *csv) {
    const pace_row_kind *best = among->items[0];
    int most = 0;
    for (size_t i = 0; i < among->count; i++) {
        int claim = among->items[i]->claims ? among->items[i]->claims(columns, csv) : 0;
        if (claim > most) most = claim, best = among->items[i];
    }
    return best;
}

/* Of the start of a table: its whole lines. */
static const pace_row_kind *kind_of_table(const pace_row_kinds *among, pace_catalog *catalog, const char *text,
                                          size_t length) {
    const pace_row_kind *kind = among->items[0];
    pace_input *input;
    pace_csv csv;
    pace_columns columns;
    if (pace_input_open_memory(&input, "table", text, length) != PACE_OK) return kind;
    if (pace_csv_read(&csv, input) == PACE_OK) {
        if (pace_columns_find(&columns, catalog, &csv) == PACE_OK) {
            kind = firmest(among, &columns, &csv);
        }
        pace_csv_free(&csv);
    }
    pace_input_free(input);
    return kind;
}

static const pace_row_kind *kind_of_text(const pace_row_kinds *among, pace_catalog *catalog, const char *text,
                                         size_t length) {
    for (size_t i = 0; i < among->count; i++)
        if (among->items[i]->is_log && among->items[i]->is_log(text)) return among->items[i];
    return kind_of_table(among, catalog, text, length);
}

static size_t read_head(char *out, const char *path) {
    pace_input *input;
    size_t length = 0, got = 1;
    if (pace_input_peek(&input, path) != PACE_OK) return 0;
    while (length < HEAD && got > 0 && pace_input_read(input, out + length, HEAD - length, &got) == PACE_OK)
        length += got;
    pace_input_free(input);
    if (length == HEAD)
        while (length > 0 && out[length - 1] != '\n') length--;
    out[length] = '\0';
    return length;
}

const pace_row_kind *pace_row_kind_of_file(const pace_row_kinds *among, pace_catalog *catalog, const char *path) {
    const pace_row_kind *kind = among->items[0];
    struct stat file;
    bool again =
        strcmp(path, "-") == 0 || (stat(path, &file) == 0 && (S_ISREG(file.st_mode) || S_ISFIFO(file.st_mode)));
    char *head = again ? pace_alloc(HEAD + 1, 1) : NULL;
    if (!head) return kind;
    size_t length = read_head(head, path);
    if (length > 0 && !memchr(head, '\0', length)) kind = kind_of_text(among, catalog, head, length);
    pace_free(head);
    return kind;
}

uint64_t pace_row_spread_bits(uint64_t x) {
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    return (x ^ (x >> 27)) * UINT64_C(0x81dadef4bc2dd44d) >> 11;
}

pace_status pace_row_group(uint64_t *out, const pace_csv *csv, size_t row, const char *by) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *key = by; key && *key; key += strcspn(key, ",") + (key[strcspn(key, ",")] == ',')) {
        size_t length = strcspn(key, ",");
        int column = pace_csv_find_any_case(csv, key, length);
        if (column < 0) return pace_fail(PACE_E_INPUT, "%s: no column \"%.*s\"", csv->name, (int)length, key);
        for (const char *c = pace_csv_cell(csv, row, (size_t)column); *c; c++)
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        hash = (hash ^ '|') * UINT64_C(0x100000001b3);
    }
    *out = pace_row_spread_bits(hash);
    return PACE_OK;
}

void pace_row_say_unused(pace_row_answer *answer, const char *const *columns, size_t count) {
    char list[128] = "";
    for (size_t i = 0; i < count; i++)
        if (*columns[i]) pace_list(list, sizeof list, ", ", "%s", columns[i]);
    if (*list) pace_append(answer->status, sizeof answer->status, "; no effect: %s", list);
}

void pace_row_say_unmeasured(pace_row_answer *answer, const char *why) {
    if (*why) pace_append(answer->status, sizeof answer->status, "; %s", why);
}

bool pace_row_says_unused(const pace_row_answer *answer) {
    return answer->known && strstr(answer->status, "no effect");
}

bool pace_row_names_other(const char *cell, const char *device) {
    char family[32];
    snprintf(family, sizeof family, "%.*s", (int)strcspn(device, "-"), device);
    return *cell &&
           (pace_place_has_figures(cell) || !strcasestr(cell, family)); /* figures of its own make it another */
}

void pace_row_answer_time(pace_row_answer *answer, double unit_s) {
    answer->values[0] = answer->time_s.median / unit_s;
    answer->values[1] = pace_estimate_low(answer->time_s) / unit_s;
    answer->values[2] = pace_estimate_high(answer->time_s) / unit_s;
}
