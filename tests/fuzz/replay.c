/*
 * Runs a fuzz target once on every file given, and on every file in the directories given; on empty input first.
 * A crash or a sanitizer's report is the failure. A directory that does not exist holds no files.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

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
    LLVMFuzzerTestOneInput(data, size);
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
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    uint8_t *nothing = malloc(1);
    if (!nothing) return 1;
    LLVMFuzzerTestOneInput(nothing, 0);
    free(nothing);
    for (int i = 1; i < argc; i++) bad |= run_path(argv[i], &count);
    fprintf(stderr, "replay: %u inputs and the empty one\n", count);
    return bad;
}
