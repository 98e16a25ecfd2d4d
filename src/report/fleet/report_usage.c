/* The report of `paceline fleet` about records of a cluster: its tables. */
#include "report/engines.h"
#include "base/numbers.h"
#include "report/table.h"
#include "report/fleet/fleet_parts.h"

/* A cost that is known of some GPU-hours at least. */
static double cost_of(double cost, double priced_hours) { return priced_hours > 0 ? cost : NAN; }

static double idle_cost_of(const pace_usage_group *g) {
    if (!(g->judged_gpu_hours > 0)) return NAN;
    return cost_of(g->idle_cost, g->idle_gpu_hours > 0 ? g->priced_idle_gpu_hours : g->priced_gpu_hours);
}

static double lost_cost_of(const pace_usage_group *g) {
    return cost_of(g->lost_cost, g->lost_gpu_hours > 0 ? g->priced_lost_gpu_hours : g->priced_gpu_hours);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    pace_usage_group of;
    double hours_share, cost, judged_share, idle_share, idle_cost, lost_share, lost_cost;
} group_row;

static const pace_table_column group_columns[] = {
    {"name", "", PACE_SHOW_TEXT, PACE_OF(group_row, name)},
    {"jobs", "Jobs", PACE_SHOW_INT, PACE_OF(group_row, of.jobs)},
    {"runs", NULL, PACE_SHOW_INT, PACE_OF(group_row, of.runs)},
    {"gpu_hours", "GPU-hours", PACE_SHOW_REAL, PACE_OF(group_row, of.gpu_hours)},
    {"gpu_hours_share", "Of all", PACE_SHOW_SHARE, PACE_OF(group_row, hours_share)},
    {"cost", "Cost", PACE_SHOW_REAL, PACE_OF(group_row, cost)},
    {"judged_share", "Judged", PACE_SHOW_SHARE, PACE_OF(group_row, judged_share)},
    {"idle_share", "Idle of judged", PACE_SHOW_SHARE, PACE_OF(group_row, idle_share)},
    {"idle_cost", NULL, PACE_SHOW_REAL, PACE_OF(group_row, idle_cost)},
    {"lost_share", "Failed", PACE_SHOW_SHARE, PACE_OF(group_row, lost_share)},
    {"lost_cost", NULL, PACE_SHOW_REAL, PACE_OF(group_row, lost_cost)},
    {"wait_median_s", "Median wait", PACE_SHOW_S, PACE_OF(group_row, of.wait_median_s)},
    {"wait_p90_s", "90 %", PACE_SHOW_S, PACE_OF(group_row, of.wait_p90_s)},
    {0}};

enum { GROUPS_SHOWN = 10 };

static const pace_table group_tables[PACE_USAGE_BYS] = {
    {"users", "By user", PACE_FOR_ALL, GROUPS_SHOWN, true, group_columns},
    {"accounts", "By account", PACE_FOR_ALL, GROUPS_SHOWN, true, group_columns},
    {"queues", "By queue", PACE_FOR_ALL, GROUPS_SHOWN, true, group_columns},
    {"types", "By type of work", PACE_FOR_ALL, GROUPS_SHOWN, true, group_columns},
    {"gpus", "By GPU", PACE_FOR_ALL, GROUPS_SHOWN, true, group_columns},
    {"states", "By state", PACE_FOR_ALL, 0, true, group_columns},
    {"sizes", "By GPUs of a run", PACE_FOR_ALL, 0, true, group_columns}};

static group_row row_of(const pace_usage_group *g, const pace_usage_group *all) {
    return (group_row){.name = g->text,
                       .of = *g,
                       .hours_share = pace_part_of(g->gpu_hours, all->gpu_hours),
                       .cost = cost_of(g->cost, g->priced_gpu_hours),
                       .judged_share = pace_part_of(g->judged_gpu_hours, g->gpu_hours),
                       .idle_share = pace_part_of(g->idle_gpu_hours, g->judged_gpu_hours),
                       .idle_cost = idle_cost_of(g),
                       .lost_share = pace_part_of(g->lost_gpu_hours, g->gpu_hours),
                       .lost_cost = lost_cost_of(g)};
}

/* Records that do not say by what they could be put together have one group, of no name. */
static bool is_said(const pace_usage_groups *groups, int by) {
    return by == PACE_BY_SIZE || groups->count > 1 || (groups->count == 1 && groups->items[0].name);
}

