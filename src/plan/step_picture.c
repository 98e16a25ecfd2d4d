#include "plan/step_picture.h"

#include "base/parallel.h"
#include "forecast/forecast_estimate.h"
#include "model/pipeline_stages.h"
#include "plan/step_turns.h"
#include "schedule/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COMPUTES = 0, EXCHANGES = 2, MESSAGES = 3, STREAMS_A_WAY = 2, MESSAGE_STREAMS = 8 };

/* A stage while it is drawn. */
typedef struct {
    pace_graph graph;
    PACE_VEC(double) launch_s;
    double *launch_ns;
    const pace_config *config;
    const pace_chunk_turns *turns;   /* of its chunks */
    const pace_turn_times *times;    /* the same, with what stands beside the passes */
    const pace_beside_turns *beside; /* of all stages */
    const pace_turn *turn;
    pace_name groups[PACE_GROUPS], messages[MESSAGE_STREAMS]; /* names of groups; 0 = not yet known */
    uint32_t stage, node, last; /* the last launch that the next one on stream 0 comes behind */
    uint32_t computes;          /* launches on stream 0 so far */
    bool issued;                /* the turn's call has been made */
    pace_name call;
} drawing;

static pace_status name_of(pace_name *out, drawing *d, const char *text) {
    return pace_names_add(out, &d->graph.names, text, strlen(text));
}

static pace_status put(uint32_t *out, drawing *d, const char *name, uint32_t stream, double seconds) {
    uint32_t before = d->last; /* which *out may be */
    pace_name kernel = 0;
    PACE_TRY(pace_graph_add_launch(out, &d->graph, d->node, PACE_TASK_KERNEL, NULL, stream));
    if (*name) PACE_TRY(name_of(&kernel, d, name));
    pace_launch *launch = &d->graph.launches.items[*out];
    launch->name = kernel;
    launch->call = d->call;
    launch->same_call = d->issued;
    launch->waits[0] = before;
    d->issued = true;
    d->computes += stream == COMPUTES;
    return PACE_PUSH(&d->launch_s, seconds);
}

static pace_status put_kernels(drawing *d, const char *name, double seconds) {
    if (!(seconds > 0)) return PACE_OK;
    return put(&d->last, d, name, COMPUTES, seconds);
}

static pace_status group_of(pace_name *out, drawing *d, pace_group_kind kind, uint32_t stream, bool message) {
    pace_name *known = message ? &d->messages[stream - MESSAGES] : &d->groups[kind];
    char group[48];
    if (!*known) {
        snprintf(group, sizeof group, message ? "pp, %s" : "%s of stage %u",
                 message ? ((stream - MESSAGES) / STREAMS_A_WAY % 2 ? "gradients" : "activations")
                         : pace_group_names[kind],
                 d->stage);
        PACE_TRY(name_of(known, d, group));
    }
    *out = *known;
    return PACE_OK;
}

static pace_status put_exchange(uint32_t *out, drawing *d, const char *collective, pace_group_kind kind,
                                uint32_t stream, int64_t peer, double seconds) {
    bool message = peer >= 0;
    pace_graph_exchange exchange = {.group_size = message ? 2 : (int64_t)pace_config_group_size(d->config, kind),
                                    .group_stride = pace_config_stride(d->config, kind),
                                    .peer = peer,
                                    .group_kind = (uint8_t)kind,
                                    .role = PACE_ROLE_ACTIVATION};
    PACE_TRY(name_of(&exchange.collective, d, collective));
    PACE_TRY(group_of(&exchange.group, d, kind, stream, message));
    PACE_TRY(put(out, d, "", stream, seconds));
    return pace_graph_add_exchange(&d->graph, *out, &exchange);
}

/* Behind what stands before it, and before what follows. */
static pace_status put_between(drawing *d, const char *collective, pace_group_kind kind, double seconds) {
    if (!(seconds > 0)) return PACE_OK;
    return put_exchange(&d->last, d, collective, kind, EXCHANGES, -1, seconds);
}

/* What comes from, or goes to, the part before or behind. */
static pace_status put_message(drawing *d, bool gradients, bool sends, double seconds) {
    const pace_pipeline pipeline = pace_config_pipeline(d->config);
    uint32_t stages = pipeline.stages, parts = stages * pipeline.chunks, number;
    uint32_t part = pace_pipeline_part(&pipeline, d->stage, d->turn->chunk);
    bool after = gradients != sends;
    if (stages < 2 || (after ? part + 1 == parts : part == 0)) return PACE_OK;
    uint32_t other = pace_pipeline_stage(&pipeline, after ? part + 1 : part - 1);
    if (other == d->stage) return PACE_OK; /* where a V turns round */
    int64_t peer = (int64_t)other * pace_config_stride(d->config, PACE_GROUP_PIPELINE);
    uint32_t side = pace_schedule_is_v(d->config->schedule) ? 2 * d->turn->chunk : 0;
    uint32_t stream = MESSAGES + STREAMS_A_WAY * (side + gradients) + sends;
    PACE_TRY(put_exchange(&number, d, sends ? "send" : "recv", PACE_GROUP_PIPELINE, stream, peer, seconds));
    if (!sends) d->last = number;
    return PACE_OK;
}

