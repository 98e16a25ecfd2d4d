#include "ask/predict/run_files.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* NAME.RANK.et: the length of NAME; 0 = it is no such name. */
static size_t named_length(const char *path) {
    const char *base = base_of(path), *end = strstr(base, ".et"), *digit = end;
    while (end && digit > base && pace_is_digit(digit[-1])) digit--;
    return end && digit != end && digit != base && digit[-1] == '.' ? (size_t)(digit - 1 - path) : 0;
}

/* The path with its name's numbers left out. */
static void leave_numbers_out(char *out, const char *path) {
    const char *base = base_of(path);
    memcpy(out, path, (size_t)(base - path));
    out += base - path;
    for (const char *at = base; *at; at++) {
        if (!pace_is_digit(*at)) *out++ = *at;
        else if (at == base || !pace_is_digit(at[-1])) *out++ = PACE_RUN_NUMBER;
    }
    *out = '\0';
}

static pace_status describe(pace_run_file *out, const char *path) {
    size_t length = named_length(path);
    *out = (pace_run_file){.path = path, .told = length > 0};
    if (!PACE_MAKE(out->run, strlen(path) + 1)) return PACE_E_MEMORY;
    if (length) memcpy(out->run, path, length);
    else leave_numbers_out(out->run, path);
    return PACE_OK;
}

/* As people count: a number comes after a smaller one, however many digits either has. */
static int by_numbers(const char *a, const char *b) {
    while (*a && *b) {
        if (pace_is_digit(*a) && pace_is_digit(*b)) {
            char *end_a, *end_b;
            unsigned long long left = strtoull(a, &end_a, 10), right = strtoull(b, &end_b, 10);
            if (left != right) return left < right ? -1 : 1;
            a = end_a, b = end_b;
            continue;
        }
        if (*a != *b) return *a < *b ? -1 : 1;
        a++, b++;
    }
    return (*a != '\0') - (*b != '\0');
}

static int by_run(const void *left, const void *right) {
    const pace_run_file *a = left, *b = right;
    int order = strcmp(a->run, b->run);
    if (!order) order = by_numbers(a->path, b->path);
    return order ? order : strcmp(a->path, b->path);
}

pace_status pace_run_files_sort(pace_run_files *out, const char *const *paths, size_t count) {
    pace_run_files files = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; i < count && status == PACE_OK; i++) {
        pace_run_file file;
        status = describe(&file, paths[i]);
        if (status == PACE_OK) status = PACE_PUSH(&files, file);
        if (status != PACE_OK) pace_free(file.run);
    }
    if (status == PACE_OK && count) qsort(files.items, count, sizeof *files.items, by_run);
    return PACE_GIVE(out, files, status, pace_run_files_free(&files));
}

void pace_run_files_free(pace_run_files *files) {
    for (size_t i = 0; i < files->count; i++) pace_free(files->items[i].run);
    PACE_VEC_FREE(files);
}

/* The places of a name's numbers at which two names differ, one bit each. */
static unsigned differing(const char *a, const char *b) {
    unsigned places = 0, place = 1;
    a = base_of(a), b = base_of(b);
    while (*a && *b) {
        if (!pace_is_digit(*a) || !pace_is_digit(*b)) {
            a++, b++;
            continue;
        }
        char *end_a, *end_b;
        if (strtoull(a, &end_a, 10) != strtoull(b, &end_b, 10)) places |= place;
        place = place << 1 ? place << 1 : place;
        a = end_a, b = end_b;
    }
    return places;
}

bool pace_run_files_ambiguous(const pace_run_file *files, size_t count) {
    unsigned places = 0;
    for (size_t i = 1; i < count && !files->told; i++) places |= differing(files->path, files[i].path);
    return (places & (places - 1)) != 0;
}
