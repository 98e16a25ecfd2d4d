#include "source/jobs/job_reader.h"
#include "source/jobs/job_rounds.h"
#include "source/traces/nsys.h"

#include <stdio.h>
#include <sys/stat.h>

#ifndef PACE_HAVE_SQLITE
pace_status pace_job_database_read(pace_job_rounds *rounds, const char *path) {
    (void)rounds;
    return pace_fail(PACE_E_MISSING,
                     "%s: is an SQLite database, and this paceline was built without SQLite; install libsqlite3-dev "
                     "and build it again",
                     path);
}
#endif

/* A column whose numbers are all small for what they should be. */
static pace_status remark_units(pace_job_reading *reading, pace_catalog *catalog) {
    pace_job_limits limits;
    if (reading->jobs == 0) return PACE_OK;
    PACE_TRY(pace_job_limits_load(&limits, catalog));
    for (int column = 0; column < PACE_JOB_COLUMNS; column++) {
        const pace_job_limit *limit = &limits.of[column];
        const char *name = pace_job_column_names[column];
        double greatest = reading->greatest[column];
        if (greatest > 0 && greatest < limit->suspicious)
            PACE_TRY(pace_warn(&reading->remarks, PACE_WARN_UNIT_ASSUMED, name,
                               "the largest %s of all jobs is %g: is the column in %s? (--columns '%s*%g=%s')", name,
                               greatest, limit->hint_unit, name, limit->hint_factor, name));
    }
    return PACE_OK;
}

static void find_greatest(const pace_job_rounds *rounds) {
    for (int column = 0; column < PACE_JOB_COLUMNS; column++)
        for (size_t i = 0; i < rounds->block_count; i++)
            if (rounds->blocks[i].greatest[column] > rounds->reading->greatest[column])
                rounds->reading->greatest[column] = rounds->blocks[i].greatest[column];
}

static pace_status check_share(const pace_job_reading *reading, const pace_job_reader_options *options) {
    double most = options->most_rejected > 0 ? options->most_rejected : PACE_JOBS_MOST_REJECTED;
    if ((double)reading->rejected > most * (double)reading->rows)
        return pace_fail(PACE_E_INPUT,
                         "%llu of %llu rows are no jobs, more than %g %% (" PACE_FIELD "most_rejected); the first: %s",
                         (unsigned long long)reading->rejected, (unsigned long long)reading->rows, 100 * most,
                         reading->rejects.items[0]);
    return PACE_OK;
}

static pace_status check_remarks(pace_job_reading *reading) {
    if (reading->unchecked_ids == 0) return PACE_OK;
    return pace_warn(&reading->remarks, PACE_WARN_JOBS_LEFT_OUT, NULL,
                     "%llu job ids could not be checked for repeats: too many jobs",
                     (unsigned long long)reading->unchecked_ids);
}

static pace_status read_file(pace_job_rounds *rounds, const char *path) {
    pace_input *input;
    if (pace_is_database(path)) {
        struct stat file;
        uint64_t bytes = stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
        rounds->name = path;
        PACE_TRY(pace_job_database_read(rounds, path));
        return PACE_PUSH(&rounds->reading->bytes, bytes);
    }
    PACE_TRY(pace_input_open(&input, path));
    rounds->name = pace_input_name(input);
    pace_status status = pace_job_text_read(rounds, input);
    pace_input_free(input);
    return status;
}

static pace_status read_files(pace_job_rounds *rounds, const char *const *paths, size_t count) {
    const pace_job_stretches *stretches = rounds->options->stretches;
    size_t parts = stretches ? stretches->count : count;
    for (size_t i = 0; i < parts; i++) {
        rounds->stretch = stretches ? &stretches->items[i] : NULL;
        rounds->file = stretches ? stretches->items[i].file : i;
        PACE_TRY(read_file(rounds, paths[rounds->file]));
    }
    return PACE_OK;
}

static pace_status read_all(pace_job_rounds *rounds, const char *const *paths, size_t count, pace_input *input) {
    PACE_TRY(pace_job_rounds_open(rounds));
    if (input) {
        rounds->name = pace_input_name(input);
        PACE_TRY(pace_job_text_read(rounds, input));
    }
    PACE_TRY(read_files(rounds, paths, count));
    rounds->reading->unchecked_ids = pace_job_ids_unchecked(&rounds->ids);
    find_greatest(rounds);
    if (!rounds->options->partial)
        return pace_job_reading_judge(rounds->reading, rounds->options,
                                      count > 0 ? paths[0]
                                      : input   ? pace_input_name(input)
                                                : "");
    rounds->reading->ids = rounds->ids;
    rounds->ids = (pace_job_ids){0};
    return PACE_OK;
}

pace_status pace_job_reading_judge(pace_job_reading *reading, const pace_job_reader_options *options,
                                   const char *name) {
    PACE_TRY(remark_units(reading, options->catalog));
    PACE_TRY(check_remarks(reading));
    if (reading->rows == 0) return pace_fail(PACE_E_INPUT, "%s: expected rows of jobs, found none", name);
    return check_share(reading, options);
}

static pace_status read_any(pace_job_reading *out, const char *const *paths, size_t count, pace_input *input,
                            const pace_job_reader_options *options, pace_jobs_fn take, void *context) {
    pace_job_reading reading = {0};
    pace_job_rounds *rounds = pace_alloc(1, sizeof *rounds);
    if (!rounds) return PACE_E_MEMORY;
    rounds->options = options;
    rounds->take = take;
    rounds->context = context;
    rounds->reading = &reading;
    pace_status status = read_all(rounds, paths, count, input);
    if (status == PACE_OK) {
        status = pace_job_rounds_close(rounds, false);
    } else { /* the list of refused rows is what is left to look at */
        char message[1024];
        snprintf(message, sizeof message, "%s", pace_message_marked());
        pace_status closed = pace_job_rounds_close(rounds, true);
        (void)closed;
        pace_fail(status, "%s", message);
    }
    pace_free(rounds);
    return PACE_GIVE(out, reading, status, pace_job_reading_free(&reading));
}

pace_status pace_jobs_read(pace_job_reading *out, const char *const *paths, size_t count,
                           const pace_job_reader_options *options, pace_jobs_fn take, void *context) {
    return read_any(out, paths, count, NULL, options, take, context);
}

pace_status pace_jobs_read_input(pace_job_reading *out, pace_input *input, const pace_job_reader_options *options,
                                 pace_jobs_fn take, void *context) {
    return read_any(out, NULL, 0, input, options, take, context);
}

void pace_job_reading_free(pace_job_reading *reading) {
    pace_texts_free(&reading->rejects);
    pace_warnings_free(&reading->remarks);
    PACE_VEC_FREE(&reading->bytes);
    pace_job_ids_free(&reading->ids);
    *reading = (pace_job_reading){0};
}
