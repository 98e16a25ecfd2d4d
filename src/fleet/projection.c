#include "fleet/projection.h"

#include "base/each_cpu.h"

#include <math.h>

const char *const pace_projected_verdict_names[PACE_PROJECTED_VERDICTS] = {"gains", "fewer_replicas", "shared_pcie",
                                                                           "slower", "too_large"};

/* A move: the replicas that a server takes, and where weights have to fit. */
typedef struct {
    double most, memory; /* infinite: any number */
    bool partitioned;    /* embeddings are */
} move;

static move move_to(const pace_job_scheme *scheme, const pace_job_setting *setting) {
    const double *figure = setting->machine.figure;
    move to = {.most = scheme->span == PACE_SPAN_GPU ? 1 : figure[PACE_FIGURE_DEVICES],
               .memory = figure[PACE_FIGURE_DEVICE_MEMORY],
               .partitioned = scheme->weights == PACE_WEIGHTS_PARTITIONED};
    if (scheme->span == PACE_SPAN_CLUSTER) to.most = INFINITY;
    if (scheme->weights == PACE_WEIGHTS_HOST) to.memory = INFINITY;
    return to;
}

static inline double choose(bool first, double one, double other) { return first ? one : other; }

/* By whole numbers, without branches: 0 gains, 1 has fewer replicas, and so on as the verdicts are. */
static inline uint64_t judge(double single, double throughput, double unshared_throughput) {
    uint64_t verdict = unshared_throughput > 1 ? PACE_PROJECTED_SHARED_PCIE : PACE_PROJECTED_SLOWER;
    verdict = single > 1 ? PACE_PROJECTED_FEWER_REPLICAS : verdict;
    return throughput > 1 ? PACE_PROJECTED_GAINS : verdict;
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

PACE_FOR_EACH_CPU
static void compare(pace_projection *restrict out, const pace_jobs *restrict jobs, size_t first, size_t count,
                    const double *before_s, const double *step_s, const double *unshared_s, move to) {
    const double *cnodes = jobs->values[PACE_JOB_CNODES] + first;
    const double *dense = jobs->values[PACE_JOB_DENSE_WEIGHT_BYTES] + first;
    const double *embedding = jobs->values[PACE_JOB_EMBEDDING_WEIGHT_BYTES] + first;
    for (size_t i = 0; i < count; i++) {
        double left = cnodes[i] < to.most ? cnodes[i] : to.most;
        double bytes = dense[i] + choose(to.partitioned, embedding[i] / left, embedding[i]);
        out->cnodes[i] = left;
        out->single_speedup[i] = before_s[i] / out->step_s[i];
        out->throughput_speedup[i] = out->single_speedup[i] * (left / cnodes[i]);
        uint64_t verdict =
            judge(out->single_speedup[i], out->throughput_speedup[i], step_s[i] / unshared_s[i] * (left / cnodes[i]));
        out->verdict[i] = (uint8_t)(bytes <= to.memory ? verdict : PACE_PROJECTED_TOO_LARGE);
    }
}

void pace_project(pace_projection *out, const pace_jobs *jobs, size_t first, size_t count, const double *step_s,
                  const pace_job_setting *setting, pace_job_architecture from, pace_job_architecture architecture) {
    const pace_job_scheme *scheme = &setting->catalog->schemes[architecture];
    double unshared_s[PACE_JOB_BLOCK], shared_s[PACE_JOB_BLOCK];
    const double *before_s = pace_project_from(&out->parts, shared_s, jobs, first, count, step_s, setting, from);
    pace_job_change unchanged = pace_job_unchanged(setting);
    pace_job_parts_as(&out->parts, jobs, first, count, setting, architecture, false);
    pace_job_steps(unshared_s, &out->parts, count, &unchanged);
    if (setting->contention != PACE_CONTENTION_NONE)
        pace_job_parts_as(&out->parts, jobs, first, count, setting, architecture, true);
    pace_job_steps(out->step_s, &out->parts, count, &unchanged);
    compare(out, jobs, first, count, before_s, step_s, unshared_s, move_to(scheme, setting));
}
