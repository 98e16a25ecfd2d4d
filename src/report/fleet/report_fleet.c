/* `paceline fleet`: where the time of a cluster goes, and what would help, from tables of its jobs. */
#include "report/fleet/fleet_parts.h"
#include "report/engines.h"
#include "ask/fleet/fleet_asked.h"
#include "report/show.h"

static const char *const architecture_words[PACE_JOB_ARCHITECTURES] = {
    "1w1g", "1wng", "PS/Worker", "AllReduce-Local", "AllReduce-Cluster", "PEARL"};
static const char *const component_words[PACE_JOB_COMPONENTS] = {"input", "compute-bound work", "memory-bound work",
                                                                 "weight traffic"};

static double part_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void say_composition(pace_node *root, const pace_fleet_asked *c) {
    const pace_fleet *fleet = &c->view.fleet;
    const pace_fleet_group *all = &c->view.all;
    int most = 0;
    for (int a = 1; a < PACE_JOB_ARCHITECTURES; a++)
        if (fleet->groups[a].cnodes > fleet->groups[most].cnodes) most = a;
    pace_node_sentence(root, true, "%s job%s on %s cNode%s; %s is %s of the jobs and %s of the cNodes.",
                       pace_show_int((int64_t)all->jobs).text, all->jobs == 1 ? "" : "s",
                       pace_show_int((int64_t)all->cnodes).text, all->cnodes == 1 ? "" : "s", architecture_words[most],
                       pace_show_share(part_of((double)fleet->groups[most].jobs, (double)all->jobs)).text,
                       pace_show_share(part_of((double)fleet->groups[most].cnodes, (double)all->cnodes)).text);
}

/* The range of the weights' share under the assumptions that are doubted. */
static void say_bottleneck(pace_node *root, const pace_fleet_asked *c) {
    const pace_fleet_group *all = &c->view.all;
    double share[PACE_JOB_COMPONENTS], low = INFINITY, high = 0;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) share[k] = pace_fleet_share(all, PACE_LEVEL_CNODE, k);
    for (size_t a = 0; a < c->questions.assumptions.count; a++) {
        double assumed =
            part_of(pace_sum_value(&c->view.fleet.conclusions[a].weight_share[PACE_LEVEL_CNODE]), (double)all->cnodes);
        low = fmin(low, assumed);
        high = fmax(high, assumed);
    }
    pace_fleet_range weights = pace_fleet_share_range(all, PACE_LEVEL_CNODE, PACE_COMPONENT_WEIGHTS);
    pace_job_component most = pace_job_bottleneck(share);
    pace_node_sentence(
        root, true,
        "A cNode spends most time on %s: weights take %s (%s to %s; %s to %s under other assumptions), compute-bound "
        "work %s, memory-bound work %s, input %s.",
        component_words[most], pace_show_share(share[PACE_COMPONENT_WEIGHTS]).text, pace_show_share(weights.low).text,
        pace_show_share(weights.high).text, pace_show_share(low).text, pace_show_share(high).text,
        pace_show_share(share[PACE_COMPONENT_COMPUTE]).text, pace_show_share(share[PACE_COMPONENT_MEMORY]).text,
        pace_show_share(share[PACE_COMPONENT_INPUT]).text);
}

static void say_projection(pace_node *root, pace_fleet_asked *c) {
    double ps = (double)c->view.fleet.groups[PACE_JOB_PS_WORKER].jobs, low = INFINITY, high = 0;
    if (!(ps > 0)) return;
    for (size_t a = 0; a < c->questions.assumptions.count; a++) {
        double gains = (double)c->view.fleet.conclusions[a].ps_gains / ps;
        low = fmin(low, gains);
        high = fmax(high, gains);
    }
    pace_fleet_moved moved = pace_fleet_moved_to(&c->view, 0);
    pace_node_sentence(
        root, true,
        "%s of the PS/Worker jobs would train faster as AllReduce-Local (%s to %s; %s to %s under other assumptions), "
        "%s do not fit; moving the jobs that gain saves %s of the PS/Worker GPU-hours (%s to %s).",
        pace_show_share(moved.gains.middle).text, pace_show_share(moved.gains.low).text,
        pace_show_share(moved.gains.high).text, pace_show_share(low).text, pace_show_share(high).text,
        pace_show_share(moved.verdict_share[PACE_PROJECTED_TOO_LARGE]).text,
        pace_show_share(moved.saved_share.middle).text, pace_show_share(moved.saved_share.low).text,
        pace_show_share(moved.saved_share.high).text);
}

