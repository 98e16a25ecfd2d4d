#include "processes.h"
#include "say.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* How many processes the starters of Open MPI, MPICH and Slurm's PMIx say there are; NULL = none started this one. */
static const char *said_count(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    const char *text = NULL;
    for (size_t i = 0; !text && i < sizeof names / sizeof *names; i++) text = getenv(names[i]);
    return text;
}

static int started(void) { return said_count() ? atoi(said_count()) : 1; }

bool cli_is_terminal(int file) { return !said_count() && isatty(file); }

/* The static program loads no libraries. */
#ifdef PACE_STATIC
#define dlopen(path, flags) NULL
#define dlsym(module, name) NULL
#endif

static bool find_module(char *out, size_t size) {
    char program[1024];
    const char *folder = getenv("PACELINE_MODULES");
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (folder && *folder) {
        snprintf(out, size, "%s/paceline-mpi.so", folder);
        return access(out, R_OK) == 0;
    }
    if (length <= 0) return false;
    program[length] = '\0';
    folder = dirname(program);
    snprintf(out, size, "%s/modules/paceline-mpi.so", folder);
    if (access(out, R_OK) == 0) return true;
    snprintf(out, size, "%s/%s/paceline-mpi.so", folder, PACE_MODULES_FROM_BIN);
    return access(out, R_OK) == 0;
}

/* MPI's own plugins look for its symbols among the global ones. */
bool cli_processes_open(const pace_processes **out, const char *verb) {
    char path[2048];
    const pace_processes *(*entry)(void) = NULL;
    *out = NULL;
    if (started() <= 1) return true;
    void *module = find_module(path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (module) *(void **)&entry = dlsym(module, "pace_processes_open");
    const pace_processes *processes = entry ? entry() : NULL;
    if (processes && processes->version == PACE_PROCESSES_VERSION) {
        *out = processes;
        return true;
    }
    cli_say(
        "paceline %s: several processes were started, but the MPI module is missing: build Paceline with the Debian "
        "package libopenmpi-dev",
        verb);
    return false;
}

/* mpirun refuses to start programs of the superuser, who has asked for it here. */
static void become(int ranks, const char *const *command, int given) {
    char number[16], program[1024];
    const char *words[128] = {"mpirun", "--oversubscribe", "--bind-to", "none", "-n", number};
    size_t count = 6;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return;
    program[length] = '\0';
    snprintf(number, sizeof number, "%d", ranks);
    words[count++] = program;
    for (int i = 1; i < given && count + 1 < sizeof words / sizeof *words; i++) words[count++] = command[i];
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    if (!isatty(STDOUT_FILENO)) setenv("NO_COLOR", "1", 1); /* mpirun gives its programs terminals */
    execvp(words[0], (char *const *)(uintptr_t)words);
}

bool cli_processes_start(int ranks, const char *const *command, int count) {
    if (ranks < 2 || started() > 1) return true;
    become(ranks, command, count);
    cli_say("paceline train: %d ranks need mpirun, of the Debian package openmpi-bin", ranks);
    return false;
}
