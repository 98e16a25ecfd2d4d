#include "processes.h"
#include "arguments.h"
#include "say.h"
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* How many processes the starters of Open MPI, MPICH and Slurm's PMIx say there are; NULL = none started this one. */
static const char *said_count(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    const char *text = NULL;
    for (size_t i = 0; !text && i < sizeof names / sizeof *names; i++) text = getenv(names[i]);
    return text;
}

int cli_processes_started(void) { return said_count() ? atoi(said_count()) : 1; }

bool cli_is_terminal(int file) { return !said_count() && isatty(file); }

/* The static program loads no libraries. */
#ifdef PACE_STATIC
#define dlopen(path, flags) NULL
#define dlsym(module, name) NULL
#endif

/* An empty name is none. */
static const char *named_folder(void) {
    const char *folder = getenv("PACELINE_MODULES");
    return folder && *folder ? folder : NULL;
}

static bool find_module(char *out, size_t size) {
    char program[1024];
    const char *folder = named_folder();
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (folder) {
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
    if (cli_processes_started() <= 1) return true;
    void *module = find_module(path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (module) *(void **)&entry = dlsym(module, "pace_processes_open");
    const pace_processes *processes = entry ? entry() : NULL;
    if (processes && processes->version == PACE_PROCESSES_VERSION) {
        *out = processes;
        return true;
    }
    cli_say(
        "paceline %s: several processes were started, but the MPI module is missing: build Paceline with the Debian "
        "package libopenmpi-dev%s",
        verb, named_folder() ? ", or have PACELINE_MODULES name the folder of paceline-mpi.so" : "");
    return false;
}

/* mpirun refuses to start programs of the superuser, who has asked for it here. */
static void become(int ranks, const char *const *command, int given) {
    char number[16], program[1024];
    const char *const starter[] = {"mpirun", "--oversubscribe", "--quiet", "--bind-to", "none", "-n", number, program};
    enum { OF_STARTER = sizeof starter / sizeof *starter };
    const char **words = calloc((size_t)given + OF_STARTER, sizeof *words);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (!words || length <= 0) return;
    program[length] = '\0';
    snprintf(number, sizeof number, "%d", ranks);
    memcpy(words, starter, sizeof starter);
    memcpy(words + OF_STARTER, command + 1, (size_t)(given - 1) * sizeof *words); /* calloc() ended it */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    if (!isatty(STDOUT_FILENO)) setenv("NO_COLOR", "1", 1); /* mpirun gives its programs terminals */
    execvp(words[0], (char *const *)(uintptr_t)words);
}

enum { NOT_THERE = 127, SIGNALLED = 128, MOST_SIGNAL = 64 }; /* of a shell's exit statuses */

static volatile pid_t mpirun;

static volatile sig_atomic_t asked, ended_by;

/* mpirun ends its ranks at an interrupt; SIGUSR1 it hands on to them, who end after their step. A second interrupt ends
 * all. SIGUSR1 is sent once a second, as mpirun drops one that comes before its ranks. */
static void pass_on(int number) {
    bool asks = number == SIGUSR1 || number == SIGALRM || (number == SIGINT && !asked);
    kill(mpirun, asks ? SIGUSR1 : number);
    *(asks ? &asked : &ended_by) = number;
    if (asks) alarm(1);
}

/* mpirun's own words about a rank that failed are for who wrote the ranks: it is quiet, and one line is said here. It
 * exits with 1 when a signal ends it; SIGUSR1 ends it, or a rank, that has not yet begun. */
static int await_mpirun(int ranks) {
    int status = 0;
    while (waitpid(mpirun, &status, 0) < 0 && errno == EINTR) continue;
    alarm(0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
    if (code != CLI_DONE && ended_by) {
        signal(ended_by, SIG_DFL);
        raise(ended_by);
    }
    if (asked && code == SIGNALLED + SIGUSR1) {
        cli_say("paceline train: stopped before the first step that counts");
        return CLI_NO;
    }
    if (code == NOT_THERE) cli_say("paceline train: %d ranks need mpirun, of the Debian package openmpi-bin", ranks);
    else if (code > SIGNALLED && code <= SIGNALLED + MOST_SIGNAL && code != CLI_READER_GONE)
        cli_say("paceline train: a rank was ended by signal %d (%s)", code - SIGNALLED, strsignal(code - SIGNALLED));
    return code == NOT_THERE ? CLI_MISSING : code;
}

/* In a group of its own: the terminal's interrupt is passed on by this process alone. It ends when this one is
 * killed. */
static void start_mpirun(int ranks, const char *const *command, int count) {
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (!freopen("/dev/null", "r", stdin)) close(STDIN_FILENO);
    become(ranks, command, count);
    _exit(NOT_THERE);
}

int cli_processes_start(double ranks, const char *const *command, int count) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
    bool several = ranks >= 2 && ranks <= 4096 && ranks == floor(ranks); /* others the library refuses */
    if (!several || cli_processes_started() > 1) return CLI_GO_ON;
    mpirun = fork();
    if (mpirun == 0) start_mpirun((int)ranks, command, count);
    if (mpirun < 0) {
        cli_say("paceline train: --ranks: no process can be started: %s", strerror(errno));
        return CLI_MISSING;
    }
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) cli_handle(passed_on[i], pass_on);
    return await_mpirun((int)ranks);
}
