/* Whether mpirun started several of us, and how they talk. */
#pragma once

#include "paceline/paceline.h"

/** Becomes mpirun that starts so many of this command, unless it was started that way or one is enough. False after a
 * message: mpirun is not there. */
bool cli_processes_start(int ranks, const char *const *command, int count);

/** Loads the module around MPI when the environment says that there are several processes; *out is NULL when there is
 * one. False after a message: the module is not there. */
bool cli_processes_open(const pace_processes **out, const char *verb);

/** Whether a file is a terminal that somebody reads. What starts several processes may give each one of its own, and passes
 * on what is written there. */
bool cli_is_terminal(int file);
