/*
 * A parameter server as a process: paceline-train-server INTERFACE PORT PARENT (or paceline-train-server-ucx). It
 * writes the port that it listens on to its standard output, "0" when the port is in use, and ends with the process
 * that started it.
 */
#include "server_carrier.h"
#include "server_loop.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool has_parent(void *context) { return getppid() == *(pid_t *)context; }

/* The rank that started it may be bound to one processor; a server takes any. */
static void take_any_processor(void) {
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

static int number(const char *text) { return (int)strtol(text, NULL, 10); }

int main(int argc, char **argv) {
    pace_server *server = NULL;
    const pace_carrier *carrier;
    if (argc != 4) {
        fputs("paceline-train-server INTERFACE PORT PARENT: started by paceline train\n", stderr);
        return 2;
    }
    pid_t parent = number(argv[3]);
    signal(SIGINT,
           SIG_IGN); /* of a terminal, and what mpirun hands on: the rank ends after its step, then the server */
    signal(SIGUSR1, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    take_any_processor();
    if (!pace_server_carrier(&carrier)) return 4;
    printf("%d\n", pace_server_open(&server, argv[1], number(argv[2]), carrier));
    fclose(stdout);
    if (!server) return 3;
    pace_server_run(server, has_parent, &parent);
    return 0;
}
