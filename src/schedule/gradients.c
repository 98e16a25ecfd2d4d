#include "schedule/gradients.h"

#include "base/normal.h"
#include "exchange/approach_buffer.h"
#include "exchange/device_store.h"
#include "exchange/server_lanes.h"

#include <math.h>

pace_status pace_gradient_room(pace_gradient_profile *profile, size_t count) {
    if (!PACE_MAKE(profile->bytes, count + 1) || !PACE_MAKE(profile->ready_s, count + 1) ||
        !PACE_MAKE(profile->touched_bytes, count + 1))
        return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) profile->touched_bytes[i] = -1;
    return PACE_OK;
}

void pace_gradient_profile_free(pace_gradient_profile *profile) {
    PACE_FREE(profile->bytes, profile->ready_s, profile->touched_bytes);
    *profile = (pace_gradient_profile){0};
}

void pace_gradient_profile_mark_table(pace_gradient_profile *profile, const pace_gradient_table *table) {
    double bytes = table->bytes;
    double touched = table->rows > 1 ? -expm1(table->lookups * log1p(-1 / table->rows)) * bytes : bytes;
    for (size_t i = 0; i < profile->count; i++)
        if (profile->bytes[i] == bytes && profile->touched_bytes[i] < 0) {
            profile->touched_bytes[i] = touched;
            return;
        }
    profile->more_touched_bytes += touched;
}

/* Of buffers: when their lane is free; for how long backward has stood still for it by then; when a coordinator's last
 * cycle began, and how far backward had come. */
typedef struct {
    double free_s, lost_s, looked_s, seen_s;
} lane_state;

typedef struct {
    const pace_gradient_profile *profile;
    const pace_approach *approach;
    const pace_exchange *exchange;
    const pace_approach_setup *setup;
    pace_gradient_ends *ends; /* NULL = not asked */
    lane_state begins;        /* where the lane is when backward begins */
} question;

static void put_end(const question *q, size_t tensor, double end_s) {
    if (q->ends) q->ends->end_s[tensor] = fmax(q->ends->end_s[tensor], end_s);
}

static void put_back(const question *q, size_t tensor, double back_s) {
    if (q->ends) q->ends->back_s[tensor] = fmax(q->ends->back_s[tensor], back_s);
}

/* --- buffers: one after another, while backward goes on ----------------------------------------------------------- */

typedef struct {
    double bytes, tensors, ready_s;
    size_t next;
} buffer;

/* What computing that has `left_s` to go loses beside an exchange of `exchange_s`. */
static double lost_beside(const question *q, double exchange_s, double left_s) {
    double slows = q->approach->slows;
    return slows > 0 ? slows * fmin(exchange_s, fmax(left_s, 0) / (1 - slows)) : 0;
}

static void take_buffer(lane_state *l, const question *q, const buffer *b, double s) {
    double start = fmax(l->free_s, b->ready_s), left_s = q->profile->backward_s - fmax(start - l->lost_s, 0);
    l->free_s = start + s;
    l->lost_s += lost_beside(q, s, left_s);
}

static bool is_table(const question *q, size_t i) {
    return q->approach->family == PACE_APPROACH_PEARL && q->profile->touched_bytes && q->profile->touched_bytes[i] >= 0;
}

/* MXNet's store: counted from the model's first tensor, whose gradient is the last. */
static buffer next_group(const question *q, size_t from, const lane_state *lane) {
    const pace_gradient_profile *p = q->profile;
    size_t group = (size_t)q->approach->groups, last = from + (p->count - from - 1) % group;
    buffer b = {0, (double)(last + 1 - from), p->ready_s[last] + lane->lost_s, last + 1};
    for (size_t i = from; i <= last; i++) b.bytes += p->bytes[i];
    return b;
}

/* A coordinator looks what is ready a cycle after it last looked, or as soon as that is exchanged (Horovod's
 * RunLoopOnce); cycles go on while there is nothing. What it then sees goes, in as many buffers as it needs. */
static void look(lane_state *lane, const question *q, double ready_s) {
    double cycle_s = q->approach->cycle_s, next_s = fmax(lane->looked_s + cycle_s, lane->free_s);
    if (ready_s <= lane->seen_s) return;
    double left_s = ready_s + lane->lost_s - next_s;
    lane->looked_s = left_s > 0 && cycle_s > 0 ? next_s + ceil(left_s / cycle_s) * cycle_s : next_s + fmax(left_s, 0);
    lane->seen_s = lane->looked_s - lane->lost_s;
}

/* What is exchanged next: what the lane finds ready and fits, the first in any case. Approaches that wait fill a buffer
 * before it goes. */
