/*
 * What others call the columns of a table of jobs, and the units that their headers say (names and units of
 * catalog/job_columns.yaml): "mem_access (GB)" is memory_access_bytes times 1e9.
 */
#pragma once

#include "machine/catalog.h"
#include "base/yaml.h"
#include "source/job_table.h"

typedef struct {
    const pace_yaml *yaml;
} pace_job_names;

pace_status pace_job_names_load(pace_job_names *out, pace_catalog *catalog) PACE_MUST_CHECK;

/** The role of a column that is not named as ours are, and what turns its numbers into our unit. *unit, where it is
 * wanted: the unit as the header has it in lower case, "" = none; borrowed. PACE_JOB_NO_ROLE for a name that nobody
 * uses. */
int pace_job_name_find(double *factor, const char **unit, const pace_job_names *names, const char *header);
