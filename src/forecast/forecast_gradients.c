#include "forecast/forecast_gradients.h"
#include "base/order.h"
#include "exchange/approach_buffer.h"

#include <math.h>
#include <stddef.h>

/* Launches in the order in which their stream does them. */
typedef struct {
    PACE_VEC(uint32_t) pushes, pulls;
    int64_t ranks, stride;
} gradient_launches;

static void free_launches(gradient_launches *launches) { PACE_VEC_FREE(&launches->pushes, &launches->pulls); }

static pace_status find_launches(gradient_launches *out, const pace_graph *graph) {
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, i);
        if (!exchange) continue;
        if (exchange->role == PACE_ROLE_PULL) PACE_TRY(PACE_PUSH(&out->pulls, i));
        if (exchange->role != PACE_ROLE_GRADIENT || exchange->group_kind != PACE_GROUP_DATA) continue;
        PACE_TRY(PACE_PUSH(&out->pushes, i));
        out->ranks = exchange->group_size;
        out->stride = exchange->group_stride > 0 ? exchange->group_stride : 1;
    }
    return PACE_OK;
}

/* Of hybrid sharding those of a group times its replicas. */
int64_t pace_gradients_ranks(const pace_graph *graph) {
    int64_t ranks = 0, copies = 1;
    PACE_ITEMS (const pace_graph_exchange, exchange, &graph->exchanges) {
        if (exchange->role != PACE_ROLE_GRADIENT) continue;
        if (exchange->group_kind == PACE_GROUP_REPLICA) copies = exchange->group_size;
        else if (ranks == 0) ranks = exchange->group_size;
    }
    return ranks * copies;
}

int64_t pace_gradients_span(const pace_graph *graph) {
    int64_t span = 0;
    PACE_ITEMS (const pace_graph_exchange, exchange, &graph->exchanges) {
        int64_t own = exchange->group_size * exchange->group_stride;
        if (exchange->role == PACE_ROLE_GRADIENT && own > span) span = own;
    }
    return span;
}

static pace_status place_ranks(pace_approach_setup *out, const pace_pricing *p, const gradient_launches *launches) {
    pace_group_place place;
    PACE_TRY(pace_group_place_find(&place, &p->scenario->exchange.machine, p->scenario->ranks_per_node, launches->ranks,
                                   launches->stride));
    *out = (pace_approach_setup){.ranks_per_node = place.ranks_per_node,
                                 .nodes = place.nodes,
                                 .copy_rate = pace_pricing_copy_rate(p),
                                 .memory_rate = pace_adding_rate(pace_pricing_device(p)),
                                 .slowness = place.crowding * p->scenario->slowness};
    return PACE_OK;
}

static bool walked_gradients(const pace_step *step, uint32_t task) {
    const pace_exchange_info *info = step->kind[task] == PACE_TASK_KERNEL ? pace_step_exchange(step, task) : NULL;
    return info && info->role == PACE_ROLE_GRADIENT;
}

PACE_ORDER(by_time, int64_t, PACE_UP_OF(*))

/* The starts of the last repeat's exchanges; `*period_s` from the one before to it, `count` exchanges a repeat. */
static pace_status take_ready(pace_gradient_profile *profile, double *period_s, const pace_step *step, size_t count) {
    PACE_VEC(int64_t) starts = {0};
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < step->count; i++)
        if (walked_gradients(step, i)) status = PACE_PUSH(&starts, step->start_ns[i]);
    if (status == PACE_OK && starts.count < count)
        status = pace_fail(PACE_E_INTERNAL, "a step was walked without its exchanges");
    if (status == PACE_OK) {
        PACE_SORT(&starts, by_time);
        const int64_t *last = starts.items + (starts.count - count);
        for (size_t i = 0; i < count; i++) profile->ready_s[i] = (double)(last[i] - last[0]) / 1e9;
        *period_s = starts.count >= 2 * count ? (double)(last[0] - last[-(ptrdiff_t)count]) / 1e9 : 0;
    }
    PACE_VEC_FREE(&starts);
    return status;
}

/* Backward as long as gradients come; all else is forward here. */
static pace_status make_profile(pace_gradient_profile *profile, const pace_pricing *p, const pace_step *walked,
                                const gradient_launches *launches) {
    size_t count = launches->pushes.count;
    double period_s;
    PACE_TRY(pace_gradient_room(profile, count));
    PACE_TRY(take_ready(profile, &period_s, walked, count));
    profile->count = count;
    profile->backward_s = profile->ready_s[count - 1];
    profile->forward_s = fmax(0, period_s - profile->backward_s);
    for (size_t i = 0; i < count; i++)
        profile->bytes[i] = pace_graph_exchange_of(&p->variant->graph, launches->pushes.items[i])->bytes;
    for (size_t i = 0; i < p->forecast->tables.count; i++)
        pace_gradient_profile_mark_table(profile, &p->forecast->tables.items[i]);
    return PACE_OK;
}

