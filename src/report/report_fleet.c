/* `paceline fleet`: where the time of a cluster goes, and what would help, from tables of its jobs. */
#include "report/fleet_parts.h"
#include "ask/fleet_processes.h"
#include "report/show.h"
#include "source/job_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_fleet_questions questions;
    pace_fleet *workers; /* one per thread of the reader */
    size_t worker_count;
    pace_job_reading reading;
    pace_fleet_view view;
} characterization;

/* --- reading ------------------------------------------------------------------------------------------------------ */

static pace_status take(void *context, size_t worker, size_t file, const pace_jobs *jobs) {
    characterization *c = context;
    (void)file;
    return pace_fleet_add(&c->workers[worker], jobs);
}

static pace_status open_workers(characterization *c, bool exact) {
    size_t count = pace_job_workers();
    if (!(c->workers = pace_alloc(count, sizeof *c->workers))) return PACE_E_MEMORY;
    for (; c->worker_count < count; c->worker_count++)
        PACE_TRY(pace_fleet_init(&c->workers[c->worker_count], &c->setting, &c->questions, exact));
    return PACE_OK;
}

/* The files of this process, all of them when it is alone. */
static pace_status read_own(characterization *c, const char *const *paths, size_t count,
                            const pace_job_reader_options *how, bool exact) {
    PACE_TRY(open_workers(c, exact));
    PACE_TRY(pace_jobs_read(&c->reading, paths, count, how, take, c));
    PACE_TRY(pace_fleet_init(&c->view.fleet, &c->setting, &c->questions, exact));
    for (size_t w = 0; w < c->worker_count; w++) PACE_TRY(pace_fleet_merge(&c->view.fleet, &c->workers[w]));
    return PACE_OK;
}

static void forget(characterization *c) {
    for (size_t w = 0; w < c->worker_count; w++) pace_fleet_free(&c->workers[w]);
    pace_free(c->workers);
    c->workers = NULL;
    c->worker_count = 0;
    pace_fleet_free(&c->view.fleet);
    pace_job_reading_free(&c->reading);
}

/* Reads the stretches of this process, and once more where it turns out that earlier ones have some of its ids: only
 * then is it known which rows are repeats. */
static pace_status read_stretches(characterization *c, const char *const *paths, size_t count,
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
    PACE_VEC_FREE(&repeats);
    PACE_VEC_FREE(&stretches);
    return status;
}

/* A list of this process's own, which goes to process 0's. */
static bool own_list(char path[64]) {
    snprintf(path, 64, "/tmp/paceline-rejects-XXXXXX");
    int file = mkstemp(path);
    if (file >= 0) close(file);
    return file >= 0;
}

/* A run that fails without a refused row leaves no list, as with one process. */
static pace_status judge_shared(characterization *c, const pace_job_reader_options *how, const char *name,
                                pace_status status) {
    struct stat file;
    if (status == PACE_OK) status = pace_job_reading_judge(&c->reading, how, name);
    bool empty = status != PACE_OK && how->rejects_path && c->reading.rejected == 0;
    if (empty && lstat(how->rejects_path, &file) == 0 && S_ISREG(file.st_mode)) unlink(how->rejects_path);
    return status;
}

/* Every process reads a stretch of the files, and process 0 gets what all have. */
static pace_status read_shared(characterization *c, const char *const *paths, size_t count,
                               pace_job_reader_options *how, const pace_fleet_options *options) {
    char path[64];
    const char *rejects = how->rejects_path;
    bool apart = rejects && options->processes->rank > 0;
    bool list = apart && own_list(path);
    how->partial = true;
    if (apart) how->rejects_path = list ? path : NULL;
    pace_status status = read_stretches(c, paths, count, how, options);
    if (apart && !list) status = pace_fail(PACE_E_IO, "%s: a list of refused rows could not be made", path);
    status = pace_fleet_gather(&c->view.fleet, &c->reading, status, options->processes);
    pace_status listed = rejects ? pace_fleet_gather_rejects(list ? path : NULL, rejects, options->processes) : PACE_OK;
    if (list) unlink(path);
    how->rejects_path = rejects;
    if (status == PACE_OK) status = listed;
    return options->processes->rank > 0 ? status : judge_shared(c, how, paths[0], status);
}

