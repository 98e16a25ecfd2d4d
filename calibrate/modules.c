#include "modules.h"

#include "base/memory.h"
#include "base/shared_object.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *source, *target, *file, *brings, *package;
} known[] = {
    {"openblas", "cpu", "paceline-openblas.so", "matrix products on the CPU", "the Debian package libopenblas-dev"},
    {"onednn", "cpu", "paceline-onednn.so", "convolution, pooling, batch normalization and BF16 products on the CPU",
     "the Debian package libdnnl-dev"},
    {"cuda", "cuda", "paceline-cuda.so", "everything on CUDA devices",
     "NVIDIA's CUDA toolkit (nvcc, cuBLAS; cuDNN for convolutions)"},
};

static const pace_backend *load_module(const char *path, char *reason, size_t size) {
    pace_backend_fn entry = NULL;
    *(void **)&entry = pace_shared_object_symbol(path, "pace_calibrate_backend", reason, size);
    const pace_backend *backend = entry ? entry() : NULL;
    if (!backend || backend->version == PACE_BACKEND_VERSION) return backend;
    snprintf(reason, size, "it is of another version of Paceline");
    return NULL;
}

void pace_backends_load(pace_backends *out, const char *target, const char *folder) {
    *out = (pace_backends){0};
    if (strcmp(target, "cpu") == 0) out->items[out->count++] = pace_host_backend();
    for (size_t i = 0; i < PACE_COUNT(known); i++) {
        char path[2048], reason[256] = "";
        if (strcmp(known[i].target, target) != 0) continue;
        const pace_backend *backend = NULL;
        bool there = pace_shared_object_find(path, sizeof path, folder, known[i].file);
        if (there) backend = load_module(path, reason, sizeof reason);
        if (backend) {
            out->items[out->count++] = backend;
            continue;
        }
        out->missing_source[out->missing_count] = known[i].source;
        char *text = out->missing[out->missing_count++];
        if (there) snprintf(text, sizeof out->missing[0], "%s: %s", known[i].brings, reason);
        else
            snprintf(text, sizeof out->missing[0], "%s: build Paceline where there is %s%s", known[i].brings,
                     known[i].package, pace_shared_object_elsewhere());
    }
}
