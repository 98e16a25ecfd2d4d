/* Devices: one that pretends, and CUDA's through the driver's library, which is loaded when it is asked for. */
#include "base/clock.h"
#include "base/memory.h"
#include "paceline/collective.h"

#include <dlfcn.h>
#include <string.h>

/* --- one that pretends -------------------------------------------------------------------------------------------- */

typedef struct {
    char *memory;
    size_t bytes;
    double query_s, copy_s;
} pretended;

static int pretend_find(void *context, const void *at, const void **base, size_t *bytes) {
    const pretended *p = context;
    pace_clock_spend(p->query_s);
    *base = p->memory;
    *bytes = p->bytes;
    return (uintptr_t)at >= (uintptr_t)p->memory && (uintptr_t)at < (uintptr_t)p->memory + p->bytes;
}

static int pretend_copy(void *context, void *to, const void *from, size_t bytes) {
    const pretended *p = context;
    pace_clock_spend(p->copy_s);
    memcpy(to, from, bytes);
    return 0;
}

pace_status pace_device_pretend(pace_device *out, void **memory, size_t bytes, double query_s, double copy_s) {
    pretended *p = pace_alloc(1, sizeof *p);
    char *own = pace_alloc(bytes ? bytes : 1, 1);
    if (!p || !own) {
        pace_free(p);
        pace_free(own);
        return PACE_E_MEMORY;
    }
    *p = (pretended){own, bytes, query_s, copy_s};
    *memory = own;
    *out = (pace_device){sizeof *out, "a pretended device", p, pretend_find, pretend_copy, pretend_copy};
    return PACE_OK;
}

void pace_device_pretend_end(pace_device *device) {
    pretended *p = device->context;
    pace_free(p->memory);
    pace_free(p);
    device->context = NULL;
}

/* --- CUDA (its driver interface, as cuda.h declares it) ----------------------------------------------------------- */

enum { ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_RANGE_START = 11, ATTRIBUTE_RANGE_BYTES = 12, MEMORY_OF_DEVICE = 2 };

typedef unsigned long long device_address;
static struct {
    int (*attribute)(void *out, int which, device_address at);
    int (*to_host)(void *host, device_address device, size_t bytes);
    int (*to_device)(device_address device, const void *host, size_t bytes);
} cuda;

/* An address that CUDA does not know is an error there; here it is the host's. */
static int cuda_find(void *context, const void *at, const void **base, size_t *bytes) {
    unsigned type = 0;
    device_address start = 0, address = (device_address)(uintptr_t)at;
    (void)context;
    if (cuda.attribute(&type, ATTRIBUTE_MEMORY_TYPE, address) != 0 || type != MEMORY_OF_DEVICE) return 0;
    if (cuda.attribute(&start, ATTRIBUTE_RANGE_START, address) != 0 ||
        cuda.attribute(bytes, ATTRIBUTE_RANGE_BYTES, address) != 0)
        return -1;
    *base = (const void *)(uintptr_t)start;
    return 1;
}

static int cuda_to_host(void *context, void *host, const void *device, size_t bytes) {
    (void)context;
    return cuda.to_host(host, (device_address)(uintptr_t)device, bytes);
}

static int cuda_to_device(void *context, void *device, const void *host, size_t bytes) {
    (void)context;
    return cuda.to_device((device_address)(uintptr_t)device, host, bytes);
}

pace_status pace_device_cuda(pace_device *out) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return pace_fail(PACE_E_MISSING, "no CUDA driver here: %s", dlerror());
    *(void **)&cuda.attribute = dlsym(library, "cuPointerGetAttribute");
    *(void **)&cuda.to_host = dlsym(library, "cuMemcpyDtoH_v2");
    *(void **)&cuda.to_device = dlsym(library, "cuMemcpyHtoD_v2");
    if (!cuda.attribute || !cuda.to_host || !cuda.to_device) {
        dlclose(library);
        return pace_fail(PACE_E_MISSING,
                         "libcuda.so.1 lacks cuPointerGetAttribute, cuMemcpyDtoH_v2 or cuMemcpyHtoD_v2");
    }
    *out = (pace_device){sizeof *out, "CUDA", NULL, cuda_find, cuda_to_host, cuda_to_device};
    return PACE_OK;
}
