#include "base/replace_file.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(void *file, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, file) == length) return 0;
    return errno ? errno : EIO;
}

static pace_status fail(const char *path) {
    return pace_fail(PACE_E_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static pace_status fill_file(const char *at, const char *path, pace_fill_fn fill, void *context) {
    FILE *file = fopen(at, "wb");
    if (!file) return fail(path);
    pace_status status = fill(context, write_file, file);
    if (fclose(file) != 0 && status == PACE_OK) status = fail(path);
    return status;
}

pace_status pace_replace_file(const char *path, pace_fill_fn fill, void *context) {
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) return fill_file(path, path, fill, context);
    size_t size = strlen(path) + sizeof ".new";
    char *beside = pace_alloc(size, 1);
    if (!beside) return PACE_E_MEMORY;
    snprintf(beside, size, "%s.new", path);
    pace_status status = fill_file(beside, path, fill, context);
    if (status == PACE_OK && rename(beside, path) != 0) status = fail(path);
    if (status != PACE_OK) unlink(beside);
    pace_free(beside);
    return status;
}