static void say_best(pace_node *root, const pace_fleet_asked *c, pace_asked_kind kind, const char *of_what) {
    int best = pace_fleet_best(&c->view, kind);
    if (best < 0) return;
    pace_fleet_range saved = pace_fleet_gain_of(&c->view, (size_t)best).saved_share;
    pace_node_sentence(root, true, "Of the %s %s helps most: it saves %s of all GPU-hours (%s to %s).", of_what,
                       c->questions.items.items[best].text, pace_show_share(saved.middle).text,
                       pace_show_share(saved.low).text, pace_show_share(saved.high).text);
}

static void say_upgrades(pace_node *root, const pace_fleet_asked *c) {
    say_best(root, c, PACE_ASKED_HARDWARE, "upgrades,");
    say_best(root, c, PACE_ASKED_SOFTWARE, "changes of software,");
}

static void say_worst(pace_node *root, const pace_fleet_asked *c) {
    const pace_worst_job *worst = NULL;
    int of = 0;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        const pace_worst_jobs *list = &c->view.fleet.worst[k];
        if (list->count == 0 || (worst && list->items[0].lost_hours <= worst->lost_hours)) continue;
        worst = &list->items[0];
        of = k;
    }
    if (!worst) return;
    pace_node_sentence(root, true, "The largest loss is job %s: %s of its %s GPU-hours are %s.",
                       *worst->id ? worst->id : "(no name)", pace_show_share(worst->share).text,
                       pace_show_real(worst->hours).text, component_words[of]);
}

static void put_counts(pace_node *root, const pace_fleet_asked *c) {
    pace_node_int(root, "jobs", (int64_t)c->view.all.jobs);
    pace_node_int(root, "cnodes", (int64_t)c->view.all.cnodes);
    pace_node_real(root, "gpu_hours", pace_sum_value(&c->view.all.hours));
    pace_node_int(root, "gpu_hours_assumed", (int64_t)c->view.fleet.hours_assumed);
    pace_node_int(root, "rows", (int64_t)c->reading.rows);
    pace_node_int(root, "rejected", (int64_t)c->reading.rejected);
    pace_node_int(root, "unusable", (int64_t)c->view.fleet.unusable);
}

static void warn(pace_report *report, const pace_fleet_asked *c) {
    pace_report_warn_all(report, &c->reading.remarks);
    if (c->reading.rejected > 0)
        pace_report_warn(report, PACE_WARN_ROWS_LEFT_OUT, NULL, "%llu of %llu rows were rejected; the first: %s",
                         (unsigned long long)c->reading.rejected, (unsigned long long)c->reading.rows,
                         c->reading.rejects.count ? c->reading.rejects.items[0] : "");
    if (c->view.fleet.unusable > 0)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "%llu jobs cannot be modelled; the first, on line %llu: %s",
                         (unsigned long long)c->view.fleet.unusable, (unsigned long long)c->view.fleet.first_line,
                         c->view.fleet.first_fault);
}

static pace_status build(pace_report *report, void *context) {
    pace_fleet_asked *c = context;
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < c->path_count; i++)
        pace_report_add_input(report, c->paths[i], i < c->reading.bytes.count ? c->reading.bytes.items[i] : 0);
    warn(report, c);
    put_counts(root, c);
    say_composition(root, c);
    say_bottleneck(root, c);
    say_projection(root, c);
    say_upgrades(root, c);
    say_worst(root, c);
    if (c->view.fleet.hours_assumed > 0)
        pace_node_note(root, "%s jobs state no GPU-hours: one hour per cNode is assumed.",
                       pace_show_int((int64_t)c->view.fleet.hours_assumed).text);
    pace_put_fleet_pictures(root, &c->view);
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
    pace_node_note(
        root,
        "Ranges are 90 %% intervals. The logarithm of the time on each resource has a standard deviation of %.2f, "
        "independent between resources and shared by all jobs; software factors have their own "
        "(catalog/jobs.yaml).",
        c->setting.spread);
    pace_node_note(root, "Confidence recalled-...: quoted from memory of the paper, not checked against its text.");
    return PACE_OK;
}

pace_status pace_characterize(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_fleet_options *options) {
    if (path_count == 0) return pace_fail(PACE_E_USAGE, "expected a table of jobs");
    pace_fleet_asked *asked;
    PACE_TRY(pace_fleet_ask(&asked, paths, path_count, options));
    bool silent = options->processes && options->processes->rank > 0;
    pace_status status = PACE_OK;
    if (silent) *out = NULL;
    else status = pace_report_build(out, "fleet", "A fleet of jobs", build, asked);
    pace_fleet_asked_free(asked);
    return status;
}