static pace_status read_jobs(characterization *c, const char *const *paths, size_t count,
                             const pace_fleet_options *options) {
    pace_job_reader_options how = {.columns = options->columns,
                                   .rejects_path = options->rejects_path,
                                   .table = options->table,
                                   .most_rejected = options->most_rejected,
                                   .repeats = options->repeats,
                                   .progress = options->progress,
                                   .progress_context = options->progress_context};
    if (options->processes) PACE_TRY(read_shared(c, paths, count, &how, options));
    else PACE_TRY(read_own(c, paths, count, &how, options->exact));
    if (options->processes && options->processes->rank > 0) return PACE_OK;
    pace_fleet_view_sum(&c->view);
    if (c->view.all.jobs > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: none of the jobs can be asked; the first: %s", paths[0],
                     c->view.fleet.first_fault);
}

static pace_status open_characterization(characterization **out, const pace_fleet_options *options) {
    characterization *c = pace_alloc(1, sizeof *c);
    if (!c) return PACE_E_MEMORY;
    *out = c;
    PACE_TRY(pace_job_assume(&c->setting, &c->catalog, &options->assume));
    return pace_fleet_questions_make(&c->questions, &c->setting, &options->sweep, &options->price);
}

static void close_characterization(characterization *c) {
    if (!c) return;
    forget(c);
    pace_fleet_questions_free(&c->questions);
    pace_job_catalog_free(&c->catalog);
    pace_free(c);
}

/* --- the sentences an operator needs ------------------------------------------------------------------------------ */

static const char *const architecture_words[PACE_JOB_ARCHITECTURES] = {
    "1w1g", "1wng", "PS/Worker", "AllReduce-Local", "AllReduce-Cluster", "PEARL"};
static const char *const component_words[PACE_JOB_COMPONENTS] = {"input", "compute-bound work", "memory-bound work",
                                                                 "weights on their way"};

static double part_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void say_composition(pace_node *root, const characterization *c) {
    const pace_fleet *fleet = &c->view.fleet;
    const pace_fleet_group *all = &c->view.all;
    int most = 0;
    for (int a = 1; a < PACE_JOB_ARCHITECTURES; a++)
        if (fleet->groups[a].cnodes > fleet->groups[most].cnodes) most = a;
    pace_node_sentence(root, true, "%s jobs on %s cNodes; %s is %s of the jobs and %s of the cNodes.",
                       pace_show_int((int64_t)all->jobs).text, pace_show_int((int64_t)all->cnodes).text,
                       architecture_words[most],
                       pace_show_share(part_of((double)fleet->groups[most].jobs, (double)all->jobs)).text,
                       pace_show_share(part_of((double)fleet->groups[most].cnodes, (double)all->cnodes)).text);
}

/* The range of the weights' share under the assumptions that are doubted. */
static void say_bottleneck(pace_node *root, const characterization *c) {
    const pace_fleet_group *all = &c->view.all;
    double share[PACE_JOB_COMPONENTS], low = INFINITY, high = 0;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) share[k] = pace_fleet_share(all, PACE_LEVEL_CNODE, k);
    for (size_t a = 0; a < c->questions.assumptions.count; a++) {
        double assumed =
            part_of(pace_sum_value(&c->view.fleet.conclusions[a].weight_share[PACE_LEVEL_CNODE]), (double)all->cnodes);
        low = fmin(low, assumed);
        high = fmax(high, assumed);
    }
    pace_fleet_range weights =
        pace_fleet_share_range(&all->share[PACE_LEVEL_CNODE][PACE_COMPONENT_WEIGHTS],
                               &all->share_error[PACE_LEVEL_CNODE][PACE_COMPONENT_WEIGHTS], (double)all->cnodes);
    pace_job_component most = pace_job_bottleneck(share);
    pace_node_sentence(
        root, true,
        "A cNode's time goes most into %s: weights take %s (%s to %s; %s to %s under other assumptions), compute-bound "
        "work %s, memory-bound work %s, input %s.",
        component_words[most], pace_show_share(share[PACE_COMPONENT_WEIGHTS]).text, pace_show_share(weights.low).text,
        pace_show_share(weights.high).text, pace_show_share(low).text, pace_show_share(high).text,
        pace_show_share(share[PACE_COMPONENT_COMPUTE]).text, pace_show_share(share[PACE_COMPONENT_MEMORY]).text,
        pace_show_share(share[PACE_COMPONENT_INPUT]).text);
}

