#include "plan/plan_space.h"

#include "model/pipeline_turns.h"

#include <math.h>

const char *const pace_plan_field_names[PACE_PLAN_FIELDS] = {"tp",       "pp",         "vpp",        "cp",
                                                             "ep",       "zero_stage", "zero_group", "micro_batch",
                                                             "schedule", "recompute"};

/* Shorter sequences gain nothing from being cut: a rank's part would be less than its attention kernel's tile. */
enum { LONG_SEQUENCE = 16384, CHUNKS_MOST = 8, RECOMPUTATIONS = 3, ZERO_STAGES = 4 };

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
    double *const fields[] = {&config->tp,         &config->pp,         &config->vpp,         &config->cp, &config->ep,
                              &config->zero_stage, &config->zero_group, &config->micro_batch, NULL,        NULL};
    return fields[field];
}

/* Fields that are one of several words. */
static int *word_of(pace_config *config, pace_plan_field field) {
    if (field == PACE_PLAN_SCHEDULE) return &config->schedule;
    return field == PACE_PLAN_RECOMPUTE ? &config->recompute : NULL;
}

static double value_of(pace_config *config, pace_plan_field field) {
    return field_of(config, field) ? *field_of(config, field) : *word_of(config, field);
}

static void fill(pace_plan_values *out, pace_plan_field field, const pace_plan_limits *l, const pace_config *config) {
    bool cut = l->sequence > 0 && l->devices > 1, trains = config->mode == PACE_TRAINING;
    *out = (pace_plan_values){0};
    switch (field) {
    case PACE_PLAN_TP: put_divisors(out, l->devices_of_node, cut ? fmin(l->devices_of_node, l->devices) : 1); break;
    case PACE_PLAN_PP: put_stages(out, l, cut && trains ? fmin(l->layers, l->devices) : 1); break;
    case PACE_PLAN_VPP: put_powers(out, cut && trains ? CHUNKS_MOST : 1); break;
    case PACE_PLAN_CP: put_powers(out, cut && l->sequence >= LONG_SEQUENCE ? l->devices_of_node : 1); break;
    case PACE_PLAN_EP: put_divisors(out, l->whole ? l->devices : 0, l->experts ? l->devices : 1); break;
    case PACE_PLAN_ZERO:
        for (int stage = 0; stage < (trains ? ZERO_STAGES : 1); stage++)
            if (l->zero_known[stage]) put(out, stage);
        break;
    case PACE_PLAN_ZERO_GROUP: /* all replicas, or those of a node (is_one() chooses) */
        put(out, 0);
        for (double v = 2; trains && l->devices > l->devices_of_node && v <= l->devices_of_node; v *= 2) put(out, v);
        break;
    case PACE_PLAN_MICRO_BATCH: put_powers(out, l->per_step); break;
    case PACE_PLAN_SCHEDULE:
        for (int order = 0; order < (cut && trains ? PACE_SCHEDULES : 1); order++)
            if (l->schedule_known[order]) put(out, order);
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
                             .tables_follow = limits->tables_follow};
    for (pace_plan_field f = 0; f < PACE_PLAN_FIELDS; f++) {
        if (pinned[f]) put(&out->values[f], value_of(&given, f));
        else fill(&out->values[f], f, limits, config);
    }
}

/* --- visits ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_plan_space *space;
    pace_status (*visit)(void *context, const pace_config *config);
    void *context;
} walker;

/* States are divided over all replicas, or over those of one node, which others replicate. */
static bool is_sharding(const pace_config *config, const pace_plan_space *space, double replicas) {
    double group = config->zero_group;
    if (group == 0 || space->values[PACE_PLAN_ZERO_GROUP].count == 1) return true;
    return config->zero_stage > 0 && config->ep == 1 && config->tp * group == space->devices_of_node &&
           replicas > group && fmod(replicas, group) == 0;
}

/* Whether so many replicas share the batch, on whole nodes or within one. */
static bool is_shared_by(const pace_config *config, const pace_plan_space *space, double shared, double dp) {
    bool nodes = dp * shared <= space->devices_of_node || fmod(dp * shared, space->devices_of_node) == 0;
    return fmod(config->global_batch, config->micro_batch * dp) == 0 && (nodes || dp * shared == space->devices);
}

/* As many replicas as the devices hold and the batch is shared by: where not all devices can be used, others are idle. 0 =
 * none. */
static double replicas_of(const pace_config *config, const pace_plan_space *space) {
    double shared = config->tp * config->pp * config->cp, most = floor(space->devices / shared), dp = most;
    bool whole = dp * shared == space->devices;
    if (space->whole && !whole) return 0;
    if (space->dp > 0) return space->dp <= most && is_shared_by(config, space, shared, space->dp) ? space->dp : 0;
    while (dp >= 1 && !is_shared_by(config, space, shared, dp)) dp = space->whole ? 0 : dp - 1;
    return dp;
}

/* Whether a configuration whose fields are set is one: everything divides, and nothing stands twice for the same. */
static bool is_one(pace_config *config, const pace_plan_space *space) {
    config->dp = replicas_of(config, space);
    if (config->dp < 1) return false;
    double replicas = config->dp * config->cp;
    if (config->tp == 1) config->sequence_parallel = 0;
    if (space->tables_follow) config->ep = replicas;
    if (fmod(replicas, config->ep) != 0) return false;
    if (!is_sharding(config, space, replicas)) return false;
    bool chunks = config->vpp > 1, v = pace_schedule_is_v(config->schedule);
    if (config->schedule != PACE_SCHEDULE_1F1B && config->pp < 2) return false;
    if (v && config->vpp != PACE_V_CHUNKS) return false;
    if (config->schedule == PACE_SCHEDULE_DUALPIPE_V && pace_config_micro_batches(config) < 2 * config->pp)
        return false;
    if (chunks && config->pp < 2) return false;
    if (chunks && !v && fmod(pace_config_micro_batches(config), config->pp) != 0) return false;
    if (chunks && fmod(space->layers, config->pp * config->vpp) != 0) return false;
    return config->zero_stage == 0 || replicas > 1 || space->values[PACE_PLAN_ZERO].count == 1;
}

static pace_status walk(const walker *w, pace_config *config, pace_plan_field field) {
    if (field == PACE_PLAN_FIELDS) {
        pace_config one = *config;
        return is_one(&one, w->space) ? w->visit(w->context, &one) : PACE_OK;
    }
    const pace_plan_values *values = &w->space->values[field];
    for (unsigned i = 0; i < values->count; i++) {
        if (field_of(config, field)) *field_of(config, field) = values->items[i];
        else *word_of(config, field) = (int)values->items[i];
        PACE_TRY(walk(w, config, field + 1));
    }
    return PACE_OK;
}

pace_status pace_plan_space_visit(const pace_plan_space *space, const pace_config *config,
                                  pace_status (*visit)(void *context, const pace_config *config), void *context) {
    const walker w = {space, visit, context};
    pace_config start = *config;
    return walk(&w, &start, 0);
}
