/* Which trace files may be ranks of one run, told by their names: NAME.RANK.et of one NAME, or names that differ in a
 * number ("rank0.et.json.gz", "host_3.et"). Whether they are, their contents say (replay_asked.c). */
#pragma once

#include "base/memory.h"

#define PACE_RUN_NUMBER '\1' /* where the name of a run leaves a number out */

typedef struct {
    const char *path; /* borrowed */
    char *run;        /* owned: files of one run have the same */
    bool told;        /* NAME.RANK.et: the name says it */
} pace_run_file;

typedef PACE_VEC(pace_run_file) pace_run_files;

/** Sorted by run, those of a run by their numbers. */
pace_status pace_run_files_sort(pace_run_files *out, const char *const *paths, size_t count) PACE_MUST_CHECK;
void pace_run_files_free(pace_run_files *files);

/** Whether the names of files of one run differ in more than one number, so that they may be several runs. */
bool pace_run_files_ambiguous(const pace_run_file *files, size_t count);
