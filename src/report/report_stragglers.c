/* The report of `paceline fleet --iterations`: workers that hold up a job, and what growing would cost. */
#include "report/straggler_parts.h"

#include <math.h>
#include <string.h>

static const pace_column worker_columns[] = {
    {"job", "Job", PACE_SHOW_TEXT},
    {"worker", "Worker", PACE_SHOW_TEXT},
    {"iterations", "Iterations", PACE_SHOW_INT},
    {"mean_time", "Mean time", PACE_SHOW_REAL},
    {"time_unit", "Unit", PACE_SHOW_TEXT},
    {"usual_pace", "Usual pace", PACE_SHOW_REAL},
    {"lost_share", "Held up the job", PACE_SHOW_SHARE},
};

static const pace_column spell_columns[] = {
    {"job", "Job", PACE_SHOW_TEXT},
    {"worker", "Worker", PACE_SHOW_TEXT},
    {"first_iteration", "From", PACE_SHOW_REAL},
    {"last_iteration", "To", PACE_SHOW_REAL},
    {"begins_at_share", "Begins at", PACE_SHOW_SHARE},
    {"slowdown", "Times slower", PACE_SHOW_REAL},
    {"worst_slowdown", "At worst", PACE_SHOW_REAL},
    {"lost_share", "Held up the job", PACE_SHOW_SHARE},
};

static const pace_column slowdown_columns[] = {
    {"job", "Job", PACE_SHOW_TEXT},
    {"workers", "Workers", PACE_SHOW_INT},
    {"expected_slowdown", "Expected slow-down", PACE_SHOW_REAL},
    {"low_slowdown", "Low", PACE_SHOW_REAL},
    {"high_slowdown", "High", PACE_SHOW_REAL},
    {"measured_slowdown", "Measured", PACE_SHOW_REAL},
};

typedef struct {
    pace_node *root, *workers, *spells, *slowdown;
} tables;

/* 2, 4, ... 1024 workers, and as many as there were. */
static size_t choose_sizes(size_t *sizes, size_t workers) {
    size_t count = 0;
    bool placed = false;
    for (size_t size = 2; size <= 1024; size *= 2) {
        if (!placed && workers > 1 && workers < size) sizes[count++] = workers;
        placed = placed || workers <= size;
        sizes[count++] = size;
    }
    return count;
}

static pace_status read_job(pace_straggler_job *j, const char *path) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_iteration_rows_read(&j->rows, input);
    pace_input_free(input);
    return status;
}

static pace_status study(pace_straggler_job *j) {
    size_t sizes[PACE_STRAGGLER_SIZES];
    pace_iterations data = pace_iteration_rows_data(&j->rows);
    pace_status status = pace_variability_of(&j->found, &data);
    j->sizes = choose_sizes(sizes, data.workers);
    if (status == PACE_OK) status = pace_slowdown_of(j->slowdown, sizes, j->sizes, &data);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, j->name);
}

static double job_time(const pace_straggler_job *j) { return j->found.step * (double)j->rows.labels.count; }

static void put_sentences(const tables *t, const pace_straggler_job *j) {
    double lost, total = job_time(j);
    size_t slow = pace_steadily_slow(j, &lost);
    if (j->found.spells.count > 0) {
        const pace_slow_spell *s = &j->found.spells.items[0];
        pace_node_sentence(
            t->root, true,
            "%s: worker %s held up the others in iterations %g to %g of %zu, %.0f %% into the run: %.2f times "
            "its usual time, %.1f times at worst; that cost %.1f %% of the job's time.",
            j->name, pace_straggler_name(j, s->worker), j->rows.labels.items[s->first], j->rows.labels.items[s->last],
            j->rows.labels.count, 100.0 * (double)s->first / (double)j->rows.labels.count, s->slowdown, s->worst,
            100 * s->lost / total);
    } else {
        pace_node_sentence(t->root, true, "%s: no worker was slower than its usual for longer than chance.", j->name);
    }
    if (lost > 0)
        pace_node_sentence(
            t->root, false,
            "%s: worker %s is usually %.2f times the median worker; its being last otherwise cost %.1f %% of the "
            "job's time.",
            j->name, pace_straggler_name(j, slow), j->found.workers[slow].usual, 100 * lost / total);
    pace_node_sentence(t->root, false, "%s: a synchronous step takes %.2f times a mean worker's iteration.", j->name,
                       j->found.step / j->found.mean);
}

static void put_workers(const tables *t, const pace_straggler_job *j) {
    for (size_t w = 0; w < j->rows.workers.count; w++) {
        const pace_worker_pace *worker = &j->found.workers[w];
        pace_table_row(t->workers);
        pace_table_text(t->workers, j->name);
        pace_table_text(t->workers, pace_straggler_name(j, w));
        pace_table_int(t->workers, (int64_t)worker->iterations);
        pace_table_real(t->workers, worker->mean);
        pace_table_text(t->workers, j->rows.unit);
        pace_table_real(t->workers, worker->usual);
        pace_table_real(t->workers, worker->lost / job_time(j));
    }
}

