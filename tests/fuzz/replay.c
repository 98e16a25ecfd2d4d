/*
 * Runs the fuzz target that is named first on empty input, then once on every file given, and on every file in the
 * directories given. A crash or a sanitizer's report is the failure. A directory that does not exist holds no files.
 * PACE_PARTS lists the targets as PART(name), and main_of_NAME is what each calls LLVMFuzzerTestOneInput
 * (tests/CMakeLists.txt).
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef int fuzz_target(const uint8_t *data, size_t size);

#define PART(name) fuzz_target main_of_##name;
PACE_PARTS
#undef PART

static fuzz_target *target;

static fuzz_target *target_of(const char *name) {
#define PART(known) \
    if (strcmp(name, #known) == 0) return main_of_##known;
    PACE_PARTS
#undef PART
    return NULL;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int fail(const char *path) {
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return 1;
}

static int run_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) return fail(path);
    uint8_t *data = malloc(size ? size : 1); /* exactly as long as the input: a read past its end is seen */
    size_t got = data ? fread(data, 1, size, file) : 0;
    fclose(file);
    if (got != size) {
        free(data);
        return fail(path);
    }
    fprintf(stderr, "replay: %s (%zu bytes)\n", path, size);
    target(data, size);
    free(data);
    return 0;
}

static int run_path(const char *path, unsigned *count);

static int run_directory(const char *path, unsigned *count) {
    DIR *directory = opendir(path);
    if (!directory) return fail(path);
    char **names = NULL;
    size_t used = 0, capacity = 0;
    int bad = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        if (used == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            char **grown = realloc(names, capacity * sizeof *names);
            if (!grown) abort();
            names = grown;
        }
        size_t length = strlen(path) + strlen(entry->d_name) + 2;
        names[used] = malloc(length);
        if (!names[used]) abort();
        snprintf(names[used++], length, "%s/%s", path, entry->d_name);
    }
    closedir(directory);
    if (used) qsort(names, used, sizeof *names, compare_names);
    for (size_t i = 0; i < used; i++) {
        bad |= run_path(names[i], count);
        free(names[i]);
    }
    free(names);
    return bad;
}

static int run_path(const char *path, unsigned *count) {
    struct stat about;
    if (stat(path, &about) != 0) return errno == ENOENT ? 0 : fail(path);
    if (S_ISDIR(about.st_mode)) return run_directory(path, count);
    ++*count;
    return run_file(path, (size_t)about.st_size);
}

int main(int argc, char **argv) {
    unsigned count = 0;
    int bad = 0;
    target = argc > 1 ? target_of(argv[1]) : NULL;
    if (!target) {
        fprintf(stderr, "replay: expected the name of a target\n");
        return 2;
    }
    uint8_t *nothing = calloc(1, 1);
    if (!nothing) return 1;
    target(nothing, 0);
    free(nothing);
    for (int i = 2; i < argc; i++) bad |= run_path(argv[i], &count);
    fprintf(stderr, "replay: %u inputs and the empty one\n", count);
    return bad;
}
