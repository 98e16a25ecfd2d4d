#include "fleet/job_doubt.h"
#include "base/numbers.h"

#include "base/each_cpu.h"

#include <math.h>

static inline double square(double x) { return x * x; }

/* Of a job: seconds on each resource that a moment's delay of it would cost, over the step time. Under full overlap
 * only the longest of input, computation and weights counts. */
typedef struct {
    double compute, memory, pcie, network, nvlink, step_s, changed;
} weighed;

/* A change: factors on parts; which of them it has (1) or not (0); by how much rows of embeddings grow. */
typedef struct {
    double factor[PACE_JOB_PARTS], changes[PACE_JOB_PARTS], growth, overlap;
} weighing;

static inline __attribute__((always_inline)) weighed weigh(const pace_job_parts *parts, size_t i, const weighing *by) {
    const double *f = by->factor, *changes = by->changes, overlap = by->overlap;
    double grown = 1, of_rows = 0; /* of weights' traffic after the change, the share that is rows */
    if (by->growth != 0) {
        grown = 1 + parts->rows[i] * by->growth;
        of_rows = parts->rows[i] * (1 + by->growth) / grown;
    }
    double input = parts->part[PACE_PART_INPUT][i] * f[PACE_PART_INPUT];
    double compute = parts->part[PACE_PART_COMPUTE][i] * f[PACE_PART_COMPUTE];
    double memory = parts->part[PACE_PART_MEMORY][i] * f[PACE_PART_MEMORY];
    double network = parts->part[PACE_PART_WEIGHT_NETWORK][i] * f[PACE_PART_WEIGHT_NETWORK] * grown;
    double pcie = parts->part[PACE_PART_WEIGHT_PCIE][i] * f[PACE_PART_WEIGHT_PCIE] * grown;
    double nvlink = parts->part[PACE_PART_WEIGHT_NVLINK][i] * f[PACE_PART_WEIGHT_NVLINK] * grown;
    double work = compute + memory, weights = network + pcie + nvlink;
    double longest = pace_most(pace_most(input, work), weights);
    double step_s = pace_job_overlapped(input, work, weights, overlap), in_path = 1 / step_s,
           beside = (1 - overlap) / step_s;
    double of_input = input < longest ? beside : in_path, of_work = work < longest ? beside : in_path;
    double of_weights = weights < longest ? beside : in_path;
    double changed = of_input * input * changes[PACE_PART_INPUT] +
                     of_work * (compute * changes[PACE_PART_COMPUTE] + memory * changes[PACE_PART_MEMORY]) +
                     of_weights * (network * pace_most(changes[PACE_PART_WEIGHT_NETWORK], of_rows) +
                                   pcie * pace_most(changes[PACE_PART_WEIGHT_PCIE], of_rows) +
                                   nvlink * pace_most(changes[PACE_PART_WEIGHT_NVLINK], of_rows));
    return (weighed){compute * of_work,
                     memory * of_work,
                     input * of_input + pcie * of_weights,
                     network * of_weights,
                     nvlink * of_weights,
                     step_s,
                     changed};
}

/* Steps whose parts follow each other are asked with a constant, for which the compiler leaves the comparisons out. */
static inline __attribute__((always_inline)) void find_elasticities(pace_job_elasticities *restrict out,
                                                                    const pace_job_parts *restrict parts, size_t count,
                                                                    double overlap) {
    const weighing as_it_is = {.factor = {1, 1, 1, 1, 1, 1}, .overlap = overlap};
    for (size_t i = 0; i < count; i++) {
        weighed w = weigh(parts, i, &as_it_is);
        out->of[PACE_JOB_COMPUTE][i] = w.compute;
        out->of[PACE_JOB_MEMORY][i] = w.memory;
        out->of[PACE_JOB_PCIE][i] = w.pcie;
        out->of[PACE_JOB_NETWORK][i] = w.network;
        out->of[PACE_JOB_NVLINK][i] = w.nvlink;
        out->squares[i] = square(w.compute) + square(w.memory) + square(w.pcie) + square(w.network) + square(w.nvlink);
    }
}

PACE_FOR_EACH_CPU
static void elasticities(pace_job_elasticities *out, const pace_job_parts *parts, size_t count, double overlap) {
    if (overlap == 0) find_elasticities(out, parts, count, 0);
    else find_elasticities(out, parts, count, overlap);
}

void pace_job_elasticities_of(pace_job_elasticities *out, const pace_job_parts *parts, size_t count, double overlap) {
    elasticities(out, parts, count, overlap);
}

PACE_FOR_EACH_CPU
static void speedup_spreads(double *restrict spread, const pace_job_elasticities *before,
                            const pace_job_elasticities *after, size_t count, double sigma) {
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
            double moved = before->of[r][i] - after->of[r][i];
            sum += moved * moved;
        }
        spread[i] = sigma * sqrt(sum);
    }
}

void pace_job_speedup_spreads(double *spread, const pace_job_elasticities *before, const pace_job_elasticities *after,
                              size_t count, double sigma) {
    speedup_spreads(spread, before, after, count, sigma);
}

