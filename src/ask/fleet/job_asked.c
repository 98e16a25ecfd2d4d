#include "ask/fleet/job_asked.h"
#include "ask/fleet/job_assume.h"
#include "base/text.h"
#include "fleet/projection.h"
#include "fleet/rate_text.h"
#include "machine/machine.h"
#include "source/jobs/job_columns.h"
#include "source/jobs/job_names.h"

#include <stdio.h>
#include <string.h>

/* --- the job as words or as a file -------------------------------------------------------------------------------- */

typedef struct {
    pace_catalog *catalog;
    pace_context *context;
    double values[PACE_JOB_COLUMNS];
    pace_job_architecture architecture;
    bool named, said[PACE_JOB_COLUMNS];
    char id[128], model[96], trace[512];
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

static const char *unit_of(int role) {
    if (role == PACE_JOB_FLOP) return "FLOP";
    return role >= PACE_JOB_MEMORY_ACCESS_BYTES && role <= PACE_JOB_EMBEDDING_WEIGHT_BYTES ? "B" : "";
}

/* In the unit of the column. One that the key names ("mem_access_gb") is not said again. */
static bool read_amount(double *out, int role, double factor, const char *text) {
    size_t length = strlen(text);
    if (factor != 1 && length && !pace_is_digit(text[length - 1]) && text[length - 1] != '.') return false;
    if (role == PACE_JOB_STEP_S && factor == 1 && pace_parse_time(out, text)) return true;
    if (!pace_parse_amount(out, text, factor == 1 ? unit_of(role) : "")) return false;
    *out *= factor;
    return true;
}

/* Of a model or a trace, whose features the job has. */
static pace_status set_source(char *out, size_t size, const described *d, const char *value, const char *place) {
    if (*d->model || *d->trace || strlen(value) >= size)
        return pace_fail(PACE_E_USAGE, "%s: expected one model or one trace, found \"%.40s\"", place, value);
    memcpy(out, value, strlen(value) + 1);
    return PACE_OK;
}

static pace_status set_member(described *d, const char *key, const char *value, const char *place) {
    int role;
    double factor;
    if (strcmp(key, "model") == 0) return set_source(d->model, sizeof d->model, d, value, place);
    if (strcmp(key, "trace") == 0) return set_source(d->trace, sizeof d->trace, d, value, place);
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
                         "%s: unknown member \"%.40s\": expected architecture, model, trace, cnodes, batch_size, flop, "
                         "memory_access_bytes, input_bytes, weight_traffic_bytes, dense_weight_bytes, "
                         "embedding_weight_bytes, ...",
                         place, key);
    if (d->said[role])
        return pace_fail(PACE_E_USAGE, "%s: \"%.40s\" says %s a second time", place, key, pace_job_role_name(role));
    d->said[role] = true;
    if (read_amount(&d->values[role], role, factor, value)) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: %s: expected a number such as %s, found \"%.40s\"", place, key,
                     factor != 1             ? "3.5, without a unit"
                     : *unit_of(role) == 'B' ? "357MB"
                     : *unit_of(role) == 'F' ? "1.56T"
                                             : "8",
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
                       : pace_fail(PACE_E_USAGE, "job: expected KEY=VALUE, found \"%.40s\"", word);
    }
    pace_free(words);
    return status;
}

static pace_status read_file(described *d, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_load(&yaml, path));
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

/* A trace without the strides of convolutions, or without shapes, does not say what its step does. */
static pace_status check_known(const pace_job_asked *a, const described *d) {
    enum { LEAST_PERCENT = 90 };
    bool said = d->said[PACE_JOB_FLOP] && d->said[PACE_JOB_MEMORY_ACCESS_BYTES];
    if (!*d->trace || said || 100 * a->recorded.known_share >= LEAST_PERCENT) return PACE_OK;
    return pace_fail(PACE_E_INPUT,
                     "%s: only %.0f %% of the kernels' time is of operators that say what they compute (PyTorch: "
                     "record_shapes=True, from 2.1 on for convolutions): say flop= and memory_access_bytes=",
                     d->trace, 100 * a->recorded.known_share);
}

