/* A folder for what a fuzz target must have as a file: in memory where there is such a place, empty, removed at the
 * end. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[64];

static inline void remove_scratch_folder(void) { rmdir(scratch_folder); }

static inline const char *make_scratch_folder(void) {
    static const char *const places[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; !*scratch_folder && i < sizeof places / sizeof *places; i++) {
        snprintf(scratch_folder, sizeof scratch_folder, "%s/paceline-fuzz-XXXXXX", places[i]);
        if (!mkdtemp(scratch_folder)) *scratch_folder = '\0';
        else atexit(remove_scratch_folder);
    }
    if (!*scratch_folder) abort();
    return scratch_folder;
}