static pace_status open_node(drawing *d, const char *name, pace_stage stage, const char *call) {
    PACE_TRY(pace_graph_add_node(&d->node, &d->graph, PACE_TASK_OP, name, PACE_NO_NODE, 0));
    d->graph.nodes.items[d->node].stage = (uint8_t)stage;
    d->issued = false;
    return name_of(&d->call, d, call);
}

static const char *const calls[] = {"forward", "backward", "backward", "weights"};
static const char copies[] = "copy", ends[] = "update";

/* A micro-batch, or its targets, which the host waits for. */
static pace_status draw_input(drawing *d, const pace_turn *turn) {
    const pace_pipeline pipeline = pace_config_pipeline(d->config);
    uint32_t part = pace_pipeline_part(&pipeline, d->stage, turn->chunk);
    bool last = part + 1 == pipeline.stages * pipeline.chunks;
    double seconds = d->times->input_device_s[last];
    if (turn->pass != PACE_TURN_FORWARD || !(part == 0 || last) || !(seconds > 0)) return PACE_OK;
    PACE_TRY(open_node(d, "aten::copy_", PACE_STAGE_INPUT, copies));
    PACE_TRY(put_kernels(d, "Memcpy HtoD", seconds));
    d->graph.launches.items[d->last].kind = PACE_TASK_COPY;
    d->graph.nodes.items[d->node].waits_launch = d->last;
    return PACE_OK;
}

/* What of a turn's kernels adds gradients to those of the micro-batch before. */
static double adds_s(const drawing *d, const pace_turn *turn) {
    const pace_turn_times *times = &d->times[turn->chunk];
    double kernels_s = pace_turn_forms(turn, times->put_off_device) * times->add_device_s;
    return turn->micro_batch > 0 ? pace_turn_longer_s(kernels_s, times, times->waits_s) : 0;
}

static pace_status draw_turn(drawing *d, const pace_turn *turn) {
    const pace_chunk_turns *of = &d->turns[turn->chunk];
    bool forward = turn->pass == PACE_TURN_FORWARD, weights = turn->pass == PACE_TURN_WEIGHTS;
    const pace_turn_work *w = forward ? &of->forward : &of->backward;
    double products_s = weights ? w->weights_s : w->products_s - (turn->pass == PACE_TURN_INPUTS ? w->weights_s : 0);
    double message_s = d->beside->message_s;
    char name[64];
    d->turn = turn;
    PACE_TRY(draw_input(d, turn));
    snprintf(name, sizeof name, "%s, micro-batch %u, chunk %u", calls[turn->pass], turn->micro_batch, turn->chunk);
    PACE_TRY(open_node(d, name, forward ? PACE_STAGE_FORWARD : PACE_STAGE_BACKWARD, calls[turn->pass]));
    if (!weights) PACE_TRY(put_message(d, !forward, false, message_s));
    if (!weights) PACE_TRY(put_between(d, "allgather", PACE_GROUP_DATA, w->data_s));
    PACE_TRY(put_kernels(d, "gemm", products_s));
    PACE_TRY(put_kernels(d, "elementwise", (weights ? 0 : w->others_s) + adds_s(d, turn)));
    if (weights) return PACE_OK;
    PACE_TRY(put_between(d, "allreduce", PACE_GROUP_TENSOR, w->group_s[PACE_SLOT_TENSOR]));
    PACE_TRY(put_between(d, "allgather", PACE_GROUP_CONTEXT, w->group_s[PACE_SLOT_CONTEXT]));
    PACE_TRY(put_between(d, "alltoall", PACE_GROUP_EXPERT, w->group_s[PACE_SLOT_EXPERT]));
    return put_message(d, !forward, true, message_s);
}

static pace_status draw_turns(drawing *d, const pace_step_plan *plan) {
    pace_pipeline pipeline = pace_config_pipeline(&plan->config);
    pace_turns turns;
    PACE_TRY(pace_pipeline_order(&turns, &pipeline, d->stage));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < turns.count; i++) {
        status = draw_turn(d, &turns.items[i]);
        if (status == PACE_OK) status = PACE_PUSH(&d->graph.turn_ends, d->computes);
    }
    PACE_VEC_FREE(&turns);
    return status;
}

