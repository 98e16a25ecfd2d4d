#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAME = 96 };

static int agree(MPI_Comm local, int worst) {
    PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, local);
    return worst;
}

/* Pages are set aside now: a full /dev/shm is an error here, not a bus error later. */
static int sized(int file, size_t bytes) {
    if (ftruncate(file, (off_t)bytes) != 0) return errno;
    return posix_fallocate(file, 0, (off_t)bytes);
}

static int make_unnamed(int *file, char name[NAME], size_t bytes) {
    *file = memfd_create("paceline", MFD_CLOEXEC);
    if (*file < 0) return errno;
    pace_snprintf(name, NAME, "/proc/%ld/fd/%d", (long)getpid(), *file);
    return sized(*file, bytes);
}

static int make_named(int *file, char name[NAME], size_t bytes) {
    static _Atomic unsigned made;
    pace_snprintf(name, NAME, "/paceline-%ld-%u", (long)getpid(), atomic_fetch_add(&made, 1));
    *file = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return *file < 0 ? errno : sized(*file, bytes);
}

static int map(pace_segment *out, int file, size_t bytes) {
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) return errno;
    *out = (pace_segment){base, bytes};
    return 0;
}

/* The system's number of the failure on any process, or 0. */
static int try_kind(pace_segment *out, MPI_Comm local, size_t bytes, bool named) {
    char name[NAME] = "";
    int rank, file = -1, error = 0;
    pace_segment made = {0};
    PMPI_Comm_rank(local, &rank);
    if (rank == 0) error = named ? make_named(&file, name, bytes) : make_unnamed(&file, name, bytes);
    error = agree(local, error);
    if (error == 0) {
        PMPI_Bcast(name, NAME, MPI_CHAR, 0, local);
        if (rank > 0) file = named ? shm_open(name, O_RDWR | O_CLOEXEC, 0) : open(name, O_RDWR | O_CLOEXEC);
        error = file < 0 ? errno : map(&made, file, bytes);
    }
    error = agree(local, error);
    if (named && rank == 0 && name[0]) shm_unlink(name);
    if (file >= 0) close(file);
    if (error) pace_segment_close(&made);
    else *out = made;
    return error;
}

pace_status pace_segment_open(pace_segment *out, MPI_Comm local, size_t bytes, pace_shm_kind kind) {
    int error = ENOSYS;
    if (kind != PACE_SHM_POSIX) error = try_kind(out, local, bytes, false);
    if (error && kind != PACE_SHM_MEMFD) error = try_kind(out, local, bytes, true);
    if (error) return pace_fail(PACE_E_MEMORY, "%zu bytes of shared memory: %s", bytes, strerror(error));
    return PACE_OK;
}

void pace_segment_close(pace_segment *segment) {
    if (segment->base) munmap(segment->base, segment->bytes);
    segment->base = NULL;
}
