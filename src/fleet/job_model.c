#include "fleet/job_model.h"

#include "base/each_cpu.h"

#include <string.h>

const pace_job_resource pace_job_part_resources[PACE_JOB_PARTS] = {PACE_JOB_PCIE,    PACE_JOB_COMPUTE, PACE_JOB_MEMORY,
                                                                   PACE_JOB_NETWORK, PACE_JOB_PCIE,    PACE_JOB_NVLINK};

const char *const pace_job_component_names[PACE_JOB_COMPONENTS] = {"input", "compute_bound", "memory_bound", "weights"};

/* Seconds per unit of what a job does, of one architecture. */
typedef struct {
    double weight_s[PACE_JOB_PARTS]; /* of the links that weights travel on; 0 elsewhere */
    double sharing;                  /* most replicas that share the host link; 1 = they do not */
} scheme_cost;

static double seconds_per_unit(const pace_job_setting *setting, pace_job_resource resource) {
    const double *figure = setting->machine.figure;
    double rate = figure[PACE_FIGURE_RATE + resource];
    if (resource == PACE_JOB_NVLINK && setting->nvlink_aggregate) rate = figure[PACE_FIGURE_NVLINK_AGGREGATE];
    return 1 / (rate * figure[PACE_FIGURE_EFFICIENCY + resource]);
}

static scheme_cost cost_of(const pace_job_setting *setting, pace_job_architecture architecture, bool contention) {
    const pace_job_scheme *scheme = &setting->catalog->schemes[architecture];
    scheme_cost cost = {.sharing = 1};
    for (int p = PACE_PART_WEIGHT_NETWORK; p < PACE_JOB_PARTS; p++)
        if (scheme->link[pace_job_part_resources[p]])
            cost.weight_s[p] = seconds_per_unit(setting, pace_job_part_resources[p]);
    if (contention && scheme->shares_pcie) cost.sharing = setting->machine.figure[PACE_FIGURE_DEVICES];
    return cost;
}

static const pace_job_column efficiency_columns[PACE_JOB_PARTS] = {
    PACE_JOB_PCIE_EFFICIENCY,    PACE_JOB_COMPUTE_EFFICIENCY, PACE_JOB_MEMORY_EFFICIENCY,
    PACE_JOB_NETWORK_EFFICIENCY, PACE_JOB_PCIE_EFFICIENCY,    PACE_JOB_NETWORK_EFFICIENCY};

double pace_job_own_efficiency(const pace_jobs *jobs, size_t job, pace_job_part part) {
    return jobs->values[efficiency_columns[part]][job];
}

static double or_else(double value, double otherwise) { return value > 0 ? value : otherwise; }

/* A job's own efficiencies, where it has any, in place of the machine's. */
PACE_FOR_EACH_CPU
static void apply_efficiencies(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                               const pace_job_setting *setting) {
    for (int p = 0; p < PACE_JOB_PARTS; p++) {
        const double *own = jobs->values[efficiency_columns[p]];
        if (!own) continue;
        own += first;
        double usual = setting->machine.figure[PACE_FIGURE_EFFICIENCY + pace_job_part_resources[p]];
        bool any = false;
        for (size_t i = 0; i < count; i++) any |= own[i] > 0;
        if (!any) continue;
        for (size_t i = 0; i < count; i++) out->part[p][i] *= usual / or_else(own[i], usual);
    }
}

/* What of weights' traffic is not the exchange of dense weights. */
PACE_FOR_EACH_CPU
static void share_rows(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                       const pace_job_setting *setting) {
    const double *dense = jobs->values[PACE_JOB_DENSE_WEIGHT_BYTES] + first,
                 *traffic = jobs->values[PACE_JOB_WEIGHT_TRAFFIC_BYTES] + first;
    const double *embedding = jobs->values[PACE_JOB_EMBEDDING_WEIGHT_BYTES] + first;
    for (size_t i = 0; i < count; i++) {
        double left = traffic[i] - setting->catalog->dense_traffic * dense[i];
        out->rows[i] = embedding[i] > 0 && left > 0 ? left / traffic[i] : 0;
    }
}

