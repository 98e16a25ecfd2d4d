/*
 * The processor, from what Linux shows: /proc/cpuinfo, sysfs, sysconf. Where the package hwloc was there at build time
 * it is asked for the last cache instead: it also knows caches that sysfs leaves out.
 */
#include "host_facts.h"

#include "base/third_cache.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef PACE_HWLOC
#include <hwloc.h>
#endif

int pace_host_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

/* The value of the first line of /proc/cpuinfo that starts with `key`. */
static void read_cpuinfo(char *out, size_t size, const char *key) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    *out = '\0';
    while (file && !*out && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon) continue;
        colon += strspn(colon, ": \t");
        snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (file) fclose(file);
}

#ifdef PACE_HWLOC
static double last_cache_bytes(void) {
    hwloc_topology_t topology;
    double bytes = 0;
    if (hwloc_topology_init(&topology) != 0) return 0;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_obj_type_t types[] = {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE};
        for (int i = 0; i < 3 && bytes <= 0; i++)
            for (hwloc_obj_t at = hwloc_get_next_obj_by_type(topology, types[i], NULL); at;
                 at = hwloc_get_next_obj_by_type(topology, types[i], at))
                bytes += (double)at->attr->cache.size;
    }
    hwloc_topology_destroy(topology);
    return bytes;
}
#else
static double last_cache_bytes(void) {
    size_t third = pace_third_cache_bytes();
    long second = third ? 0 : sysconf(_SC_LEVEL2_CACHE_SIZE);
    return third ? (double)third : second > 0 ? (double)second : 0;
}
#endif

void pace_host_facts(pace_device_facts *facts) {
    char vendor[64];
    facts->is_cpu = true;
    read_cpuinfo(facts->name, sizeof facts->name, "model name");
    read_cpuinfo(vendor, sizeof vendor, "vendor_id");
    if (!*facts->name) snprintf(facts->name, sizeof facts->name, "CPU");
    snprintf(facts->vendor, sizeof facts->vendor, "%s",
             strstr(vendor, "AMD")     ? "AMD"
             : strstr(vendor, "Intel") ? "Intel"
                                       : "generic");
    double page = (double)sysconf(_SC_PAGESIZE);
    facts->memory_bytes = page * (double)sysconf(_SC_PHYS_PAGES);
    facts->free_bytes = page * (double)sysconf(_SC_AVPHYS_PAGES);
    facts->cache_bytes = last_cache_bytes();
}
