/*
 * Lines of comma-separated values as jobs. Private to the reader of job tables, which deals blocks of whole lines to
 * threads. Cells may be quoted (RFC 4180), but a line break ends the row even within quotes, so that a table can be cut
 * into blocks anywhere and a quote left open costs one row.
 */
#pragma once

#include "source/jobs/job_columns.h"

/* A row that is no job. `text` is borrowed from what was parsed. */
typedef struct {
    uint64_t line; /* as jobs.lines */
    const char *text;
    size_t length;
    char why[176];
} pace_job_reject;

/* What became of a block. Zero-initialise; used again block after block. */
typedef struct {
    pace_jobs jobs; /* lines count from 0, in the block */
    PACE_VEC(uint64_t) id_keys;
    PACE_VEC(pace_job_reject) rejects; /* ascending lines */
    PACE_VEC(char) scratch;            /* quoted cells of a row */
    uint64_t lines;
    double greatest[PACE_JOB_COLUMNS]; /* number seen in each column since the start; 0 = none above 0 */
} pace_job_block;

/** Forgets the rows and keeps the memory, and the greatest numbers. */
void pace_job_block_clear(pace_job_block *block);
void pace_job_block_free(pace_job_block *block);

enum { PACE_JOB_PADDING = 64 };

/** Parses [text, end), whole lines (the last may lack its break), in place of what the block held. PACE_JOB_PADDING
 * bytes before `text` and as many from `end` on may be read; the latter are zero or the next line. Errors:
 * PACE_E_MEMORY. */
pace_status pace_job_block_parse(pace_job_block *block, const pace_job_layout *layout, const pace_job_limits *limits,
                                 const char *text, const char *end) PACE_MUST_CHECK;

/** Adds the rows that *text begins with, a few dozen at most, and moves *text behind them, when each has as many cells
 * as the header, none is quoted, and all are jobs. Else it adds none, and *rows (0 = not even one is plain) are to be
 * read one by one. */
pace_status pace_job_block_add_plain(size_t *rows, const char **text, pace_job_block *block,
                                     const pace_job_layout *layout, const pace_job_limits *limits,
                                     const char *end) PACE_MUST_CHECK;

/* A row in the order of roles. */
typedef struct {
    double values[PACE_JOB_COLUMNS];
    pace_job_text texts[PACE_JOB_ROLES - PACE_JOB_COLUMNS]; /* id, architecture, user */
    pace_job_reject fault;                                  /* line and text of the row; why not empty: it is no job */
} pace_job_row;

/** Checks a row and adds it, as a job or as a reject. */
pace_status pace_job_block_add(pace_job_block *block, const pace_job_limits *limits, pace_job_row *row) PACE_MUST_CHECK;

/** The names of a header line, quotes undone, back to back and each NUL-terminated in `scratch` (which is emptied
 * first). PACE_E_INPUT when a quote is left open. */
pace_status pace_job_split_names(pace_job_block *block, size_t *count, const char *text,
                                 const char *end) PACE_MUST_CHECK;