/* What its model or trace says, but for what the words say themselves. */
static pace_status take_features(pace_job_asked *a, described *d, const pace_words *set) {
    double values[PACE_JOB_COLUMNS];
    if (!*d->model && set->count)
        return pace_fail(PACE_E_USAGE, "set: has no effect on a job without model=NAME, found \"%.40s\"",
                         set->items[0]);
    if (!*d->model && !*d->trace) return PACE_OK;
    if (*d->model && !d->said[PACE_JOB_BATCH_SIZE])
        return pace_fail(PACE_E_USAGE, "job: expected batch_size=N beside model=%.40s: samples of a cNode's step",
                         d->model);
    memcpy(values, d->values, sizeof values);
    if (!d->said[PACE_JOB_BATCH_SIZE]) values[PACE_JOB_BATCH_SIZE] = 0;
    PACE_TRY(*d->model ? pace_job_features_of_model(values, d->catalog, d->model, set, d->architecture)
                       : pace_job_features_of_trace(values, &a->recorded, d->context, d->trace, d->architecture));
    PACE_TRY(check_known(a, d));
    for (int c = 0; c < PACE_JOB_COLUMNS; c++)
        if (!d->said[c]) d->values[c] = values[c];
    memcpy(a->model, d->model, sizeof a->model);
    memcpy(a->trace, d->trace, sizeof a->trace);
    return PACE_OK;
}

/* What is not said is nothing, but for one cNode and one sample. */
static pace_status read_job(pace_job_asked *a, const char *text, const pace_words *set, pace_context *context) {
    described d = {.catalog = a->catalog.devices.documents, .context = context};
    pace_job_limits limits;
    char why[128];
    pace_job_values_clear(d.values);
    for (int c = 0; c < PACE_JOB_REQUIRED; c++) d.values[c] = 0;
    d.values[PACE_JOB_CNODES] = d.values[PACE_JOB_BATCH_SIZE] = 1;
    PACE_TRY(strchr(text, '=') ? read_words(&d, text) : read_file(&d, text));
    if (!d.named) return pace_fail(PACE_E_USAGE, "job: expected architecture=..., one of the six");
    PACE_TRY(take_features(a, &d, set));
    memcpy(a->values, d.values, sizeof a->values);
    a->measured_s = d.said[PACE_JOB_STEP_S] ? d.values[PACE_JOB_STEP_S] : a->recorded.step_s;
    PACE_TRY(pace_job_limits_load(&limits, d.catalog));
    if (!pace_job_check(why, sizeof why, &limits, d.architecture, d.values))
        return pace_fail(PACE_E_USAGE, "job: %s", why);
    PACE_TRY(
        pace_jobs_add(&a->jobs, (pace_job_text){d.id, strlen(d.id)}, (pace_job_text){0}, d.architecture, d.values, 0));
    if (pace_job_fault(why, sizeof why, &a->jobs, 0, &a->catalog)) return pace_fail(PACE_E_USAGE, "job: %s", why);
    return PACE_OK;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

static double step_with(const pace_job_asked *a, const double factor[PACE_JOB_PARTS], double rows) {
    pace_job_change change = pace_job_unchanged(&a->setting);
    double step_s;
    for (int p = 0; p < PACE_JOB_PARTS; p++) change.factor[p] = factor[p];
    change.rows = rows;
    pace_job_steps(&step_s, &a->parts, 1, &change);
    return step_s;
}

static pace_status answer_parts(pace_job_asked *a) {
    static const char *const names[PACE_JOB_PARTS] = {"input",           "compute_bound", "memory_bound",
                                                      "weights_network", "weights_pcie",  "weights_nvlink"};
    double sum = 0;
    for (int p = 0; p < PACE_JOB_PARTS; p++) sum += a->parts.part[p][0];
    for (int p = 0; p < PACE_JOB_PARTS; p++) {
        double factor[PACE_JOB_PARTS] = {1, 1, 1, 1, 1, 1}, time_s = a->parts.part[p][0];
        factor[p] = 0;
        pace_job_part_time part = {names[p], pace_job_resource_names[pace_job_part_resources[p]], time_s, time_s / sum,
                                   step_with(a, factor, 1)};
        if (time_s > 0) PACE_TRY(PACE_PUSH(&a->times, part));
    }
    return PACE_OK;
}

static pace_status answer_moves(pace_job_asked *a) {
    pace_job_parts room;
    double shared_s[PACE_JOB_BLOCK];
    pace_job_architecture from = (pace_job_architecture)a->jobs.architectures[0];
    a->moved_from_s = *pace_project_from(&room, shared_s, &a->jobs, 0, 1, &a->step_s.median, &a->setting, from);
    for (int target = PACE_JOB_1WNG; target < PACE_JOB_ARCHITECTURES; target++) {
        pace_projection p;
        if (target == (int)from) continue;
        pace_project(&p, &a->jobs, 0, 1, &a->step_s.median, &a->setting, from, (pace_job_architecture)target);
        pace_estimate step_s = pace_job_estimate(p.step_s[0], &a->setting);
        pace_job_move move = {pace_job_architecture_names[target],
                              pace_projected_verdict_names[p.verdict[0]],
                              (int64_t)p.cnodes[0],
                              step_s.median,
                              pace_estimate_low(step_s),
                              pace_estimate_high(step_s),
                              p.single_speedup[0],
                              p.throughput_speedup[0]};
        PACE_TRY(PACE_PUSH(&a->moves, move));
    }
    return PACE_OK;
}

static pace_status add_gain(pace_job_asked *a, const double factor[PACE_JOB_PARTS], double rows, double samples,
                            const char *change, const char *confidence) {
    pace_estimate step_s = pace_job_estimate(step_with(a, factor, rows), &a->setting);
    pace_job_gain gain = {.confidence = confidence,
                          .step_s = step_s.median,
                          .low_s = pace_estimate_low(step_s),
                          .high_s = pace_estimate_high(step_s),
                          .speedup = a->step_s.median / step_s.median * samples};
    snprintf(gain.change, sizeof gain.change, "%s", change);
    return PACE_PUSH(&a->gains, gain);
}

/* Every resource twice as fast is a question that can be asked of any machine. */
static pace_status answer_hardware(pace_job_asked *a) {
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
        if (used) PACE_TRY(add_gain(a, factor, 1, 1, text, "high"));
    }
    return PACE_OK;
}

