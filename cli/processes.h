/* Whether mpirun started several of us, and how they talk. */
#pragma once

#include "paceline/paceline.h"

/** Loads the module around MPI when the environment says that there are several processes; *out is NULL when there is
 * one. False after a message: the module is not there. */
bool cli_processes_open(const pace_processes **out, const char *verb);
