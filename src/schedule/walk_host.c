#include "schedule/walk_host.h"

#include <math.h>

typedef struct {
    pace_walk_part *part;
    const pace_graph *graph;
    uint32_t thread, repeat;
    uint32_t first; /* segment of its lane */
    uint32_t *open; /* nodes not yet ended, outermost first */
    uint32_t depth;
    uint32_t next_launch; /* of the thread's launches */
    uint32_t turn;        /* of its last launch on stream 0, among those there */
    uint32_t top;         /* the top-level operator that is open, or PACE_NO_NODE */
    uint32_t calls;       /* it has made so far */
    bool begun;           /* its T1 has been spent */
    bool launched;        /* of a captured step: its one launch has been made */
    uint32_t optimizer;   /* the optimizer's step that is open and has made no call, or PACE_NO_NODE */
    double optimizer_ns;  /* what it spends before its first */
} host;

static pace_name node_name(const host *h, uint32_t node) { return h->graph->nodes.items[node].name; }

static double look_up(const host *h, pace_overhead_type type, const char *name, bool launching) {
    double ns = pace_host_costs_get(h->part->of->costs, type, name, launching, NULL).mean_ns;
    return ns * h->part->options->scale[type];
}

static double overhead_of(const host *h, pace_overhead_type type, size_t kind, pace_name name) {
    if (h->part->options->one_launch) return 0;
    double *ns = &h->part->overheads[kind * pace_names_count(&h->graph->names) + name];
    if (*ns < 0) *ns = look_up(h, type, pace_names_text(&h->graph->names, name), kind != PACE_T5_OF_SILENT);
    return *ns;
}

static double overhead(const host *h, pace_overhead_type type, pace_name name) {
    return overhead_of(h, type, (size_t)type, name);
}

static double call_overhead(const host *h, const pace_launch *launch) {
    if (h->part->options->one_launch) return look_up(h, PACE_T4, "cudaGraphLaunch", true);
    if (launch->call) return overhead(h, PACE_T4, launch->call);
    double *plain_ns = &h->part->overheads[PACE_OVERHEAD_KINDS * pace_names_count(&h->graph->names)];
    if (*plain_ns < 0) *plain_ns = look_up(h, PACE_T4, "cudaLaunchKernel", true);
    return *plain_ns;
}

/* An optimizer's step visits all parameters before its first call, which may be that of an operator under it. */
static void begin_optimizer(host *h, uint32_t number) {
    double parameters = h->part->parameters;
    if (!(parameters > 0) || h->part->options->one_launch ||
        !pace_walk_says(h->part, node_name(h, number), PACE_SAYS_OPTIMIZER))
        return;
    const char *name = pace_names_text(&h->graph->names, node_name(h, number));
    h->optimizer_ns = pace_host_costs_optimizer_ns(h->part->of->costs, name, parameters);
    h->optimizer_ns *= h->part->options->scale[PACE_T2];
    if (h->optimizer_ns > 0) h->optimizer = number;
}

static double before_call(host *h) {
    double ns = overhead(h, h->calls ? PACE_T5 : PACE_T2, node_name(h, h->top));
    if (h->optimizer == PACE_NO_NODE) return ns;
    bool itself = h->optimizer == h->top;
    h->optimizer = PACE_NO_NODE;
    return itself ? h->optimizer_ns : fmax(ns, h->optimizer_ns - overhead(h, PACE_T1, node_name(h, h->top)));
}

/* T1 is spent before whatever the operator does first. */
static int64_t take_delay(host *h) {
    if (h->begun || h->top == PACE_NO_NODE) return 0;
    h->begun = true;
    double pause_ns = (double)h->graph->nodes.items[h->top].pause_ns * h->part->options->scale[PACE_T1];
    return pace_round(overhead(h, PACE_T1, node_name(h, h->top)) + pause_ns);
}

static pace_status host_segment(host *h, double duration_ns, uint32_t node, uint32_t launch, double call_ns) {
    pace_walk_place place = {h->part->rank, h->repeat, node, launch, pace_round(call_ns)};
    return pace_walk_add_segment(h->part, take_delay(h), duration_ns, place);
}

