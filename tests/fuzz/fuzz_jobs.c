/* Fuzz target of job tables: any bytes are rows that are jobs or were refused, none is lost. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "source/jobs/job_reader.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static pace_status count(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    (void)file;
    if (worker >= pace_job_workers()) abort();
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->lines[i] == 0 || jobs->architectures[i] >= PACE_JOB_ARCHITECTURES || !*pace_jobs_id(jobs, i)) abort();
        for (int k = 0; k < PACE_JOB_REQUIRED; k++)
            if (!isfinite(jobs->values[k][i]) || jobs->values[k][i] < 0) abort();
    }
#pragma omp atomic
    *(uint64_t *)context += jobs->count;
    return PACE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_input *input;
    pace_job_reading reading;
    uint64_t jobs = 0;
    const pace_job_reader_options options = {.catalog = test_catalog(), .most_rejected = 1};
    if (pace_input_open_memory(&input, "fuzz", data, size) != PACE_OK) return 0;
    if (pace_jobs_read_input(&reading, input, &options, count, &jobs) == PACE_OK) {
        if (reading.jobs != jobs || reading.jobs + reading.rejected != reading.rows) abort();
        pace_job_reading_free(&reading);
    }
    pace_input_free(input);
    return 0;
}
