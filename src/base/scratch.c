#include "base/scratch.h"
#include "base/print.h"
#include "base/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 100, MOST_OF_NAME = 48 };

static const char *base(void) {
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

/* A folder of this user and of a process that has ended. */
static bool is_leftover(const char *path, const char *name) {
    struct stat about;
    unsigned host;
    long process;
    int number, end = 0;
    return sscanf(name, "paceline-%8x-%ld-%d%n", &host, &process, &number, &end) == 3 && end > 0 && !name[end] &&
           pace_process_has_ended(host, process) && lstat(path, &about) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == geteuid();
}

static void remove_leftovers(void) {
    char path[PACE_SCRATCH_PATH];
    DIR *all = opendir(base());
    for (const struct dirent *entry; all && (entry = readdir(all));)
        if (snprintf(path, sizeof path, "%s/%s", base(), entry->d_name) < (int)sizeof path &&
            is_leftover(path, entry->d_name))
            pace_remove_flat(path);
    if (all) closedir(all);
}

pace_status pace_scratch_open(pace_scratch *out) {
    if (strlen(base()) >= sizeof out->path - MOST_OF_NAME)
        return pace_fail(PACE_E_IO, "TMPDIR: expected a folder's name of less than %zu bytes, found %zu",
                         sizeof out->path - MOST_OF_NAME, strlen(base()));
    remove_leftovers();
    for (int number = 0; number < MOST_TRIES; number++) {
        pace_snprintf(out->path, sizeof out->path, "%s/paceline-%08x-%ld-%d", base(), pace_host_number(),
                      (long)getpid(), number);
        out->number = pace_unfinished_list(out->path);
        if (mkdir(out->path, 0700) == 0) return PACE_OK;
        pace_unfinished_strike(out->number);
        if (errno != EEXIST) break;
    }
    pace_status status = pace_fail(PACE_E_IO, "%s: a folder cannot be made there: %s", base(), strerror(errno));
    *out->path = '\0';
    return status;
}

void pace_scratch_close(pace_scratch *scratch) {
    if (!*scratch->path) return;
    pace_remove_flat(scratch->path);
    pace_unfinished_strike(scratch->number);
    *scratch->path = '\0';
}
