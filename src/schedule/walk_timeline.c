#include "schedule/walk_timeline.h"

#include "base/parallel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int64_t start_ns, end_ns; /* end < start: never ran */
} extent;

static const extent never = {INT64_MAX, INT64_MIN};

/* An operator's wait for the device. */
typedef struct {
    uint32_t node;
    extent at;
} device_wait;

typedef struct {
    const pace_graph *graph;
    unsigned repeats;
    extent *nodes, *calls, *runs; /* repeat by repeat */
    extent *steps;                /* per repeat, of thread 0 */
    PACE_VEC(device_wait) waits;
    pace_name *names;     /* graph's name -> step's + 1 */
    pace_name plain_call; /* of launches whose call has no name + 1 */
    pace_name *op_names;  /* operation -> name of kernels that have none + 1 */
    pace_name *exchanged; /* graph's name of a collective -> the same + 1 */
    pace_name *members;   /* graph's name of a group -> text of its ranks */
    uint32_t *lanes;      /* threads, then streams -> lane + 1 */
    size_t ranks;         /* that are walked */
    uint32_t first_lane;  /* of the walk: its threads, then its streams */
} extents;

static void widen(extent *into, int64_t start_ns, int64_t end_ns) {
    if (start_ns < into->start_ns) into->start_ns = start_ns;
    if (end_ns > into->end_ns) into->end_ns = end_ns;
}

static bool ran(const extent *of) { return of->end_ns >= of->start_ns; }

static pace_status make_extents(extents *out, const pace_graph *graph, unsigned repeats, size_t ranks) {
    size_t nodes = graph->nodes.count * repeats, launches = graph->launches.count * repeats;
    size_t all = nodes + 2 * launches + repeats;
    *out = (extents){.graph = graph, .repeats = repeats, .ranks = ranks};
    out->nodes = pace_resize(NULL, all + 1, sizeof *out->nodes); /* all are written */
    if (!out->nodes || !PACE_MAKE(out->names, pace_names_count(&graph->names) + 1) ||
        !PACE_MAKE(out->op_names, graph->ops.count + 1) ||
        !PACE_MAKE(out->lanes, (size_t)graph->thread_count + graph->stream_count + 1) ||
        !PACE_MAKE(out->exchanged, pace_names_count(&graph->names) + 1) ||
        !PACE_MAKE(out->members, pace_names_count(&graph->names) + 1))
        return PACE_E_MEMORY;
    out->calls = out->nodes + nodes;
    out->runs = out->calls + launches;
    out->steps = out->runs + launches;
    for (size_t i = 0; i < all; i++) out->nodes[i] = never;
    return PACE_OK;
}

typedef struct {
    const pace_replay *replay;
    const pace_walk_place *places;
    const int64_t *start_ns;
} walked;

/* Where a segment of a walk lies. */
typedef struct {
    const pace_segment *segment;
    const pace_walk_place *place;
    int64_t start_ns, end_ns;
    int64_t idle_ns; /* before it, since the lane's segment before of the same repeat; its own delay apart */
    bool for_queue;  /* that long, its launch waited for room */
} located;

/* Whether a segment began when its launch had room in the device's queue. */
static bool waited_for_room(const walked *w, size_t at) {
    const pace_segment *s = &w->replay->segments.items[at];
    const pace_segment_wait *room = pace_segment_wait_in(w->replay, s, PACE_WALK_QUEUE);
    if (w->places[at].launch == PACE_NO_LAUNCH || !room || room->on == PACE_NO_SEGMENT) return false;
    int64_t ended_ns = w->start_ns[room->on] + w->replay->segments.items[room->on].duration_ns;
    return ended_ns + room->lag_ns == w->start_ns[at] - s->delay_ns;
}