static void say_projection(pace_node *root, characterization *c) {
    pace_fleet_projection *p = &c->view.fleet.projections[0];
    double ps = (double)c->view.fleet.groups[PACE_JOB_PS_WORKER].jobs, low = INFINITY, high = 0;
    if (!(ps > 0)) return;
    for (size_t a = 0; a < c->questions.assumptions.count; a++) {
        double gains = (double)c->view.fleet.conclusions[a].ps_gains / ps;
        low = fmin(low, gains);
        high = fmax(high, gains);
    }
    pace_fleet_range gain = pace_fleet_gains(p, &c->view.fleet.groups[PACE_JOB_PS_WORKER]);
    pace_fleet_range saved = pace_fleet_moved_saves(p);
    pace_node_sentence(
        root, true,
        "%s of the PS/Worker jobs would train faster as AllReduce-Local (%s to %s; %s to %s under other assumptions), "
        "%s do not fit; moving those that gain saves %s of PS/Worker's GPU-hours (%s to %s).",
        pace_show_share(gain.middle).text, pace_show_share(gain.low).text, pace_show_share(gain.high).text,
        pace_show_share(low).text, pace_show_share(high).text,
        pace_show_share((double)p->verdicts[PACE_LEVEL_JOB][PACE_PROJECTED_TOO_LARGE] / ps).text,
        pace_show_share(saved.middle).text, pace_show_share(saved.low).text, pace_show_share(saved.high).text);
}

static void say_best(pace_node *root, const characterization *c, pace_asked_kind kind, const char *of_what) {
    int best = pace_fleet_best(&c->view, kind);
    if (best < 0) return;
    pace_fleet_range saved = pace_fleet_saved_share(&c->view, (size_t)best);
    pace_node_sentence(root, true, "Of the %s %s helps most: it saves %s of all GPU-hours (%s to %s).", of_what,
                       c->questions.items.items[best].text, pace_show_share(saved.middle).text,
                       pace_show_share(saved.low).text, pace_show_share(saved.high).text);
}

static void say_upgrades(pace_node *root, const characterization *c) {
    say_best(root, c, PACE_ASKED_HARDWARE, "upgrades,");
    say_best(root, c, PACE_ASKED_SOFTWARE, "changes of software,");
}

static void say_worst(pace_node *root, const characterization *c) {
    const pace_worst_job *worst = NULL;
    int of = 0;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        const pace_worst_jobs *list = &c->view.fleet.worst[k];
        if (list->count == 0 || (worst && list->items[0].lost_hours <= worst->lost_hours)) continue;
        worst = &list->items[0];
        of = k;
    }
    if (!worst) return;
    pace_node_sentence(root, true, "The job that loses most is %s: %s of its %s GPU-hours are %s.",
                       *worst->id ? worst->id : "without a name", pace_show_share(worst->share).text,
                       pace_show_real(worst->hours).text, component_words[of]);
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static void put_counts(pace_node *root, const characterization *c) {
    pace_node_int(root, "jobs", (int64_t)c->view.all.jobs);
    pace_node_int(root, "cnodes", (int64_t)c->view.all.cnodes);
    pace_node_real(root, "gpu_hours", pace_sum_value(&c->view.all.hours));
    pace_node_int(root, "gpu_hours_assumed", (int64_t)c->view.fleet.hours_assumed);
    pace_node_int(root, "rows", (int64_t)c->reading.rows);
    pace_node_int(root, "rejected", (int64_t)c->reading.rejected);
    pace_node_int(root, "unusable", (int64_t)c->view.fleet.unusable);
}

