/*
 * Reads what `nsys export --type sqlite` makes of an Nsight Systems report into a pace_step, as kineto.h reads a trace
 * of PyTorch's profiler. docs/formats.md lists the tables and columns.
 *
 * Source: SQLite Export Schema Reference, docs.nvidia.com/nsight-systems (2021.5, 2024.6); columns are looked up by
 * name, since their sets differ from version to version.
 */
#pragma once

#include "source/traces/kineto.h"

/** Whether a regular file begins as SQLite databases do. */
bool pace_is_database(const char *path);

/** Reads one export and finishes the step; its times are from the earliest event, base_ns is that instant. What can be
 * read of a damaged file is kept, with a warning. PACE_E_INPUT with file, table and what was expected for a database
 * that is no export or holds no event; PACE_E_MISSING when built without SQLite. */
pace_status pace_nsys_read(pace_step *out, const char *path, pace_read_notes *notes,
                           pace_progress progress) PACE_MUST_CHECK;