static buffer next_buffer(const question *q, size_t from, lane_state *lane) {
    const pace_gradient_profile *p = q->profile;
    bool waits = q->approach->waits > 0;
    buffer b = {p->bytes[from], 1, p->ready_s[from], from + 1};
    if (q->approach->groups >= 1) return next_group(q, from, lane);
    look(lane, q, b.ready_s);
    for (; b.next < p->count && b.bytes + p->bytes[b.next] <= q->approach->fuses_bytes; b.next++, b.tensors++) {
        if (is_table(q, b.next) || (!waits && p->ready_s[b.next] > lane->seen_s)) break;
        b.bytes += p->bytes[b.next];
        b.ready_s = p->ready_s[b.next];
    }
    b.ready_s = waits ? b.ready_s + lane->lost_s : lane->looked_s;
    return b;
}

/* PEARL: rows that all workers touch are gathered before the forward pass and nothing hides that; of their gradients
 * each worker gets the sum for the rows it keeps, when they are ready. */
static pace_status run_tables(pace_gradient_times *out, lane_state *l, const question *q) {
    const pace_gradient_profile *p = q->profile;
    double touched = p->more_touched_bytes, ready_s = touched > 0 ? p->backward_s : 0, gather_s, scatter_s;
    for (size_t i = 0; i < p->count; i++) {
        if (!is_table(q, i)) continue;
        touched += p->touched_bytes[i];
        ready_s = fmax(ready_s, p->ready_s[i]);
    }
    if (touched <= 0) return PACE_OK;
    PACE_TRY(pace_approach_rows_s(&gather_s, PACE_ALLGATHER, q->exchange, q->setup, touched));
    PACE_TRY(pace_approach_rows_s(&scatter_s, PACE_REDUCESCATTER, q->exchange, q->setup, touched));
    l->free_s = fmax(l->free_s, ready_s + l->lost_s) + scatter_s;
    put_end(q, p->count - 1, l->free_s);
    for (size_t i = 0; i < p->count; i++) put_back(q, i, gather_s);
    out->exchange_s += gather_s + scatter_s;
    out->exposed_s += gather_s;
    return PACE_OK;
}

/* All buffers, one after another. */
static pace_status run_lane(lane_state *out_lane, pace_gradient_times *out, const question *q) {
    lane_state l = q->begins;
    for (size_t i = 0; i < q->profile->count;) {
        double s;
        if (is_table(q, i)) {
            i++;
            continue;
        }
        buffer b = next_buffer(q, i, &l);
        PACE_TRY(pace_approach_buffer_s(&s, q->approach, q->exchange, q->setup, b.bytes, b.tensors));
        take_buffer(&l, q, &b, s);
        put_end(q, b.next - 1, l.free_s);
        out->exchange_s += s;
        out->buffers++;
        i = b.next;
    }
    *out_lane = l;
    return PACE_OK;
}

/* A coordinator's cycles go on from step to step, until a step begins where the one before it did. Some never settle,
 * and differ by less than a cycle. */
static pace_status settle_cycles(question *q) {
    enum { TURNS = 16 };
    const pace_gradient_profile *p = q->profile;
    double moved_s = q->approach->cycle_s;
    for (int turn = 0; turn < TURNS && moved_s > 1e-9 * q->approach->cycle_s; turn++) {
        lane_state l;
        question once = *q;
        pace_gradient_times times = {0};
        once.ends = NULL;
        PACE_TRY(run_lane(&l, &times, &once));
        double step_s = p->forward_s + p->update_s + fmax(l.free_s, p->backward_s + l.lost_s);
        lane_state begins = {.free_s = l.free_s - step_s, .looked_s = l.looked_s - step_s, .seen_s = -1};
        moved_s = fabs(begins.looked_s - q->begins.looked_s) + fabs(begins.free_s - q->begins.free_s);
        q->begins = begins;
    }
    return PACE_OK;
}

static pace_status run_buffers(pace_gradient_times *out, question *q) {
    lane_state l;
    if (q->approach->cycle_s > 0) PACE_TRY(settle_cycles(q));
    PACE_TRY(run_lane(&l, out, q));
    if (q->approach->family == PACE_APPROACH_PEARL) PACE_TRY(run_tables(out, &l, q));
    out->exposed_s += fmax(0, l.free_s - q->profile->backward_s - l.lost_s);
    out->slowed_s[0] = l.lost_s;
    out->bottleneck = "exchange";
    return PACE_OK;
}

/* --- the device store --------------------------------------------------------------------------------------------- */

