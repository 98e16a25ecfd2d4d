/* The one table of verbs and of their options: the command line, its help, completion and manual, questions, and other
 * languages read it. The public functions (pace_verb_at(), pace_option_at()) iterate it. */
#pragma once

#include "base/status.h"

/** The verb of this name; PACE_E_USAGE naming the closest. */
pace_status pace_verb_find(const pace_verb **out, const char *name) PACE_MUST_CHECK;

/** The option of a verb by its name, hyphens or underscores; NULL when it has none. `*index` is its place. */
const pace_option *pace_option_find(size_t *index, const char *verb, const char *name);

/** PACE_E_USAGE for a field that the verb does not have, naming the closest. */
pace_status pace_option_unknown(const char *verb, const char *name);
