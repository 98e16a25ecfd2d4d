/*
 * Fuzz target of the files of host overheads: any bytes are read or refused with a message, and what is read keeps its
 * promises: no figure is negative or infinite.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cost/host_costs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const pace_host_costs *costs, const char *name) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        pace_host_level level = PACE_HOST_LEVELS;
        pace_host_cost cost = pace_host_costs_get(costs, (pace_overhead_type)type, name, true, &level);
        if (!(cost.mean_ns >= 0) || !isfinite(cost.mean_ns) || level >= PACE_HOST_LEVELS) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_input *input;
    pace_host_costs costs;
    if (pace_input_open_memory(&input, "fuzz", data, size) != PACE_OK) return 0;
    if (pace_host_costs_init(&costs) == PACE_OK) {
        if (pace_host_costs_read_input(&costs, input) != PACE_OK && !*pace_message()) abort();
        size_t count = pace_names_count(&costs.names);
        for (pace_name name = 0; name < count && name < 64; name++)
            check_name(&costs, pace_names_text(&costs.names, name));
        pace_host_costs_free(&costs);
    }
    pace_input_free(input);
    return 0;
}