static pace_status run_device(pace_gradient_times *out, const question *q) {
    const pace_gradient_profile *p = q->profile;
    pace_gradients gradients = {p->bytes, p->count};
    double end_s;
    const pace_machine *m = &q->exchange->machine;
    PACE_TRY(pace_approach_device_s(&end_s, q->ends ? q->ends->end_s : NULL, q->approach, m, q->setup, &gradients,
                                    p->ready_s));
    PACE_TRY(pace_approach_device_s(&out->exchange_s, NULL, q->approach, m, q->setup, &gradients, NULL));
    out->exposed_s = fmax(0, end_s - p->backward_s);
    out->exchange_s = fmax(out->exchange_s, out->exposed_s);
    out->bottleneck = "exchange";
    return PACE_OK;
}

/* --- servers: a push that backward hides, a pull that the next forward hides -------------------------------------- */

/* How far a lane is behind at the end of a window in which tensor i comes after ready[i] of backward's time. The pull
 * runs the other way: a layer of the next forward pass waits for what its own and all earlier layers need, so that the
 * same sum stands for it with the forward pass as its window. */
static double behind_s(const question *q, const double *work_s, double window_s) {
    const pace_gradient_profile *p = q->profile;
    double tail = 0, worst = 0;
    for (size_t i = p->count; i-- > 0;) {
        double share = p->backward_s > 0 ? p->ready_s[i] / p->backward_s : 1;
        tail += work_s[i];
        worst = fmax(worst, tail - window_s * (1 - share));
    }
    return worst;
}

/* What a lane has pushed behind each tensor, and what it brings before each layer of the next step. */
static void put_lane(const question *q, const double *work_s, double stretch) {
    double end = 0, back = 0;
    for (size_t i = 0; i < q->profile->count; i++) {
        end = fmax(end, stretch * q->profile->ready_s[i]) + work_s[i];
        put_end(q, i, end);
    }
    for (size_t i = q->profile->count; i-- > 0;) {
        back += work_s[i];
        put_back(q, i, back);
    }
}

static double longest_lane_s(const pace_server_lanes *lanes) {
    double longest = 0;
    for (size_t lane = 0; lane < lanes->lanes; lane++) {
        double sum = 0;
        for (size_t i = 0; i < lanes->tensors; i++) sum += lanes->work_s[lane * lanes->tensors + i];
        longest = fmax(longest, sum);
    }
    return longest;
}

static pace_status run_servers(pace_gradient_times *out, const question *q) {
    pace_server_lanes lanes;
    pace_gradients gradients = {q->profile->bytes, q->profile->count};
    double push = 0, pull = 0, worst = -1;
    PACE_TRY(pace_server_lanes_make(&lanes, q->approach, &q->exchange->machine, &gradients, q->setup));
    double longest = longest_lane_s(&lanes);
    out->slowed_s[0] = lost_beside(q, longest, q->profile->backward_s);
    out->slowed_s[1] = lost_beside(q, longest, q->profile->forward_s);
    for (size_t lane = 0; lane < lanes.lanes; lane++) {
        const double *work_s = lanes.work_s + lane * lanes.tensors;
        put_lane(q, work_s, pace_gradient_stretch(q->profile, out));
        double pushed = behind_s(q, work_s, q->profile->backward_s + out->slowed_s[0]);
        double pulled = behind_s(q, work_s, q->profile->forward_s + out->slowed_s[1]);
        if (pushed + pulled > worst) out->bottleneck = pace_server_lane_name(&lanes, lane);
        worst = fmax(worst, pushed + pulled);
        push = fmax(push, pushed);
        pull = fmax(pull, pulled);
    }
    pace_server_lanes_free(&lanes);
    out->exchange_s = 2 * longest;
    out->exposed_s = push + pull;
    return PACE_OK;
}

/* --- all together ------------------------------------------------------------------------------------------------- */

/* Searches ask of a few counts, a million times. */
double pace_expected_most(int count) {
    enum { KNOWN = 64 };
    static _Thread_local struct {
        int count;
        double most;
    } known[KNOWN];
    if (count < 2) return 0;
    if (known[count % KNOWN].count != count) {
        known[count % KNOWN].count = count;
        known[count % KNOWN].most = pace_normal_reach(1 - (count - 0.375) / (count + 0.25));
    }
    return known[count % KNOWN].most;
}

/* Variance of the largest of `count` normal draws: 1, 0.682, 0.492, 0.373, 0.295 of 1 to 16 (Tippett 1925), within
 * 0.01. */
static double variance_of_most(int count) { return 1 / (1 + 0.45 * pow(log2(count), 1.2)); }

