#include "ask/predict/trace_memory.h"
#include "forecast/rank_batches.h"
#include "insight/tables/memory_use.h"

#include <math.h>

typedef struct {
    bool known, changes; /* changes: no totals were recorded, so what was held before is not known */
    double held_bytes, peak_bytes;
} recorded;

static pace_status read_rank(recorded *most, const pace_rank *rank) {
    pace_memory_use use;
    PACE_TRY(pace_memory_use_find(&use, rank));
    PACE_ITEMS (const pace_memory_device, device, &use.devices) {
        if (device->device_type == 0 || (double)device->peak_bytes <= most->peak_bytes) continue;
        *most = (recorded){true, !device->totals, device->totals ? (double)device->first_bytes : 0,
                           (double)device->peak_bytes};
    }
    pace_memory_use_free(&use);
    return PACE_OK;
}

/* Samples at a time; 0 = shapes do not tell. */
static pace_status samples_of(double *out, const pace_prediction *p, const pace_scenario *scenario) {
    pace_batch_size found;
    PACE_TRY(pace_rank_batches_first(&found, &p->inputs.forecast, scenario->samples));
    *out = (double)found.samples;
    return PACE_OK;
}

pace_status pace_trace_memory_find(pace_trace_memory *out, const pace_prediction *p, size_t scenario,
                                   const pace_doubts *doubts) {
    const pace_scenario *one = &p->scenarios.items.items[scenario];
    pace_trace_memory memory = {0};
    recorded most = {0};
    double samples = 0, growth = 1;
    *out = memory;
    if (!p->inputs.is_measured) return PACE_OK;
    const pace_rank *first = pace_analysis_slowest(&p->inputs.measured);
    const pace_traced_device *traced = pace_step_device(&first->step, first->device_id);
    const pace_device *device = one->device ? one->device : first->device;
    double had_bytes = traced && traced->memory_bytes > 0 ? traced->memory_bytes
                       : first->device                    ? first->device->memory_bytes
                                                          : 0;
    memory.has_bytes = device ? device->memory_bytes : had_bytes;
    memory.device = device ? device->name : NULL;
    for (size_t i = 0; i < p->inputs.measured.traces.count; i++)
        PACE_TRY(read_rank(&most, p->inputs.measured.traces.items[i]));
    if (one->batch > 0 || most.known) PACE_TRY(samples_of(&samples, p, one));
    if (one->batch > 0 && samples > 0) growth = one->batch / samples;
    memory.known = most.known && (one->batch <= 0 || samples > 0);
    memory.asked = growth > 1 || (memory.has_bytes > 0 && memory.has_bytes < had_bytes);
    memory.need_bytes = most.held_bytes + (most.peak_bytes - most.held_bytes) * growth;
    memory.at_least = most.changes;
    if (memory.known) memory.fitting = pace_step_fits(memory.need_bytes, memory.has_bytes, doubts);
    if (memory.at_least && memory.fitting != PACE_TOO_LARGE) memory.known = false; /* a lower bound proves no fit */
    double grows = most.peak_bytes - most.held_bytes;
    if (!most.changes && samples > 0 && grows > 0 && memory.has_bytes > most.held_bytes)
        memory.fitting_samples = exp2(floor(log2((memory.has_bytes - most.held_bytes) / grows * samples)));
    if (memory.fitting_samples < 1) memory.fitting_samples = 0;
    *out = memory;
    return PACE_OK;
}
