#include "fleet/fleet_block.h"

#include <math.h>
#include <string.h>

/* --- which jobs can be asked -------------------------------------------------------------------------------------- */

static bool usable(const pace_fleet_block *b, size_t i) {
    double cnodes = b->column[PACE_JOB_CNODES][i], hours = b->column[PACE_JOB_GPU_HOURS][i];
    double weights = b->column[PACE_JOB_DENSE_WEIGHT_BYTES][i] + b->column[PACE_JOB_EMBEDDING_WEIGHT_BYTES][i];
    bool alone = b->architecture[i] == PACE_JOB_1W1G;
    return b->as_is.step_s[i] > 0 && b->as_is.step_s[i] < 1e300 && cnodes >= 1 && cnodes <= 0x1p40 &&
           floor(cnodes) == cnodes && (!alone || cnodes == 1) && weights >= 0 && weights < 1e300 && !(hours < 0) &&
           !(hours > 1e15);
}

static void note_fault(pace_fleet *fleet, const pace_jobs *batch, size_t job) {
    fleet->unusable++;
    if (batch->lines[job] >= fleet->first_line) return;
    fleet->first_line = batch->lines[job];
    if (!pace_job_fault(fleet->first_fault, sizeof fleet->first_fault, batch, job, fleet->setting->catalog))
        memcpy(fleet->first_fault, "a number is out of range", 25);
}

/* --- by architecture ---------------------------------------------------------------------------------------------- */

static size_t sort(pace_fleet_block *b, size_t first, size_t count, const bool *left_out) {
    size_t kept = 0;
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        b->begin[a] = kept;
        for (size_t i = 0; i < count; i++)
            if (b->batch->architectures[first + i] == a && !left_out[i]) b->place[kept++] = first + i;
    }
    b->begin[PACE_JOB_ARCHITECTURES] = kept;
    return kept;
}

static void copy_columns(pace_fleet_block *b, size_t count) {
    b->jobs = (pace_jobs){.count = count, .architectures = b->architecture};
    for (size_t i = 0; i < count; i++) b->architecture[i] = b->batch->architectures[b->place[i]];
    for (int c = 0; c < PACE_JOB_COLUMNS; c++) {
        const double *from = b->batch->values[c];
        b->jobs.values[c] = b->column[c];
        for (size_t i = 0; i < count; i++) b->column[c][i] = from[b->place[i]];
    }
}

static void take(pace_fleet_block *b, size_t first, size_t count, const bool *left_out,
                 const pace_job_setting *setting) {
    pace_job_change unchanged = pace_job_unchanged(setting);
    b->as_is.count = sort(b, first, count, left_out);
    copy_columns(b, b->as_is.count);
    pace_job_parts_of(&b->as_is.parts, &b->jobs, 0, b->as_is.count, setting);
    pace_job_steps(b->as_is.step_s, &b->as_is.parts, b->as_is.count, &unchanged);
}

void pace_fleet_block_fill(pace_fleet_block *b, pace_fleet *fleet, const pace_jobs *batch, size_t first, size_t count) {
    bool left_out[PACE_JOB_BLOCK] = {false}, any = false;
    b->batch = batch;
    take(b, first, count, left_out, fleet->setting);
    for (size_t i = 0; i < b->as_is.count; i++) {
        if (usable(b, i)) continue;
        left_out[b->place[i] - first] = any = true;
        note_fault(fleet, batch, b->place[i]);
    }
    if (any) take(b, first, count, left_out, fleet->setting);
    for (size_t i = 0; i < b->as_is.count; i++) {
        double hours = b->column[PACE_JOB_GPU_HOURS][i], cnodes = b->column[PACE_JOB_CNODES][i];
        b->as_is.cnodes[i] = (uint64_t)cnodes;
        b->as_is.hours[i] = isnan(hours) ? cnodes : hours;
        b->as_is.weight_bytes[i] =
            b->column[PACE_JOB_DENSE_WEIGHT_BYTES][i] + b->column[PACE_JOB_EMBEDDING_WEIGHT_BYTES][i];
        fleet->hours_assumed += isnan(hours);
    }
    pace_fleet_cohort_weigh(&b->as_is, fleet->setting);
}

void pace_fleet_cohort_weigh(pace_fleet_cohort *cohort, const pace_job_setting *setting) {
    pace_job_elasticities_of(&cohort->elasticities, &cohort->parts, cohort->count, setting->overlap);
    pace_job_shares_of(&cohort->shares, &cohort->parts, cohort->count, setting->spread);
}