static void put_groups(pace_node *root, const pace_usage_asked *a, int by) {
    const pace_usage_groups *groups = &a->figures.by[by];
    pace_node *table = pace_open_table(root, &group_tables[by], 0);
    for (size_t i = 0; is_said(groups, by) && i < groups->count; i++) {
        group_row row = row_of(&groups->items[i], &a->figures.all);
        pace_table_put(table, &row);
    }
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *by, *name;
    pace_usage_group of;
    double of_all;
} wait_row;

PACE_TABLE_IF_ROWS(waiting, "waiting", "Who waits", PACE_FOR_ALL, 12,
                   {"by", "By", PACE_SHOW_TEXT, PACE_OF(wait_row, by)},
                   {"name", "", PACE_SHOW_TEXT, PACE_OF(wait_row, name)},
                   {"waits", "Waits", PACE_SHOW_INT, PACE_OF(wait_row, of.waits)},
                   {"median_s", "Median", PACE_SHOW_S, PACE_OF(wait_row, of.wait_median_s)},
                   {"p90_s", "90 %", PACE_SHOW_S, PACE_OF(wait_row, of.wait_p90_s)},
                   {"mean_s", "Mean", PACE_SHOW_S, PACE_OF(wait_row, of.wait_mean_s)},
                   {"gpu_hours", "GPU-hours waited for", PACE_SHOW_REAL, PACE_OF(wait_row, of.wait_gpu_hours)},
                   {"gpu_hours_share", "Of all", PACE_SHOW_SHARE, PACE_OF(wait_row, of_all)});

static void put_waits(pace_node *root, const pace_usage_asked *a) {
    static const struct {
        pace_usage_by by;
        const char *text;
    } bys[] = {{PACE_BY_QUEUE, "queue"}, {PACE_BY_SIZE, "GPUs"}, {PACE_BY_GPU, "GPU"}};
    pace_node *table = pace_open_table(root, &waiting, 0);
    for (size_t b = 0; b < PACE_COUNT(bys); b++) {
        const pace_usage_groups *groups = &a->figures.by[bys[b].by];
        for (size_t i = 0; is_said(groups, bys[b].by) && i < groups->count; i++) {
            const pace_usage_group *g = &groups->items[i];
            if (g->waits == 0) continue;
            pace_table_put(table, &(wait_row){bys[b].text, g->text, *g,
                                              pace_part_of(g->wait_gpu_hours, a->figures.all.wait_gpu_hours)});
        }
    }
}

/* --- counters ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *by, *name, *limit;
    pace_usage_group of;
} counter_row;

PACE_TABLE_IF_ROWS(counters, "counters", "What GPUs did while they were held", PACE_FOR_ALL, 12,
                   {"by", "By", PACE_SHOW_TEXT, PACE_OF(counter_row, by)},
                   {"name", "", PACE_SHOW_TEXT, PACE_OF(counter_row, name)},
                   {"gpu_hours", NULL, PACE_SHOW_REAL, PACE_OF(counter_row, of.judged_gpu_hours)},
                   {"active_share", "Active", PACE_SHOW_SHARE, PACE_OF(counter_row, of.counters[0])},
                   {"gpu_util_share", "Util.", PACE_SHOW_SHARE, PACE_OF(counter_row, of.counters[1])},
                   {"sm_share", "SMs", PACE_SHOW_SHARE, PACE_OF(counter_row, of.counters[2])},
                   {"occupancy_share", NULL, PACE_SHOW_SHARE, PACE_OF(counter_row, of.counters[3])},
                   {"tensor_share", "Matrix", PACE_SHOW_SHARE, PACE_OF(counter_row, of.counters[4])},
                   {"dram_share", "Memory", PACE_SHOW_SHARE, PACE_OF(counter_row, of.counters[5])},
                   {"pcie_tx_bytes_per_s", NULL, PACE_SHOW_REAL, PACE_OF(counter_row, of.counters[6])},
                   {"pcie_rx_bytes_per_s", "From host", PACE_SHOW_RATE, PACE_OF(counter_row, of.counters[7])},
                   {"nvlink_tx_bytes_per_s", "NVLink out", PACE_SHOW_RATE, PACE_OF(counter_row, of.counters[8])},
                   {"nvlink_rx_bytes_per_s", NULL, PACE_SHOW_REAL, PACE_OF(counter_row, of.counters[9])},
                   {"power_w", "Power, W", PACE_SHOW_REAL, PACE_OF(counter_row, of.counters[10])},
                   {"estimated_low_flop_per_s", "FLOP/s from", PACE_SHOW_RATE, PACE_OF(counter_row, of.flop_per_s_low)},
                   {"estimated_high_flop_per_s", "to", PACE_SHOW_RATE, PACE_OF(counter_row, of.flop_per_s_high)},
                   {"estimated_memory_bytes_per_s", "Memory B/s", PACE_SHOW_RATE,
                    PACE_OF(counter_row, of.memory_bytes_per_s)},
                   {"limit", "Mostly", PACE_SHOW_TEXT, PACE_OF(counter_row, limit)});

_Static_assert(PACE_USAGE_COUNTERS == 11, "every counter has its column");

static bool has_counters(const pace_usage_group *g) {
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++)
        if (!isnan(g->counters[c])) return true;
    return false;
}

static void put_counters_of(pace_node *table, const pace_usage_asked *a, pace_usage_by by, const char *text) {
    const pace_usage_groups *groups = &a->figures.by[by];
    for (size_t i = 0; is_said(groups, by) && i < groups->count; i++) {
        const pace_usage_group *g = &groups->items[i];
        if (!has_counters(g)) continue;
        pace_table_put(table, &(counter_row){text, g->text, pace_usage_limit_names[g->limit], *g});
    }
}

static void put_counters(pace_node *root, const pace_usage_asked *a) {
    pace_node *table = pace_open_table(root, &counters, 0);
    put_counters_of(table, a, PACE_BY_TYPE, "type");
    put_counters_of(table, a, PACE_BY_USER, "user");
    put_counters_of(table, a, PACE_BY_GPU, "GPU");
}

/* --- what to change ----------------------------------------------------------------------------------------------- */

