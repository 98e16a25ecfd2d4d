/*
 * A module stays loaded: its libraries keep threads and device contexts that do not survive being unloaded.
 */
#include "modules.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *source, *target, *file, *brings, *package;
} known[] = {
    {"openblas", "cpu", "paceline-openblas.so", "matrix products on the CPU", "the Debian package libopenblas-dev"},
    {"onednn", "cpu", "paceline-onednn.so", "convolution, pooling, batch normalization and BF16 products on the CPU",
     "the Debian package libdnnl-dev"},
    {"cuda", "cuda", "paceline-cuda.so", "everything on CUDA devices",
     "NVIDIA's CUDA toolkit (nvcc, cuBLAS; cuDNN for convolutions)"},
};

/* Where the program lies, or with `library` the shared library that holds this code; "" when nobody knows. */
static void folder_of(char *out, size_t size, bool library) {
    Dl_info here;
    *out = '\0';
    if (!library) {
        ssize_t length = readlink("/proc/self/exe", out, size - 1);
        out[length > 0 ? length : 0] = '\0';
    } else if (dladdr(known, &here) && here.dli_fname) snprintf(out, size, "%s", here.dli_fname);
    char *slash = strrchr(out, '/');
    if (slash) *slash = '\0';
}

/* The first place where the file is, in a build tree or installed; false when it is nowhere. */
static bool find_module(char *out, size_t size, const char *folder, const char *file) {
    static const char *const below[] = {"modules", PACE_MODULES_FROM_BIN, "paceline"};
    char base[1024];
    const char *environment = getenv("PACELINE_MODULES");
    if (!folder && environment && *environment) folder = environment;
    if (folder) {
        snprintf(out, size, "%s/%s", folder, file);
        return access(out, R_OK) == 0;
    }
    for (int library = 0; library < 2; library++) {
        folder_of(base, sizeof base, library);
        for (size_t i = 0; *base && i < sizeof below / sizeof *below; i++) {
            snprintf(out, size, "%s/%s/%s", base, below[i], file);
            if (access(out, R_OK) == 0) return true;
        }
    }
    return false;
}

/* The static program loads no libraries. */
#ifdef PACE_STATIC
static const pace_backend *load_module(const char *path, char *reason, size_t size) {
    snprintf(reason, size, "the static program cannot load %.160s", path);
    return NULL;
}
#else
static const pace_backend *load_module(const char *path, char *reason, size_t size) {
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    pace_backend_fn entry = NULL;
    if (module) *(void **)&entry = dlsym(module, "pace_calibrate_backend");
    const pace_backend *backend = entry ? entry() : NULL;
    if (backend && backend->version == PACE_BACKEND_VERSION) return backend;
    const char *error = module ? NULL : dlerror();
    snprintf(reason, size, "%.200s", error ? error : "it is of another version of Paceline");
    return NULL;
}
#endif

void pace_backends_load(pace_backends *out, const char *target, const char *folder) {
    *out = (pace_backends){0};
    if (strcmp(target, "cpu") == 0) out->items[out->count++] = pace_host_backend();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char path[2048], reason[256] = "";
        if (strcmp(known[i].target, target) != 0) continue;
        const pace_backend *backend = NULL;
        bool there = find_module(path, sizeof path, folder, known[i].file);
        if (there) backend = load_module(path, reason, sizeof reason);
        if (backend) {
            out->items[out->count++] = backend;
            continue;
        }
        out->missing_source[out->missing_count] = known[i].source;
        char *text = out->missing[out->missing_count++];
        if (there) snprintf(text, sizeof out->missing[0], "%s: %s", known[i].brings, reason);
        else
            snprintf(text, sizeof out->missing[0], "%s: build Paceline where there is %s", known[i].brings,
                     known[i].package);
    }
}
