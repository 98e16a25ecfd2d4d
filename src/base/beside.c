#include "base/beside.h"
#include "base/memory.h"
#include "base/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 100, MOST_LINKS = 40, MOST_OF_NAME = 200, MOST_ADDED = 64 };

/* The folder of a path with its last slash, and its own name. */
static const char *split(char folder[PATH_MAX], const char *target) {
    const char *slash = strrchr(target, '/');
    size_t length = slash ? (size_t)(slash - target) + 1 : 0;
    memcpy(folder, target, length);
    folder[length] = '\0';
    return target + length;
}

/* ".NAME.HOST-PROCESS-NUMBER.part" of this host and a process that has ended. A long NAME is cut: the whole is a name
 * too. */
static bool is_leftover(const char *entry, const char *name) {
    unsigned of_host;
    long process;
    int number, end = 0;
    size_t length = strnlen(name, MOST_OF_NAME);
    if (entry[0] != '.' || strncmp(entry + 1, name, length) != 0 || entry[1 + length] != '.') return false;
    if (sscanf(entry + 2 + length, "%8x-%ld-%d.part%n", &of_host, &process, &number, &end) != 3 || end == 0)
        return false;
    return entry[2 + length + (size_t)end] == '\0' && pace_process_has_ended(of_host, process);
}

static void remove_leftovers(const char *target) {
    char folder[PATH_MAX], path[PATH_MAX];
    const char *name = split(folder, target);
    DIR *all = opendir(*folder ? folder : ".");
    if (!all) return;
    for (const struct dirent *entry; (entry = readdir(all));)
        if (is_leftover(entry->d_name, name) &&
            snprintf(path, sizeof path, "%s%s", folder, entry->d_name) < (int)sizeof path)
            unlink(path);
    closedir(all);
}

static pace_status fail(const char *path, const char *what) {
    return pace_fail(PACE_E_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* Creates the file that nobody else has. It is listed before it is there, so that no signal finds it unlisted. */
static pace_status create(pace_beside *b, const char *asked, const struct stat *old) {
    char folder[PATH_MAX];
    const char *name = split(folder, b->target);
    size_t size = strlen(b->target) + MOST_ADDED;
    if (!PACE_MAKE(b->path, size)) return PACE_E_MEMORY;
    int file = -1;
    for (int number = 0; file < 0 && number < MOST_TRIES; number++) {
        snprintf(b->path, size, "%s.%.*s.%08x-%ld-%d.part", folder, MOST_OF_NAME, name, pace_host_number(),
                 (long)getpid(), number);
        b->number = pace_unfinished_list(b->path);
        file = open(b->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) break;
        pace_unfinished_strike(b->number);
        b->number = -1;
        if (errno != EEXIST) break;
    }
    if (file < 0) return fail(asked, "cannot be created");
    if (old) (void)!fchmod(file, old->st_mode & 07777); /* the owner of another's file keeps the mode that is given */
    b->file = fdopen(file, "wb");
    if (b->file) return PACE_OK;
    close(file);
    unlink(b->path);
    return fail(asked, "cannot be created");
}

static void release(pace_beside *b) {
    pace_unfinished_strike(b->number);
    if (b->path != b->target) pace_free(b->path);
    pace_free(b->target);
}

/* Where a link leads to whose end is not there; false = it leads in circles. */
static bool follow(char target[PATH_MAX]) {
    for (int i = 0; i < MOST_LINKS; i++) {
        char to[PATH_MAX], folder[PATH_MAX];
        ssize_t length = readlink(target, to, sizeof to - 1);
        if (length < 0) return true;
        to[length] = '\0';
        (void)split(folder, *to == '/' ? "" : target);
        if (strlen(folder) + (size_t)length >= PATH_MAX) break;
        memcpy(target, folder, strlen(folder));
        memcpy(target + strlen(folder), to, (size_t)length + 1);
    }
    errno = ELOOP;
    return false;
}

/* Where the file is in the end: what a symbolic link leads to. */
static pace_status find_target(pace_beside *b, const char *path, struct stat *old, bool *there) {
    char target[PATH_MAX];
    size_t length = strlen(path);
    *there = stat(path, old) == 0;
    errno = ENAMETOOLONG;
    if (length >= PATH_MAX - MOST_ADDED) return fail(path, "cannot be created");
    if (!*there || !realpath(path, target)) memcpy(target, path, length + 1);
    if (!*there && !follow(target)) return fail(path, "cannot be created");
    errno = ENAMETOOLONG;
    if (strlen(target) >= PATH_MAX - MOST_ADDED) return fail(path, "cannot be created");
    b->target = pace_copy_text(target, strlen(target));
    return b->target ? PACE_OK : PACE_E_MEMORY;
}

/* The stream that a path such as "/dev/stdout" names; -1 = it names a file. Opened by that name a stream that appends
 * to a file would cut the file off. */
static int stream_of(const char *path) {
    int number, end = 0;
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    bool names =
        sscanf(path, "/dev/fd/%9d%n", &number, &end) == 1 || sscanf(path, "/proc/self/fd/%9d%n", &number, &end) == 1;
    return names && number > 0 && !path[end] ? number : -1;
}

static FILE *open_stream(int stream) {
    int file = dup(stream);
    return file < 0 ? NULL : fdopen(file, "wb");
}

/* A pipe, a device, a stream: written to where it is. */
static pace_status write_there(pace_beside *b, const char *path, int stream) {
    b->path = b->target;
    b->file = stream < 0 ? fopen(b->path, "wb") : open_stream(stream);
    return b->file ? PACE_OK : fail(path, "cannot be created");
}

pace_status pace_beside_open(pace_beside *out, const char *path) {
    struct stat old;
    bool there;
    int stream = stream_of(path);
    pace_beside b = {.number = -1};
    PACE_TRY(find_target(&b, path, &old, &there));
    pace_status status;
    if (stream >= 0 || (there && !S_ISREG(old.st_mode))) {
        status = write_there(&b, path, stream);
    } else {
        remove_leftovers(b.target);
        status = create(&b, path, there ? &old : NULL);
    }
    return PACE_GIVE(out, b, status, release(&b));
}

pace_status pace_beside_close(pace_beside *b, pace_status status) {
    bool apart = b->path != b->target;
    if (fclose(b->file) != 0 && status == PACE_OK) status = fail(b->target, "could not be written");
    if (status == PACE_OK && apart && rename(b->path, b->target) != 0)
        status = fail(b->target, "could not be replaced");
    if (status != PACE_OK && apart) unlink(b->path);
    release(b);
    return status;
}
