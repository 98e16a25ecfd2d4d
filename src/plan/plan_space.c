#include "plan/plan_space.h"

#include "model/pipeline_stages.h"
#include "model/pipeline_turns.h"

#include <math.h>

const char *const pace_plan_field_names[PACE_PLAN_FIELDS] = {"tp",       "pp",         "vpp",        "cp",
                                                             "ep",       "zero_stage", "zero_group", "micro_batch",
                                                             "schedule", "recompute",  "precision",  "offload"};

enum { CHUNKS_MOST = 8, RECOMPUTATIONS = 3, ZERO_STAGES = 4 };

static void put(pace_plan_values *values, double value) {
    if (values->count < PACE_PLAN_VALUES) values->items[values->count++] = value;
}

static void put_powers(pace_plan_values *values, double most) {
    for (double v = 1; v <= most; v *= 2) put(values, v);
}

/* Whole numbers up to `most` that machines are cut by, 2^a and 3 x 2^a, and that divide a number (0: whatever). */
static void put_divisors(pace_plan_values *values, double of, double most) {
    for (double v = 1; v <= most; v *= 2) {
        if (fmod(of, v) == 0) put(values, v);
        if (3 * v <= most && fmod(of, 3 * v) == 0) put(values, 3 * v);
    }
}

/* Stages with as many layers each (as 35 of 105), and such as machines are cut by. */
static void put_stages(pace_plan_values *values, const pace_plan_limits *l, double most) {
    for (double v = 1; v <= most; v++) {
        bool by_machine = exp2(floor(log2(v))) == v || 1.5 * exp2(floor(log2(v))) == v;
        bool may = !l->whole || fmod(l->devices, v) == 0;
        if (may && (by_machine || fmod(l->layers, v) == 0)) put(values, v);
    }
}

static double *field_of(pace_config *config, pace_plan_field field) {
    double *const fields[PACE_PLAN_FIELDS] = {&config->tp,         &config->pp,          &config->vpp,
                                              &config->cp,         &config->ep,          &config->zero_stage,
                                              &config->zero_group, &config->micro_batch, NULL};
    return fields[field];
}

/* Fields that are one of several words. */
static int *word_of(pace_config *config, pace_plan_field field) {
    switch (field) {
    case PACE_PLAN_SCHEDULE: return &config->schedule;
    case PACE_PLAN_RECOMPUTE: return &config->recompute;
    case PACE_PLAN_PRECISION: return &config->precision;
    case PACE_PLAN_OFFLOAD: return &config->offload;
    default: return NULL;
    }
}

static double value_of(pace_config *config, pace_plan_field field) {
    return field_of(config, field) ? *field_of(config, field) : *word_of(config, field);
}

static void fill(pace_plan_values *out, pace_plan_field field, const pace_plan_limits *l, const pace_config *config) {
    bool several = l->devices > 1, trains = config->mode == PACE_TRAINING,
         staged = several && trains && !(l->framework->one_stage > 0);
    *out = (pace_plan_values){0};
    switch (field) {
    case PACE_PLAN_TP:
        put_divisors(out, l->devices_of_node, l->splits ? fmin(l->devices_of_node, l->devices) : 1);
        break;
    case PACE_PLAN_PP: put_stages(out, l, staged ? fmin(l->layers, l->devices) : 1); break;
    case PACE_PLAN_VPP: /* may_chunk() chooses */
        for (double v = 1; v <= (staged && l->framework->interleaves > 0 ? CHUNKS_MOST : 1); v++) put(out, v);
        break;
    case PACE_PLAN_CP:
        put_powers(out, several ? fmin(l->devices_of_node, fmax(1, floor(l->sequence / PACE_CONTEXT_PART_LEAST))) : 1);
        break;
    case PACE_PLAN_EP: put_divisors(out, l->whole ? l->devices : 0, l->experts ? l->devices : 1); break;
    case PACE_PLAN_ZERO:
        for (int stage = 0; stage < (trains ? ZERO_STAGES : 1); stage++)
            if (l->framework->zero_known[stage]) put(out, stage);
        break;
    case PACE_PLAN_ZERO_GROUP: /* all replicas, or those of a node (is_one() chooses) */
        put(out, 0);
        if (!trains || l->framework->ungrouped > 0 || l->devices <= l->devices_of_node) break;
        for (double v = 2; v <= l->devices_of_node; v *= 2) put(out, v);
        break;
    case PACE_PLAN_MICRO_BATCH: put_powers(out, l->per_step); break;
    case PACE_PLAN_SCHEDULE:
        for (int order = 0; order < (staged ? PACE_SCHEDULES : 1); order++)
            if (l->framework->schedule_known[order]) put(out, order);
        break;
    case PACE_PLAN_PRECISION:
        put(out, config->precision);
        if (config->precision == PACE_RUN_FP32 && l->half != PACE_RUN_FP32) put(out, l->half);
        break;
    case PACE_PLAN_OFFLOAD:
        put(out, PACE_OFFLOAD_NONE);
        if (trains && config->optimizer != PACE_SGD && config->optimizer != PACE_NO_UPDATE &&
            config->execution != PACE_CUDA_GRAPH)
            put(out, PACE_OFFLOAD_OPTIMIZER);
        break;
    default:
        for (int kind = 0; kind < (trains ? RECOMPUTATIONS : 1); kind++) put(out, kind);
    }
    if (out->count == 0) put(out, field == PACE_PLAN_ZERO || field == PACE_PLAN_RECOMPUTE ? 0 : 1);
}

