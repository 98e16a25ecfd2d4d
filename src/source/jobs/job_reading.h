/* How tables of jobs are read, and what came of it. */
#pragma once

#include "base/progress.h"
#include "base/input.h"
#include "base/texts.h"
#include "source/jobs/job_columns.h"
#include "source/jobs/job_ids.h"
#include "source/jobs/job_stretches.h"

/* The share of refused rows beyond which a table is refused. */
#define PACE_JOBS_MOST_REJECTED 0.01

enum { PACE_JOB_SHOWN_REJECTS = 5 };

/* Zero-initialise for defaults. */
typedef struct {
    pace_catalog *catalog;    /* of what columns are called and may hold; must be given */
    const char *columns;      /* "theirs=ours,theirs*1e9=ours"; NULL = by name */
    const char *rejects_path; /* CSV of refused rows: file, line, reason, row; NULL = none */
    const char *table;        /* of a database; NULL = "jobs", or the only one */
    double most_rejected;     /* share; 0 = PACE_JOBS_MOST_REJECTED, 1 = any */
    bool repeats;             /* ids may be there twice: they are not remembered */
    bool partial;             /* others read other rows: what is of all rows is judged later, and the ids are kept */
    const pace_job_stretches *stretches; /* partial: what to read of the files; NULL = all of them */
    const uint64_t *known_ids;           /* partial: ids that rows of others had before, as hashes */
    size_t known_count;
    pace_progress progress;
} pace_job_reader_options;

/* What was read. Free with pace_job_reading_free(). */
typedef struct {
    uint64_t rows, jobs, rejected, repeated; /* repeated: those of the rejected whose id was seen before */
    uint64_t unchecked_ids;
    PACE_VEC(uint64_t) bytes;          /* as stored, by file */
    pace_texts rejects;                /* the first few, "file:line: reason" */
    pace_warnings remarks;             /* units that look wrong, columns that are not used, files that break off */
    double greatest[PACE_JOB_COLUMNS]; /* number of each column */
    pace_job_ids ids;                  /* partial: those that were read */
} pace_job_reading;

/** Takes a batch, valid during the call. Calls come from several threads at once, each thread with a `worker` of its
 * own below pace_job_workers(); within a worker they follow each other. Batches come in no order: jobs->lines tells
 * where a job stood. */
typedef pace_status (*pace_jobs_fn)(void *context, size_t worker, size_t file, const pace_jobs *jobs);

/** The number of threads that will call. */
size_t pace_job_workers(void);

/** What is of all rows: too many refused, none at all, units that look wrong. `name` is for messages. */
pace_status pace_job_reading_judge(pace_job_reading *reading, const pace_job_reader_options *options,
                                   const char *name) PACE_MUST_CHECK;

void pace_job_reading_free(pace_job_reading *reading);