/* Replicas wait for the slowest of them where they exchange gradients. */
static pace_status draw_stage(drawing *d, const pace_step_plan *plan, double skew_s) {
    PACE_TRY(draw_turns(d, plan));
    if (plan->config.mode != PACE_TRAINING) return PACE_OK;
    PACE_TRY(open_node(d, "gradients", PACE_STAGE_BACKWARD, calls[PACE_TURN_BACKWARD]));
    PACE_TRY(put_between(d, "allreduce", PACE_GROUP_DATA, d->beside->gradients_s + skew_s));
    PACE_TRY(open_node(d, "update", PACE_STAGE_UPDATE, ends));
    return put_kernels(d, "elementwise", d->times->end_device_s + d->times->update_device_s);
}

/* --- all stages --------------------------------------------------------------------------------------------------- */

typedef struct {
    drawing *stages;
    pace_walk_rank *ranks;
    pace_host_costs *costs; /* of each: the time of a turn is its call's */
    pace_step *steps;
    const char **names;
    pace_chunk_turns *turns; /* stage by stage */
    pace_turn_times *times;
    pace_beside_turns beside;
    const pace_step_solution *settled;
    size_t count, chunks;
} picture;

static bool make_room(picture *p, const pace_config *config) {
    size_t count = p->count = (size_t)config->pp;
    p->chunks = (size_t)config->vpp;
    return PACE_MAKE(p->stages, count) && PACE_MAKE(p->ranks, count) && PACE_MAKE(p->costs, count) &&
           PACE_MAKE(p->steps, count) && PACE_MAKE(p->names, count) && PACE_MAKE(p->turns, count * p->chunks);
}

static void free_picture(picture *p) {
    for (size_t i = 0; p->stages && i < p->count; i++) {
        pace_graph_free(&p->stages[i].graph);
        pace_free(p->stages[i].launch_ns);
        PACE_VEC_FREE(&p->stages[i].launch_s);
    }
    for (size_t i = 0; p->costs && i < p->count; i++) pace_host_costs_free(&p->costs[i]);
    PACE_FREE(p->stages, p->ranks, p->costs, p->steps, p->names, p->turns, p->times);
}

/* Calls of turns take the mean of the stage's chunks. All times are `longer` times what they are. */
static pace_status set_hosts(pace_host_costs *costs, const picture *p, const drawing *d, double longer) {
    double forward_s = 0, backward_s = 0;
    for (size_t i = 0; i < p->chunks; i++) {
        forward_s += d->turns[i].forward.host_s / (double)p->chunks;
        backward_s += d->turns[i].backward.host_s / (double)p->chunks;
    }
    const struct {
        const char *call;
        double s;
    } calls_s[] = {{calls[PACE_TURN_FORWARD], forward_s},
                   {calls[PACE_TURN_BACKWARD], backward_s},
                   {calls[PACE_TURN_WEIGHTS], 0},
                   {copies, fmax(d->times->input_host_s[0], d->times->input_host_s[1])},
                   {ends, p->beside.other_s + d->times->end_host_s + d->times->update_host_s}};
    for (size_t i = 0; i < PACE_COUNT(calls_s); i++)
        PACE_TRY(
            pace_host_costs_add(costs, PACE_T4, calls_s[i].call, (pace_host_cost){longer * calls_s[i].s * 1e9, 0, 1}));
    return PACE_OK;
}

static pace_status open_stage(void *context, size_t worker, size_t at) {
    const picture *p = context;
    const pace_step_plan *plan = &p->settled->plan;
    drawing *d = &p->stages[at];
    (void)worker;
    *d = (drawing){.config = &plan->config,
                   .turns = &p->turns[at * p->chunks],
                   .times = &p->times[at * p->chunks],
                   .beside = &p->beside,
                   .stage = (uint32_t)at,
                   .last = PACE_NO_LAUNCH};
    PACE_TRY(pace_graph_init(&d->graph));
    PACE_TRY(draw_stage(d, plan, p->settled->closed_skew_s));
    d->graph.rank = (int64_t)at * pace_config_stride(&plan->config, PACE_GROUP_PIPELINE);
    d->graph.world_size = (int64_t)pace_config_ranks(&plan->config);
    if (!PACE_MAKE(d->launch_ns, d->launch_s.count + 1)) return PACE_E_MEMORY;
    p->ranks[at] = (pace_walk_rank){.graph = &d->graph, .launch_ns = d->launch_ns, .costs = &p->costs[at]};
    return pace_graph_check(&d->graph);
}

