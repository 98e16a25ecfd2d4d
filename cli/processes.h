/* Whether mpirun started several of us, and how they talk. */
#pragma once

#include "paceline/paceline.h"

enum { CLI_GO_ON = -1 };

/** Has mpirun start so many of this command and gives its exit status; CLI_GO_ON where it was started that way or one
 * is enough. A rank that was killed, or an mpirun that is not there, is said. */
int cli_processes_start(double ranks, const char *const *command, int count);

/** How many processes there are, as whoever started them says; 1 = nobody says. */
int cli_processes_started(void);

/** Loads the module around MPI when the environment says that there are several processes; *out is NULL when there is
 * one. False after a message: the module is not there. */
bool cli_processes_open(const pace_processes **out, const char *verb);

/** Whether a file is a terminal that somebody reads. What starts several processes may give each one of its own, and
 * passes on what is written there. */
bool cli_is_terminal(int file);
