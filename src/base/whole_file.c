#include "base/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_stream(void *stream, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, stream) == length) return 0;
    return errno ? errno : EIO;
}

/* To `beside`, renamed to `path` once it is whole; they are the same for what is no regular file. */
static pace_status write_beside(const char *beside, const char *path, pace_fill_fn fill, void *context) {
    bool apart = strcmp(beside, path) != 0;
    FILE *file = fopen(beside, "wb");
    if (!file) return pace_fail(PACE_E_IO, "%s: cannot be created: %s", path, strerror(errno));
    pace_sink sink;
    pace_status status = pace_sink_open(&sink, write_stream, file);
    if (status == PACE_OK) {
        status = fill(&sink, context);
        pace_status closed = pace_sink_close(&sink);
        if (status == PACE_OK && closed != PACE_OK) status = pace_fail_in(closed, path);
    }
    if (fclose(file) != 0 && status == PACE_OK)
        status = pace_fail(PACE_E_IO, "%s: could not be written: %s", path, strerror(errno));
    if (status == PACE_OK && apart && rename(beside, path) != 0)
        status = pace_fail(PACE_E_IO, "%s: could not be replaced: %s", path, strerror(errno));
    if (status != PACE_OK && apart) unlink(beside);
    return status;
}

pace_status pace_whole_file_write(const char *path, pace_fill_fn fill, void *context) {
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) /* a pipe or a device must stay one */
        return write_beside(path, path, fill, context);
    size_t size = strlen(path) + sizeof ".part";
    char *beside = pace_alloc(size, 1);
    if (!beside) return PACE_E_MEMORY;
    snprintf(beside, size, "%s.part", path);
    pace_status status = write_beside(beside, path, fill, context);
    pace_free(beside);
    return status;
}
