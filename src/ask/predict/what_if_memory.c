#include "ask/predict/what_if_memory.h"
#include "forecast/rank_batches.h"
#include "insight/tables/memory_use.h"

#include <math.h>

/* --- a recording -------------------------------------------------------------------------------------------------- */

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

static pace_status of_recording(pace_scenario_memory *out, const pace_prediction *p, const pace_scenario *one,
                                const pace_doubts *doubts) {
    pace_scenario_memory memory = {0};
    recorded most = {0};
    double samples = 0, growth = 1;
    *out = memory;
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

/* --- a model ------------------------------------------------------------------------------------------------------ */

/* Of matrix operations in single precision a step in half keeps twice as much. */
static bool widens(const pace_prediction *p, const pace_scenario *one) {
    return p->is_model && one->has_precision && one->precision < PACE_FP16 &&
           pace_config_matrix_precision(&p->step.asked.config) >= PACE_FP16;
}

static pace_status remedy_of(pace_scenario_memory *out, pace_prediction *p, const pace_step_case *asked,
                             bool of_batch) {
    pace_memory_asked memory = pace_memory_asked_of(&p->step);
    memory.asked = asked;
    memory.batch_option = of_batch ? "--batch " : NULL;
    memory.batch_times = pace_config_micro_batches(&asked->config);
    return pace_step_remedy(out->remedy, &memory);
}

/* A model's: the step's own case with the batch, the precision and the device of the what-if. What has no such step is
 * not known. */
static pace_status of_model(pace_scenario_memory *out, pace_prediction *p, const pace_scenario *one,
                            const pace_doubts *doubts) {
    pace_step_case asked = p->step.asked;
    pace_config *config = &asked.config;
    pace_step_solution solution;
    *out = (pace_scenario_memory){0};
    const pace_device *device = one->device ? one->device : asked.device;
    if (device->is_cpu || asked.device->is_cpu) return PACE_OK;
    if (one->batch > 0) {
        double now = config->micro_batch;
        config->micro_batch = ceil(one->batch / pace_config_micro_batches(config));
        config->global_batch *= config->micro_batch / now;
    }
    if (widens(p, one)) config->precision = PACE_RUN_FP32;
    asked.may_recompute = false;
    pace_status status = pace_step_settle(&solution, &p->step.pricer, &asked);
    if (status != PACE_OK) return status == PACE_E_MEMORY ? status : PACE_OK;
    size_t number = (size_t)(one - p->scenarios.items.items);
    double merging = number < p->result_count ? p->results[number].exchange.merging.most_bytes : 0;
    pace_step_room room = pace_step_tightest(&solution.plan, merging);
    if (!room.of_host) room.has_bytes += device->memory_bytes - asked.device->memory_bytes;
    out->known = room.has_bytes > 0;
    out->fitting = pace_step_fits(room.need_bytes, room.has_bytes, doubts);
    out->need_bytes = room.need_bytes, out->has_bytes = room.has_bytes;
    out->device = device->name;
    if (out->fitting == PACE_FITS || device != asked.device) return PACE_OK;
    return remedy_of(out, p, &asked, one->batch > 0);
}

/* --- all what-ifs ------------------------------------------------------------------------------------------------- */

static bool is_other_step(const pace_prediction *p, const pace_scenario *one) {
    if (one->batch > 0 || widens(p, one)) return true;
    return one->device && (!p->is_model || one->device != p->step.asked.device);
}

static void count(pace_what_if_outcome *outcome, const pace_scenario_memory *memory, size_t scenario) {
    if (outcome->count++ > 0) return;
    outcome->first = scenario;
    outcome->memory = *memory;
}

static void judge(pace_what_if_memory *out, const pace_scenario_memory *memory, size_t scenario) {
    if (!memory->known && memory->asked) count(&out->unknown, memory, scenario);
    if (!memory->known || memory->fitting == PACE_FITS) return;
    count(memory->fitting == PACE_TOO_LARGE ? &out->too_large : &out->unsure, memory, scenario);
}

pace_status pace_what_if_memory_of(pace_what_if_memory *out, pace_prediction *p, const pace_doubts *doubts) {
    pace_what_if_memory found = {0};
    for (size_t i = 0; (p->inputs.is_measured || p->is_model) && i < p->scenarios.items.count; i++) {
        const pace_scenario *one = &p->scenarios.items.items[i];
        pace_scenario_memory memory;
        if (!is_other_step(p, one)) continue;
        PACE_TRY(p->is_model ? of_model(&memory, p, one, doubts) : of_recording(&memory, p, one, doubts));
        judge(&found, &memory, i);
    }
    *out = found;
    return PACE_OK;
}