/* A captured step is launched whole by its first call, whichever thread issued the rest when it was captured. */
static uint32_t captured_by(const pace_step_instance *at, uint32_t number) {
    while (number > 0 && at->launch_issue[number] == PACE_NO_SEGMENT) number--;
    return at->launch_issue[number];
}

/* Where the launch stands among those of its stream, which are in ascending order: from where the one before stood. */
static uint32_t turn_of(uint32_t *at, const uint32_t *launches, uint32_t number) {
    while (*at > 0 && launches[*at] > number) --*at;
    while (launches[*at] < number) ++*at;
    return *at;
}

/* The queue of a device holds so many launches: the host waits until the oldest of them has ended. */
static pace_status wait_for_queue(host *h, uint32_t number) {
    const pace_lane_lists *kernels = &h->part->lanes.kernels;
    uint32_t queue = h->part->of->queue, first = kernels->first[0], count = kernels->first[1] - first;
    if (queue == 0 || h->graph->launches.items[number].stream != 0) return PACE_OK;
    const uint32_t *launches = &kernels->items[first];
    uint64_t at = (uint64_t)h->repeat * count + turn_of(&h->turn, launches, number);
    if (at < queue) return PACE_OK;
    uint32_t in = (uint32_t)((at - queue) / count);
    return pace_walk_link(h->part, PACE_WALK_QUEUE, PACE_LINK_ROOM, in, launches[(at - queue) % count]);
}

static pace_status issue(host *h, uint32_t number) {
    const pace_launch *launch = &h->graph->launches.items[number];
    pace_step_instance *at = &h->part->instances[h->repeat];
    if (launch->same_call && number > 0) {
        at->launch_issue[number] = at->launch_issue[number - 1];
        return PACE_OK;
    }
    if (h->part->options->one_launch && h->launched) {
        at->launch_issue[number] = captured_by(at, number);
        if (at->launch_issue[number] != PACE_NO_SEGMENT) return PACE_OK;
    }
    h->launched = true;
    bool alone = h->top == PACE_NO_NODE;
    double before = alone ? 0 : before_call(h);
    double call = call_overhead(h, launch);
    h->calls++;
    PACE_TRY(host_segment(h, before + call, launch->node, number, call));
    at->launch_issue[number] = pace_walk_last(h->part);
    return wait_for_queue(h, number);
}

static pace_status wait_at_end(host *h, uint32_t number) {
    const pace_graph_node *node = &h->graph->nodes.items[number];
    if (node->waits_node == PACE_NO_NODE && node->waits_launch == PACE_NO_LAUNCH) return PACE_OK;
    PACE_TRY(host_segment(h, 0, number, PACE_NO_LAUNCH, 0));
    if (node->waits_node != PACE_NO_NODE)
        PACE_TRY(pace_walk_link(h->part, 0, PACE_LINK_NODE_END, h->repeat, node->waits_node));
    if (node->waits_launch == PACE_NO_LAUNCH) return PACE_OK;
    h->launched = false; /* a captured graph ends where the host waits for the device: the next one begins behind */
    return pace_walk_link(h->part, 1, PACE_LINK_LAUNCH_END, h->repeat, node->waits_launch);
}

/* A host that costs nothing takes a nanosecond a step all the same: steps that begin at one instant are one. */
static pace_status part_from_next(host *h) {
    if (h->thread > 0 || !pace_walk_host_is_free(h->part->options)) return PACE_OK;
    return pace_walk_add_segment(h->part, 0, 1, (pace_walk_place){.rank = PACE_NOBODY});
}

/* An annotation that may mark a step: steps of a recording follow each other within one pass. */
static bool ends_step(const host *h, uint32_t number) {
    const pace_graph_node *node = &h->graph->nodes.items[number];
    if (node->kind != PACE_TASK_ANNOTATION) return false;
    return h->depth == 0 || node->marks_step || pace_walk_says(h->part, node->name, PACE_SAYS_STEP);
}

