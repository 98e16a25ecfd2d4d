/* Jobs are added to a fleet a block of one architecture at a time. */
#include "fleet/fleet_block.h"

static pace_status add_block(pace_fleet *fleet, pace_fleet_block *block) {
    if (block->as_is.count == 0) return PACE_OK;
    PACE_TRY(pace_fleet_group_add(&fleet->groups[block->architecture], &block->as_is));
    if (block->architecture == PACE_JOB_PS_WORKER) PACE_TRY(pace_fleet_add_moved(fleet, block));
    pace_fleet_add_answers(fleet, block);
    pace_fleet_add_conclusions(fleet, block);
    pace_fleet_add_worst(fleet, block);
    return PACE_OK;
}

/* The places of the jobs, by architecture: those of a are [begin[a], begin[a + 1]). */
static void sort(uint32_t *place, size_t begin[PACE_JOB_ARCHITECTURES + 1], const pace_jobs *jobs) {
    size_t at[PACE_JOB_ARCHITECTURES], counts[PACE_JOB_ARCHITECTURES] = {0};
    for (size_t i = 0; i < jobs->count; i++) counts[jobs->architectures[i]]++;
    begin[0] = 0;
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        at[a] = begin[a];
        begin[a + 1] = begin[a] + counts[a];
    }
    for (size_t i = 0; i < jobs->count; i++) place[at[jobs->architectures[i]]++] = (uint32_t)i;
}

static pace_status add_all(pace_fleet *fleet, pace_fleet_block *block, uint32_t *place, const pace_jobs *jobs) {
    size_t begin[PACE_JOB_ARCHITECTURES + 1];
    sort(place, begin, jobs);
    pace_fleet_block_begin(block, jobs);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++)
        for (size_t first = begin[a]; first < begin[a + 1]; first += PACE_JOB_BLOCK) {
            size_t rest = begin[a + 1] - first, count = rest < PACE_JOB_BLOCK ? rest : PACE_JOB_BLOCK;
            pace_fleet_block_fill(block, fleet, (pace_job_architecture)a, place + first, count);
            PACE_TRY(add_block(fleet, block));
        }
    return PACE_OK;
}

pace_status pace_fleet_add(pace_fleet *fleet, const pace_jobs *jobs) {
    if (jobs->count >= UINT32_MAX) return pace_fail(PACE_E_LIMIT, "a batch of more jobs than 32 bits count");
    pace_fleet_block *block = pace_alloc(1, sizeof *block);
    uint32_t *place = pace_alloc(jobs->count, sizeof *place);
    pace_status status = block && place ? add_all(fleet, block, place, jobs) : PACE_E_MEMORY;
    PACE_FREE(block, place);
    return status;
}