static void warn(pace_report *report, const characterization *c) {
    for (size_t i = 0; i < c->reading.remarks.count; i++) pace_report_warn(report, "%s", c->reading.remarks.items[i]);
    if (c->reading.rejected > 0)
        pace_report_warn(report, "%llu of %llu rows were refused; the first: %s",
                         (unsigned long long)c->reading.rejected, (unsigned long long)c->reading.rows,
                         c->reading.rejects.count ? c->reading.rejects.items[0] : "");
    if (c->view.fleet.unusable > 0)
        pace_report_warn(report, "%llu jobs cannot be asked; the first, on line %llu: %s",
                         (unsigned long long)c->view.fleet.unusable, (unsigned long long)c->view.fleet.first_line,
                         c->view.fleet.first_fault);
}

static pace_status build(pace_report *report, characterization *c) {
    pace_node *root = pace_report_root(report);
    warn(report, c);
    put_counts(root, c);
    say_composition(root, c);
    say_bottleneck(root, c);
    say_projection(root, c);
    say_upgrades(root, c);
    say_worst(root, c);
    if (c->view.fleet.hours_assumed > 0)
        pace_node_note(root, "%s jobs name no GPU-hours: an hour of each of their cNodes is counted.",
                       pace_show_int((int64_t)c->view.fleet.hours_assumed).text);
    pace_put_fleet_levels(root, &c->view);
    pace_put_fleet_matrix(root, &c->view);
    pace_put_fleet_bottlenecks(root, &c->view);
    pace_put_fleet_sizes(root, &c->view);
    pace_put_fleet_projections(root, &c->view);
    pace_put_fleet_questions(root, &c->view);
    pace_put_fleet_assumptions(root, &c->view);
    pace_put_fleet_worst(root, &c->view);
    pace_put_fleet_curves(root, &c->view);
    pace_put_fleet_charts(root, &c->view);
    pace_put_job_setting(root, &c->setting);
    pace_node_note(root,
                   "Ranges without further words hold 90 %%: the time on each resource is off by a factor with a "
                   "standard deviation of %.2f of its logarithm, resources apart from each other, all jobs alike; "
                   "the factors of software by their own (catalog/jobs.yaml).",
                   c->setting.spread);
    pace_node_note(root,
                   "Figures of confidence recalled-... are remembered of the paper, not checked against its text.");
    return pace_report_status(report);
}

static pace_status describe(pace_report **out, characterization *c, const char *const *paths, size_t count,
                            const pace_fleet_options *options) {
    pace_report *report;
    PACE_TRY(pace_report_new(&report, "fleet", "A fleet of jobs"));
    pace_report_set_command(report, options->command, options->command_count);
    for (size_t i = 0; i < count; i++)
        pace_report_add_input(report, paths[i], i < c->reading.bytes.count ? c->reading.bytes.items[i] : 0);
    pace_status status = build(report, c);
    return pace_report_give(out, report, status);
}

pace_status pace_characterize(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_fleet_options *options) {
    if (path_count == 0) return pace_fail(PACE_E_USAGE, "expected a table of jobs");
    const pace_processes *processes = options->processes;
    bool silent = processes && processes->rank > 0;
    characterization *c = NULL;
    pace_status status = open_characterization(&c, options);
    if (processes) status = pace_fleet_agree(status, processes);
    if (status == PACE_OK) {
        status = read_jobs(c, paths, path_count, options);
        if (processes) status = pace_fleet_agree(status, processes);
    }
    if (status == PACE_OK && silent) *out = NULL;
    else if (status == PACE_OK) status = describe(out, c, paths, path_count, options);
    close_characterization(c);
    return status;
}
