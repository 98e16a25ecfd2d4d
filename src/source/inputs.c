#include "source/inputs.h"
#include "base/text.h"
#include "source/traces/trace_formats.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_text(const void *a, const void *b) { return pace_natural_order(*(char *const *)a, *(char *const *)b); }

static pace_status add_directory(pace_texts *paths, const char *directory) {
    DIR *stream = opendir(directory);
    if (!stream) return pace_fail(PACE_E_IO, "%s: cannot be read: %s", directory, strerror(errno));
    size_t first = paths->count;
    pace_status status = PACE_OK;
    for (struct dirent *entry; status == PACE_OK && (entry = readdir(stream));) {
        if (!pace_is_trace_name(entry->d_name)) continue;
        char path[4096];
        if (snprintf(path, sizeof path, "%s%s%s", directory, pace_ends(directory, "/") ? "" : "/", entry->d_name) <
            (int)sizeof path)
            status = pace_texts_add(paths, path);
    }
    closedir(stream);
    if (status == PACE_OK && paths->count == first) {
        char patterns[128];
        pace_trace_patterns(patterns, sizeof patterns);
        return pace_fail(PACE_E_INPUT, "%s: expected a directory with traces (%s), found none", directory, patterns);
    }
    if (status == PACE_OK) qsort(paths->items + first, paths->count - first, sizeof *paths->items, by_text);
    return status;
}

static pace_status add_pattern(pace_texts *paths, const char *pattern) {
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) {
        globfree(&found);
        return pace_fail(PACE_E_IO, "%s: no such file or directory", pattern);
    }
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < found.gl_pathc; i++) status = pace_texts_add(paths, found.gl_pathv[i]);
    globfree(&found);
    return status;
}

static pace_status add_input(pace_texts *paths, const char *input) {
    struct stat about;
    if (strcmp(input, "-") == 0) return pace_texts_add(paths, input);
    if (stat(input, &about) != 0) {
        if (strpbrk(input, "*?[")) return add_pattern(paths, input);
        return pace_fail(PACE_E_IO, "%s: %s", input, strerror(errno));
    }
    return S_ISDIR(about.st_mode) ? add_directory(paths, input) : pace_texts_add(paths, input);
}

pace_status pace_paths_expand(pace_texts *out, const char *const *inputs, size_t count) {
    pace_texts paths = {0};
    for (size_t i = 0; i < count; i++) {
        pace_status status = add_input(&paths, inputs[i]);
        if (status != PACE_OK) {
            pace_texts_free(&paths);
            return status;
        }
    }
    *out = paths;
    return PACE_OK;
}

typedef struct {
    bool known;
    dev_t device;
    ino_t file;
} file_id;

static file_id id_of(const char *path) {
    struct stat about;
    bool found = (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(path, &about)) == 0;
    return found ? (file_id){true, about.st_dev, about.st_ino} : (file_id){0};
}

/* Keeps the first of the paths that name one file, by any name, "-" too; `*out` = how many were dropped. */
static pace_status drop_repeats(size_t *out, pace_texts *paths) {
    file_id *ids = pace_alloc(paths->count, sizeof *ids);
    if (!ids) return PACE_E_MEMORY;
    size_t kept = 0, count = paths->count;
    for (size_t i = 0; i < count; i++) {
        file_id id = id_of(paths->items[i]);
        size_t same = 0;
        while (same < kept &&
               !(id.known && ids[same].known && ids[same].file == id.file && ids[same].device == id.device))
            same++;
        if (same < kept) {
            pace_free(paths->items[i]);
            continue;
        }
        ids[kept] = id;
        paths->items[kept++] = paths->items[i];
    }
    paths->count = kept;
    pace_free(ids);
    *out = count - kept;
    return PACE_OK;
}

static pace_status read_each_once(pace_texts *paths, pace_warnings *warnings) {
    size_t repeated;
    PACE_TRY(drop_repeats(&repeated, paths));
    if (!repeated) return PACE_OK;
    return pace_warn(warnings, PACE_WARN_INPUT_REPEATED, NULL,
                     "%zu of %zu inputs name a file given before: each file is read once", repeated,
                     repeated + paths->count);
}

pace_status pace_paths_find(pace_texts *out, pace_warnings *warnings, const char *const *inputs, size_t count) {
    pace_texts paths;
    PACE_TRY(pace_paths_expand(&paths, inputs, count));
    pace_status status = read_each_once(&paths, warnings);
    return PACE_GIVE(out, paths, status, pace_texts_free(&paths));
}

pace_status pace_paths_of_tables(pace_texts *out, pace_warnings *warnings, const char *const *names, size_t count) {
    pace_texts paths = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < count; i++) status = pace_texts_add(&paths, names[i]);
    if (status == PACE_OK) status = read_each_once(&paths, warnings);
    return PACE_GIVE(out, paths, status, pace_texts_free(&paths));
}