/* A timeline has no launches that take no time: those that end together with another take a nanosecond. */
static void price_pushes(double *launch_ns, const gradient_launches *launches, const pace_gradient_profile *profile,
                         const pace_gradient_ends *ends, double stretch) {
    double free_s = 0;
    for (size_t i = 0; i < ends->count; i++) {
        double ready_s = stretch * profile->ready_s[i];
        launch_ns[launches->pushes.items[i]] = fmax(1, 1e9 * (ends->end_s[i] - fmax(free_s, ready_s)));
        free_s = fmax(free_s, ends->end_s[i]);
    }
}

/* What computes beside the exchange takes longer, all of a pass alike. */
static void slow_computing(double *launch_ns, const pace_graph *graph, const pace_gradient_profile *profile,
                           const pace_gradient_times *times) {
    double backward = pace_gradient_stretch(profile, times),
           forward = profile->forward_s > 0 ? 1 + times->slowed_s[1] / profile->forward_s : 1;
    for (uint32_t i = 0; i < graph->launches.count; i++) {
        uint8_t stage = graph->nodes.items[graph->launches.items[i].node].stage;
        if (pace_graph_exchange_of(graph, i)) continue;
        if (stage == PACE_STAGE_BACKWARD) launch_ns[i] *= backward;
        if (stage == PACE_STAGE_FORWARD) launch_ns[i] *= forward;
    }
}

/* Layers pull their tensors together, in the order that is the other way round than that of their gradients. */
static void price_pulls(double *launch_ns, const gradient_launches *launches, const pace_graph *graph,
                        const pace_gradient_profile *profile, const pace_gradient_ends *ends) {
    double needed = 0, came = 0, done_s = 0, end_s = 0;
    size_t left = ends->count;
    for (size_t k = 0; k < launches->pulls.count; k++) {
        uint32_t launch = launches->pulls.items[k];
        needed += pace_graph_exchange_of(graph, launch)->bytes;
        for (; left > 0 && came < 0.999 * needed; left--) {
            came += profile->bytes[left - 1];
            end_s = fmax(end_s, ends->back_s[left - 1]);
        }
        launch_ns[launch] = fmax(1, 1e9 * (end_s - done_s));
        done_s = end_s;
    }
}

static pace_status find_merging(pace_forecast_exchange *out, const pace_scenario *scenario, int ranks,
                                const pace_gradient_profile *profile) {
    pace_gradients gradients = {profile->bytes, profile->count};
    if (scenario->approach.family != PACE_APPROACH_DEVICE) return PACE_OK;
    return pace_merge_buffers_find(&out->merging, ranks, &gradients);
}

/* What measured curves say of themselves: of a full buffer, or of all gradients where they are less. */
static pace_status find_spread(pace_forecast_exchange *out, const pace_scenario *scenario,
                               const pace_approach_setup *setup, const pace_gradient_profile *profile) {
    const pace_approach *approach = &scenario->approach;
    pace_exchange_question asked = {.collective = PACE_ALLREDUCE,
                                    .ranks_per_node = setup->ranks_per_node,
                                    .nodes = setup->nodes,
                                    .algorithm = pace_approach_algorithm(approach),
                                    .protocol = PACE_ANY};
    pace_estimate s;
    if (!scenario->exchange.measured || approach->family != PACE_APPROACH_ALLREDUCE) return PACE_OK;
    for (size_t i = 0; i < profile->count; i++) asked.bytes += profile->bytes[i];
    if (approach->fuses_bytes > 0) asked.bytes = fmin(asked.bytes, approach->fuses_bytes);
    PACE_TRY(pace_exchange_time(&s, &scenario->exchange, &asked));
    if (s.rung == PACE_RUNG_CALIBRATED) out->measured_spread = s.spread;
    return PACE_OK;
}

pace_status pace_gradients_price(double *launch_ns, pace_forecast_exchange *out, const pace_pricing *pricing,
                                 const pace_step *walked) {
    gradient_launches launches = {0};
    pace_gradient_profile profile = {0};
    pace_gradient_ends ends = {0};
    pace_gradient_times times;
    pace_approach_setup setup;
    const pace_scenario *scenario = pricing->scenario;
    const pace_graph *graph = &pricing->variant->graph;
    pace_status status = find_launches(&launches, graph);
    if (status == PACE_OK && launches.pushes.count) {
        status = place_ranks(&setup, pricing, &launches);
        if (status == PACE_OK) status = make_profile(&profile, pricing, walked, &launches);
        if (status == PACE_OK)
            status = pace_gradients_ends(&ends, &times, &profile, &scenario->approach, &scenario->exchange, &setup);
        if (status == PACE_OK) status = find_merging(out, scenario, setup.ranks_per_node, &profile);
        if (status == PACE_OK) status = find_spread(out, scenario, &setup, &profile);
    }
    if (status == PACE_OK && ends.count) {
        price_pushes(launch_ns, &launches, &profile, &ends, pace_gradient_stretch(&profile, &times));
        price_pulls(launch_ns, &launches, graph, &profile, &ends);
        slow_computing(launch_ns, graph, &profile, &times);
        out->alone_s = profile.forward_s + profile.backward_s;
        out->exchange_s = times.exchange_s;
        out->bottleneck = times.bottleneck;
    }
    pace_gradient_ends_free(&ends);
    pace_gradient_profile_free(&profile);
    free_launches(&launches);
    return status;
}
