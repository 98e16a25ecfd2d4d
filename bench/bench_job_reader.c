/* How fast tables of jobs are read, with nobody to take the jobs: megabytes a processor second. Arguments: a table. */
#include <stdio.h>

#include "bench_clock.h"
#include "source/jobs/job_reader.h"
#include "catalog_of_tests.h"

static pace_status take(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    (void)context, (void)worker, (void)file, (void)jobs;
    return PACE_OK;
}

static int measure(const char *path, bool repeats) {
    const pace_job_reader_options options = {.catalog = test_catalog(), .repeats = repeats};
    pace_job_reading reading;
    double start = cpu_s();
    if (pace_jobs_read(&reading, &path, 1, &options, take, NULL) != PACE_OK) {
        fprintf(stderr, "%s\n", pace_message());
        return 1;
    }
    double seconds = cpu_s() - start;
    printf("reader alone%-26s %7.0f MB/s of CPU, %6.2f M jobs/s of CPU\n", repeats ? ", ids not remembered" : "",
           (double)reading.bytes.items[0] / seconds / 1e6, (double)reading.jobs / seconds / 1e6);
    pace_job_reading_free(&reading);
    return 0;
}

int main(int count, char **words) {
    if (count != 2) return 2;
    return measure(words[1], false) || measure(words[1], true);
}
