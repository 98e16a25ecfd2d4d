/*
 * What others call the columns of a table of jobs, and the units that their headers say (names and units of
 * catalog/job_columns.yaml): "mem_access (GB)" is memory_access_bytes times 1e9.
 */
#pragma once

#include "machine/catalog.h"
#include "source/jobs/job_table.h"

enum { PACE_JOB_NAME_LONGEST = 96 };

/* A word for a column, or for a unit, as headers are compared: small letters and digits. */
typedef struct {
    char text[PACE_JOB_NAME_LONGEST];
    size_t length;
    bool alone;   /* counts without a unit */
    double times; /* of a unit: what it is worth */
    const char *name;
} pace_job_word;

typedef struct {
    PACE_VEC(pace_job_word) words;                                         /* by role */
    PACE_VEC(pace_job_word) units;                                         /* of each role that has some */
    size_t first_word[PACE_JOB_ROLES + 1], first_unit[PACE_JOB_ROLES + 1]; /* of each role */
} pace_job_known_names;

/* Borrowed from the catalogue. */
typedef struct {
    const pace_job_known_names *known;
} pace_job_names;

pace_status pace_job_names_load(pace_job_names *out, pace_catalog *catalog) PACE_MUST_CHECK;

/** The role of a column that is not named as ours are, and what turns its numbers into our unit. *unit, where it is
 * wanted: the unit as the header has it in lower case, "" = none; borrowed. PACE_JOB_NO_ROLE for a name that nobody
 * uses. */
int pace_job_name_find(double *factor, const char **unit, const pace_job_names *names, const char *header);
