#include "base/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_UNFINISHED = 32 };

/* NULL = free. */
static _Atomic(const char *) unfinished[MOST_UNFINISHED];
static _Atomic(pid_t) program;

int pace_unfinished_list(const char *path) {
    for (int i = 0; i < MOST_UNFINISHED; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&unfinished[i], &none, path)) return i;
    }
    return -1;
}

void pace_unfinished_strike(int number) {
    if (number >= 0) atomic_store(&unfinished[number], NULL);
}

void pace_unfinished_program(pid_t process) { atomic_store(&program, process); }

void pace_unfinished_remove_all(void) {
    pid_t process = atomic_load(&program);
    if (process > 0) kill(process, SIGTERM);
    for (int i = 0; i < MOST_UNFINISHED; i++) {
        const char *path = atomic_load(&unfinished[i]);
        if (path) pace_remove_flat(path);
    }
}

/* A handler may not call readdir(). */
static void remove_entries(int folder) {
    _Alignas(struct dirent64) char bytes[4096];
    for (long got; (got = syscall(SYS_getdents64, folder, bytes, sizeof bytes)) > 0;)
        for (long at = 0; at < got;) {
            unsigned short length;
            memcpy(&length, bytes + at + offsetof(struct dirent64, d_reclen), sizeof length);
            unlinkat(folder, bytes + at + offsetof(struct dirent64, d_name), 0);
            at += length;
        }
}

void pace_remove_flat(const char *path) {
    int before = errno;
    if (unlink(path) != 0) {
        int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0) remove_entries(folder), close(folder);
        rmdir(path);
    }
    errno = before;
}

unsigned pace_host_number(void) {
    char name[256] = "";
    unsigned hash = 2166136261u;
    if (gethostname(name, sizeof name - 1) != 0) return 0;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

bool pace_process_has_ended(unsigned host, long process) {
    return host == pace_host_number() && process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}
