/*
 * The third cache of this machine, for libraries that share no objects: a function of a header.
 */
#pragma once

#include <stdio.h>
#include <unistd.h>

/** Bytes of one third cache, as the kernel lists it for the first processor; 0 = unknown. On some AMD hosts the C
 * library, asked where the kernel lists none, counts the caches of a whole socket. */
static inline size_t pace_third_cache_bytes(void) {
    long bytes = 0, kibibytes = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    if (file && fscanf(file, "%ldK", &kibibytes) == 1) bytes = kibibytes * 1024;
    if (file) (void)fclose(file);
    if (bytes <= 0) bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : 0;
}
