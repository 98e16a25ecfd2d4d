/* Jobs are added to a fleet a block at a time. */
#include "fleet/fleet_block.h"

pace_status pace_fleet_add(pace_fleet *fleet, const pace_jobs *jobs) {
    pace_fleet_block *block = pace_alloc(1, sizeof *block);
    pace_status status = block ? PACE_OK : PACE_E_MEMORY;
    for (size_t first = 0; first < jobs->count && status == PACE_OK; first += PACE_JOB_BLOCK) {
        size_t rest = jobs->count - first;
        pace_fleet_block_fill(block, fleet, jobs, first, rest < PACE_JOB_BLOCK ? rest : PACE_JOB_BLOCK);
        status = pace_fleet_add_as_is(fleet, block);
        if (status == PACE_OK) status = pace_fleet_add_moved(fleet, block);
        if (status != PACE_OK) break;
        pace_fleet_add_answers(fleet, block);
        pace_fleet_add_conclusions(fleet, block);
        pace_fleet_add_worst(fleet, block);
    }
    pace_free(block);
    return status;
}
