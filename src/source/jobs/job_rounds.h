/*
 * Rounds of blocks: what a reader of job tables does with rows, whatever they came from. A thread fills a block,
 * settles it when those before it are (ids seen before, lines, refused rows), and gives it away while it is in its
 * cache. Private to the readers.
 */
#pragma once

#include "base/beside.h"
#include "base/json_writer.h"
#include "base/turns.h"
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
    pace_job_block *blocks;    /* of a round; where threads fill them, of each thread the one that it fills */
    size_t block_count, used;  /* used: in this round */
    pace_job_repeats *repeats; /* of each thread */
    double expected_blocks;    /* before the first round: as many like its first seem to come; 0 = not known */
    pace_turns id_turns[PACE_JOB_ID_PARTS], turns; /* of blocks: to look for ids in a part; to be settled */
    bool broken;                                   /* no block is settled any more */
    const char *name;                              /* of the file that is read */
    size_t file;
    const pace_job_stretch *stretch; /* what to read of it; NULL = all */
    uint64_t line;                   /* of the first row of the next block */
} pace_job_rounds;

pace_status pace_job_rounds_open(pace_job_rounds *rounds) PACE_MUST_CHECK;
/** Puts the list of refused rows in its place, unless reading `failed` with none refused; PACE_E_IO when it could not
 * be written, and then the old one stays. */
pace_status pace_job_rounds_close(pace_job_rounds *rounds, bool failed) PACE_MUST_CHECK;

/* Fills a block with what is number i of the round; by any thread. */
typedef pace_status (*pace_job_fill_fn)(void *context, pace_job_block *block, size_t i);

/* Done by one thread while the others fill blocks and give them away. */
typedef pace_status (*pace_job_meanwhile_fn)(void *context);

/** Fills (NULL: they are filled), settles and gives away the blocks [0, used). */
pace_status pace_job_rounds_run(pace_job_rounds *rounds, pace_job_fill_fn fill, pace_job_meanwhile_fn meanwhile,
                                void *context) PACE_MUST_CHECK;

/** Counts and lists a refused row of the file. */
pace_status pace_job_rounds_reject(pace_job_rounds *rounds, const pace_job_reject *fault) PACE_MUST_CHECK;

/** Reads a table of comma-separated values / of a database. */
pace_status pace_job_text_read(pace_job_rounds *rounds, pace_input *input) PACE_MUST_CHECK;
pace_status pace_job_database_read(pace_job_rounds *rounds, const char *path) PACE_MUST_CHECK;