void pace_plan_space_make(pace_plan_space *out, const pace_plan_limits *limits, const pace_config *config,
                          const bool pinned[PACE_PLAN_FIELDS]) {
    pace_config given = *config;
    *out = (pace_plan_space){.devices = limits->devices,
                             .devices_of_node = limits->devices_of_node,
                             .layers = limits->layers,
                             .whole = limits->whole,
                             .framework = limits->framework,
                             .tables_follow = limits->tables_follow};
    for (pace_plan_field f = 0; f < PACE_PLAN_FIELDS; f++) {
        if (pinned[f]) put(&out->values[f], value_of(&given, f));
        else fill(&out->values[f], f, limits, config);
    }
}

static bool has(const pace_plan_values *values, double value) {
    for (unsigned i = 0; i < values->count; i++)
        if (values->items[i] == value) return true;
    return false;
}

void pace_plan_space_add(pace_plan_space *space, const pace_config *config, const bool pinned[PACE_PLAN_FIELDS]) {
    pace_config given = *config;
    for (pace_plan_field f = 0; f < PACE_PLAN_FIELDS; f++) {
        double value = value_of(&given, f);
        if (!pinned[f] && !has(&space->values[f], value)) put(&space->values[f], value);
    }
}

/* --- visits ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_plan_space *space;
    pace_status (*visit)(void *context, const pace_config *config);
    void *context;
    PACE_VEC(double) divisors; /* of the global batch, largest first */
} walker;

static pace_status find_divisors(walker *w, double of) {
    for (double v = 1; v * v <= of; v++) /* from both ends */
        if (fmod(of, v) == 0) PACE_TRY(PACE_PUSH(&w->divisors, of / v));
    for (size_t i = w->divisors.count; i-- > 0;)
        if (w->divisors.items[i] * w->divisors.items[i] > of)
            PACE_TRY(PACE_PUSH(&w->divisors, of / w->divisors.items[i]));
    return PACE_OK;
}

static bool divides(double of, double by) {
    double times = of / by;
    return times == floor(times);
}

/* On whole nodes, or within one, or all devices. */
static bool is_placed(const pace_plan_space *space, double ranks) {
    return ranks <= space->devices_of_node || ranks == space->devices || divides(ranks, space->devices_of_node);
}

/* As many replicas as the devices hold and the batch is shared by: where not all devices can be used, others are idle.
 * 0 = none. */
static double replicas_of(const walker *w, const pace_config *config) {
    const pace_plan_space *space = w->space;
    double shared = config->tp * config->pp * config->cp, most = floor(space->devices / shared);
    double micro_batches = config->global_batch / config->micro_batch;
    if (space->whole && most * shared != space->devices) return 0;
    if (micro_batches != floor(micro_batches)) return 0;
    for (size_t i = 0; i < w->divisors.count; i++) {
        double dp = w->divisors.items[i];
        bool may = space->dp > 0 ? dp == space->dp : !space->whole || dp == most;
        if (dp <= most && may && divides(micro_batches, dp) && is_placed(space, dp * shared)) return dp;
    }
    return 0;
}

/* States are divided over all replicas, or over those of one node, which others replicate. */
static bool is_sharding(const pace_config *config, const pace_plan_space *space, double replicas) {
    double group = config->zero_group;
    if (group == 0 || space->values[PACE_PLAN_ZERO_GROUP].count == 1) return true;
    return config->zero_stage > 0 && config->ep == 1 && config->tp * group == space->devices_of_node &&
           replicas > group && divides(replicas, group);
}

static bool is_even(double layers, double stages, double chunks) {
    return divides(layers, stages * chunks) || pace_ends_count(layers, stages, chunks);
}

