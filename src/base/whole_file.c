#include "base/whole_file.h"
#include "base/beside.h"

#include <errno.h>
#include <stdio.h>

int pace_write_stream(void *stream, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, stream) == length) return 0;
    return errno ? errno : EIO;
}

pace_status pace_whole_file_write(const char *path, pace_fill_fn fill, void *context) {
    pace_beside beside;
    pace_sink sink;
    PACE_TRY(pace_beside_open(&beside, path));
    pace_status status = pace_sink_open(&sink, pace_write_stream, beside.file);
    if (status == PACE_OK) {
        status = fill(&sink, context);
        pace_status closed = pace_sink_close(&sink);
        bool cannot_write = closed != PACE_OK && (status == PACE_OK || status == PACE_E_IO);
        if (cannot_write) status = pace_fail_in(closed, path);
    }
    return pace_beside_close(&beside, status);
}
