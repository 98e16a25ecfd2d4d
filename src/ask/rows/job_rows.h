/*
 * Rows of a table as questions about jobs: the columns of source/jobs/job_table.h by their names, or those that others
 * use (source/jobs/job_names.h), and besides
 *
 *   machine or system    what it runs on (pace_job_machine_parse()), where it is not what the whole table runs on
 *   software   changes of catalog/jobs.yaml that it was run with ("fusion"), separated by blanks
 *   step_s, step_ms, iter_us ...  measured
 *
 * cnodes and batch_size are 1 and weights nothing where there is no such column.
 */
#pragma once

#include "fleet/job_fit.h"
#include "base/csv.h"
#include "base/texts.h"

typedef struct {
    pace_csv csv;
    pace_jobs jobs;                      /* one per row, whatever its fault */
    PACE_VEC(char *) faults;             /* by row; NULL = it can be asked */
    pace_texts unmeasured;               /* by row, why its step time was refused; "" = it was not */
    int machine, software;               /* columns; -1 = none */
    int measured;                        /* column of the step time; -1 = none */
    PACE_VEC(pace_job_machine) machines; /* what rows say, each once */
    PACE_VEC(size_t) machine_of;         /* by row, into machines; SIZE_MAX = it says none */
    double unit_s;                       /* seconds in the measured column's unit, 1 when there is none */
    char unit[8];
} pace_job_rows;

/** Errors: those of pace_csv_read(), PACE_E_INPUT for a missing column with the closest that is there. */
pace_status pace_job_rows_read(pace_job_rows *out, pace_input *input, const pace_job_catalog *catalog) PACE_MUST_CHECK;
void pace_job_rows_free(pace_job_rows *rows);

/** The parts of a row's step under `usual`, or on the row's own machine, with its software. *setting is what it was
 * asked under. Errors: PACE_E_MISSING for software that is not known. */
pace_status pace_job_rows_parts(double out_s[PACE_JOB_PARTS], pace_job_setting *setting, const pace_job_rows *rows,
                                size_t row, const pace_job_setting *usual) PACE_MUST_CHECK;

/** The same as a sample for a fit, without the number of its machine. *measured: whether its step time is known. */
pace_status pace_job_rows_sample(pace_job_sample *out, bool *measured, const pace_job_rows *rows, size_t row,
                                 const pace_job_setting *usual) PACE_MUST_CHECK;
