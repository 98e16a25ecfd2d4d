#include "fleet/projection.h"

const char *const pace_projected_verdict_names[PACE_PROJECTED_VERDICTS] = {"gains", "fewer_replicas", "shared_pcie",
                                                                           "slower", "too_large"};

static bool fits(const pace_jobs *jobs, size_t job, double replicas, const pace_job_setting *setting,
                 pace_weights_place place) {
    double dense = jobs->values[PACE_JOB_DENSE_WEIGHT_BYTES][job];
    double embedding = jobs->values[PACE_JOB_EMBEDDING_WEIGHT_BYTES][job];
    double memory = setting->machine.figure[PACE_FIGURE_DEVICE_MEMORY];
    if (place == PACE_WEIGHTS_HOST) return true;
    return dense + (place == PACE_WEIGHTS_PARTITIONED ? embedding / replicas : embedding) <= memory;
}

static pace_projected_verdict judge(double single, double throughput, double unshared_throughput) {
    if (throughput > 1) return PACE_PROJECTED_GAINS;
    if (single > 1) return PACE_PROJECTED_FEWER_REPLICAS;
    return unshared_throughput > 1 ? PACE_PROJECTED_SHARED_PCIE : PACE_PROJECTED_SLOWER;
}

const double *pace_project_from(pace_job_parts *parts, double shared_s[PACE_JOB_BLOCK], const pace_jobs *jobs,
                                size_t first, size_t count, const double *step_s, const pace_job_setting *setting,
                                pace_job_architecture from) {
    pace_job_change unchanged = pace_job_unchanged(setting);
    bool alike = setting->contention != PACE_CONTENTION_PROJECTED || !setting->catalog->schemes[from].shares_pcie;
    if (alike) return step_s;
    pace_job_parts_as(parts, jobs, first, count, setting, from, true);
    pace_job_steps(shared_s, parts, count, &unchanged);
    return shared_s;
}

void pace_project(pace_projection *out, const pace_jobs *jobs, size_t first, size_t count, const double *step_s,
                  const pace_job_setting *setting, pace_job_architecture from, pace_job_architecture architecture) {
    const pace_job_scheme *scheme = &setting->catalog->schemes[architecture];
    double unshared_s[PACE_JOB_BLOCK], shared_s[PACE_JOB_BLOCK];
    double devices = setting->machine.figure[PACE_FIGURE_DEVICES];
    const double *before_s = pace_project_from(&out->parts, shared_s, jobs, first, count, step_s, setting, from);
    double most = scheme->span == PACE_SPAN_GPU ? 1 : devices;
    pace_job_change unchanged = pace_job_unchanged(setting);
    pace_job_parts_as(&out->parts, jobs, first, count, setting, architecture, false);
    pace_job_steps(unshared_s, &out->parts, count, &unchanged);
    if (setting->contention != PACE_CONTENTION_NONE)
        pace_job_parts_as(&out->parts, jobs, first, count, setting, architecture, true);
    pace_job_steps(out->step_s, &out->parts, count, &unchanged);
    for (size_t i = 0; i < count; i++) {
        double cnodes = jobs->values[PACE_JOB_CNODES][first + i];
        double left = scheme->span == PACE_SPAN_CLUSTER || cnodes < most ? cnodes : most;
        out->cnodes[i] = left;
        out->single_speedup[i] = before_s[i] / out->step_s[i];
        out->throughput_speedup[i] = out->single_speedup[i] * (left / cnodes);
        out->verdict[i] = (uint8_t)judge(out->single_speedup[i], out->throughput_speedup[i],
                                         step_s[i] / unshared_s[i] * (left / cnodes));
        if (!fits(jobs, first + i, left, setting, scheme->weights)) out->verdict[i] = PACE_PROJECTED_TOO_LARGE;
    }
}
