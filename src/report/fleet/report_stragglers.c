/* The report of `paceline fleet --iterations`: workers that hold up a job, and what growing would cost. */
#include "report/fleet/fleet_parts.h"
#include "base/rank_test.h"
#include "report/engines.h"
#include "report/predict/unread_columns.h"
#include "report/table.h"

#include <string.h>

enum { MOST_NAMED = 6 };

/* "a, b, c and 5 more", or the node that they are. */
static void name_group(char *out, size_t size, const pace_straggler_job *j, size_t group) {
    const pace_slow_group *of = &j->groups.groups.items[group];
    const char *node = of->count > 1 ? pace_straggler_group_node(j, group) : NULL;
    size_t used = 0, named = of->count <= MOST_NAMED ? of->count : MOST_NAMED - 1;
    if (node) {
        pace_snprintf(out, size, "all of node %.60s", node);
        return;
    }
    out[0] = '\0';
    for (size_t i = 0; i < named; i++) {
        pace_snprintf(out + used, size - used, "%s%.40s", i ? ", " : "",
                      pace_straggler_name(j, j->groups.order[of->first + i]));
        used += strlen(out + used);
    }
    if (named < of->count) pace_snprintf(out + used, size - used, " and %zu more", of->count - named);
}

/* What the job would be without its slow workers comes first. */
static void put_groups_sentence(pace_node *root, const pace_straggler_job *j) {
    size_t last = j->groups.groups.count - 1;
    double step = j->groups.groups.items[1].step;
    char names[400];
    name_group(names, sizeof names, j, last);
    const pace_slow_group *slowest = &j->groups.groups.items[last];
    pace_node_sentence(
        root, true,
        "%s: %zu of %zu workers (%s) %s %.2f times as long as the fastest %zu%s; without slow workers a step "
        "would take %.4g instead of %.4g %s (%.1f %% less).",
        j->name, slowest->count, j->groups.count, names, slowest->count == 1 ? "takes" : "take", slowest->pace,
        j->groups.groups.items[0].count, last > 1 ? ", and others are between" : "", step, j->found.step, j->rows.unit,
        100 * j->groups.groups.items[1].saved_share);
}

/* Of equal workers one is last most often, too: it is named where it is so by more than chance. */
static void put_steady_sentence(pace_node *root, const pace_straggler_job *j) {
    const pace_steady_delay *s = &j->steady;
    char worst[160] = "";
    if (!s->by_chance) {
        pace_node_sentence(
            root, false,
            "%s: worker %s usually takes %.2f times as long as the median worker; being last outside its slow spells cost "
            "%.1f %% of the job's time.",
            j->name, pace_straggler_name(j, s->worker), j->found.workers[s->worker].usual, 100 * s->lost_share);
        return;
    }
    if (s->worst_share > 0.5)
        pace_snprintf(worst, sizeof worst, ", %.1f %% of it in iteration %g alone (worker %.40s)", 100 * s->worst_share,
                      j->rows.labels.items[s->iteration], pace_straggler_name(j, s->worst_worker));
    pace_node_sentence(
        root, false,
        "%s: outside slow spells the last worker is another one from iteration to iteration, as by chance; that cost "
        "%.1f %% of the job's time%s.",
        j->name, 100 * s->all_lost_share, worst);
}

static void put_sentences(pace_node *root, const pace_straggler_job *j) {
    bool grouped = j->groups.groups.count > 1;
    if (grouped) put_groups_sentence(root, j);
    if (j->found.spells.count > 0) {
        const pace_slow_spell *s = &j->found.spells.items[0];
        pace_node_sentence(
            root, true,
            "%s: worker %s delayed the others in iterations %g to %g of %zu, %.0f %% into the run: it took %.2f times its "
            "usual time, %.1f times at worst, which cost %.1f %% of the job's time.",
            j->name, pace_straggler_name(j, s->worker), j->rows.labels.items[s->first], j->rows.labels.items[s->last],
            j->rows.labels.count, 100.0 * (double)s->first / (double)j->rows.labels.count, s->slowdown, s->worst,
            100 * s->lost_share);
    } else {
        pace_node_sentence(root, !grouped, "%s: no worker was slower than usual for longer than chance explains.",
                           j->name);
    }
    if (j->steady.lost > 0 && !grouped) put_steady_sentence(root, j);
    pace_node_sentence(root, false,
                       "%s: a synchronous step takes %.2f times as long as the mean iteration of a worker.", j->name,
                       j->found.step / j->found.mean);
}

typedef struct {
    const char *job, *workers, *time_unit;
    size_t group, count;
    double pace, step_time, saved_share;
} group_row;

