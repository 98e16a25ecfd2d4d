/* Memory that the processes of one host share. No name of it outlives its making, so that a killed program leaves
 * none. */
#pragma once

#include "base/status.h"

#include <mpi.h>
#include <stddef.h>

typedef enum {
    PACE_SHM_ANY,   /* the first that works */
    PACE_SHM_MEMFD, /* without a name */
    PACE_SHM_POSIX, /* a name in /dev/shm, until all have opened it */
} pace_shm_kind;

typedef struct {
    void *base; /* zeroed */
    size_t bytes;
} pace_segment;

/** Collective over `local`, the processes of one host; all ask for as many bytes. Errors, the same on all:
 * PACE_E_MEMORY with the system's reason. */
pace_status pace_segment_open(pace_segment *out, MPI_Comm local, size_t bytes, pace_shm_kind kind) PACE_MUST_CHECK;
void pace_segment_close(pace_segment *segment);