PACE_FOR_EACH_CPU
static void compute_parts(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                          const pace_job_setting *setting, const scheme_cost *costs, const uint8_t *architectures) {
    const double *cnodes = jobs->values[PACE_JOB_CNODES] + first, *flop = jobs->values[PACE_JOB_FLOP] + first;
    const double *memory = jobs->values[PACE_JOB_MEMORY_ACCESS_BYTES] + first;
    const double *input = jobs->values[PACE_JOB_INPUT_BYTES] + first;
    const double *weights = jobs->values[PACE_JOB_WEIGHT_TRAFFIC_BYTES] + first;
    double flop_s = seconds_per_unit(setting, PACE_JOB_COMPUTE), memory_s = seconds_per_unit(setting, PACE_JOB_MEMORY);
    double input_s = seconds_per_unit(setting, PACE_JOB_PCIE);
    for (size_t i = 0; i < count; i++) {
        const scheme_cost *cost = &costs[architectures ? architectures[i] : 0];
        double sharing = cnodes[i] < cost->sharing ? cnodes[i] : cost->sharing;
        out->part[PACE_PART_INPUT][i] = input[i] * input_s * sharing;
        out->part[PACE_PART_WEIGHT_NETWORK][i] = weights[i] * cost->weight_s[PACE_PART_WEIGHT_NETWORK];
        out->part[PACE_PART_WEIGHT_PCIE][i] = weights[i] * cost->weight_s[PACE_PART_WEIGHT_PCIE];
        out->part[PACE_PART_WEIGHT_NVLINK][i] = weights[i] * cost->weight_s[PACE_PART_WEIGHT_NVLINK];
    }
    for (size_t i = 0; i < count; i++) out->part[PACE_PART_COMPUTE][i] = flop[i] * flop_s;
    for (size_t i = 0; i < count; i++) out->part[PACE_PART_MEMORY][i] = memory[i] * memory_s;
    apply_efficiencies(out, jobs, first, count, setting);
}

void pace_job_rows_of(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                      const pace_job_setting *setting) {
    share_rows(out, jobs, first, count, setting);
}

void pace_job_parts_of(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                       const pace_job_setting *setting) {
    scheme_cost costs[PACE_JOB_ARCHITECTURES];
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++)
        costs[a] = cost_of(setting, (pace_job_architecture)a, setting->contention == PACE_CONTENTION_ALL);
    compute_parts(out, jobs, first, count, setting, costs, jobs->architectures + first);
    pace_job_rows_of(out, jobs, first, count, setting);
}

void pace_job_parts_as(pace_job_parts *out, const pace_jobs *jobs, size_t first, size_t count,
                       const pace_job_setting *setting, pace_job_architecture architecture, bool contention) {
    scheme_cost cost = cost_of(setting, architecture, contention);
    compute_parts(out, jobs, first, count, setting, &cost, NULL);
    memset(out->rows, 0, count * sizeof *out->rows);
}

pace_job_change pace_job_unchanged(const pace_job_setting *setting) {
    return (pace_job_change){{1, 1, 1, 1, 1, 1}, setting->overlap, 1};
}

PACE_FOR_EACH_CPU
static void steps_of(double *restrict step_s, const pace_job_parts *restrict parts, size_t count,
                     const pace_job_change *change) {
    const double *const f = change->factor, overlap = change->overlap;
    for (size_t i = 0; i < count; i++) {
        double input = parts->part[PACE_PART_INPUT][i] * f[PACE_PART_INPUT];
        double work = parts->part[PACE_PART_COMPUTE][i] * f[PACE_PART_COMPUTE] +
                      parts->part[PACE_PART_MEMORY][i] * f[PACE_PART_MEMORY];
        double weights = parts->part[PACE_PART_WEIGHT_NETWORK][i] * f[PACE_PART_WEIGHT_NETWORK] +
                         parts->part[PACE_PART_WEIGHT_PCIE][i] * f[PACE_PART_WEIGHT_PCIE] +
                         parts->part[PACE_PART_WEIGHT_NVLINK][i] * f[PACE_PART_WEIGHT_NVLINK];
        weights *= 1 + parts->rows[i] * (change->rows - 1);
        step_s[i] = pace_job_overlapped(input, work, weights, overlap);
    }
}

void pace_job_steps(double *step_s, const pace_job_parts *parts, size_t count, const pace_job_change *change) {
    steps_of(step_s, parts, count, change);
}