PACE_TABLE_IF_ROWS(groups, "groups", "Groups of slow workers", PACE_FOR_ALL, 32,
                   {"job", "Job", PACE_SHOW_TEXT, PACE_OF(group_row, job)},
                   {"group", "Group", PACE_SHOW_INT, PACE_OF(group_row, group)},
                   {"worker_count", "Number", PACE_SHOW_INT, PACE_OF(group_row, count)},
                   {"pace", "Pace", PACE_SHOW_REAL, PACE_OF(group_row, pace)},
                   {"step_time_without", "Step without", PACE_SHOW_REAL, PACE_OF(group_row, step_time)},
                   {"time_unit", "Unit", PACE_SHOW_TEXT, PACE_OF(group_row, time_unit)},
                   {"saved_share", "Saves", PACE_SHOW_SHARE, PACE_OF(group_row, saved_share)},
                   {"workers", "Workers", PACE_SHOW_TEXT, PACE_OF(group_row, workers)});

static void put_groups(pace_node *table, const pace_straggler_job *j) {
    for (size_t g = 1; g < j->groups.groups.count; g++) {
        const pace_slow_group *group = &j->groups.groups.items[g];
        char names[400];
        name_group(names, sizeof names, j, g);
        pace_table_put(table, &(group_row){j->name, names, j->rows.unit, g, group->count, group->pace, group->step,
                                           group->saved_share});
    }
}

PACE_TABLE_IF_ROWS(nodes, "nodes", "Nodes over all jobs", PACE_FOR_ALL, 32,
                   {"node", "Node", PACE_SHOW_TEXT, PACE_OF(pace_straggler_node, name)},
                   {"jobs", "Jobs", PACE_SHOW_INT, PACE_OF(pace_straggler_node, jobs)},
                   {"slow_jobs", "Slow in", PACE_SHOW_INT, PACE_OF(pace_straggler_node, slow_jobs)},
                   {"pace", "Pace", PACE_SHOW_REAL, PACE_OF(pace_straggler_node, pace)});

static void put_node_sentence(pace_node *root, const pace_stragglers_asked *asked) {
    const pace_straggler_node *worst = asked->nodes.count ? &asked->nodes.items[0] : NULL;
    char chance[120] = "";
    if (!worst || worst->slow_jobs < 2) return;
    double p = pace_straggler_nodes_chance(asked);
    if (p > PACE_CHANGE_LEVEL)
        pace_snprintf(chance, sizeof chance,
                      " Were no node worse than another, one of %zu would be in %.0f %% of all cases.",
                      asked->nodes.count, 100 * p);
    pace_node_sentence(root, true,
                       "Node %.60s is slow in %zu of the %zu jobs that it ran: %.2f times as long as the others.%s",
                       worst->name, worst->slow_jobs, worst->jobs, worst->pace, chance);
}

typedef struct {
    const char *job, *worker, *time_unit;
    size_t iterations, group;
    double mean_time, usual_pace, lost_share;
} worker_row;

PACE_TABLE(workers, "workers", "Workers", PACE_FOR_ALL, 64, {"job", "Job", PACE_SHOW_TEXT, PACE_OF(worker_row, job)},
           {"worker", "Worker", PACE_SHOW_TEXT, PACE_OF(worker_row, worker)},
           {"iterations", "Iterations", PACE_SHOW_INT, PACE_OF(worker_row, iterations)},
           {"mean_time", "Mean time", PACE_SHOW_REAL, PACE_OF(worker_row, mean_time)},
           {"time_unit", "Unit", PACE_SHOW_TEXT, PACE_OF(worker_row, time_unit)},
           {"usual_pace", "Usual pace", PACE_SHOW_REAL, PACE_OF(worker_row, usual_pace)},
           {"group", "Group", PACE_SHOW_INT, PACE_OF(worker_row, group)},
           {"lost_share", "Delayed the job", PACE_SHOW_SHARE, PACE_OF(worker_row, lost_share)});

static void put_workers(pace_node *table, const pace_straggler_job *j) {
    for (size_t w = 0; w < j->rows.workers.count; w++) {
        const pace_worker_pace *one = &j->found.workers[w];
        pace_table_put(table, &(worker_row){j->name, pace_straggler_name(j, w), j->rows.unit, one->iterations,
                                            pace_slow_group_of(&j->groups, w), one->mean, pace_straggler_pace(j, w),
                                            one->lost_share});
    }
}

typedef struct {
    const char *job, *worker;
    double first_iteration, last_iteration;
    pace_slow_spell spell;
} spell_row;

PACE_TABLE(spells, "spells", "Slow spells of workers", PACE_FOR_ALL, 32,
           {"job", "Job", PACE_SHOW_TEXT, PACE_OF(spell_row, job)},
           {"worker", "Worker", PACE_SHOW_TEXT, PACE_OF(spell_row, worker)},
           {"first_iteration", "From", PACE_SHOW_REAL, PACE_OF(spell_row, first_iteration)},
           {"last_iteration", "To", PACE_SHOW_REAL, PACE_OF(spell_row, last_iteration)},
           {"begins_at_share", "Begins at", PACE_SHOW_SHARE, PACE_OF(spell_row, spell.begins_share)},
           {"slowdown", "Times slower", PACE_SHOW_REAL, PACE_OF(spell_row, spell.slowdown)},
           {"worst_slowdown", "At worst", PACE_SHOW_REAL, PACE_OF(spell_row, spell.worst)},
           {"lost_share", "Delayed the job", PACE_SHOW_SHARE, PACE_OF(spell_row, spell.lost_share)});