static pace_status end_node(host *h) {
    uint32_t number = h->open[--h->depth];
    bool is_top = number == h->top;
    if (number == h->optimizer) h->optimizer = PACE_NO_NODE;
    if (is_top && h->calls == 0) {
        const pace_graph_node *node = &h->graph->nodes.items[number];
        bool call = node->kind == PACE_TASK_CALL;
        double ns = node->spends_ns >= 0 ? (double)node->spends_ns
                    : call               ? overhead(h, PACE_T4, node_name(h, number))
                                         : overhead_of(h, PACE_T5, PACE_T5_OF_SILENT, node_name(h, number));
        PACE_TRY(host_segment(h, ns, number, PACE_NO_LAUNCH, 0));
    }
    PACE_TRY(wait_at_end(h, number));
    if (is_top && h->calls)
        PACE_TRY(host_segment(h, overhead(h, PACE_T3, node_name(h, number)), number, PACE_NO_LAUNCH, 0));
    if (is_top) h->top = PACE_NO_NODE;
    pace_step_instance *at = &h->part->instances[h->repeat];
    at->node_end[number] = h->part->replay.segments.count > h->first ? pace_walk_last(h->part) : PACE_NO_SEGMENT;
    return ends_step(h, number) ? part_from_next(h) : PACE_OK;
}

/* What the thread issues before the node of this number begins. */
static pace_status issue_before(host *h, uint32_t number) {
    for (; h->next_launch < h->part->lanes.launches.first[h->thread + 1]; h->next_launch++) {
        uint32_t next = h->part->lanes.launches.items[h->next_launch];
        const pace_launch *launch = &h->graph->launches.items[next];
        if (launch->place > number) return PACE_OK;
        while (h->depth && h->open[h->depth - 1] != launch->node) PACE_TRY(end_node(h));
        PACE_TRY(issue(h, next));
    }
    return PACE_OK;
}

static pace_status begin_node(host *h, uint32_t number) {
    const pace_graph_node *node = &h->graph->nodes.items[number];
    PACE_TRY(issue_before(h, number));
    while (h->depth && h->open[h->depth - 1] != node->parent) PACE_TRY(end_node(h));
    h->open[h->depth++] = number;
    begin_optimizer(h, number);
    if (node->marks_step || pace_walk_says(h->part, node->name, PACE_SAYS_STEP)) {
        h->launched = false;
        PACE_TRY(host_segment(h, 0, number, PACE_NO_LAUNCH, 0)); /* it begins here, whatever is waited for next */
    }
    if (node->after != PACE_NO_NODE) {
        PACE_TRY(host_segment(h, 0, number, PACE_NO_LAUNCH, 0));
        PACE_TRY(pace_walk_link(h->part, 0, PACE_LINK_NODE_END, h->repeat, node->after));
    }
    if (h->top == PACE_NO_NODE && node->kind != PACE_TASK_ANNOTATION) {
        h->top = number;
        h->calls = 0;
        h->begun = false;
    }
    return PACE_OK;
}

static pace_status compile_pass(host *h) {
    const pace_lane_lists *nodes = &h->part->lanes.nodes;
    h->depth = 0;
    h->next_launch = h->part->lanes.launches.first[h->thread];
    h->top = h->optimizer = PACE_NO_NODE;
    h->launched = h->thread > 0;
    for (uint32_t i = nodes->first[h->thread]; i < nodes->first[h->thread + 1]; i++)
        PACE_TRY(begin_node(h, nodes->items[i]));
    PACE_TRY(issue_before(h, (uint32_t)h->graph->nodes.count));
    while (h->depth) PACE_TRY(end_node(h));
    return part_from_next(h);
}

pace_status pace_walk_compile_thread(pace_walk_part *part, uint32_t thread, uint32_t *open) {
    host h = {.part = part,
              .graph = part->of->graph,
              .thread = thread,
              .first = (uint32_t)part->replay.segments.count,
              .open = open};
    PACE_TRY(pace_walk_open_lane(part));
    if (part->of->start_ns > 0)
        PACE_TRY(
            pace_walk_add_segment(part, pace_round(part->of->start_ns), 0, (pace_walk_place){.rank = PACE_NOBODY}));
    for (h.repeat = 0; h.repeat < part->options->repeats; h.repeat++) PACE_TRY(compile_pass(&h));
    return PACE_OK;
}
