/* `paceline predict --job`: a step of one job, its parts, and what it would be elsewhere. */
#include "fleet/projection.h"
#include "ask/context.h"
#include "machine/machine.h"
#include "report/job_parts.h"
#include "report/show.h"
#include "source/job_columns.h"
#include "source/job_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    pace_job_catalog catalog;
    pace_job_setting setting;
    pace_jobs jobs; /* one */
    pace_job_parts parts;
    double step_s;
} asked;

/* --- the job ------------------------------------------------------------------------------------------------------ */

typedef struct {
    pace_catalog *catalog;
    double values[PACE_JOB_COLUMNS];
    pace_job_architecture architecture;
    bool named, said[PACE_JOB_COLUMNS];
    char id[128];
} described;

/* What a column so named would be in a table of jobs, in our unit: "gpus", "mem_access_gb". */
static pace_status find_role(int *role, double *factor, const described *d, const char *key) {
    pace_job_names names;
    *role = pace_job_role_named(key);
    *factor = 1;
    if (*role != PACE_JOB_NO_ROLE) return PACE_OK;
    PACE_TRY(pace_job_names_load(&names, d->catalog));
    *role = pace_job_name_find(factor, NULL, &names, key);
    return PACE_OK;
}

static pace_status set_member(described *d, const char *key, const char *value, const char *place) {
    int role;
    double factor;
    PACE_TRY(find_role(&role, &factor, d, key));
    if (role == PACE_JOB_ID) {
        snprintf(d->id, sizeof d->id, "%s", value);
        return PACE_OK;
    }
    if (role == PACE_JOB_ARCHITECTURE) {
        d->named = true;
        if (pace_job_architecture_find(&d->architecture, value, strlen(value))) return PACE_OK;
        return pace_fail(PACE_E_USAGE,
                         "%s: unknown architecture \"%.40s\": expected 1w1g, 1wng, ps_worker, allreduce_local, "
                         "allreduce_cluster or pearl",
                         place, value);
    }
    if (role < 0 || role >= PACE_JOB_COLUMNS)
        return pace_fail(PACE_E_USAGE,
                         "%s: unknown member \"%.40s\": expected architecture, cnodes, batch_size, flop, "
                         "memory_access_bytes, input_bytes, weight_traffic_bytes, dense_weight_bytes, "
                         "embedding_weight_bytes, ...",
                         place, key);
    if (d->said[role])
        return pace_fail(PACE_E_USAGE, "%s: \"%.40s\" says %s a second time", place, key, pace_job_role_name(role));
    d->said[role] = true;
    if (pace_parse_quantity(&d->values[role], value)) {
        d->values[role] *= factor;
        return PACE_OK;
    }
    return pace_fail(PACE_E_USAGE, "%s: %s: expected a number such as 1.56T or 357MB, found \"%.40s\"", place, key,
                     value);
}

static pace_status read_words(described *d, const char *text) {
    char *words = pace_copy_text(text, strlen(text)), *rest = NULL;
    pace_status status = words ? PACE_OK : PACE_E_MEMORY;
    for (char *word = words ? strtok_r(words, ", ", &rest) : NULL; word && status == PACE_OK;
         word = strtok_r(NULL, ", ", &rest)) {
        char *value = strchr(word, '=');
        if (value) *value++ = '\0';
        status = value ? set_member(d, word, value, "--job")
                       : pace_fail(PACE_E_USAGE, "--job: expected KEY=VALUE, found \"%.40s\"", word);
    }
    pace_free(words);
    return status;
}

static pace_status read_file(described *d, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load_file(&yaml, path));
    const pace_yaml_node *root = pace_yaml_root(yaml);
    pace_status status = pace_yaml_is_map(root) ? PACE_OK : pace_fail(PACE_E_INPUT, "%s: expected KEY: VALUE", path);
    for (size_t i = 0; i < pace_yaml_count(root) && status == PACE_OK; i++) {
        const char *value = pace_yaml_text(pace_yaml_item(root, i));
        status =
            set_member(d, pace_yaml_key(root, i), value ? value : "", pace_yaml_place(yaml, pace_yaml_item(root, i)));
        if (status == PACE_E_USAGE) status = PACE_E_INPUT;
    }
    pace_yaml_free(yaml);
    return status;
}

/* What is not said is nothing, but for one cNode and one sample. */
static pace_status read_job(asked *a, const char *text) {
    described d = {.catalog = a->catalog.devices.documents};
    char why[128];
    pace_job_values_clear(d.values);
    for (int c = 0; c < PACE_JOB_REQUIRED; c++) d.values[c] = 0;
    d.values[PACE_JOB_CNODES] = d.values[PACE_JOB_BATCH_SIZE] = 1;
    PACE_TRY(strchr(text, '=') ? read_words(&d, text) : read_file(&d, text));
    if (!d.named) return pace_fail(PACE_E_USAGE, "--job: expected architecture=..., one of the six");
    PACE_TRY(
        pace_jobs_add(&a->jobs, (pace_job_text){d.id, strlen(d.id)}, (pace_job_text){0}, d.architecture, d.values, 0));
    if (pace_job_fault(why, sizeof why, &a->jobs, 0, &a->catalog)) return pace_fail(PACE_E_USAGE, "--job: %s", why);
    return PACE_OK;
}