typedef struct {
    const char *change, *text, *user;
    uint64_t runs;
    double gpu_hours, hours_share, cost, user_share;
} change_row;

PACE_TABLE_IF_ROWS(changes, "changes", "What to change, and what it gives back at most", PACE_FOR_ALL, 0,
                   {"change", NULL, PACE_SHOW_TEXT, PACE_OF(change_row, change)},
                   {"text", "Change", PACE_SHOW_TEXT, PACE_OF(change_row, text)},
                   {"runs", "Runs", PACE_SHOW_INT, PACE_OF(change_row, runs)},
                   {"gpu_hours", "GPU-hours", PACE_SHOW_REAL, PACE_OF(change_row, gpu_hours)},
                   {"gpu_hours_share", "Of all", PACE_SHOW_SHARE, PACE_OF(change_row, hours_share)},
                   {"cost", "Worth", PACE_SHOW_REAL, PACE_OF(change_row, cost)},
                   {"user", "Most by", PACE_SHOW_TEXT, PACE_OF(change_row, user)},
                   {"user_share", "of it", PACE_SHOW_SHARE, PACE_OF(change_row, user_share)});

static void put_changes(pace_node *root, const pace_usage_asked *a) {
    pace_node *table = pace_open_table(root, &changes, 0);
    PACE_ITEMS (const pace_usage_change, c, &a->changes) {
        pace_table_put(table,
                       &(change_row){.change = pace_usage_change_names[c->kind],
                                     .text = pace_usage_change_texts[c->kind],
                                     .user = c->user ? pace_usage_name(&a->usage, c->user) : NULL,
                                     .runs = c->runs,
                                     .gpu_hours = c->gpu_hours,
                                     .hours_share = pace_part_of(c->gpu_hours, a->figures.all.gpu_hours),
                                     .cost = cost_of(c->cost, c->priced_gpu_hours),
                                     .user_share = c->user ? pace_part_of(c->user_gpu_hours, c->gpu_hours) : NAN});
    }
}

/* --- models that types of work name ------------------------------------------------------------------------------- */

typedef struct {
    const char *type;
    pace_usage_model model;
    int64_t variants;
    double hours_share, low_gflop, high_gflop;
} model_row;

