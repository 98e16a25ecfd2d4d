#include "base/memory.h"
#include "base/shared_object.h"
#include "base/print.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char here = 0;

/* Where the program lies, or with `library` the shared library that holds this code; "" when nobody knows. */
static void folder_of(char *out, size_t size, bool library) {
    Dl_info info;
    *out = '\0';
    if (!library) {
        ssize_t length = readlink("/proc/self/exe", out, size - 1);
        out[length > 0 ? length : 0] = '\0';
    } else if (dladdr(&here, &info) && info.dli_fname) pace_snprintf(out, size, "%s", info.dli_fname);
    char *slash = strrchr(out, '/');
    if (slash) *slash = '\0';
}

static const char *named_folder(void) {
    const char *folder = getenv("PACELINE_MODULES");
    return folder && *folder ? folder : NULL;
}

const char *pace_shared_object_elsewhere(void) {
    return named_folder() ? "; the folder that PACELINE_MODULES names has no such module" : "";
}

bool pace_shared_object_find(char *out, size_t size, const char *folder, const char *file) {
    static const char *const below[] = {"modules", PACE_MODULES_FROM_BIN, "paceline"};
    char base[1024];
    if (!folder) folder = named_folder();
    if (folder) {
        pace_snprintf(out, size, "%s/%s", folder, file);
        return access(out, R_OK) == 0;
    }
    for (int library = 0; library < 2; library++) {
        folder_of(base, sizeof base, library);
        for (size_t i = 0; *base && i < PACE_COUNT(below); i++) {
            pace_snprintf(out, size, "%s/%s/%s", base, below[i], file);
            if (access(out, R_OK) == 0) return true;
        }
    }
    return false;
}

/* The static program loads no libraries. */
#ifdef PACE_STATIC
void *pace_shared_object_symbol(const char *path, const char *symbol, char *reason, size_t size) {
    (void)symbol;
    pace_snprintf(reason, size, "the static program cannot load %.160s", path);
    return NULL;
}
#else
void *pace_shared_object_symbol(const char *path, const char *symbol, char *reason, size_t size) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object ? dlsym(object, symbol) : NULL;
    const char *error = found ? NULL : dlerror();
    if (!found) pace_snprintf(reason, size, "%.200s", error ? error : "it has another version of Paceline");
    return found;
}
#endif