/* `first`: of its lane. */
static located locate(const walked *w, size_t at, bool first) {
    const pace_segment *s = &w->replay->segments.items[at];
    const pace_walk_place *place = &w->places[at];
    int64_t start_ns = w->start_ns[at];
    located l = {.segment = s, .place = place, .start_ns = start_ns, .end_ns = start_ns + s->duration_ns};
    bool follows = !first && place[-1].repeat == place->repeat;
    if (follows) l.idle_ns = start_ns - s->delay_ns - w->start_ns[at - 1] - s[-1].duration_ns;
    l.for_queue = l.idle_ns > 0 && place->node != PACE_NO_NODE && waited_for_room(w, at);
    return l;
}

static void take_segment(extents *e, const located *l) {
    const pace_walk_place *place = l->place;
    size_t nodes = e->graph->nodes.count, launches = e->graph->launches.count;
    int64_t from_ns = l->start_ns - l->segment->delay_ns, in_call_ns = l->for_queue ? l->idle_ns : 0;
    if (place->node == PACE_NO_NODE) {
        widen(&e->runs[place->repeat * launches + place->launch], l->start_ns, l->end_ns);
        return;
    }
    widen(&e->nodes[place->repeat * nodes + place->node], l->start_ns - in_call_ns, l->end_ns);
    uint32_t around = place->node; /* the gap before an operator is time of the annotations around it */
    while (around != PACE_NO_NODE && e->graph->nodes.items[around].kind != PACE_TASK_ANNOTATION)
        around = e->graph->nodes.items[around].parent;
    if (around != PACE_NO_NODE) widen(&e->nodes[place->repeat * nodes + around], from_ns - in_call_ns, l->end_ns);
    if (e->graph->nodes.items[place->node].thread == 0) widen(&e->steps[place->repeat], from_ns, l->end_ns);
    if (place->launch != PACE_NO_LAUNCH)
        widen(&e->calls[place->repeat * launches + place->launch], l->end_ns - place->call_ns - in_call_ns, l->end_ns);
}

/* PyTorch synchronises the stream inside an operator that waits; a recorded call is a node of its own. */
static pace_status take_wait(extents *e, const located *l) {
    uint32_t number = l->place->node;
    if (number == PACE_NO_NODE || l->place->launch != PACE_NO_LAUNCH || l->segment->duration_ns || l->idle_ns <= 0)
        return PACE_OK;
    const pace_graph_node *node = &e->graph->nodes.items[number];
    if (node->waits_launch == PACE_NO_LAUNCH || node->kind != PACE_TASK_OP) return PACE_OK;
    return PACE_PUSH(&e->waits, ((device_wait){number, {l->start_ns - l->idle_ns, l->start_ns}}));
}

/* An operator whose work a device graph holds takes no time of the host's: it stands where the graph is launched. */
static void place_captured(extents *e) {
    size_t count = e->graph->launches.count;
    for (unsigned repeat = 0; repeat < e->repeats; repeat++) {
        const extent *call = &never;
        for (size_t i = 0; i < count; i++) {
            extent *node = &e->nodes[repeat * e->graph->nodes.count + e->graph->launches.items[i].node];
            if (ran(&e->calls[repeat * count + i])) call = &e->calls[repeat * count + i];
            else if (ran(&e->runs[repeat * count + i]) && ran(call) && !ran(node))
                widen(node, call->end_ns, call->end_ns);
        }
    }
}

/* Children come after their parents, so one pass backwards reaches every ancestor. */
static void cover_children(extents *e) {
    size_t count = e->graph->nodes.count;
    for (unsigned repeat = 0; repeat < e->repeats; repeat++) {
        extent *nodes = e->nodes + repeat * count;
        for (size_t i = count; i-- > 0;) {
            uint32_t parent = e->graph->nodes.items[i].parent;
            if (parent != PACE_NO_NODE && ran(&nodes[i])) widen(&nodes[parent], nodes[i].start_ns, nodes[i].end_ns);
        }
    }
}

/* An operator that launches nothing takes its time as a whole. Where one other is all that it holds, that is as long: a
 * gradient that is kept as it is, within autograd's function. */
