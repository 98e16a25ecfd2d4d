#include "base/beside.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_UNFINISHED = 32, MOST_TRIES = 100 };

/* Paths a signal handler unlinks; NULL = free. */
static _Atomic(const char *) unfinished[MOST_UNFINISHED];

void pace_beside_remove_all(void) {
    for (int i = 0; i < MOST_UNFINISHED; i++) {
        const char *path = atomic_load(&unfinished[i]);
        if (path) unlink(path);
    }
}

static int enlist(const char *path) {
    for (int i = 0; i < MOST_UNFINISHED; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&unfinished[i], &none, path)) return i;
    }
    return -1; /* past so many a signal leaves one behind, which a later run removes */
}

/* Processes are alive or not on their own host. */
static unsigned host(void) {
    char name[256] = "";
    unsigned hash = 2166136261u;
    if (gethostname(name, sizeof name - 1) != 0) return 0;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* The folder of a path with its last slash, and its own name. */
static const char *split(char folder[PATH_MAX], const char *target) {
    const char *slash = strrchr(target, '/');
    size_t length = slash ? (size_t)(slash - target) + 1 : 0;
    memcpy(folder, target, length);
    folder[length] = '\0';
    return target + length;
}

/* ".NAME.HOST-PROCESS-NUMBER.part" of this host and a process that has ended. */
static bool is_leftover(const char *entry, const char *name) {
    unsigned of_host;
    long process;
    int number, end = 0;
    size_t length = strlen(name);
    if (entry[0] != '.' || strncmp(entry + 1, name, length) != 0 || entry[1 + length] != '.') return false;
    if (sscanf(entry + 2 + length, "%8x-%ld-%d.part%n", &of_host, &process, &number, &end) != 3 || end == 0)
        return false;
    if (entry[2 + length + (size_t)end] != '\0' || of_host != host() || process <= 0) return false;
    return kill((pid_t)process, 0) != 0 && errno == ESRCH;
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

static void strike(int number) {
    if (number >= 0) atomic_store(&unfinished[number], NULL);
}

/* Creates the file that nobody else has. It is listed before it is there, so that no signal finds it unlisted. */
static pace_status create(pace_beside *b, const char *asked, const struct stat *old) {
    char folder[PATH_MAX];
    const char *name = split(folder, b->target);
    size_t size = strlen(b->target) + 64;
    b->path = pace_alloc(size, 1);
    if (!b->path) return PACE_E_MEMORY;
    int file = -1;
    for (int number = 0; file < 0 && number < MOST_TRIES; number++) {
        snprintf(b->path, size, "%s.%s.%08x-%ld-%d.part", folder, name, host(), (long)getpid(), number);
        b->number = enlist(b->path);
        file = open(b->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) break;
        strike(b->number);
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
    strike(b->number);
    if (b->path != b->target) pace_free(b->path);
    pace_free(b->target);
}

/* Where the file is in the end: what a symbolic link leads to. */
static pace_status find_target(pace_beside *b, const char *path, struct stat *old, bool *replaces) {
    char resolved[PATH_MAX];
    bool there = stat(path, old) == 0;
    const char *target = there && realpath(path, resolved) ? resolved : path;
    *replaces = there && S_ISREG(old->st_mode);
    if (strlen(target) >= PATH_MAX - 64) {
        errno = ENAMETOOLONG;
        return fail(path, "cannot be created");
    }
    b->target = pace_copy_text(target, strlen(target));
    return b->target ? PACE_OK : PACE_E_MEMORY;
}

pace_status pace_beside_open(pace_beside *out, const char *path) {
    struct stat old, link;
    bool replaces;
    pace_beside b = {.number = -1};
    PACE_TRY(find_target(&b, path, &old, &replaces));
    bool dangling = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &old) != 0;
    bool stays = dangling || (lstat(b.target, &link) == 0 && !S_ISREG(link.st_mode));
    pace_status status = PACE_OK;
    if (stays) {
        b.path = b.target;
        b.file = fopen(b.path, "wb");
        if (!b.file) status = fail(path, "cannot be created");
    } else {
        remove_leftovers(b.target);
        status = create(&b, path, replaces ? &old : NULL);
    }
    if (status == PACE_OK) *out = b;
    else release(&b);
    return status;
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