static void put_spells(const tables *t, const pace_straggler_job *j) {
    for (size_t i = 0; i < j->found.spells.count; i++) {
        const pace_slow_spell *s = &j->found.spells.items[i];
        pace_table_row(t->spells);
        pace_table_text(t->spells, j->name);
        pace_table_text(t->spells, pace_straggler_name(j, s->worker));
        pace_table_real(t->spells, j->rows.labels.items[s->first]);
        pace_table_real(t->spells, j->rows.labels.items[s->last]);
        pace_table_real(t->spells, (double)s->first / (double)j->rows.labels.count);
        pace_table_real(t->spells, s->slowdown);
        pace_table_real(t->spells, s->worst);
        pace_table_real(t->spells, s->lost / job_time(j));
    }
}

static void put_slowdown(const tables *t, const pace_straggler_job *j) {
    for (size_t i = 0; i < j->sizes; i++) {
        const pace_slowdown *s = &j->slowdown[i];
        pace_table_row(t->slowdown);
        pace_table_text(t->slowdown, j->name);
        pace_table_int(t->slowdown, (int64_t)s->workers);
        pace_table_real(t->slowdown, s->expected);
        pace_table_real(t->slowdown, s->low);
        pace_table_real(t->slowdown, s->high);
        pace_table_real(t->slowdown, s->measured);
    }
}

static void put_notes(pace_node *root) {
    pace_node_note(
        root,
        "A time is compared with the median of the workers in the same iteration. A spell is a run in which a worker "
        "is slower than its own usual by more than chance (cumulative sum over 3 sigma, limit 10 sigma). "
        "Held up: by how much the slowest worker of an iteration was behind the next, over the job's time.");
    pace_node_note(
        root, "Expected slow-down of a synchronous step against a mean worker: workers drawn independently from all "
              "times; the interval holds 90 %% of resampled stretches of iterations. No draw is slower than the "
              "slowest that was measured, so figures for many more workers than were measured are low. "
              "Measured: all subsets of the workers, in the same iterations.");
}

static pace_status describe(pace_report *report, const pace_straggler_job *jobs, size_t count) {
    pace_node *root = pace_report_root(report);
    tables t = {.root = root};
    for (size_t i = 0; i < count; i++) put_sentences(&t, &jobs[i]);
    t.workers = pace_node_table(root, "workers", "Workers", PACE_FOR_ALL, PACE_COLUMNS(worker_columns), 64);
    t.spells = pace_node_table(root, "spells", "Spells in which a worker was slow", PACE_FOR_ALL,
                               PACE_COLUMNS(spell_columns), 32);
    t.slowdown = pace_node_table(root, "slowdown", "What more workers would cost", PACE_FOR_ALL,
                                 PACE_COLUMNS(slowdown_columns), 0);
    for (size_t i = 0; i < count; i++) {
        pace_report_add_input(report, jobs[i].path, jobs[i].rows.bytes);
        put_workers(&t, &jobs[i]);
        put_spells(&t, &jobs[i]);
        put_slowdown(&t, &jobs[i]);
    }
    put_notes(root);
    pace_put_straggler_charts(root, jobs, count);
    return pace_report_status(report);
}

static pace_status study_all(pace_straggler_job *jobs, const char *const *paths, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/');
        jobs[i].path = strcmp(paths[i], "-") == 0 ? "<stdin>" : paths[i];
        jobs[i].name = slash && slash[1] ? slash + 1 : jobs[i].path;
        PACE_TRY(read_job(&jobs[i], paths[i]));
        PACE_TRY(study(&jobs[i]));
    }
    return PACE_OK;
}

pace_status pace_stragglers(pace_report **out, const char *const *paths, size_t count,
                            const pace_cluster_options *options) {
    pace_report *report = NULL;
    pace_straggler_job *jobs = pace_alloc(count, sizeof *jobs);
    if (!jobs) return PACE_E_MEMORY;
    pace_status status = study_all(jobs, paths, count);
    if (status == PACE_OK) status = pace_report_new(&report, "stragglers", "Workers that hold up a job");
    if (status == PACE_OK) {
        pace_report_set_command(report, options->command, options->command_count);
        status = describe(report, jobs, count);
    }
    for (size_t i = 0; i < count; i++) {
        pace_iteration_rows_free(&jobs[i].rows);
        pace_variability_free(&jobs[i].found);
    }
    pace_free(jobs);
    if (status != PACE_OK) pace_report_free(report);
    else *out = report;
    return status;
}