static pace_status fill_only_children(extents *e) {
    size_t count = e->graph->nodes.count;
    uint8_t *children = pace_alloc(count + 1, 1);
    if (!children) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        uint32_t parent = e->graph->nodes.items[i].parent;
        if (parent != PACE_NO_NODE && children[parent] < 2) children[parent]++;
    }
    for (size_t i = 0; i < e->graph->launches.count; i++) /* whose work is elsewhere now stands nowhere */
        for (uint32_t n = e->graph->launches.items[i].node; n != PACE_NO_NODE && children[n] < 3;
             n = e->graph->nodes.items[n].parent)
            children[n] = 3;
    for (unsigned repeat = 0; repeat < e->repeats; repeat++) {
        extent *nodes = e->nodes + repeat * count;
        for (size_t i = 0; i < count; i++) {
            uint32_t parent = e->graph->nodes.items[i].parent;
            bool only = parent != PACE_NO_NODE && children[parent] == 1;
            if (only && !ran(&nodes[i]) && e->graph->nodes.items[parent].kind == PACE_TASK_OP) nodes[i] = nodes[parent];
        }
    }
    pace_free(children);
    return PACE_OK;
}

static pace_status take_name(pace_name *out, extents *e, pace_step *step, pace_name name) {
    if (!e->names[name]) {
        const char *text = pace_names_text(&e->graph->names, name);
        pace_name copy;
        PACE_TRY(pace_names_add(&copy, &step->names, text, strlen(text)));
        e->names[name] = copy + 1;
    }
    *out = e->names[name] - 1;
    return PACE_OK;
}

static pace_status lane_of(uint32_t *out, pace_step *step, const extents *e, bool device, uint32_t number) {
    uint32_t *lane = &e->lanes[device ? e->graph->thread_count + number : number];
    if (!*lane) {
        char key[48];
        int length = snprintf(key, sizeof key, device ? "device 0 stream %u" : "host 0/%u", number);
        PACE_TRY(pace_step_lane(lane, step, key, (size_t)length, device, 0));
        ++*lane;
    }
    *out = *lane - 1;
    return PACE_OK;
}

static pace_status add_steps(pace_step *step, const extents *e) {
    for (unsigned repeat = 0; e->repeats > 1 && repeat < e->repeats; repeat++) {
        char text[32];
        uint32_t lane;
        pace_name name;
        if (!ran(&e->steps[repeat])) continue;
        int length = snprintf(text, sizeof text, "ProfilerStep#%u", repeat);
        PACE_TRY(pace_names_add(&name, &step->names, text, (size_t)length));
        PACE_TRY(lane_of(&lane, step, e, false, 0));
        PACE_TRY(pace_step_add_task(step, lane, PACE_TASK_ANNOTATION, name, e->steps[repeat].start_ns,
                                    e->steps[repeat].end_ns - e->steps[repeat].start_ns));
    }
    return PACE_OK;
}

/* Of a node's task, and of what is around it. */
static uint32_t number_of(const extents *e, unsigned repeat, uint32_t node) {
    return node == PACE_NO_NODE ? 0 : (uint32_t)(repeat * e->graph->nodes.count + node + 1);
}

/* To the task of a node, added last. A call that waits for the device is a node, too. */
static void give_numbers(pace_step *step, const extents *e, unsigned repeat, uint32_t node) {
    const pace_graph_node *of = &e->graph->nodes.items[node];
    bool call = of->kind == PACE_TASK_CALL;
    if (!step->numbered) return;
    step->external[step->count - 1] = number_of(e, repeat, call ? of->parent : node);
    if (!call) step->correlation[step->count - 1] = number_of(e, repeat, of->parent);
}

/* Whether times and calls alone would not tell what is in what, and what work is of. */
static bool needs_numbers(const extents *e) {
    for (size_t i = 0; i < e->repeats * e->graph->launches.count; i++)
        if (ran(&e->runs[i]) && (!ran(&e->calls[i]) || e->calls[i].start_ns == e->calls[i].end_ns)) return true;
    return false;
}

