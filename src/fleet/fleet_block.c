#include "fleet/fleet_block.h"

#include "base/each_cpu.h"

#include <math.h>
#include <string.h>

/* --- which jobs can be asked -------------------------------------------------------------------------------------- */

static inline bool is_whole(double value) { return (value + 0x1p52) - 0x1p52 == value; } /* of 0 to 2^52 */

static inline bool is_usable(double step_s, double cnodes, double weights, double hours, bool alone) {
    return (step_s > 0) & (step_s < 1e300) & (cnodes >= 1) & (cnodes <= 0x1p40) & is_whole(cnodes) &
           (!alone | (cnodes == 1)) & (weights >= 0) & (weights < 1e300) & !(hours < 0) & !(hours > 1e15);
}

PACE_FOR_EACH_CPU
static bool find_usable(uint8_t *restrict usable, const pace_fleet_block *b) {
    const double *cnodes = b->column[PACE_JOB_CNODES], *hours = b->column[PACE_JOB_GPU_HOURS];
    const double *dense = b->column[PACE_JOB_DENSE_WEIGHT_BYTES], *rows = b->column[PACE_JOB_EMBEDDING_WEIGHT_BYTES];
    bool alone = b->architecture == PACE_JOB_1W1G;
    uint8_t all = 1;
    for (size_t i = 0; i < b->as_is.count; i++) {
        usable[i] = is_usable(b->as_is.step_s[i], cnodes[i], dense[i] + rows[i], hours[i], alone);
        all &= usable[i];
    }
    return all;
}

static void note_fault(pace_fleet *fleet, const pace_jobs *batch, size_t job) {
    fleet->unusable++;
    if (batch->lines[job] >= fleet->first_line) return;
    fleet->first_line = batch->lines[job];
    if (!pace_job_fault(fleet->first_fault, sizeof fleet->first_fault, batch, job, fleet->setting->catalog))
        memcpy(fleet->first_fault, "a number is out of range", 25);
}

static size_t drop(pace_fleet_block *b, pace_fleet *fleet, const uint8_t *usable) {
    size_t kept = 0;
    for (size_t i = 0; i < b->as_is.count; i++) {
        if (usable[i]) b->place[kept++] = b->place[i];
        else note_fault(fleet, b->batch, b->place[i]);
    }
    return kept;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

PACE_FOR_EACH_CPU
static bool is_known(const double *values, size_t count) {
    unsigned any = 0;
    for (size_t i = 0; i < count; i++) any |= !isnan(values[i]);
    return any;
}

void pace_fleet_block_begin(pace_fleet_block *b, const pace_jobs *batch) {
    static const bool unasked[PACE_JOB_COLUMNS] = {
        [PACE_JOB_BATCH_SIZE] = true, [PACE_JOB_STEP_S] = true, [PACE_JOB_START_S] = true};
    b->batch = batch;
    for (int c = 0; c < PACE_JOB_COLUMNS; c++) {
        bool needed = c < PACE_JOB_REQUIRED || c == PACE_JOB_GPU_HOURS;
        b->known[c] = !unasked[c] && (needed || (batch->holds[c] && is_known(batch->values[c], batch->count)));
    }
}

static void copy_column(double *restrict to, const double *restrict from, const uint32_t *restrict place,
                        size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from[place[i]];
}

static void take(pace_fleet_block *b, size_t count, const pace_job_setting *setting) {
    pace_job_change unchanged = pace_job_unchanged(setting);
    b->jobs = (pace_jobs){.count = count};
    b->as_is.count = count;
    for (int c = 0; c < PACE_JOB_COLUMNS; c++) {
        b->jobs.values[c] = b->known[c] ? b->column[c] : NULL;
        if (b->known[c]) copy_column(b->column[c], b->batch->values[c], b->place, count);
    }
    pace_job_parts_as(&b->as_is.parts, &b->jobs, 0, count, setting, b->architecture,
                      setting->contention == PACE_CONTENTION_ALL);
    pace_job_rows_of(&b->as_is.parts, &b->jobs, 0, count, setting);
    pace_job_steps(b->as_is.step_s, &b->as_is.parts, count, &unchanged);
}

PACE_FOR_EACH_CPU
static uint64_t find_weights(pace_fleet_cohort *restrict cohort, const pace_fleet_block *restrict b) {
    const double *hours = b->column[PACE_JOB_GPU_HOURS], *cnodes = b->column[PACE_JOB_CNODES];
    const double *dense = b->column[PACE_JOB_DENSE_WEIGHT_BYTES], *rows = b->column[PACE_JOB_EMBEDDING_WEIGHT_BYTES];
    uint64_t assumed = 0;
    for (size_t i = 0; i < b->as_is.count; i++) {
        cohort->cnodes[i] = (uint64_t)(int64_t)cnodes[i];
        cohort->hours[i] = isnan(hours[i]) ? cnodes[i] : hours[i];
        cohort->weight_bytes[i] = dense[i] + rows[i];
        assumed += isnan(hours[i]);
    }
    return assumed;
}

void pace_fleet_block_fill(pace_fleet_block *b, pace_fleet *fleet, pace_job_architecture architecture,
                           const uint32_t *place, size_t count) {
    uint8_t usable[PACE_JOB_BLOCK];
    b->architecture = architecture;
    memcpy(b->place, place, count * sizeof *place);
    take(b, count, fleet->setting);
    if (!find_usable(usable, b)) take(b, drop(b, fleet, usable), fleet->setting);
    b->as_is.alone = architecture == PACE_JOB_1W1G; /* of others it is unusable */
    fleet->hours_assumed += find_weights(&b->as_is, b);
    pace_fleet_cohort_weigh(&b->as_is, fleet->setting);
}

void pace_fleet_cohort_weigh(pace_fleet_cohort *cohort, const pace_job_setting *setting) {
    pace_job_elasticities_of(&cohort->elasticities, &cohort->parts, cohort->count, setting->overlap);
    pace_job_shares_of(&cohort->shares, &cohort->parts, cohort->count, setting->spread);
}