static pace_status open_asked(asked *a, const pace_job_options *options) {
    PACE_TRY(pace_job_assume(&a->setting, &a->catalog, options->context->catalog, &options->assume));
    PACE_TRY(read_job(a, options->job ? options->job : ""));
    pace_job_change unchanged = pace_job_unchanged(&a->setting);
    pace_job_parts_of(&a->parts, &a->jobs, 0, 1, &a->setting);
    pace_job_steps(&a->step_s, &a->parts, 1, &unchanged);
    return PACE_OK;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static const char *const part_names[PACE_JOB_PARTS] = {"input",           "compute_bound", "memory_bound",
                                                       "weights_network", "weights_pcie",  "weights_nvlink"};

static const pace_column part_columns[] = {
    {"part", "Part", PACE_SHOW_WORD},
    {"resource", "Limited by", PACE_SHOW_TEXT},
    {"time_s", "Time", PACE_SHOW_S},
    {"share", "Share", PACE_SHOW_SHARE},
    {"if_free_s", "Step if it were free", PACE_SHOW_S},
};

static double step_with(const asked *a, const double factor[PACE_JOB_PARTS]) {
    pace_job_change change = pace_job_unchanged(&a->setting);
    double step_s;
    for (int p = 0; p < PACE_JOB_PARTS; p++) change.factor[p] = factor[p];
    pace_job_steps(&step_s, &a->parts, 1, &change);
    return step_s;
}

static void put_parts(pace_node *root, const asked *a) {
    double sum = 0;
    pace_node *table =
        pace_node_table(root, "parts", "A step, part by part", PACE_FOR_ALL, PACE_COLUMNS(part_columns), 0);
    for (int p = 0; p < PACE_JOB_PARTS; p++) sum += a->parts.part[p][0];
    for (int p = 0; p < PACE_JOB_PARTS; p++) {
        double factor[PACE_JOB_PARTS] = {1, 1, 1, 1, 1, 1}, time_s = a->parts.part[p][0];
        factor[p] = 0;
        if (!(time_s > 0)) continue;
        pace_table_row(table);
        pace_table_text(table, part_names[p]);
        pace_table_text(table, pace_job_resource_names[pace_job_part_resources[p]]);
        pace_table_real(table, time_s);
        pace_table_real(table, time_s / sum);
        pace_table_real(table, step_with(a, factor));
    }
}

static const pace_column projection_columns[] = {
    {"architecture", "Architecture", PACE_SHOW_TEXT},
    {"cnodes", "cNodes", PACE_SHOW_INT},
    {"step_s", "Step", PACE_SHOW_S},
    {"low_s", "low", PACE_SHOW_S},
    {"high_s", "high", PACE_SHOW_S},
    {"single_speedup", "One cNode, times", PACE_SHOW_REAL},
    {"throughput_speedup", "Throughput, times", PACE_SHOW_REAL},
    {"verdict", "Verdict", PACE_SHOW_WORD},
};

static void put_projections(pace_node *root, const asked *a) {
    pace_node *table = pace_node_table(root, "projections", "As another architecture", PACE_FOR_ALL,
                                       PACE_COLUMNS(projection_columns), 0);
    for (int target = PACE_JOB_1WNG; target < PACE_JOB_ARCHITECTURES; target++) {
        pace_projection p;
        if (target == a->jobs.architectures[0]) continue;
        pace_project(&p, &a->jobs, 0, 1, &a->step_s, &a->setting, (pace_job_architecture)target);
        pace_estimate step_s = pace_job_estimate(p.step_s[0], &a->setting);
        pace_table_row(table);
        pace_table_text(table, pace_job_architecture_names[target]);
        pace_table_int(table, (int64_t)p.cnodes[0]);
        pace_table_real(table, step_s.median);
        pace_table_real(table, pace_estimate_low(step_s));
        pace_table_real(table, pace_estimate_high(step_s));
        pace_table_real(table, p.single_speedup[0]);
        pace_table_real(table, p.throughput_speedup[0]);
        pace_table_text(table, pace_projected_verdict_names[p.verdict[0]]);
    }
}

static const pace_column change_columns[] = {
    {"change", "If", PACE_SHOW_TEXT},
    {"step_s", "Step", PACE_SHOW_S},
    {"low_s", "low", PACE_SHOW_S},
    {"high_s", "high", PACE_SHOW_S},
    {"speedup", "Throughput, times", PACE_SHOW_REAL},
    {"confidence", "Confidence", PACE_SHOW_TEXT},
};

typedef struct {
    char text[96];
    double speedup;
} best_change;

static void put_change(pace_node *table, const asked *a, const double factor[PACE_JOB_PARTS], double samples,
                       const char *text, const char *confidence, best_change *best) {
    double step_s = step_with(a, factor), speedup = a->step_s / step_s * samples;
    pace_table_row(table);
    pace_table_text(table, text);
    pace_table_real(table, step_s);
    pace_table_real(table, pace_estimate_low(pace_job_estimate(step_s, &a->setting)));
    pace_table_real(table, pace_estimate_high(pace_job_estimate(step_s, &a->setting)));
    pace_table_real(table, speedup);
    pace_table_text(table, confidence);
    if (!best || speedup <= best->speedup) return;
    snprintf(best->text, sizeof best->text, "%s", text);
    best->speedup = speedup;
}

/* Every resource twice as fast is a question that can be asked of any machine. */
static void put_hardware(pace_node *table, const asked *a, best_change *best) {
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        double factor[PACE_JOB_PARTS], rate = a->setting.machine.figure[r];
        char text[96];
        bool used = false;
        for (int p = 0; p < PACE_JOB_PARTS; p++) {
            bool with = (int)pace_job_part_resources[p] == r;
            factor[p] = with ? 0.5 : 1;
            used = used || (with && a->parts.part[p][0] > 0);
        }
        snprintf(text, sizeof text, "%s %s", pace_job_resource_names[r],
                 pace_show_resource_rate((pace_job_resource)r, 2 * rate).text);
        if (used) put_change(table, a, factor, 1, text, "high", best);
    }
}

