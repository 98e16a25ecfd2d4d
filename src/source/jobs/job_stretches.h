/*
 * The part of some tables that one of several processes reads: all files, one after the other, as one stretch of bytes,
 * cut into as many equal parts as there are processes. Plain text is cut at the beginnings of rows; a file that is
 * compressed or a database is whole, and is read by the process that has its first byte.
 */
#pragma once

#include "base/memory.h"

/* Rows that begin in [begin, end) of a file, both of them beginnings of rows (of a line, for the header). */
typedef struct {
    size_t file; /* the place in the paths */
    bool whole;  /* [begin, end) is all there is */
    uint64_t begin, end, size;
    uint64_t line; /* of the first row; 1 where begin is 0 */
} pace_job_stretch;

typedef PACE_VEC(pace_job_stretch) pace_job_stretches; /* free with PACE_VEC_FREE */

/** Those of process `rank` of `processes`, in order; every file begins in exactly one. `line` is set where a stretch
 * begins with its file. A pipe or standard input among the files gives all of them to process 0. */
pace_status pace_job_stretches_of(pace_job_stretches *out, const char *const *paths, size_t count, size_t rank,
                                  size_t processes) PACE_MUST_CHECK;

/** The line ends in a stretch of a plain file. PACE_E_IO. */
pace_status pace_job_stretch_lines(uint64_t *out, const pace_job_stretch *stretch, const char *path) PACE_MUST_CHECK;
