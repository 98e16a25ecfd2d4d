/* PS/Worker jobs as other architectures. */
#include "fleet/fleet_block.h"

#include "base/each_cpu.h"

#include <math.h>

static const double MOST_BOUNDED = 0.69, MARGIN = 0x1p-40; /* ln 2; beyond what rounding does */

/* GPU-hours of as many samples, and by how much they are off. Only jobs that gain are moved; the others keep their
 * architecture. */
PACE_FOR_EACH_CPU
static void find_hours(double *restrict after, double *restrict error, const pace_fleet_cohort *restrict before,
                       const pace_projection *restrict p) {
    for (size_t i = 0; i < before->count; i++) {
        bool gains = p->verdict[i] == PACE_PROJECTED_GAINS;
        double moved = before->hours[i] / p->single_speedup[i];
        after[i] = gains ? moved : before->hours[i];
        error[i] = gains ? moved * p->spread[i] : 0;
    }
}

/* Whether a gain holds, and whether there is any, were all off to one side by a factor of e^x. That is asked of bounds
 * of e^x: the beginning of its series, and the rest of that where e^x is below 2. Only between them is e^x computed. */
typedef struct {
    double low, high;
} bounds;

static inline bounds bounds_of(double x) {
    double series = 1 + x + x * x / 2 + x * x * x / 6, rest = x * x * x * x / 12;
    return (bounds){series * (1 - MARGIN), x < MOST_BOUNDED ? (series + rest) * (1 + MARGIN) : INFINITY};
}

PACE_FOR_EACH_CPU
static void find_gains(uint64_t *restrict least, uint64_t *restrict most, uint8_t *restrict unclear,
                       const pace_projection *restrict p, size_t count) {
    uint64_t surely = 0, perhaps = 0;
    for (size_t i = 0; i < count; i++) {
        double throughput = p->throughput_speedup[i];
        bounds of = bounds_of(PACE_NORMAL_90 * p->spread[i]);
        uint64_t fits = p->verdict[i] != PACE_PROJECTED_TOO_LARGE;
        uint64_t holds = throughput > of.high, may_hold = throughput > of.low;
        uint64_t gains = throughput * of.low > 1, may_gain = throughput * of.high > 1;
        uint64_t open = fits & ((holds ^ may_hold) | (gains ^ may_gain));
        unclear[i] = (uint8_t)open;
        surely += fits & holds & (open ^ 1);
        perhaps += fits & gains & (open ^ 1);
    }
    *least += surely;
    *most += perhaps;
}

static void count_gains(pace_fleet_projection *out, const pace_projection *p, size_t count) {
    uint8_t unclear[PACE_JOB_BLOCK];
    find_gains(&out->least_gains, &out->most_gains, unclear, p, count);
    for (size_t i = 0; i < count; i++) {
        if (PACE_LIKELY(!unclear[i])) continue;
        double throughput = p->throughput_speedup[i], doubt = exp(PACE_NORMAL_90 * p->spread[i]);
        out->least_gains += throughput > doubt;
        out->most_gains += throughput * doubt > 1;
    }
}

PACE_FOR_EACH_CPU
static void count_verdicts(pace_fleet_projection *out, const pace_fleet_cohort *before, const pace_projection *p) {
    for (unsigned v = 0; v < PACE_PROJECTED_VERDICTS; v++) {
        uint64_t jobs = 0, cnodes = 0;
        for (size_t i = 0; i < before->count; i++) {
            bool here = p->verdict[i] == v;
            jobs += here;
            cnodes += here ? before->cnodes[i] : 0;
        }
        out->verdicts[PACE_LEVEL_JOB][v] += jobs;
        out->verdicts[PACE_LEVEL_CNODE][v] += cnodes;
    }
}

/* The numbers of the jobs that fit. */
static const double *of_fitting(double *restrict kept, const double *restrict values, const uint16_t *restrict fitting,
                                size_t count) {
    for (size_t i = 0; i < count; i++) kept[i] = values[fitting[i]];
    return kept;
}

PACE_FOR_EACH_CPU
static void multiply(double *restrict out, const double *restrict a, const double *restrict b, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = a[i] * b[i];
}