static pace_status answer_software(pace_job_asked *a) {
    PACE_ITEMS (const pace_job_lever, lever, &a->catalog.software) {
        double factor[PACE_JOB_PARTS];
        for (int p = 0; p < PACE_JOB_PARTS; p++)
            factor[p] = lever->factor[p < PACE_CHANGE_WEIGHT ? p : PACE_CHANGE_WEIGHT];
        PACE_TRY(add_gain(a, factor, lever->rows, lever->samples, lever->title, lever->source.confidence));
    }
    return PACE_OK;
}

/* The resource that helps most, if one does. */
static void find_best(pace_job_asked *a) {
    double most = 1;
    a->best = SIZE_MAX;
    for (size_t i = 0; i < a->hardware_count; i++) {
        if (a->gains.items[i].speedup <= most) continue;
        most = a->gains.items[i].speedup;
        a->best = i;
    }
}

static pace_status answer(pace_job_asked *a) {
    pace_job_change unchanged = pace_job_unchanged(&a->setting);
    double step_s;
    pace_job_parts_of(&a->parts, &a->jobs, 0, 1, &a->setting);
    pace_job_steps(&step_s, &a->parts, 1, &unchanged);
    a->step_s = pace_job_estimate(step_s, &a->setting);
    a->samples_per_s = a->jobs.values[PACE_JOB_CNODES][0] / step_s * a->jobs.values[PACE_JOB_BATCH_SIZE][0];
    pace_job_components(a->components_s, &a->parts, 0);
    a->bottleneck = pace_job_bottleneck(a->components_s);
    PACE_TRY(answer_parts(a));
    PACE_TRY(answer_moves(a));
    PACE_TRY(answer_hardware(a));
    a->hardware_count = a->gains.count;
    find_best(a);
    return answer_software(a);
}

pace_status pace_job_ask(pace_job_asked *out, const pace_job_options *options) {
    PACE_TRY(pace_job_assume(&out->setting, &out->catalog, options->context->catalog, &options->assume));
    PACE_TRY(read_job(out, options->job ? options->job : "", &options->set, options->context));
    return answer(out);
}

void pace_job_asked_free(pace_job_asked *asked) {
    PACE_VEC_FREE(&asked->times, &asked->moves, &asked->gains);
    pace_jobs_free(&asked->jobs);
    pace_warnings_free(&asked->recorded.warnings);
    pace_job_catalog_free(&asked->catalog);
}