static void put_spells(pace_node *table, const pace_straggler_job *j) {
    const double *labels = j->rows.labels.items;
    PACE_ITEMS (const pace_slow_spell, s, &j->found.spells) {
        pace_table_put(table,
                       &(spell_row){j->name, pace_straggler_name(j, s->worker), labels[s->first], labels[s->last], *s});
    }
}

typedef struct {
    const char *job;
    pace_slowdown of;
} slowdown_row;

PACE_TABLE(slowdown, "slowdown", "Slow-down by number of workers", PACE_FOR_ALL, 0,
           {"job", "Job", PACE_SHOW_TEXT, PACE_OF(slowdown_row, job)},
           {"workers", "Workers", PACE_SHOW_INT, PACE_OF(slowdown_row, of.workers)},
           {"expected_slowdown", "Expected slow-down", PACE_SHOW_REAL, PACE_OF(slowdown_row, of.expected)},
           {"low_slowdown", "Low", PACE_SHOW_REAL, PACE_OF(slowdown_row, of.low)},
           {"high_slowdown", "High", PACE_SHOW_REAL, PACE_OF(slowdown_row, of.high)},
           {"measured_slowdown", "Measured", PACE_SHOW_REAL, PACE_OF(slowdown_row, of.measured)});

static void put_notes(pace_node *root) {
    pace_node_note(
        root,
        "Times are compared with the median worker of the same iteration. In a slow spell a worker is slower than its "
        "own usual pace by more than chance (cumulative sum over 3 sigma; its limit is 10 sigma, more where times in any "
        "order would reach that). A group of workers is slow "
        "where usual paces leave a gap that chance does not explain; paces are then against the fastest group. Delay: how far the slowest "
        "worker of each iteration was behind the second slowest, as a share of the job's time.");
    pace_node_note(
        root,
        "Expected slow-down of a synchronous step relative to a mean worker, with workers drawn independently from "
        "all times; low and high are a 90 %% interval over resampled blocks of iterations. No draw is slower than "
        "the slowest measured time, so figures for many more workers than measured are too low. Measured: all "
        "subsets of the workers, in the same iterations.");
}

static pace_status warn_of_unread(pace_report *report, const pace_stragglers_asked *asked) {
    pace_unread_columns unread = {0};
    pace_status status = PACE_OK;
    for (size_t i = 0; i < asked->count; i++)
        PACE_ITEMS (char *const, name, &asked->jobs[i].rows.unread)
            if (status == PACE_OK && pace_word_number(unread.names.items, unread.names.count, *name) < 0)
                status = PACE_PUSH(&unread.names, *name);
    if (status == PACE_OK) pace_warn_of_unread_columns(report, &unread);
    pace_unread_columns_free(&unread);
    return status;
}

static pace_status describe(pace_report *report, void *context) {
    const pace_stragglers_asked *asked = context;
    PACE_TRY(warn_of_unread(report, asked));
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < asked->count; i++) put_sentences(root, &asked->jobs[i]);
    put_node_sentence(root, asked);
    pace_put_straggler_charts(root, asked->jobs, asked->count);
    PACE_PUT_ROWS(root, &nodes, &asked->nodes);
    pace_node *by_group = pace_open_table(root, &groups, 0);
    pace_node *by_worker = pace_open_table(root, &workers, 0), *by_spell = pace_open_table(root, &spells, 0);
    pace_node *by_size = pace_open_table(root, &slowdown, 0);
    for (size_t i = 0; i < asked->count; i++) {
        const pace_straggler_job *job = &asked->jobs[i];
        pace_report_add_input(report, job->path, job->rows.bytes);
        put_groups(by_group, job);
        put_workers(by_worker, job);
        put_spells(by_spell, job);
        for (size_t k = 0; k < job->sizes; k++) pace_table_put(by_size, &(slowdown_row){job->name, job->slowdown[k]});
    }
    put_notes(root);
    return PACE_OK;
}

pace_status pace_stragglers(pace_report **out, pace_catalog *catalog, const char *const *paths, size_t count) {
    pace_stragglers_asked asked = {0};
    pace_status status = pace_stragglers_ask(&asked, catalog, paths, count);
    if (status == PACE_OK) status = pace_report_build(out, "stragglers", "Workers that delay a job", describe, &asked);
    pace_stragglers_asked_free(&asked);
    return status;
}