static inline __attribute__((always_inline)) void change_steps(double *restrict step_s, double *restrict spread,
                                                               const pace_job_parts *restrict parts,
                                                               const pace_job_elasticities *restrict before,
                                                               size_t count, weighing by, double sigma,
                                                               double change_sigma) {
    double variance = sigma * sigma, change_variance = change_sigma * change_sigma;
    for (size_t i = 0; i < count; i++) {
        weighed w = weigh(parts, i, &by);
        double moved =
            square(before->of[PACE_JOB_COMPUTE][i] - w.compute) + square(before->of[PACE_JOB_MEMORY][i] - w.memory) +
            square(before->of[PACE_JOB_PCIE][i] - w.pcie) + square(before->of[PACE_JOB_NETWORK][i] - w.network) +
            square(before->of[PACE_JOB_NVLINK][i] - w.nvlink);
        step_s[i] = w.step_s;
        spread[i] = sqrt(variance * moved + change_variance * square(w.changed));
    }
}

/* What most questions have none of is asked with constants, for which the compiler leaves the work out. */
PACE_FOR_EACH_CPU
static void changed_steps(double *step_s, double *spread, const pace_job_parts *parts,
                          const pace_job_elasticities *before, size_t count, const pace_job_change *change,
                          double sigma, double change_sigma) {
    weighing by = {.growth = change->rows - 1, .overlap = change->overlap}, plain;
    for (int p = 0; p < PACE_JOB_PARTS; p++) {
        by.factor[p] = change->factor[p];
        by.changes[p] = change->factor[p] != 1;
    }
    plain = by;
    plain.growth = plain.overlap = 0;
    if (by.overlap != 0) change_steps(step_s, spread, parts, before, count, by, sigma, change_sigma);
    else if (by.growth != 0) {
        plain.growth = by.growth;
        change_steps(step_s, spread, parts, before, count, plain, sigma, change_sigma);
    } else if (change_sigma != 0) change_steps(step_s, spread, parts, before, count, plain, sigma, change_sigma);
    else change_steps(step_s, spread, parts, before, count, plain, sigma, 0);
}

void pace_job_changed_steps(double *step_s, double *spread, const pace_job_parts *parts,
                            const pace_job_elasticities *before, size_t count, const pace_job_change *change,
                            double sigma, double change_sigma) {
    changed_steps(step_s, spread, parts, before, count, change, sigma, change_sigma);
}

/* A share s_k moves with x_r by (the part of k that is on r) - s_k E_r. Input, computation and memory are on one
 * resource each, which gives s_k^2 (|E|^2 + 1 - 2 E_r); weights are on three, one of them shared with input. */
PACE_FOR_EACH_CPU
static void share_errors(pace_job_shares *restrict out, const pace_job_parts *restrict parts, size_t count,
                         double sigma) {
    for (size_t i = 0; i < count; i++) {
        double input = out->share[PACE_COMPONENT_INPUT][i], compute = out->share[PACE_COMPONENT_COMPUTE][i];
        double memory = out->share[PACE_COMPONENT_MEMORY][i], weights = out->share[PACE_COMPONENT_WEIGHTS][i];
        double sum = parts->part[PACE_PART_WEIGHT_NETWORK][i] + parts->part[PACE_PART_WEIGHT_PCIE][i] +
                     parts->part[PACE_PART_WEIGHT_NVLINK][i];
        double scale = sum > 0 ? weights / sum : 0;
        double network = parts->part[PACE_PART_WEIGHT_NETWORK][i] * scale;
        double over_pcie = parts->part[PACE_PART_WEIGHT_PCIE][i] * scale, pcie = input + over_pcie;
        double nvlink = parts->part[PACE_PART_WEIGHT_NVLINK][i] * scale;
        double work = square(compute) + square(memory), links = square(network) + square(nvlink);
        double all = work + links + square(pcie);
        double of_weights = square(1 - weights) * links + square(over_pcie - weights * pcie) + square(weights) * work;
        out->error[PACE_COMPONENT_INPUT][i] = sigma * input * sqrt(pace_most(all + 1 - 2 * pcie, 0));
        out->error[PACE_COMPONENT_COMPUTE][i] = sigma * compute * sqrt(pace_most(all + 1 - 2 * compute, 0));
        out->error[PACE_COMPONENT_MEMORY][i] = sigma * memory * sqrt(pace_most(all + 1 - 2 * memory, 0));
        out->error[PACE_COMPONENT_WEIGHTS][i] = sigma * sqrt(of_weights);
    }
}

PACE_FOR_EACH_CPU
static void shares_of(pace_job_shares *restrict out, const pace_job_parts *restrict parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double of[PACE_JOB_COMPONENTS], sum = 0;
        pace_job_components(of, parts, i);
        for (int k = 0; k < PACE_JOB_COMPONENTS; k++) sum += of[k];
        for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
            out->seconds[k][i] = of[k];
            out->share[k][i] = of[k] / sum;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double of[PACE_JOB_COMPONENTS];
        pace_job_components(of, parts, i);
        out->bottleneck[i] = (uint8_t)pace_job_bottleneck(of);
    }
}

void pace_job_shares_of(pace_job_shares *out, const pace_job_parts *parts, size_t count, double sigma) {
    shares_of(out, parts, count);
    share_errors(out, parts, count, sigma);
}
