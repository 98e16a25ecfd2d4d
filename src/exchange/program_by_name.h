/* The program of a collective by the name of its algorithm: the top of exchange/algorithms.h and program_*.c. */
#pragma once

#include "exchange/program_build.h"

/** Builds the program of a collective by an algorithm, both by name. PACE_E_INPUT for an unknown one, with those there
 * are, and for sizes it cannot do. */
pace_status pace_program_build(pace_program *out, const char *collective, const char *algorithm,
                               const pace_program_question *question) PACE_MUST_CHECK;
