#include "server_processes.h"

#include "base/print.h"
#include "server_program_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The line that a server writes when it listens, or nothing when it ended. */
static int read_port(int pipe_end) {
    char line[16] = "";
    size_t length = 0;
    while (length + 1 < sizeof line && !strchr(line, '\n')) {
        ssize_t got = read(pipe_end, line + length, sizeof line - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        length += (size_t)got;
    }
    return (int)strtol(line, NULL, 10);
}

static int spawn_with(pid_t *out, int write_end, const char *path, char *const words[]) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end, 1);
    int error = posix_spawn(out, path, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static pace_result spawn(pid_t *out, int *port, pace_lane *lane, const char *program, const char *interface,
                         int wanted) {
    char path[1024], number[16], parent[16];
    int ends[2];
    char *words[] = {path, (char *)(uintptr_t)interface, number, parent, NULL};
    pace_server_program_path(path, sizeof path, program);
    pace_snprintf(number, sizeof number, "%d", wanted);
    pace_snprintf(parent, sizeof parent, "%ld", (long)getpid());
    if (pipe2(ends, O_CLOEXEC)) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "no pipe: %s", strerror(errno));
    int error = spawn_with(out, ends[1], path, words);
    close(ends[1]);
    *port = error ? 0 : read_port(ends[0]);
    close(ends[0]);
    if (error)
        return pace_lane_fail(lane, PACE_EXCHANGER_MISSING, "the server %s cannot be started: %s", path,
                              strerror(error));
    if (*port) return PACE_EXCHANGER_OK;
    if (!wanted) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "a server ended before it listened");
    return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "port %d is in use: a server listens there already", wanted);
}

/* All agree on whether all went well: who failed keeps its own message. */
static pace_result agree(pace_lane *lane, MPI_Comm comm, pace_result mine) {
    int bad = mine != PACE_EXCHANGER_OK, any = bad;
    if (comm != MPI_COMM_NULL) MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, comm);
    if (bad || !any) return mine;
    return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "another rank could not start its server");
}

/* Each address is empty but on the rank that has it. */
static pace_result tell_addresses(pace_server_processes *s, pace_lane *lane, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return PACE_EXCHANGER_OK;
    PACE_MPI_TRY(lane, "addresses of servers",
                 MPI_Allreduce(MPI_IN_PLACE, s->address, s->count * PACE_SERVER_ADDRESS, MPI_UNSIGNED_CHAR, MPI_BOR,
                               comm));
    return PACE_EXCHANGER_OK;
}

static pace_result start_here(pace_server_processes *s, pace_lane *lane, const char *program, int server,
                              bool one_host) {
    char name[64] = "127.0.0.1";
    int port = 0, wanted = lane->setup.port ? (int)lane->setup.port + server : 0;
    if (!one_host) gethostname(name, sizeof name - 1);
    PACE_LANE_TRY(spawn(&s->process[server], &port, lane, program, one_host ? name : "0.0.0.0", wanted));
    pace_snprintf(s->address[server], PACE_SERVER_ADDRESS, "%s:%d", name, port);
    return PACE_EXCHANGER_OK;
}

pace_result pace_servers_start(pace_server_processes *s, pace_lane *lane, MPI_Comm comm, const char *program) {
    int hosts, my_host, ranks = lane->setup.ranks;
    bool leads;
    pace_result result = PACE_EXCHANGER_OK;
    pace_mpi_hosts(&hosts, &leads, &my_host, comm);
    s->count = lane->setup.servers ? (int)lane->setup.servers : hosts;
    s->address = calloc((size_t)s->count, sizeof *s->address);
    s->process = calloc((size_t)s->count, sizeof *s->process);
    if (!s->address || !s->process) return pace_lane_fail(lane, PACE_EXCHANGER_FAILED, "out of memory");
    for (int k = 0; k < s->count && result == PACE_EXCHANGER_OK; k++) {
        bool mine = lane->setup.servers ? (int)((long)k * ranks / s->count) == lane->setup.rank : leads && k == my_host;
        if (mine) result = start_here(s, lane, program, k, hosts == 1);
    }
    PACE_LANE_TRY(agree(lane, comm, result));
    return tell_addresses(s, lane, comm);
}

void pace_servers_end(pace_server_processes *s) {
    for (int k = 0; s->process && k < s->count; k++) {
        if (s->process[k] <= 0) continue;
        kill(s->process[k], SIGKILL);
        waitpid(s->process[k], NULL, 0);
    }
    free(s->address);
    free(s->process);
    *s = (pace_server_processes){0};
}
