#include "heap.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

/* Columns of a trace grow to many megabytes. A block of its own pages grows without a copy and is given back when it is
 * freed; the C library would soon take such blocks from its heap, where they leave holes behind. What is smaller comes
 * from the heap, which keeps what remedies take and free again and again. Walks of predicted steps do so with all they
 * take: pages that went back to the system would each be asked for and cleared once more. */
void cli_suit_heap(const char *verb) {
    enum { MIB = 1 << 20 };
    if (strcmp(verb, "analyze") == 0 || strcmp(verb, "compare") == 0) {
        mallopt(M_MMAP_THRESHOLD, MIB / 4);
        mallopt(M_TRIM_THRESHOLD, 2 * MIB);
    }
    if (strcmp(verb, "predict") == 0 || strcmp(verb, "plan") == 0) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, INT_MAX);
        mallopt(M_TOP_PAD, 64 * MIB);
        mallopt(M_ARENA_MAX, 1);
    }
}

#else

void cli_prepare_heap(void) {}
void cli_suit_heap(const char *verb) { (void)verb; }

#endif
