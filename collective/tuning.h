/* Where settings come from: the environment, before that the table measured on this machine, before that the built-in one. */
#pragma once

#include "settings.h"

/** What rank 0 reads for so many ranks. Errors as of pace_comm_open(). */
pace_status pace_table_settings(pace_settings *out, int ranks) PACE_MUST_CHECK;
