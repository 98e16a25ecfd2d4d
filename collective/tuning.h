/*
 * Where settings come from: the built-in choice, over it the table that was measured on this machine, over it the
 * environment. A table is a text:
 *
 *     paceline-collective 1
 *     machine AMD EPYC 9654, 2 processors
 *     ranks 2
 *     allreduce=flat:512K,copy
 *     # measured allreduce 8 flat 1.1e-06 1.2e-06
 *     ranks 4
 *     ...
 *
 * The comments that begin with "measured" say what the choice took at a size, and the built-in one, in seconds: for
 * `paceline tune`. The lines behind "ranks" are items of the settings' grammar for so many ranks on a host; of several
 * sections the one for the most ranks that are not too many counts, else the first.
 */
#pragma once

#include "settings.h"

/** What rank 0 reads for so many ranks. Errors as of pace_comm_open(). */
pace_status pace_tuning_settings(pace_settings *out, int ranks) PACE_MUST_CHECK;

/** The same from the text of a table. PACE_E_INPUT names the line. */
pace_status pace_tuning_read(pace_settings *settings, const char *text, const char *path, const char *machine,
                             int ranks) PACE_MUST_CHECK;

enum { PACE_MACHINE_LINE = 160, PACE_TUNING_PATH = 1024, PACE_TUNING_BYTES = 64 << 10 };

/** The line of this machine: its processor and how many. */
void pace_tuning_machine(char out[PACE_MACHINE_LINE]);

/** Where the table lies: PACELINE_COLLECTIVE_TABLE, or paceline/collective.txt in the user's configuration folder.
 * False: nowhere (the variable is empty, or there is no home). `asked` says that the variable names it. */
bool pace_tuning_path(char out[PACE_TUNING_PATH], bool *asked);
