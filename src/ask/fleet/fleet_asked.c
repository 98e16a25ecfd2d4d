#include "ask/fleet/fleet_asked.h"
#include "ask/fleet/fleet_processes.h"
#include "ask/fleet/job_assume.h"
#include "base/print.h"
#include "base/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

static pace_status take(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    pace_fleet_asked *c = context;
    (void)file;
    return pace_fleet_add(&c->workers[worker], jobs);
}

static pace_status open_workers(pace_fleet_asked *c, bool exact) {
    size_t count = pace_job_workers();
    if (!(c->workers = pace_alloc(count, sizeof *c->workers))) return PACE_E_MEMORY;
    for (; c->worker_count < count; c->worker_count++)
        PACE_TRY(pace_fleet_init(&c->workers[c->worker_count], &c->setting, &c->questions, exact));
    return PACE_OK;
}

/* The files of this process, all of them when it is alone. */
static pace_status read_own(pace_fleet_asked *c, const char *const *paths, size_t count,
                            const pace_job_reader_options *how, bool exact) {
    PACE_TRY(open_workers(c, exact));
    PACE_TRY(pace_jobs_read(&c->reading, paths, count, how, take, c));
    PACE_TRY(pace_fleet_init(&c->view.fleet, &c->setting, &c->questions, exact));
    for (size_t w = 0; w < c->worker_count; w++) PACE_TRY(pace_fleet_merge(&c->view.fleet, &c->workers[w]));
    return PACE_OK;
}

static void forget(pace_fleet_asked *c) {
    for (size_t w = 0; w < c->worker_count; w++) pace_fleet_free(&c->workers[w]);
    pace_free(c->workers);
    c->workers = NULL;
    c->worker_count = 0;
    pace_fleet_free(&c->view.fleet);
    pace_job_reading_free(&c->reading);
}

/* Reads the stretches of this process, and once more where it turns out that earlier ones have some of its ids: only
 * then is it known which rows are repeats. */
static pace_status read_stretches(pace_fleet_asked *c, const char *const *paths, size_t count,
                                  pace_job_reader_options *how, const pace_fleet_options *options) {
    pace_job_stretches stretches = {0};
    pace_fleet_hashes repeats = {0};
    pace_status status = pace_fleet_deal(&stretches, paths, count, options->processes);
    how->stretches = &stretches;
    if (status == PACE_OK) status = read_own(c, paths, count, how, options->exact);
    status = pace_fleet_find_repeats(&repeats, &c->reading.ids, status, options->processes);
    if (status == PACE_OK && repeats.count > 0) {
        forget(c);
        how->known_ids = repeats.items;
        how->known_count = repeats.count;
        status = read_own(c, paths, count, how, options->exact);
        pace_job_ids_free(&c->reading.ids);
    }
    how->stretches = NULL;
    how->known_ids = NULL;
    how->known_count = 0;
    PACE_VEC_FREE(&repeats, &stretches);
    return status;
}

/* A list of this process's own, which goes to process 0's. */
static pace_status own_list(char *path, size_t size, pace_scratch *scratch) {
    PACE_TRY(pace_scratch_open(scratch));
    pace_snprintf(path, size, "%s/rejects", scratch->path);
    return PACE_OK;
}

/* A run that fails without a refused row leaves no list, as with one process. */
static pace_status judge_shared(pace_fleet_asked *c, const pace_job_reader_options *how, const char *name,
                                pace_status status) {
    struct stat file;
    if (status == PACE_OK) status = pace_job_reading_judge(&c->reading, how, name);
    bool empty = status != PACE_OK && how->rejects_path && c->reading.rejected == 0;
    if (empty && lstat(how->rejects_path, &file) == 0 && S_ISREG(file.st_mode)) unlink(how->rejects_path);
    return status;
}

/* Every process reads a stretch of the files, and process 0 gets what all have. */
static pace_status read_shared(pace_fleet_asked *c, const char *const *paths, size_t count,
                               pace_job_reader_options *how, const pace_fleet_options *options) {
    pace_scratch scratch = {0};
    char path[PACE_SCRATCH_PATH + 16];
    const char *rejects = how->rejects_path;
    bool apart = rejects && options->processes->rank > 0;
    pace_status made = apart ? own_list(path, sizeof path, &scratch) : PACE_OK;
    bool list = apart && made == PACE_OK;
    how->partial = true;
    if (apart) how->rejects_path = list ? path : NULL;
    pace_status status = read_stretches(c, paths, count, how, options);
    if (made != PACE_OK) status = made;
    status = pace_fleet_gather(&c->view.fleet, &c->reading, status, options->processes);
    pace_status listed = rejects ? pace_fleet_gather_rejects(list ? path : NULL, rejects, options->processes) : PACE_OK;
    pace_scratch_close(&scratch);
    how->rejects_path = rejects;
    if (status == PACE_OK) status = listed;
    return options->processes->rank > 0 ? status : judge_shared(c, how, paths[0], status);
}

static pace_status read_jobs(pace_fleet_asked *c, const char *const *paths, size_t count,
                             const pace_fleet_options *options) {
    pace_job_reader_options how = {.catalog = options->context->catalog,
                                   .columns = options->columns,
                                   .rejects_path = options->rejects_path,
                                   .table = options->table,
                                   .most_rejected = options->most_rejected,
                                   .repeats = options->repeats,
                                   .progress = options->progress};
    if (options->processes) PACE_TRY(read_shared(c, paths, count, &how, options));
    else PACE_TRY(read_own(c, paths, count, &how, options->exact));
    if (options->processes && options->processes->rank > 0) return PACE_OK;
    pace_fleet_view_sum(&c->view);
    if (c->view.all.jobs > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: none of the jobs can be asked; the first: %s", paths[0],
                     c->view.fleet.first_fault);
}

static pace_status prepare(pace_fleet_asked *c, const pace_fleet_options *options) {
    PACE_TRY(pace_job_assume(&c->setting, &c->catalog, options->context->catalog, &options->assume));
    return pace_fleet_questions_make(&c->questions, &c->setting, &options->sweep, &options->price);
}

/* Several processes agree after each part: one that failed would be waited for. */
pace_status pace_fleet_ask(pace_fleet_asked **out, const char *const *paths, size_t count,
                           const pace_fleet_options *options) {
    const pace_processes *processes = options->processes;
    pace_fleet_asked *c = pace_alloc(1, sizeof *c);
    if (c) c->paths = paths, c->path_count = count;
    pace_status status = c ? prepare(c, options) : PACE_E_MEMORY;
    if (processes) status = pace_fleet_agree(status, processes);
    if (status == PACE_OK) {
        status = read_jobs(c, paths, count, options);
        if (processes) status = pace_fleet_agree(status, processes);
    }
    return PACE_GIVE(out, c, status, pace_fleet_asked_free(c));
}

void pace_fleet_asked_free(pace_fleet_asked *c) {
    if (!c) return;
    forget(c);
    pace_fleet_questions_free(&c->questions);
    pace_job_catalog_free(&c->catalog);
    pace_free(c);
}