/* Uneven chunks need a layout written by hand: powers of two are tried where so many stages have no even ones. */
static bool may_chunk(const pace_config *config, const pace_plan_space *space) {
    double pp = config->pp, vpp = config->vpp, layers = space->layers;
    if (vpp == 1 || pp < 2) return vpp == 1;
    if (is_even(layers, pp, vpp)) return true;
    return !is_even(layers, pp, 2) && exp2(floor(log2(vpp))) == vpp && pp * vpp <= layers;
}

static bool may_order(const pace_config *config) {
    bool chunks = config->vpp > 1, v = pace_schedule_is_v(config->schedule);
    if (config->schedule != PACE_SCHEDULE_1F1B && config->pp < 2) return false;
    if (v && config->vpp != PACE_V_CHUNKS) return false;
    if (config->schedule == PACE_SCHEDULE_DUALPIPE_V && pace_config_micro_batches(config) < 2 * config->pp)
        return false;
    return !chunks || v || divides(pace_config_micro_batches(config), config->pp);
}

/* Fields that prices of layers depend on come first, so that prices are asked seldom; dp follows from the first
 * seven. */
static const pace_plan_field order[PACE_PLAN_FIELDS] = {PACE_PLAN_PRECISION,   PACE_PLAN_TP,         PACE_PLAN_CP,
                                                        PACE_PLAN_MICRO_BATCH, PACE_PLAN_RECOMPUTE,  PACE_PLAN_EP,
                                                        PACE_PLAN_PP,          PACE_PLAN_VPP,        PACE_PLAN_SCHEDULE,
                                                        PACE_PLAN_ZERO,        PACE_PLAN_ZERO_GROUP, PACE_PLAN_OFFLOAD};

/* ZeRO beside a pipeline, as far as the framework has it; what the user fixes is asked whatever that is. */
static bool goes_with_stages(const pace_config *config, const pace_plan_space *space) {
    bool fixed = space->values[PACE_PLAN_PP].count == 1 && space->values[PACE_PLAN_ZERO].count == 1;
    return fixed || pace_framework_stages_zero(space->framework, config);
}

/* Whether a configuration whose fields are set up to `field` may become one: everything divides, and nothing stands
 * twice for the same. A fixed ZeRO stage divides nothing where there is one replica, as in a row and in predict. */
static bool may_be(const walker *w, pace_config *config, pace_plan_field field) {
    const pace_plan_space *space = w->space;
    double replicas = config->dp * config->cp;
    switch (field) {
    case PACE_PLAN_PP:
        config->dp = replicas_of(w, config);
        if (config->dp < 1) return false;
        if (space->tables_follow) config->ep = config->dp * config->cp;
        return divides(pace_config_expert_ranks(config), config->ep);
    case PACE_PLAN_VPP: return may_chunk(config, space);
    case PACE_PLAN_SCHEDULE: return may_order(config);
    case PACE_PLAN_ZERO:
        if (!goes_with_stages(config, space)) return false;
        if (replicas > 1 || config->zero_stage == 0) return true;
        config->zero_stage = 0;
        return space->values[PACE_PLAN_ZERO].count == 1;
    case PACE_PLAN_ZERO_GROUP: return is_sharding(config, space, replicas);
    default: return true;
    }
}

static pace_status walk(const walker *w, pace_config *config, unsigned level) {
    if (level == PACE_PLAN_FIELDS) return w->visit(w->context, config);
    const pace_plan_field field = order[level];
    const pace_plan_values *values = &w->space->values[field];
    for (unsigned i = 0; i < values->count; i++) {
        if (field_of(config, field)) *field_of(config, field) = values->items[i];
        else *word_of(config, field) = (int)values->items[i];
        if (may_be(w, config, field)) PACE_TRY(walk(w, config, level + 1));
    }
    return PACE_OK;
}

/* Sequence parallelism is of tensor parallel groups: what follows from a field is set for each of its values. */
static pace_status walk_all(walker *w, const pace_config *config) {
    pace_plan_values tps = w->space->values[PACE_PLAN_TP];
    for (unsigned i = 0; i < tps.count; i++) {
        pace_plan_space one = *w->space;
        pace_config start = *config;
        one.values[PACE_PLAN_TP] = (pace_plan_values){{tps.items[i]}, 1};
        if (tps.items[i] == 1) start.sequence_parallel = 0;
        walker of_one = *w;
        of_one.space = &one;
        PACE_TRY(walk(&of_one, &start, 0));
    }
    return PACE_OK;
}

pace_status pace_plan_space_visit(const pace_plan_space *space, const pace_config *config,
                                  pace_status (*visit)(void *context, const pace_config *config), void *context) {
    walker w = {.space = space, .visit = visit, .context = context};
    pace_status status = find_divisors(&w, config->global_batch);
    if (status == PACE_OK) status = walk_all(&w, config);
    PACE_VEC_FREE(&w.divisors);
    return status;
}
