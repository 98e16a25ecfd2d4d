/* Which files an input names: a file, "-", a glob, or a directory of traces. */
#pragma once

#include "base/warning.h"

typedef PACE_VEC(char *) pace_paths;

/** Expands inputs to files, in sorted order per input: a directory to its traces by their
 * suffixes (trace_formats.h), a pattern that is no file to its matches. PACE_E_IO or PACE_E_INPUT names what holds no
 * trace. */
pace_status pace_paths_expand(pace_paths *out, const char *const *inputs, size_t count) PACE_MUST_CHECK;
/** The same of inputs of which each file is read once, by whatever names it is given; a warning counts those that were
 * given before. */
pace_status pace_paths_find(pace_paths *out, pace_warnings *warnings, const char *const *inputs,
                            size_t count) PACE_MUST_CHECK;

/** The same of tables, which are named one by one. */
pace_status pace_paths_of_tables(pace_paths *out, pace_warnings *warnings, const char *const *names,
                                 size_t count) PACE_MUST_CHECK;
void pace_paths_free(pace_paths *paths);

/** Keeps the first of the paths that name one file (by any name, "-" too); returns how many were dropped. */
pace_status pace_paths_drop_repeats(size_t *out, pace_paths *paths) PACE_MUST_CHECK;