PACE_TABLE_IF_ROWS(models, "models", "What the models need that types of work name (estimated)", PACE_FOR_ALL, 12,
                   {"type", "Type", PACE_SHOW_TEXT, PACE_OF(model_row, type)},
                   {"gpu_hours", NULL, PACE_SHOW_REAL, PACE_OF(model_row, model.gpu_hours)},
                   {"gpu_hours_share", "GPU-hours", PACE_SHOW_SHARE, PACE_OF(model_row, hours_share)},
                   {"variants", "Variants", PACE_SHOW_INT, PACE_OF(model_row, variants)},
                   {"low_weight_bytes", "Weights from", PACE_SHOW_BYTES, PACE_OF(model_row, model.weight_bytes.low)},
                   {"high_weight_bytes", "to", PACE_SHOW_BYTES, PACE_OF(model_row, model.weight_bytes.high)},
                   {"low_weight_traffic_bytes", NULL, PACE_SHOW_BYTES,
                    PACE_OF(model_row, model.weight_traffic_bytes.low)},
                   {"high_weight_traffic_bytes", "Traffic a step, to", PACE_SHOW_BYTES,
                    PACE_OF(model_row, model.weight_traffic_bytes.high)},
                   {"low_gflop_per_sample", "GFLOP a sample from", PACE_SHOW_REAL, PACE_OF(model_row, low_gflop)},
                   {"high_gflop_per_sample", "to", PACE_SHOW_REAL, PACE_OF(model_row, high_gflop)});

static void put_models(pace_node *root, const pace_usage_asked *a) {
    pace_node *table = pace_open_table(root, &models, 0);
    PACE_ITEMS (const pace_usage_model, m, &a->models.items) {
        pace_table_put(table, &(model_row){pace_usage_name(&a->usage, m->type), *m, (int64_t)m->variants,
                                           pace_part_of(m->gpu_hours, a->figures.all.gpu_hours),
                                           m->flop_per_sample.low / 1e9, m->flop_per_sample.high / 1e9});
    }
}

/* --- files and prices --------------------------------------------------------------------------------------------- */

typedef struct {
    const char *source, *name;
    pace_usage_reading reading;
} file_row;

PACE_TABLE(files, "files", "What was read", PACE_FOR_ALL, 0,
           {"source", "Source", PACE_SHOW_TEXT, PACE_OF(file_row, source)},
           {"mapping", NULL, PACE_SHOW_TEXT, PACE_OF(file_row, name)},
           {"rows", "Rows", PACE_SHOW_INT, PACE_OF(file_row, reading.rows)},
           {"taken", "Used", PACE_SHOW_INT, PACE_OF(file_row, reading.taken)},
           {"skipped", "Steps of jobs", PACE_SHOW_INT, PACE_OF(file_row, reading.skipped)},
           {"refused", "Refused", PACE_SHOW_INT, PACE_OF(file_row, reading.refused)});

static void put_files(pace_node *root, const pace_usage_asked *a) {
    pace_node *table = pace_open_table(root, &files, 0);
    PACE_ITEMS (const pace_usage_reading, r, &a->readings)
        pace_table_put(table, &(file_row){r->mapping->title, r->mapping->name, *r});
}

typedef struct {
    const char *price;
} price_row;

PACE_TABLE_IF_ROWS(prices, "prices", "Prices of an hour", PACE_FOR_ALL, 0,
                   {"price", "Price", PACE_SHOW_TEXT, PACE_OF(price_row, price)});

