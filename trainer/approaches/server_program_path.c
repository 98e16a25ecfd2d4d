#include "server_program_path.h"

#include "base/print.h"

#include <dlfcn.h>
#include <string.h>

void pace_server_program_path(char *out, size_t size, const char *name) {
    static const char here = 0;
    Dl_info info;
    const char *slash = dladdr(&here, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    pace_snprintf(out, size, "%.*s/%s", slash ? (int)(slash - info.dli_fname) : 1, slash ? info.dli_fname : ".", name);
}
