#include "model/pipeline_stages.h"

#include <math.h>

/* Parts of a model that may be a chunk without a repeated layer: its head and its tail. */
enum { ENDS = 2 };

/* Repeated layers on a stage (from 0): even where it can be; else head and tail count as a layer each where that comes
 * out even (as for BLOOM's 70 layers on 12 stages), else the stages in the middle take the rest. */
static uint32_t stage_layers(uint32_t layers, uint32_t stages, uint32_t stage) {
    uint32_t each = layers / stages, rest = layers % stages, middle = stages > 2 ? stages - 2 : 0;
    if (rest > middle && stage == 0) return each + 1; /* too few in the middle */
    return stage >= 1 && stage <= middle && stage <= rest ? each + 1 : each;
}

static bool divides(double of, double by) { return fmod(of, by) == 0; }

bool pace_ends_count(double layers, double stages, double chunks) {
    double parts = stages * chunks;
    return !divides(layers, parts) && divides(layers + ENDS, parts) && (layers + ENDS > parts || chunks > 1);
}

double pace_part_layers(const pace_pipeline *pipeline, double layers, uint32_t part) {
    return stage_layers((uint32_t)layers, pipeline->stages * pipeline->chunks, part);
}

double pace_layers_before(const pace_pipeline *pipeline, double layers, uint32_t part) {
    uint32_t parts = pipeline->stages * pipeline->chunks, all = (uint32_t)layers, each = all / parts;
    uint32_t rest = all % parts, middle = parts > 2 ? parts - 2 : 0, longer = rest < middle ? rest : middle;
    uint32_t first = rest > middle && part > 0, between = part > 0 ? part - 1 : 0;
    return part * each + first + (between < longer ? between : longer);
}

double pace_held_layers(const pace_pipeline *pipeline, double layers, uint32_t stage) {
    double sum = 0;
    for (uint32_t chunk = 0; chunk < pipeline->chunks; chunk++)
        sum += pace_part_layers(pipeline, layers, pace_pipeline_part(pipeline, stage, chunk));
    return sum;
}

pace_status pace_stages_check(double layers, double stages, double chunks) {
    if (stages > layers && layers <= 1)
        return pace_fail(PACE_E_USAGE,
                         "pp %g: expected 1: the model repeats no block of layers, and stages are of whole blocks",
                         stages);
    if (stages > layers)
        return pace_fail(PACE_E_USAGE, "pp %g: expected no more stages than the model's %g layers", stages, layers);
    if (chunks < 2 || stages * chunks <= layers + ENDS) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "vpp %g: expected no more chunks (%g stages x %g = %g) than the model's %g layers, head and tail",
                     chunks, stages, chunks, stages * chunks, layers);
}

/* Turns of repeated blocks, in order; what follows a turn without being repeated belongs to it. */
typedef struct {
    PACE_VEC(uint32_t) first; /* layer with which each begins */
    uint32_t tail;            /* the first layer behind the last turn */
} turns;

static pace_status find_turns(turns *out, const pace_model *model) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < model->layers.count; i++) {
        uint32_t segment = model->layers.items[i].segment;
        if (segment > 0 && segment != before) PACE_TRY(PACE_PUSH(&out->first, i));
        if (segment > 0) out->tail = i + 1;
        before = segment;
    }
    return PACE_OK;
}

/* The layer with which the turn `number` begins, or what follows the last one. */
static uint32_t begin_of(const turns *found, uint32_t number) {
    return number < found->first.count ? found->first.items[number] : found->tail;
}

static pace_status cut(pace_stages *out, const turns *found, const pace_model *model, const pace_pipeline *pipeline) {
    uint32_t parts = out->stages * out->chunks, count = (uint32_t)model->layers.count, next = 0;
    double all = found->first.count ? (double)found->first.count : 1;
    PACE_TRY(pace_stages_check(all, out->stages, out->chunks));
    if (!PACE_MAKE(out->parts, parts)) return PACE_E_MEMORY;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t first = part == 0 ? 0 : begin_of(found, next);
        next += (uint32_t)pace_part_layers(pipeline, all, part);
        uint32_t end = part + 1 == parts ? count : begin_of(found, next);
        if (end <= first)
            return pace_fail(PACE_E_USAGE,
                             "vpp %u: expected fewer chunks: the model has no %s that a chunk could be of", out->chunks,
                             part == 0 ? "head" : "tail");
        out->parts[part] = (pace_layer_range){first, end - 1};
    }
    return PACE_OK;
}

pace_pipeline pace_config_pipeline(const pace_config *config) {
    return (pace_pipeline){.schedule = (pace_pipeline_schedule)config->schedule,
                           .stages = (uint32_t)config->pp,
                           .chunks = (uint32_t)config->vpp,
                           .micro_batches = (uint32_t)pace_config_micro_batches(config),
                           .forward_only = config->mode == PACE_INFERENCE};
}

pace_status pace_stages_cut(pace_stages *out, const pace_model *model, const pace_config *config) {
    pace_stages stages = {.stages = (uint32_t)config->pp, .chunks = (uint32_t)config->vpp};
    turns found = {0};
    pace_status status = find_turns(&found, model);
    pace_pipeline pipeline = pace_config_pipeline(config);
    if (status == PACE_OK) status = cut(&stages, &found, model, &pipeline);
    PACE_VEC_FREE(&found.first);
    return PACE_GIVE(out, stages, status, pace_stages_free(&stages));
}

void pace_stages_free(pace_stages *stages) { pace_free(stages->parts); }
