#include "heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__

#include <malloc.h>

/* Larger blocks are mapped, and given back at once. */
enum { PAGE = 4096, USUAL_PAD = 128 << 10, KEPT = 1 << 20, MAPPED = 1 << 20, HEAP = 256 << 20 };

static int is_limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/* A step of a million tasks lies in thousands of blocks of less than a large page: touched in pages of 4 KiB, their
 * faults were a sixth of a prediction's time. So addresses are set aside at once, and the kernel is told of all. No
 * memory is taken until it is touched; where addresses are limited, none are set aside. */
void cli_prepare_heap(void) {
    if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) return;
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_TOP_PAD, HEAP);
    void *first = malloc(MAPPED / 2);
    uintptr_t begin = ((uintptr_t)first + PAGE - 1) / PAGE * PAGE, end = (uintptr_t)sbrk(0);
    if (first && end > begin && end - begin <= HEAP + MAPPED) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    free(first);
    mallopt(M_TOP_PAD, USUAL_PAD);
}

#else

void cli_prepare_heap(void) {}

#endif
