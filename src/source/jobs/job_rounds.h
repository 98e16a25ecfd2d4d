/*
 * Rounds of blocks: what a reader of job tables does with rows, whatever they came from. A round's blocks are filled,
 * then settled in order (lines, ids seen before, refused rows), then given away by all threads. Private to the readers.
 */
#pragma once

#include "base/beside.h"
#include "base/json_writer.h"
#include "source/jobs/job_lines.h"
#include "source/jobs/job_reading.h"

/* The jobs of a block whose ids were there before, found for each part of the ids apart. */
typedef struct {
    PACE_VEC(bool) seen; /* by job */
    size_t count[PACE_JOB_ID_PARTS];
} pace_job_repeats;

typedef struct {
    const pace_job_reader_options *options;
    pace_jobs_fn take;
    void *context;
    pace_job_reading *reading;
    pace_job_limits limits;
    pace_job_layout layout;
    pace_job_ids ids;
    pace_sink rejects;
    pace_beside rejects_beside;
    bool lists_rejects;
    pace_job_block *blocks;
    size_t block_count, used;  /* used: in this round */
    pace_job_repeats *repeats; /* of each block */
    const char *name;          /* of the file that is read */
    size_t file;
    const pace_job_stretch *stretch; /* what to read of it; NULL = all */
    uint64_t line;                   /* of the first row of the next block */
} pace_job_rounds;

pace_status pace_job_rounds_open(pace_job_rounds *rounds) PACE_MUST_CHECK;
/** Puts the list of refused rows in its place, unless reading `failed` with none refused; PACE_E_IO when it could not
 * be written, and then the old one stays. */
pace_status pace_job_rounds_close(pace_job_rounds *rounds, bool failed) PACE_MUST_CHECK;

/* Done by one thread while the others give the blocks away; NULL = nothing. */
typedef pace_status (*pace_job_meanwhile_fn)(void *context);

/** Settles and gives away the blocks [0, used). */
pace_status pace_job_rounds_give(pace_job_rounds *rounds, pace_job_meanwhile_fn meanwhile,
                                 void *context) PACE_MUST_CHECK;

/** Counts and lists a refused row of the file. */
pace_status pace_job_rounds_reject(pace_job_rounds *rounds, const pace_job_reject *fault) PACE_MUST_CHECK;

/** Reads a table of comma-separated values / of a database. */
pace_status pace_job_text_read(pace_job_rounds *rounds, pace_input *input) PACE_MUST_CHECK;
pace_status pace_job_database_read(pace_job_rounds *rounds, const char *path) PACE_MUST_CHECK;
