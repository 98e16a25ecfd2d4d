#include "fleet/job_fit.h"

#include "base/whole_file.h"
#include "base/yaml_member.h"
#include "cost/simplex.h"

#include <math.h>
#include <stdio.h>

static const char schema[] = "paceline.job-fit/1";

enum { EVALUATIONS = 6000 };

double pace_job_sample_time(const pace_job_sample *sample, const double efficiency[PACE_JOB_RESOURCES],
                            double overlap) {
    double part[PACE_JOB_PARTS];
    for (int p = 0; p < PACE_JOB_PARTS; p++)
        part[p] = sample->part_s[p] / efficiency[pace_job_part_resources[p]] + sample->stated_s[p];
    double work = part[PACE_PART_COMPUTE] + part[PACE_PART_MEMORY], input = part[PACE_PART_INPUT];
    double weights = part[PACE_PART_WEIGHT_NETWORK] + part[PACE_PART_WEIGHT_PCIE] + part[PACE_PART_WEIGHT_NVLINK];
    return pace_job_overlapped(input, work, weights, overlap);
}

typedef struct {
    const pace_job_sample *samples;
    size_t count;
    uint32_t left_out;
    const double *prior;
    double overlap;
    const double *doubts;
} problem;

/* x holds logarithms; above a peak there is nothing to reach. */
static double loss(const double *x, void *context) {
    const problem *p = context;
    double efficiency[PACE_JOB_RESOURCES], sum = 0;
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        double off = (x[r] - log(p->prior[r])) / p->doubts[PACE_DOUBT_JOB_PRIOR];
        if (x[r] > 0) return 1e9 * (1 + x[r]);
        efficiency[r] = exp(x[r]);
        sum += off * off;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->samples[i].machine == p->left_out) continue;
        double time_s = pace_job_sample_time(&p->samples[i], efficiency, p->overlap);
        double off = log(time_s / p->samples[i].step_s) / p->doubts[PACE_DOUBT_JOB_SAMPLE];
        sum += off * off;
    }
    return sum;
}

static size_t count_machines(const problem *p, size_t *samples) {
    size_t machines = 0;
    *samples = 0;
    for (size_t i = 0; i < p->count; i++) {
        bool seen = false;
        if (p->samples[i].machine == p->left_out) continue;
        for (size_t j = 0; j < i && !seen; j++) seen = p->samples[j].machine == p->samples[i].machine;
        machines += !seen;
        ++*samples;
    }
    return machines;
}

pace_status pace_job_fit_samples(pace_job_fit *out, const pace_job_sample *samples, size_t count, uint32_t left_out,
                                 const double prior[PACE_JOB_RESOURCES], double overlap, const pace_doubts *doubts) {
    problem p = {samples, count, left_out, prior, overlap, doubts->figure};
    double x[PACE_JOB_RESOURCES];
    out->machines = count_machines(&p, &out->samples);
    if (out->samples == 0) return pace_fail(PACE_E_INPUT, "expected jobs with a measured step time, found none");
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) x[r] = log(prior[r]);
    /* A second start from where the first ended gets out of a simplex that has collapsed. */
    for (int start = 0; start < 3; start++) pace_simplex(x, PACE_JOB_RESOURCES, 0.1, EVALUATIONS, loss, &p);
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) out->efficiency[r] = exp(fmin(x[r], 0));
    return PACE_OK;
}

void pace_job_fit_apply(pace_job_setting *setting, const pace_job_fit *fit) {
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        setting->machine.figure[PACE_FIGURE_EFFICIENCY + r] = fit->efficiency[r];
        setting->machine.source[PACE_FIGURE_EFFICIENCY + r] = (pace_figure_source){"fitted to measured jobs", "fitted"};
    }
    setting->spread = fit->spread;
    setting->rung = PACE_RUNG_LEARNED;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static pace_status write_fit(pace_sink *sink, void *context) {
    const pace_job_fit *fit = context;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 2, schema);
    for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
        pace_jsonw_key_real(&json, pace_job_figure_names[PACE_FIGURE_EFFICIENCY + r], fit->efficiency[r]);
    }
    pace_jsonw_key_real(&json, "spread", fit->spread);
    pace_jsonw_key_int(&json, "samples", (int64_t)fit->samples);
    pace_jsonw_key_int(&json, "machines", (int64_t)fit->machines);
    if (*fit->machine) pace_jsonw_key_text(&json, "machine", fit->machine);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_job_fit_save(const pace_job_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

pace_status pace_job_fit_read(void *out, const pace_yaml *yaml) {
    pace_job_fit fit = {0};
    const pace_yaml_node *root = pace_yaml_root(yaml);
    const char *machine = pace_yaml_text_of(root, "machine");
    double samples, machines;
    PACE_TRY(pace_yaml_check_schema(yaml, schema, "a fit of jobs"));
    for (int r = 0; r < PACE_JOB_RESOURCES; r++)
        PACE_TRY(
            pace_yaml_positive(&fit.efficiency[r], yaml, root, pace_job_figure_names[PACE_FIGURE_EFFICIENCY + r], 1));
    PACE_TRY(pace_yaml_positive(&fit.spread, yaml, root, "spread", 10));
    PACE_TRY(pace_yaml_positive(&samples, yaml, root, "samples", 1e15));
    PACE_TRY(pace_yaml_positive(&machines, yaml, root, "machines", 1e15));
    fit.samples = (size_t)samples;
    fit.machines = (size_t)machines;
    snprintf(fit.machine, sizeof fit.machine, "%s", machine ? machine : "");
    *(pace_job_fit *)out = fit;
    return PACE_OK;
}

pace_status pace_job_fit_load(pace_job_fit *out, const char *path) {
    return pace_yaml_read_file(out, path, pace_job_fit_read);
}
