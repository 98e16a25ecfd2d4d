#include "base/whole_file.h"
#include "base/beside.h"
#include "base/packer.h"

#include <errno.h>
#include <stdio.h>

int pace_write_stream(void *stream, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, stream) == length) return 0;
    return errno ? errno : EIO;
}

/* A failure to write is told with the path; one that `fill` met first is the reason. */
static pace_status fill_through(pace_write_fn write, void *to, const char *path, pace_fill_fn fill, void *context) {
    pace_sink sink;
    PACE_TRY(pace_sink_open(&sink, write, to));
    pace_status status = fill(&sink, context), closed = pace_sink_close(&sink);
    bool cannot_write = closed != PACE_OK && (status == PACE_OK || status == PACE_E_IO);
    return cannot_write ? pace_fail_in(closed, path) : status;
}

static pace_status fill_packed(pace_pack_kind kind, FILE *file, const char *path, pace_fill_fn fill, void *context) {
    pace_packer *packer;
    PACE_TRY(pace_packer_open(&packer, kind, pace_write_stream, file));
    pace_status status = fill_through(pace_packer_write, packer, path, fill, context);
    if (status == PACE_OK) return pace_packer_close(packer);
    pace_packer_drop(packer);
    return status;
}

pace_status pace_whole_file_write(const char *path, pace_fill_fn fill, void *context) {
    pace_beside beside;
    pace_pack_kind kind = pace_pack_kind_of(path);
    PACE_TRY(pace_beside_open(&beside, path));
    pace_status status = kind == PACE_PACK_KINDS ? fill_through(pace_write_stream, beside.file, path, fill, context)
                                                 : fill_packed(kind, beside.file, path, fill, context);
    return pace_beside_close(&beside, status);
}