static pace_status add_nodes(pace_step *step, extents *e, unsigned repeat) {
    for (size_t i = 0; i < e->graph->nodes.count; i++) {
        const pace_graph_node *node = &e->graph->nodes.items[i];
        const extent *at = &e->nodes[repeat * e->graph->nodes.count + i];
        uint32_t lane;
        pace_name name;
        if (!ran(at)) continue;
        PACE_TRY(lane_of(&lane, step, e, false, node->thread));
        PACE_TRY(take_name(&name, e, step, node->name));
        PACE_TRY(
            pace_step_add_task(step, lane, (pace_task_kind)node->kind, name, at->start_ns, at->end_ns - at->start_ns));
        PACE_TRY(pace_step_give_stage(step, node->stage));
        give_numbers(step, e, repeat, (uint32_t)i);
        if (node->shapes) PACE_TRY(take_name(&step->detail[step->count - 1], e, step, node->shapes));
    }
    return PACE_OK;
}

static pace_status call_name(pace_name *out, extents *e, pace_step *step, const pace_launch *launch) {
    static const char plain[] = "cudaLaunchKernel";
    if (launch->call) return take_name(out, e, step, launch->call);
    if (!e->plain_call) {
        PACE_TRY(pace_names_add(out, &step->names, plain, sizeof plain - 1));
        e->plain_call = *out + 1;
    }
    *out = e->plain_call - 1;
    return PACE_OK;
}

/* The kernel's own name; else what it computes, or exchanges, so that its class is found. */
static pace_status run_name(pace_name *out, extents *e, pace_step *step, const pace_launch *launch) {
    const pace_graph *graph = e->graph;
    const pace_graph_exchange *exchange = launch->exchange ? &graph->exchanges.items[launch->exchange - 1] : NULL;
    pace_name *kept = exchange                   ? &e->exchanged[exchange->collective]
                      : launch->op != PACE_NO_OP ? &e->op_names[launch->op]
                                                 : NULL;
    char text[160];
    if (launch->name) return take_name(out, e, step, launch->name);
    if (kept && *kept) return *out = *kept - 1, PACE_OK;
    if (exchange) {
        snprintf(text, sizeof text, "nccl_%.100s", pace_names_text(&graph->names, exchange->collective));
    } else if (launch->op != PACE_NO_OP) {
        const pace_op *op = &graph->ops.items[launch->op];
        snprintf(text, sizeof text, "%s%s%.23s", pace_op_family_name(op->family), op->kind[0] ? "_" : "", op->kind);
    } else {
        return take_name(out, e, step, graph->nodes.items[launch->node].name);
    }
    PACE_TRY(pace_names_add(out, &step->names, text, strlen(text)));
    if (kept) *kept = *out + 1;
    return PACE_OK;
}

/* Its ranks where the graph says which: "[0, 8, 16]". */
static pace_status take_members(pace_name *out, extents *e, pace_step *step, const pace_graph_exchange *exchange) {
    pace_name *known = &e->members[exchange->group];
    if (!*known) {
        char *text = pace_alloc(24, (size_t)exchange->group_size + 1);
        if (!text) return PACE_E_MEMORY;
        int64_t own = e->graph->rank, stride = exchange->group_stride, size = exchange->group_size;
        int64_t first = own - own / stride % size * stride;
        size_t used = 0;
        for (int64_t i = 0; i < size; i++)
            used += (size_t)snprintf(text + used, 24, "%s%" PRId64, i ? ", " : "[", first + i * stride);
        text[used++] = ']';
        pace_status status = pace_names_add(known, &step->names, text, used);
        pace_free(text);
        PACE_TRY(status);
    }
    *out = *known;
    return PACE_OK;
}

static bool says(const extents *e, const pace_graph_exchange *exchange, const char *collective) {
    return strcmp(pace_names_text(&e->graph->names, exchange->collective), collective) == 0;
}