/* Shares and speed-ups of the jobs that fit. */
static pace_status add_fitting(pace_fleet_projection *out, const pace_fleet_cohort *before, const pace_projection *p,
                               const pace_job_shares *after, const uint16_t *fitting, size_t count) {
    double single[PACE_JOB_BLOCK], throughput[PACE_JOB_BLOCK], spread[PACE_JOB_BLOCK], kept[PACE_JOB_BLOCK];
    of_fitting(single, p->single_speedup, fitting, count);
    of_fitting(throughput, p->throughput_speedup, fitting, count);
    of_fitting(spread, p->spread, fitting, count);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
        pace_sum_add_all(&out->share_before[k], of_fitting(kept, before->shares.share[k], fitting, count), count);
        pace_sum_add_all(&out->share_after[k], of_fitting(kept, after->share[k], fitting, count), count);
    }
    pace_sum_add_all(&out->single_speedup, single, count);
    pace_sum_add_all(&out->throughput_speedup, throughput, count);
    multiply(kept, single, spread, count);
    pace_sum_add_all(&out->single_error, kept, count);
    multiply(kept, throughput, spread, count);
    pace_sum_add_all(&out->throughput_error, kept, count);
    PACE_TRY(pace_sketch_add_all(&out->single, single, NULL, count));
    return pace_sketch_add_all(&out->throughput, throughput, NULL, count);
}

static size_t find_fitting(uint16_t *fitting, const pace_projection *p, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        fitting[found] = (uint16_t)i;
        found += p->verdict[i] != PACE_PROJECTED_TOO_LARGE;
    }
    return found;
}

static pace_status add_projected(pace_fleet_projection *out, const pace_fleet_cohort *before, const pace_projection *p,
                                 const pace_job_shares *after) {
    double hours[PACE_JOB_BLOCK], error[PACE_JOB_BLOCK];
    uint16_t fitting[PACE_JOB_BLOCK];
    count_verdicts(out, before, p);
    count_gains(out, p, before->count);
    find_hours(hours, error, before, p);
    pace_sum_add_all(&out->hours_before, before->hours, before->count);
    pace_sum_add_all(&out->hours_after, hours, before->count);
    pace_sum_add_all(&out->after_error, error, before->count);
    return add_fitting(out, before, p, after, fitting, find_fitting(fitting, p, before->count));
}

/* PS/Worker jobs as AllReduce-Local, those that fit: a class of their own. */
static void take_moved(pace_fleet_block *b) {
    const pace_projection *p = &b->projections[0];
    uint16_t fitting[PACE_JOB_BLOCK];
    pace_fleet_cohort *moved = &b->moved;
    size_t count = moved->count = find_fitting(fitting, p, b->as_is.count);
    for (int part = 0; part < PACE_JOB_PARTS; part++)
        of_fitting(moved->parts.part[part], p->parts.part[part], fitting, count);
    of_fitting(moved->parts.rows, b->as_is.parts.rows, fitting, count);
    of_fitting(moved->hours, b->as_is.hours, fitting, count);
    of_fitting(moved->weight_bytes, b->as_is.weight_bytes, fitting, count);
    of_fitting(moved->step_s, p->step_s, fitting, count);
    for (size_t i = 0; i < count; i++) moved->cnodes[i] = b->as_is.cnodes[fitting[i]];
}

pace_status pace_fleet_add_moved(pace_fleet *fleet, pace_fleet_block *b) {
    const pace_job_setting *setting = fleet->setting;
    size_t count = b->as_is.count;
    pace_job_elasticities after;
    pace_job_shares shares;
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        pace_projection *p = &b->projections[t];
        pace_project(p, &b->jobs, 0, count, b->as_is.step_s, setting, b->architecture, pace_fleet_targets[t]);
        pace_job_elasticities_of(&after, &p->parts, count, setting->overlap);
        pace_job_speedup_spreads(p->spread, &b->as_is.elasticities, &after, count, setting->spread);
        pace_job_shares_of(&shares, &p->parts, count, setting->spread);
        PACE_TRY(add_projected(&fleet->projections[t], &b->as_is, p, &shares));
    }
    take_moved(b);
    pace_fleet_cohort_weigh(&b->moved, setting);
    return pace_fleet_group_add(&fleet->groups[PACE_CLASS_PROJECTED], &b->moved);
}
