/* Which files are SQLite databases, and what is said of them where SQLite is missing. */
#include "source/traces/nsys.h"
#include "source/results_store.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Only a regular file may be looked into: what is read of a pipe is gone. */
bool pace_is_database(const char *path) {
    static const char magic[16] = "SQLite format 3"; /* https://www.sqlite.org/fileformat.html, section 1.3.1 */
    char found[sizeof magic];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    size_t got = fread(found, 1, sizeof found, file);
    fclose(file);
    return got == sizeof found && memcmp(found, magic, sizeof magic) == 0;
}

#ifndef PACE_HAVE_SQLITE
pace_status pace_nsys_read(pace_step *out, const char *path, pace_read_notes *notes, pace_progress progress) {
    (void)out, (void)notes, (void)progress;
    return pace_fail(PACE_E_MISSING,
                     "%s: is an SQLite database, and this paceline was built without SQLite; install libsqlite3-dev "
                     "and build it again",
                     path);
}

static pace_status no_store(const char *path) {
    return pace_fail(PACE_E_MISSING,
                     "store: %s: this paceline was built without SQLite; install libsqlite3-dev and build it again",
                     path);
}

pace_status pace_results_add(const char *path, const pace_stored_run *run, const pace_stored_figure *figures,
                             size_t count) {
    (void)run, (void)figures, (void)count;
    return no_store(path);
}

pace_status pace_results_read(pace_results *out, const char *const *paths, size_t count) {
    (void)out, (void)count;
    return no_store(paths[0]);
}

void pace_results_free(pace_results *results) { (void)results; }
#endif