static void put_prices(pace_node *root, const pace_usage_asked *a) {
    pace_node *table = pace_open_table(root, &prices, 0);
    for (size_t i = 0; i < a->prices.sources.count; i++)
        pace_table_put(table, &(price_row){a->prices.sources.items[i]});
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void put_totals(pace_node *root, const pace_usage_asked *a) {
    const pace_usage_figures *f = &a->figures;
    const pace_usage_group *all = &f->all;
    const pace_usage_estimate *e = &f->unjudged;
    pace_node_int(root, "jobs", (int64_t)all->jobs);
    pace_node_int(root, "runs", (int64_t)all->runs);
    pace_node_int(root, "runs_without_gpus", (int64_t)a->usage.without_gpus);
    pace_node_int(root, "runs_open", (int64_t)f->open_runs);
    pace_node_int(root, "runs_pending", (int64_t)f->pending_runs);
    pace_node_int(root, "runs_without_time", (int64_t)f->without_time);
    pace_node_int(root, "runs_repeated", (int64_t)a->usage.repeated);
    pace_node_real(root, "span_s", f->span_s);
    pace_node_real(root, "gpu_hours", all->gpu_hours);
    pace_node_real(root, "cost", cost_of(all->cost, all->priced_gpu_hours));
    pace_node_real(root, "priced_share", pace_part_of(all->priced_gpu_hours, all->gpu_hours));
    pace_node_real(root, "judged_jobs_share", pace_part_of((double)f->judged_jobs, (double)all->held_jobs));
    pace_node_real(root, "judged_share", pace_part_of(all->judged_gpu_hours, all->gpu_hours));
    pace_node_real(root, "stated_share", pace_part_of(f->stated_gpu_hours, all->gpu_hours));
    pace_node_real(root, "idle_gpu_hours", all->judged_gpu_hours > 0 ? all->idle_gpu_hours : NAN);
    pace_node_real(root, "idle_share", pace_part_of(all->idle_gpu_hours, all->judged_gpu_hours));
    pace_node_real(root, "idle_cost", idle_cost_of(all));
    pace_node_real(root, "estimated_gpu_hours", e->gpu_hours);
    pace_node_real(root, "estimated_idle_gpu_hours", e->gpu_hours > 0 ? e->idle : NAN);
    pace_node_real(root, "estimated_idle_gpu_hours_low", e->gpu_hours > 0 ? e->low : NAN);
    pace_node_real(root, "estimated_idle_gpu_hours_high", e->gpu_hours > 0 ? e->high : NAN);
    pace_node_real(root, "lost_gpu_hours", all->lost_gpu_hours);
    pace_node_real(root, "lost_cost", lost_cost_of(all));
    pace_node_real(root, "unheld_gpu_hours", a->usage.unheld_hours);
    pace_node_real(root, "unmatched_gpu_hours", a->usage.unmatched_hours);
    pace_node_real(root, "unnamed_gpu_hours", a->usage.unnamed_hours);
    pace_node_real(root, "shared_gpu_hours", a->usage.shared_hours);
    pace_node_int(root, "waits", (int64_t)all->waits);
    pace_node_real(root, "wait_mean_s", all->wait_mean_s);
    pace_node_real(root, "wait_median_s", all->wait_median_s);
    pace_node_real(root, "wait_p90_s", all->wait_p90_s);
}

static void note_readings(pace_node *root, const pace_usage_asked *a, const char *const *paths) {
    for (size_t i = 0; i < a->readings.count; i++) {
        const pace_usage_reading *r = &a->readings.items[i];
        if (*r->columns) pace_node_note(root, "%s: columns taken as %s.", paths[i], r->columns);
        if (r->dates_told != PACE_DATES_UNSAID)
            pace_node_note(root, "%s: dates such as 03/04/2026 are %s: another date of the file can be nothing else.",
                           paths[i], pace_date_order_names[r->dates_told]);
    }
}

static void put_notes(pace_node *root, const pace_usage_asked *a, const char *const *paths) {
    const pace_usage_rules *r = &a->rules;
    note_readings(root, a, paths);
    pace_node_note(
        root, "Judged: GPU-hours with counters (utilisation or activity). Idle: the share of these in which no kernel "
              "ran. Failed: GPU-hours of runs that failed, timed out, were preempted or lost their node, at most.");
    pace_node_note(
        root,
        "A run in which GPUs worked less than %.0f %% of at least %g h holds them for nothing; one on at most one "
        "GPU that worked less than %.0f %% could share it. A run counts in one change.",
        100 * r->held_busy, r->held_hours, 100 * r->shared_busy);
    if (a->figures.all.flop_hours > 0 || a->figures.all.memory_hours > 0)
        pace_node_note(
            root,
            "FLOP/s and memory traffic of a GPU are estimated: its counters' share of time, times the datasheet's "
            "rates; from and to are those of the slowest and the fastest precision of its matrix units.");
    pace_node_note(
        root, "Records have neither weights nor traffic nor FLOP of a job. Where the type of work names a model of the "
              "catalogue, they are estimated of its variants, in FP32, three passes a sample; for the rest they are "
              "missing. What faster hardware would buy is asked of a table of jobs that has them.");
    if (a->figures.all.waits)
        pace_node_note(root,
                       "A wait is from a job's submission to its first start. Times without a zone are compared as "
                       "they stand.");
}

static void warn_of_files(pace_report *report, const pace_usage_asked *a, const char *const *paths) {
    for (size_t i = 0; i < a->readings.count; i++) {
        const pace_usage_reading *r = &a->readings.items[i];
        if (r->mapping->of == PACE_USAGE_OF_NOTHING)
            pace_report_warn(report, PACE_WARN_ROWS_LEFT_OUT, paths[i],
                             "%s (%s) was not read: it has nothing that is asked here", paths[i], r->mapping->title);
        if (r->refused)
            pace_report_warn(report, PACE_WARN_ROWS_LEFT_OUT, paths[i], "rows refused: %llu of %llu; the first: %s",
                             (unsigned long long)r->refused, (unsigned long long)r->rows, r->reason);
        if (r->in_parts)
            pace_report_warn(
                report, PACE_WARN_COLUMN_ASSUMED, paths[i],
                "%s: the GPUs of a row count as the job's, though column \"%s\" is above 1 in %llu rows: if they "
                "are each one's, a mapping (--mapping) with \"times: %s\" counts them so",
                paths[i], r->parts, (unsigned long long)r->in_parts, r->parts);
        if (*r->cut_off) pace_report_warn(report, PACE_WARN_FILE_CUT_OFF, paths[i], "%s: %s", paths[i], r->cut_off);
    }
}

static void warn_of_runs(pace_report *report, const pace_usage_asked *a) {
    const pace_usage *u = &a->usage;
    if (u->repeated)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL, "rows that repeat a run: %llu; each run counts once",
                         (unsigned long long)u->repeated);
    if (u->earlier)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "rows that show a run while it ran, which another row shows later: %llu; the last one counts",
                         (unsigned long long)u->earlier);
    if (u->overlapping)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "runs that begin before another run of their job ends: %llu; %.4g GPU-hours count in both, "
                         "too many if they are attempts, which follow one another",
                         (unsigned long long)u->overlapping, u->overlap_gpu_hours);
    if (u->impossible)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL, "runs that end before they start, left out: %llu",
                         (unsigned long long)u->impossible);
    if (u->backwards)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "jobs that start before they were submitted (a clock was set back): %llu; how long they "
                         "waited is not known",
                         (unsigned long long)u->backwards);
    if (a->figures.without_time)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "runs without an end or a duration: %llu, on %.6g GPUs; their GPU-hours are not known",
                         (unsigned long long)a->figures.without_time, a->figures.without_time_gpus);
    if (u->on_shares)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "runs on GPUs that they share with others: %llu left out, for the records do not say which "
                         "share is theirs",
                         (unsigned long long)u->on_shares);
    if (u->on_claims)
        pace_report_warn(
            report, PACE_WARN_JOBS_LEFT_OUT, NULL,
            "runs that claim devices (resourceClaims): %llu left out, for their records do not say whether "
            "these are GPUs, and how many",
            (unsigned long long)u->on_claims);
    if (u->other_clusters && u->gauges.count)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "jobs of several clusters (%s, %s): counters that name no cluster are taken for the first's",
                         pace_usage_name(u, u->cluster), u->other_cluster);
    if (u->unknown_states)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "runs in a state that the mapping does not know: %llu; the first: \"%s\"",
                         (unsigned long long)u->unknown_states, u->unknown_state);
    if (u->unnamed_hours > 0)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "counters of %.4g GPU-hours name no job (hpc_job, pod): nobody knows whose they are%s",
                         u->unnamed_hours,
                         u->nodes.holds.count && u->zoneless ? "; with --zone of the jobs' times their nodes may tell"
                                                             : "");
    if (u->shared_hours > 0)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "counters of %.4g GPU-hours are of nodes of which it is not clear which GPUs a job held",
                         u->shared_hours);
    if (u->unmatched_hours > 0)
        pace_report_warn(report, PACE_WARN_JOBS_LEFT_OUT, NULL,
                         "counters of %.4g GPU-hours name jobs that no table has: they were not used",
                         u->unmatched_hours);
}