static void put_software(pace_node *table, const asked *a) {
    for (size_t i = 0; i < a->catalog.software.count; i++) {
        const pace_job_lever *lever = &a->catalog.software.items[i];
        double factor[PACE_JOB_PARTS];
        for (int p = 0; p < PACE_JOB_PARTS; p++)
            factor[p] = lever->factor[p < PACE_CHANGE_WEIGHT ? p : PACE_CHANGE_WEIGHT];
        put_change(table, a, factor, lever->samples, lever->title, lever->source.confidence, NULL);
    }
}

static void put_answer(pace_node *root, const asked *a) {
    double components_s[PACE_JOB_COMPONENTS], sum = 0, batch = a->jobs.values[PACE_JOB_BATCH_SIZE][0];
    pace_estimate step_s = pace_job_estimate(a->step_s, &a->setting);
    pace_job_components(components_s, &a->parts, 0);
    pace_job_component bottleneck = pace_job_bottleneck(components_s);
    for (int c = 0; c < PACE_JOB_COMPONENTS; c++) sum += components_s[c];
    pace_node_text(root, "job", pace_jobs_id(&a->jobs, 0));
    pace_node_text(root, "architecture", pace_job_architecture_names[a->jobs.architectures[0]]);
    pace_node_real(root, "step_s", step_s.median);
    pace_node_real(root, "low_s", pace_estimate_low(step_s));
    pace_node_real(root, "high_s", pace_estimate_high(step_s));
    pace_node_text(root, "rung", pace_rung_names[step_s.rung]);
    pace_node_real(root, "samples_per_s", a->jobs.values[PACE_JOB_CNODES][0] / a->step_s * batch);
    pace_node_text(root, "bottleneck", pace_job_component_names[bottleneck]);
    static const char *const words[PACE_JOB_COMPONENTS] = {"input", "compute-bound work", "memory-bound work",
                                                           "weights on their way"};
    pace_node_sentence(root, true, "A step takes %s (9 of 10 such lie between %s and %s); %s of it is %s.",
                       pace_show_ns(llround(step_s.median * 1e9)).text,
                       pace_show_ns(llround(pace_estimate_low(step_s) * 1e9)).text,
                       pace_show_ns(llround(pace_estimate_high(step_s) * 1e9)).text,
                       pace_show_share(components_s[bottleneck] / sum).text, words[bottleneck]);
}

static pace_status build(pace_report *report, const asked *a, const pace_job_options *options) {
    pace_node *root = pace_report_root(report);
    best_change best = {"", 0};
    pace_report_set_command(report, options->command, options->command_count);
    put_answer(root, a);
    put_parts(root, a);
    put_projections(root, a);
    pace_node *table =
        pace_node_table(root, "changes", "What would help", PACE_FOR_ALL, PACE_COLUMNS(change_columns), 0);
    put_hardware(table, a, &best);
    put_software(table, a);
    if (best.speedup > 1)
        pace_node_sentence(root, true, "Of the resources, %s (twice as much) would help most: %s times as fast.",
                           best.text, pace_show_fixed(best.speedup, 2).text);
    pace_put_job_setting(root, &a->setting);
    pace_node_note(root,
                   "Figures of confidence recalled-... are remembered of the paper, not checked against its text.");
    return pace_report_status(report);
}

pace_status pace_predict_job(pace_report **out, const pace_job_options *options) {
    pace_report *report = NULL;
    asked *a = pace_alloc(1, sizeof *a);
    if (!a) return PACE_E_MEMORY;
    pace_status status = open_asked(a, options);
    if (status == PACE_OK) status = pace_report_new(&report, "job", "A job's step");
    if (status == PACE_OK) status = build(report, a, options);
    pace_jobs_free(&a->jobs);
    pace_job_catalog_free(&a->catalog);
    pace_free(a);
    return pace_report_give(out, report, status);
}