static pace_status set_times(picture *p, double longer) {
    for (size_t at = 0; at < p->count; at++) {
        drawing *d = &p->stages[at];
        for (size_t i = 0; i < d->launch_s.count; i++) d->launch_ns[i] = longer * d->launch_s.items[i] * 1e9;
        pace_host_costs_free(&p->costs[at]);
        PACE_TRY(pace_host_costs_init(&p->costs[at]));
        PACE_TRY(set_hosts(&p->costs[at], p, d, longer));
    }
    return PACE_OK;
}

bool pace_step_is_drawn(const pace_step_case *asked) {
    enum { TURNS_MOST = 1 << 16 };
    const pace_config *config = &asked->config;
    double turns = pace_config_micro_batches(config) * config->vpp * config->pp;
    bool in_rounds =
        config->vpp == 1 || pace_schedule_is_v(config->schedule) ||
        (config->schedule != PACE_SCHEDULE_GPIPE && fmod(pace_config_micro_batches(config), config->pp) == 0);
    return turns <= TURNS_MOST && in_rounds && config->mode == PACE_TRAINING;
}

static pace_status hold_picture(pace_memory_series *out, const picture *p, const pace_analysis *drawn,
                                const pace_step_plan *plan) {
    const pace_graph **graphs = pace_alloc(p->count + 1, sizeof *graphs);
    if (!graphs) return PACE_E_MEMORY;
    for (size_t i = 0; i < p->count; i++) graphs[i] = &p->stages[i].graph;
    pace_status status = pace_memory_series_of(out, drawn, graphs, p->count, plan);
    pace_free(graphs);
    return status;
}

static pace_status find_turns(picture *p, const pace_step_plan *plan) {
    p->beside = pace_step_beside_turns(plan);
    for (size_t i = 0; i < p->count * p->chunks; i++)
        p->turns[i] = pace_step_turns(plan, (double)(i / p->chunks), (double)(i % p->chunks));
    return pace_step_turn_times(&p->times, plan);
}

static pace_status draw(picture *p, const pace_step_case *asked, const char *name) {
    if (!make_room(p, &asked->config)) return PACE_E_MEMORY;
    for (size_t i = 0; i < p->count; i++) p->names[i] = name;
    PACE_TRY(find_turns(p, &p->settled->plan));
    return pace_for_each(p->count, open_stage, p);
}

/* With times that are all so many times as long. The ranks are not yet joined. */
static pace_status walk_longer(pace_analysis *out, picture *p, pace_catalog *catalog, const pace_device *device,
                               double longer) {
    const pace_walk_options options = {.repeats = PACE_DRAWN_STEPS, .scale = {1, 1, 1, 1, 1}};
    PACE_TRY(set_times(p, longer));
    PACE_TRY(pace_walk(p->steps, p->ranks, p->count, &options));
    return pace_analysis_of_each(out, catalog, p->steps, p->count, p->names, device);
}

/* What the step is said to take, in proportion to what the walk of the picture takes; 1 where they are alike. */
static double stretch_of(const pace_analysis *drawn, double lasts_s) {
    const double alike = 1e-3;
    double drawn_s = pace_analysis_step_ns(drawn, PACE_DRAWN_STEPS - 1) / 1e9;
    return !(drawn_s > 0) || fabs(lasts_s / drawn_s - 1) < alike ? 1 : lasts_s / drawn_s;
}

static pace_status walk(pace_analysis *out, double *stretch, picture *p, pace_catalog *catalog,
                        const pace_device *device, double lasts_s) {
    pace_analysis drawn;
    PACE_TRY(walk_longer(&drawn, p, catalog, device, 1));
    *stretch = stretch_of(&drawn, lasts_s);
    if (*stretch != 1) {
        pace_analysis_free(&drawn);
        PACE_TRY(walk_longer(&drawn, p, catalog, device, *stretch));
    }
    pace_status status = pace_analysis_join_made(&drawn);
    return PACE_GIVE(out, drawn, status, pace_analysis_free(&drawn));
}

pace_status pace_step_draw(pace_analysis *out, pace_memory_series *memory, double *stretch, pace_catalog *catalog,
                           const pace_step_solution *settled, const pace_step_case *asked, const char *name,
                           double lasts_s) {
    picture p = {.settled = settled};
    pace_status status = draw(&p, asked, name);
    if (status == PACE_OK) status = walk(out, stretch, &p, catalog, asked->device, lasts_s);
    if (status == PACE_OK) {
        status = hold_picture(memory, &p, out, &settled->plan);
        if (status != PACE_OK) pace_analysis_free(out);
    }
    free_picture(&p);
    return status;
}