typedef struct {
    const pace_usage_asked *asked;
    const char *const *paths;
} answering;

static pace_status answer(pace_report *report, void *context) {
    const answering *of = context;
    const pace_usage_asked *a = of->asked;
    pace_node *root = pace_report_root(report);
    for (size_t i = 0; i < a->readings.count; i++)
        pace_report_add_input(report, of->paths[i], a->readings.items[i].bytes);
    warn_of_files(report, a, of->paths);
    warn_of_runs(report, a);
    pace_warn_of_usage_doubts(report, a, of->paths);
    pace_put_usage_sentences(root, a);
    put_totals(root, a);
    pace_put_usage_charts(root, a);
    put_changes(root, a);
    for (int by = 0; by < PACE_USAGE_BYS; by++) put_groups(root, a, by);
    put_waits(root, a);
    put_counters(root, a);
    put_models(root, a);
    put_prices(root, a);
    put_files(root, a);
    put_notes(root, a, of->paths);
    return PACE_OK;
}

pace_status pace_cluster_usage(pace_report **out, const char *const *paths, size_t count,
                               const pace_usage_options *options) {
    pace_usage_asked asked;
    pace_status status = pace_usage_ask(&asked, paths, count, options);
    if (status == PACE_OK)
        status = pace_report_build(out, "usage", "Usage of a cluster", answer, &(answering){&asked, paths});
    pace_usage_asked_free(&asked);
    return status;
}