static pace_status note_exchange(pace_step *step, extents *e, const pace_graph_exchange *exchange) {
    bool sends = says(e, exchange, "send"), receives = says(e, exchange, "recv");
    pace_exchange_info info = {.group_size = exchange->group_size,
                               .in_elements = (int64_t)exchange->bytes,
                               .source = receives ? exchange->peer : PACE_NO_RANK,
                               .destination = sends ? exchange->peer : PACE_NO_RANK,
                               .group_kind = exchange->group_kind,
                               .role = exchange->role};
    PACE_TRY(take_name(&info.collective, e, step, exchange->collective));
    PACE_TRY(take_name(&info.group, e, step, exchange->group));
    bool known = exchange->group_stride > 0 && exchange->group_size > 0 && e->graph->rank >= 0 && e->ranks > 1;
    if (known && !sends && !receives) PACE_TRY(take_members(&info.group_ranks, e, step, exchange));
    return pace_step_give_exchange(step, &info);
}

static pace_status add_call(pace_step *step, extents *e, const pace_launch *launch, const extent *call) {
    uint32_t lane;
    pace_name name;
    if (!ran(call)) return PACE_OK; /* another launch's call */
    PACE_TRY(lane_of(&lane, step, e, false, e->graph->nodes.items[launch->node].thread));
    PACE_TRY(call_name(&name, e, step, launch));
    return pace_step_add_task(step, lane, PACE_TASK_CALL, name, call->start_ns, call->end_ns - call->start_ns);
}

/* What a trace does not say who launched (source/graphs/graph_from_step.c) stays so in the step that is made of it. The
 * captured step of a model launches its work itself. */
static bool launcher_is_known(const extents *e, const pace_launch *launch) {
    const pace_graph_node *node = &e->graph->nodes.items[launch->node];
    return launch->task == PACE_NO_TASK || node->kind != PACE_TASK_ANNOTATION || node->task != PACE_NO_TASK;
}

static pace_status add_launches(pace_step *step, extents *e, unsigned repeat) {
    uint32_t id = 0; /* of the call, shared by all that it launches */
    for (size_t i = 0; i < e->graph->launches.count; i++) {
        const pace_launch *launch = &e->graph->launches.items[i];
        size_t at = repeat * e->graph->launches.count + i, before = step->count;
        uint32_t lane;
        pace_name name;
        if (!ran(&e->runs[at])) continue;
        if (ran(&e->calls[at])) id = (uint32_t)at + 1;
        bool known = launcher_is_known(e, launch);
        if (known) PACE_TRY(add_call(step, e, launch, &e->calls[at]));
        uint32_t number = step->numbered && known ? number_of(e, repeat, launch->node) : 0;
        if (step->count > before) step->correlation[before] = id, step->external[before] = number;
        PACE_TRY(lane_of(&lane, step, e, true, launch->stream));
        PACE_TRY(run_name(&name, e, step, launch));
        PACE_TRY(pace_step_add_task(step, lane, (pace_task_kind)launch->kind, name, e->runs[at].start_ns,
                                    e->runs[at].end_ns - e->runs[at].start_ns));
        step->correlation[step->count - 1] = known ? id : 0;
        step->external[step->count - 1] = number;
        PACE_TRY(pace_step_give_stage(step, e->graph->nodes.items[launch->node].stage));
        if (launch->exchange) PACE_TRY(note_exchange(step, e, &e->graph->exchanges.items[launch->exchange - 1]));
    }
    return PACE_OK;
}

static pace_status add_waits(pace_step *step, extents *e) {
    static const char call[] = "cudaStreamSynchronize";
    pace_name name;
    if (e->waits.count == 0) return PACE_OK;
    PACE_TRY(pace_names_add(&name, &step->names, call, sizeof call - 1));
    for (size_t i = 0; i < e->waits.count; i++) {
        const pace_graph_node *node = &e->graph->nodes.items[e->waits.items[i].node];
        const extent *at = &e->waits.items[i].at;
        uint32_t lane;
        PACE_TRY(lane_of(&lane, step, e, false, node->thread));
        PACE_TRY(pace_step_add_task(step, lane, PACE_TASK_CALL, name, at->start_ns, at->end_ns - at->start_ns));
        PACE_TRY(pace_step_give_stage(step, node->stage));
    }
    return PACE_OK;
}