static double inside_of(const pace_approach *approach, const pace_machine *machine) {
    return fmin(fmax(approach->skew_inside, machine ? machine->jitter_inside : 0), 1);
}

double pace_gradients_most(const pace_approach *approach, const pace_machine *machine, int near, int nodes) {
    double inside = inside_of(approach, machine), of_node = inside * pace_expected_most(near);
    double left = 1 - inside * inside * (1 - variance_of_most(near > 1 ? near : 1));
    return of_node + sqrt(left) * pace_expected_most(nodes);
}

/* What the slowest of so many ranks takes longer than one alone, whose step is `step_s`. */
static double skew_s(const pace_approach *approach, const pace_machine *machine, int near, int nodes, double step_s) {
    return approach->skew * pace_gradients_most(approach, machine, near, nodes) * step_s;
}

double pace_gradients_skew_among(double *jitter, const pace_approach *approach, const pace_gradient_ranks *ranks,
                                 double step_s) {
    pace_group_place place, alone = {1, (int)ranks->count, 1};
    bool known = ranks->machine &&
                 pace_group_place_find(&place, ranks->machine, ranks->per_node, ranks->count, ranks->stride) == PACE_OK;
    if (!known) place = alone;
    double even = sqrt(1 - approach->skew_anew * (1 - 1 / fmax(1, ranks->rounds)));
    *jitter = even * approach->skew * (place.nodes > 1 ? 1 : inside_of(approach, ranks->machine));
    return even * skew_s(approach, ranks->machine, place.ranks_per_node, place.nodes, step_s);
}

static pace_status answer(pace_gradient_times *out, question *q) {
    const pace_gradient_profile *profile = q->profile;
    const pace_approach *approach = q->approach;
    const pace_approach_setup *setup = q->setup;
    const pace_machine *m = &q->exchange->machine;
    int near = setup->ranks_per_node ? setup->ranks_per_node : m->devices,
        nodes = setup->nodes ? setup->nodes : m->nodes;
    pace_gradient_times times = {.bottleneck = "compute"};
    if (near * nodes > 1 && profile->count > 0) {
        if (approach->family == PACE_APPROACH_SERVER) PACE_TRY(run_servers(&times, q));
        else if (approach->family == PACE_APPROACH_DEVICE) PACE_TRY(run_device(&times, q));
        else PACE_TRY(run_buffers(&times, q));
    }
    times.skew_s = skew_s(approach, m, near, nodes, pace_gradient_profile_step_s(profile));
    if (times.exposed_s < times.skew_s) times.bottleneck = "slowest worker";
    if (fmax(times.exposed_s, times.skew_s) < 0.01 * pace_gradient_profile_step_s(profile))
        times.bottleneck = "compute";
    times.step_s =
        pace_gradient_profile_step_s(profile) + times.skew_s + times.exposed_s + times.slowed_s[0] + times.slowed_s[1];
    *out = times;
    return PACE_OK;
}

pace_status pace_gradients_exchange(pace_gradient_times *out, const pace_gradient_profile *profile,
                                    const pace_approach *approach, const pace_exchange *exchange,
                                    const pace_approach_setup *setup) {
    question q = {profile, approach, exchange, setup, NULL, {.seen_s = -1}};
    return answer(out, &q);
}

void pace_gradient_ends_free(pace_gradient_ends *ends) {
    PACE_FREE(ends->end_s, ends->back_s);
    *ends = (pace_gradient_ends){0};
}

/* Where the lanes did nothing a tensor ends when it is ready. */
static void put_in_order(pace_gradient_ends *ends, const double *ready_s, double stretch) {
    for (size_t i = 0; i < ends->count; i++) {
        double before = i ? ends->end_s[i - 1] : 0;
        ends->end_s[i] = fmax(ends->end_s[i], fmax(before, stretch * ready_s[i]));
    }
}

pace_status pace_gradients_ends(pace_gradient_ends *ends, pace_gradient_times *times,
                                const pace_gradient_profile *profile, const pace_approach *approach,
                                const pace_exchange *exchange, const pace_approach_setup *setup) {
    size_t count = profile->count;
    pace_gradient_ends made = {count, pace_alloc(count + 1, sizeof *made.end_s),
                               pace_alloc(count + 1, sizeof *made.back_s)};
    question q = {profile, approach, exchange, setup, &made, {.seen_s = -1}};
    pace_status status = made.end_s && made.back_s ? answer(times, &q) : PACE_E_MEMORY;
    if (status != PACE_OK) {
        pace_gradient_ends_free(&made);
        return status;
    }
    put_in_order(&made, profile->ready_s, pace_gradient_stretch(profile, times));
    *ends = made;
    return PACE_OK;
}
