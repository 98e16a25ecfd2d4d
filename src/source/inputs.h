/* Which files an input names: a file, "-", a glob, or a directory of traces. */
#pragma once

#include "base/texts.h"
#include "base/warning.h"

/** Expands inputs to files, in sorted order per input: a directory to its traces by their
 * suffixes (trace_formats.h), a pattern that is no file to its matches. PACE_E_IO or PACE_E_INPUT names what holds no
 * trace. */
pace_status pace_paths_expand(pace_texts *out, const char *const *inputs, size_t count) PACE_MUST_CHECK;
/** The same of inputs of which each file is read once, by whatever names it is given; a warning counts those that were
 * given before. */
pace_status pace_paths_find(pace_texts *out, pace_warnings *warnings, const char *const *inputs,
                            size_t count) PACE_MUST_CHECK;

/** The same of tables, which are named one by one. */
pace_status pace_paths_of_tables(pace_texts *out, pace_warnings *warnings, const char *const *names,
                                 size_t count) PACE_MUST_CHECK;