static pace_status fill_step(pace_step *step, extents *e) {
    PACE_TRY(pace_step_reserve(step, e->repeats * (e->graph->nodes.count + 2 * e->graph->launches.count + 1)));
    step->numbered = needs_numbers(e);
    PACE_TRY(add_steps(step, e));
    PACE_TRY(add_waits(step, e));
    for (unsigned repeat = 0; repeat < e->repeats; repeat++) {
        PACE_TRY(add_nodes(step, e, repeat));
        PACE_TRY(add_launches(step, e, repeat));
    }
    step->rank = e->graph->rank;
    step->world_size = e->graph->world_size;
    return pace_step_finish(step);
}

static pace_status make_step(pace_step *out, extents *e) {
    PACE_TRY(pace_step_init(out));
    place_captured(e);
    cover_children(e);
    pace_status status = fill_only_children(e);
    if (status == PACE_OK) status = fill_step(out, e);
    if (status != PACE_OK) pace_step_free(out);
    return status;
}

struct pace_walk_extents {
    size_t count;
    extents ranks[];
};

void pace_walk_extents_free(pace_walk_extents *of) {
    for (size_t i = 0; of && i < of->count; i++) {
        extents *e = &of->ranks[i];
        PACE_FREE(e->nodes, e->names, e->op_names, e->exchanged, e->members, e->lanes);
        PACE_VEC_FREE(&e->waits);
    }
    pace_free(of);
}

static pace_status take_lane(extents *e, const walked *w, uint32_t lane) {
    const uint32_t *first = &w->replay->lane_first.items[lane];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        if (w->places[i].rank == PACE_NOBODY) continue;
        located l = locate(w, i, i == first[0]);
        take_segment(e, &l);
        PACE_TRY(take_wait(e, &l));
    }
    return PACE_OK;
}

typedef struct {
    pace_walk_extents *of;
    const pace_walk_rank *ranks;
    const walked *walked;
    unsigned repeats;
} wanted_extents;

static pace_status take_rank(void *context, size_t worker, size_t rank) {
    const wanted_extents *wanted = context;
    extents *e = &wanted->of->ranks[rank];
    uint32_t first_lane = e->first_lane;
    (void)worker;
    PACE_TRY(make_extents(e, wanted->ranks[rank].graph, wanted->repeats, wanted->of->count));
    for (uint32_t i = 0; i < e->graph->thread_count + e->graph->stream_count; i++)
        PACE_TRY(take_lane(e, wanted->walked, first_lane + i));
    return PACE_OK;
}

pace_status pace_walk_extents_of(pace_walk_extents **out, const pace_walk_rank *ranks, size_t count, unsigned repeats,
                                 const pace_replay *replay, const pace_walk_place *places, const int64_t *start_ns) {
    pace_walk_extents *of = pace_alloc(1, sizeof *of + count * sizeof *of->ranks);
    if (!of) return PACE_E_MEMORY;
    uint32_t lane = 0;
    of->count = count;
    for (size_t rank = 0; rank < count; rank++) {
        of->ranks[rank].first_lane = lane;
        lane += ranks[rank].graph->thread_count + ranks[rank].graph->stream_count;
    }
    const walked all = {replay, places, start_ns};
    pace_status status = pace_for_each(count, take_rank, &(wanted_extents){of, ranks, &all, repeats});
    return PACE_GIVE(out, of, status, pace_walk_extents_free(of));
}

typedef struct {
    pace_step *steps;
    pace_walk_extents *of;
} made_steps;

static pace_status make_one(void *context, size_t worker, size_t rank) {
    const made_steps *made = context;
    (void)worker;
    return make_step(&made->steps[rank], &made->of->ranks[rank]);
}

pace_status pace_walk_steps(pace_step *out, pace_walk_extents *of) {
    memset(out, 0, of->count * sizeof *out);
    pace_status status = pace_for_each(of->count, make_one, &(made_steps){out, of});
    for (size_t rank = 0; status != PACE_OK && rank < of->count; rank++) pace_step_free(&out[rank]);
    return status;
}
