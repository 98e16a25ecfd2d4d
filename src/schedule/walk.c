#include "schedule/walk.h"

#include "base/numbers.h"
#include "schedule/meetings.h"
#include "schedule/walk_timeline.h"
#include "step/graph_lanes.h"

#include <math.h>

/* A link between lanes, resolved once every segment has its place. */
typedef enum {
    LINK_NODE_END,
    LINK_LAUNCH_END,
    LINK_ROOM /* a launch that has ended makes room for another's */
} link_kind;

typedef struct {
    uint32_t segment, target;
    uint8_t kind, slot;
    uint32_t instance; /* rank * repeats + repeat of the target */
} lane_link;

typedef struct {
    uint32_t *node_end;     /* per node: the thread's last segment when it ends, PACE_NO_SEGMENT = none yet */
    uint32_t *launch_issue; /* per launch: the host segment that issues it */
    uint32_t *launch_run;   /* per launch: its segment on the stream */
} step_instance;

typedef struct {
    const pace_walk_rank *ranks;
    size_t rank_count;
    const pace_walk_options *options;
    pace_replay replay;
    PACE_VEC(lane_link) links;
    step_instance *instances;         /* rank by rank, repeat by repeat */
    PACE_VEC(pace_walk_place) places; /* one per segment */
    pace_meetings meetings;
    double work_ns;     /* of all segments: no sum of times on any path is more */
    double **overheads; /* rank -> kind * names + name -> ns, behind them plain launches; below 0 = not yet looked up */
    uint8_t **says;     /* rank -> name -> what it says of a node, SAYS_… */
    double *parameters; /* rank -> of its optimizer; 0 = nothing is known by them */
} compiler;

/* Looked up once a name: steps have millions of nodes and hundreds of names. */
enum { SAYS_KNOWN = 1, SAYS_STEP = 2, SAYS_OPTIMIZER = 4 };

static uint32_t instance_of(const compiler *c, size_t rank, unsigned repeat) {
    return (uint32_t)(rank * c->options->repeats + repeat);
}

/* Past it times of kernels and operators are a slip in sizes or figures, and their sums would leave 64 bits. */
static const double longest_walk_ns = 1e18;

static pace_status add_segment(compiler *c, int64_t delay_ns, double duration_ns, pace_walk_place place) {
    c->work_ns += (double)delay_ns + duration_ns;
    if (!(c->work_ns < longest_walk_ns))
        return pace_fail(PACE_E_LIMIT, "the step's operators and kernels: expected less than %.0e s in all, found more",
                         longest_walk_ns / 1e9);
    pace_segment segment = {.duration_ns = pace_round(duration_ns),
                            .delay_ns = delay_ns,
                            .task = (uint32_t)c->replay.segments.count};
    PACE_TRY(PACE_PUSH(&c->replay.segments, segment));
    return PACE_PUSH(&c->places, place);
}

/* A segment waits for another one in one of its slots. */
static pace_status wait_in(compiler *c, uint32_t segment, unsigned slot, uint32_t on, int64_t lag_ns) {
    pace_segment_wait *wait = pace_segment_own_wait(&c->replay, &c->replay.segments.items[segment], slot);
    if (!wait) return PACE_E_MEMORY;
    wait->on = on;
    wait->lag_ns = lag_ns;
    return PACE_OK;
}

static pace_status open_lane(compiler *c) {
    return PACE_PUSH(&c->replay.lane_first, (uint32_t)c->replay.segments.count);
}

/* The last segment added waits for the target, in one of its slots. */
static pace_status add_link(compiler *c, uint8_t slot, link_kind kind, uint32_t instance, uint32_t target) {
    lane_link added = {.segment = (uint32_t)(c->replay.segments.count - 1),
                       .target = target,
                       .kind = (uint8_t)kind,
                       .slot = slot,
                       .instance = instance};
    return PACE_PUSH(&c->links, added);
}

/* --- a host thread ------------------------------------------------------------------------------------------- */

typedef struct {
    compiler *c;
    const pace_graph *graph;
    const pace_graph_lanes *lanes;
    uint32_t thread, rank, repeat;
    uint32_t *open; /* nodes not yet ended, outermost first */
    uint32_t depth;
    uint32_t next_launch; /* of lanes->launches.items */
    uint32_t turn;        /* of its last launch on stream 0, among those there */
    uint32_t top;         /* the top-level operator that is open, or PACE_NO_NODE */
    uint32_t calls;       /* it has made so far */
    bool begun;           /* its T1 has been spent */
    bool launched;        /* of a captured step: its one launch has been made */
    uint32_t optimizer;   /* the optimizer's step that is open and has made no call, or PACE_NO_NODE */
    double optimizer_ns;  /* what it spends before its first */
} host;

static pace_name node_name(const host *h, uint32_t node) { return h->graph->nodes.items[node].name; }

static bool says(const host *h, pace_name name, unsigned what) {
    uint8_t *known = &h->c->says[h->rank][name];
    if (!*known) {
        const char *text = pace_names_text(&h->graph->names, name);
        *known = (uint8_t)(SAYS_KNOWN | (pace_name_marks_step(text) ? SAYS_STEP : 0) |
                           (pace_is_optimizer_step(text) ? SAYS_OPTIMIZER : 0));
    }
    return (*known & what) != 0;
}

static double look_up(const host *h, pace_overhead_type type, const char *name, bool launching) {
    double ns = pace_host_costs_get(h->c->ranks[h->rank].costs, type, name, launching, NULL).mean_ns;
    return ns * h->c->options->scale[type];
}

/* T5 of operators that make no call is kept apart, behind the types. */
enum { T5_OF_SILENT = PACE_OVERHEAD_TYPES, OVERHEAD_KINDS };

static double overhead_of(const host *h, pace_overhead_type type, size_t kind, pace_name name) {
    if (h->c->options->one_launch) return 0;
    double *ns = &h->c->overheads[h->rank][kind * pace_names_count(&h->graph->names) + name];
    if (*ns < 0) *ns = look_up(h, type, pace_names_text(&h->graph->names, name), kind != T5_OF_SILENT);
    return *ns;
}

static double overhead(const host *h, pace_overhead_type type, pace_name name) {
    return overhead_of(h, type, (size_t)type, name);
}

static double call_overhead(const host *h, const pace_launch *launch) {
    if (h->c->options->one_launch) return look_up(h, PACE_T4, "cudaGraphLaunch", true);
    if (launch->call) return overhead(h, PACE_T4, launch->call);
    double *plain_ns = &h->c->overheads[h->rank][OVERHEAD_KINDS * pace_names_count(&h->graph->names)];
    if (*plain_ns < 0) *plain_ns = look_up(h, PACE_T4, "cudaLaunchKernel", true);
    return *plain_ns;
}

/* An optimizer's step visits all parameters before its first call, which may be that of an operator under it. */
static void begin_optimizer(host *h, uint32_t number) {
    double parameters = h->c->parameters[h->rank];
    if (!(parameters > 0) || h->c->options->one_launch || !says(h, node_name(h, number), SAYS_OPTIMIZER)) return;
    const char *name = pace_names_text(&h->graph->names, node_name(h, number));
    h->optimizer_ns = pace_host_costs_optimizer_ns(h->c->ranks[h->rank].costs, name, parameters);
    h->optimizer_ns *= h->c->options->scale[PACE_T2];
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
    double pause_ns = (double)h->graph->nodes.items[h->top].pause_ns * h->c->options->scale[PACE_T1];
    return pace_round(overhead(h, PACE_T1, node_name(h, h->top)) + pause_ns);
}

static pace_status host_segment(host *h, double duration_ns, uint32_t node, uint32_t launch, double call_ns) {
    pace_walk_place place = {h->rank, h->repeat, node, launch, pace_round(call_ns)};
    return add_segment(h->c, take_delay(h), duration_ns, place);
}

/* A captured step is launched whole by its first call, whichever thread issued the rest when it was captured. */
static uint32_t captured_by(const step_instance *at, uint32_t number) {
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
    uint32_t queue = h->c->ranks[h->rank].queue, first = h->lanes->kernels.first[0];
    uint32_t count = h->lanes->kernels.first[1] - first;
    if (queue == 0 || h->graph->launches.items[number].stream != 0) return PACE_OK;
    const uint32_t *launches = &h->lanes->kernels.items[first];
    uint64_t at = (uint64_t)h->repeat * count + turn_of(&h->turn, launches, number);
    if (at < queue) return PACE_OK;
    uint32_t in = instance_of(h->c, h->rank, (unsigned)((at - queue) / count));
    return add_link(h->c, PACE_WALK_QUEUE, LINK_ROOM, in, launches[(at - queue) % count]);
}

static pace_status issue(host *h, uint32_t number) {
    const pace_launch *launch = &h->graph->launches.items[number];
    step_instance *at = &h->c->instances[instance_of(h->c, h->rank, h->repeat)];
    if (launch->same_call && number > 0) {
        at->launch_issue[number] = at->launch_issue[number - 1];
        return PACE_OK;
    }
    if (h->c->options->one_launch && h->launched) {
        at->launch_issue[number] = captured_by(at, number);
        if (at->launch_issue[number] != PACE_NO_SEGMENT) return PACE_OK;
    }
    h->launched = true;
    bool alone = h->top == PACE_NO_NODE;
    double before = alone ? 0 : before_call(h);
    double call = call_overhead(h, launch);
    h->calls++;
    PACE_TRY(host_segment(h, before + call, launch->node, number, call));
    at->launch_issue[number] = (uint32_t)(h->c->replay.segments.count - 1);
    return wait_for_queue(h, number);
}

static pace_status wait_at_end(host *h, uint32_t number) {
    const pace_graph_node *node = &h->graph->nodes.items[number];
    uint32_t here = instance_of(h->c, h->rank, h->repeat);
    if (node->waits_node == PACE_NO_NODE && node->waits_launch == PACE_NO_LAUNCH) return PACE_OK;
    PACE_TRY(host_segment(h, 0, number, PACE_NO_LAUNCH, 0));
    if (node->waits_node != PACE_NO_NODE) PACE_TRY(add_link(h->c, 0, LINK_NODE_END, here, node->waits_node));
    if (node->waits_launch == PACE_NO_LAUNCH) return PACE_OK;
    h->launched = false; /* a captured graph ends where the host waits for the device: the next one begins behind */
    return add_link(h->c, 1, LINK_LAUNCH_END, here, node->waits_launch);
}

/* A host that costs nothing takes a nanosecond a step all the same: steps that begin at one instant are one. */
static pace_status part_from_next(host *h) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (h->c->options->scale[type] > 0) return PACE_OK;
    return h->thread == 0 ? add_segment(h->c, 0, 1, (pace_walk_place){.rank = PACE_NOBODY}) : PACE_OK;
}

/* An annotation that may mark a step: steps of a recording follow each other within one pass. */
static bool ends_step(const host *h, uint32_t number) {
    const pace_graph_node *node = &h->graph->nodes.items[number];
    if (node->kind != PACE_TASK_ANNOTATION) return false;
    return h->depth == 0 || node->marks_step || says(h, node->name, SAYS_STEP);
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
                                         : overhead_of(h, PACE_T5, T5_OF_SILENT, node_name(h, number));
        PACE_TRY(host_segment(h, ns, number, PACE_NO_LAUNCH, 0));
    }
    PACE_TRY(wait_at_end(h, number));
    if (is_top && h->calls)
        PACE_TRY(host_segment(h, overhead(h, PACE_T3, node_name(h, number)), number, PACE_NO_LAUNCH, 0));
    if (is_top) h->top = PACE_NO_NODE;
    step_instance *at = &h->c->instances[instance_of(h->c, h->rank, h->repeat)];
    size_t count = h->c->replay.segments.count;
    bool any = count > h->c->replay.lane_first.items[h->c->replay.lane_first.count - 1];
    at->node_end[number] = any ? (uint32_t)(count - 1) : PACE_NO_SEGMENT;
    return ends_step(h, number) ? part_from_next(h) : PACE_OK;
}

/* What the thread issues before the node of this number begins. */
static pace_status issue_before(host *h, uint32_t number) {
    for (; h->next_launch < h->lanes->launches.first[h->thread + 1]; h->next_launch++) {
        uint32_t next = h->lanes->launches.items[h->next_launch];
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
    if (node->marks_step || says(h, node->name, SAYS_STEP)) {
        h->launched = false;
        PACE_TRY(host_segment(h, 0, number, PACE_NO_LAUNCH, 0)); /* it begins here, whatever is waited for next */
    }
    if (node->after != PACE_NO_NODE) {
        PACE_TRY(host_segment(h, 0, number, PACE_NO_LAUNCH, 0));
        PACE_TRY(add_link(h->c, 0, LINK_NODE_END, instance_of(h->c, h->rank, h->repeat), node->after));
    }
    if (h->top == PACE_NO_NODE && node->kind != PACE_TASK_ANNOTATION) {
        h->top = number;
        h->calls = 0;
        h->begun = false;
    }
    return PACE_OK;
}

static pace_status compile_pass(host *h) {
    const pace_lane_lists *nodes = &h->lanes->nodes;
    h->depth = 0;
    h->next_launch = h->lanes->launches.first[h->thread];
    h->top = h->optimizer = PACE_NO_NODE;
    h->launched = h->thread > 0;
    for (uint32_t i = nodes->first[h->thread]; i < nodes->first[h->thread + 1]; i++)
        PACE_TRY(begin_node(h, nodes->items[i]));
    PACE_TRY(issue_before(h, (uint32_t)h->graph->nodes.count));
    while (h->depth) PACE_TRY(end_node(h));
    return part_from_next(h);
}

/* `open` has room for all nodes. */
static pace_status compile_thread(compiler *c, const pace_graph_lanes *lanes, uint32_t rank, uint32_t thread,
                                  uint32_t *open) {
    host h = {.c = c, .graph = c->ranks[rank].graph, .lanes = lanes, .thread = thread, .rank = rank, .open = open};
    PACE_TRY(open_lane(c));
    if (c->ranks[rank].start_ns > 0)
        PACE_TRY(add_segment(c, pace_round(c->ranks[rank].start_ns), 0, (pace_walk_place){.rank = PACE_NOBODY}));
    for (h.repeat = 0; h.repeat < c->options->repeats; h.repeat++) PACE_TRY(compile_pass(&h));
    return PACE_OK;
}

/* --- streams --------------------------------------------------------------------------------------------------- */

/* Once its launch has reached the device; that counts from the start of the call, which ends the host's segment.
 * Threads are compiled before streams. */
static pace_status wait_for_issue(compiler *c, uint32_t issue, double lag) {
    int64_t lag_ns = pace_round(lag) - c->places.items[issue].call_ns;
    return wait_in(c, (uint32_t)c->replay.segments.count - 1, 0, issue, lag_ns);
}

/* For the launch to have run, in one of the last segment's slots. */
static pace_status wait_for_run(compiler *c, uint8_t slot, uint32_t instance, uint32_t launch) {
    uint32_t run = c->instances[instance].launch_run[launch];
    if (run == PACE_NO_SEGMENT) return add_link(c, slot, LINK_LAUNCH_END, instance, launch); /* of a stream behind */
    return wait_in(c, (uint32_t)c->replay.segments.count - 1, slot, run, 0);
}

/* Whether a launch meets others: of a group that is here with one rank alone nobody waits for anybody. */
static bool meets_others(const compiler *c, uint32_t rank, uint32_t number) {
    const uint32_t *of = c->meetings.of[rank];
    return of && of[number] != PACE_NO_MEETING && c->meetings.items.items[of[number]].count > 1;
}

/* A launch that meets others arrives first, then runs once all have (compile_meeting() makes it wait). */
static pace_status compile_launch(compiler *c, uint32_t rank, unsigned repeat, uint32_t number) {
    const pace_launch *launch = &c->ranks[rank].graph->launches.items[number];
    uint32_t here = instance_of(c, rank, repeat);
    pace_walk_place place = {.rank = rank, .repeat = repeat, .node = PACE_NO_NODE, .launch = number};
    bool meets = meets_others(c, rank, number);
    double duration = c->ranks[rank].launch_ns[number];
    int64_t holds_ns = c->options->one_launch ? launch->holds_ns : 0;
    PACE_TRY(add_segment(c, holds_ns, meets ? 0 : duration, place));
    const pace_walk_rank *of = &c->ranks[rank];
    bool several = pace_launch_of_several(of->graph, number);
    int64_t between_ns = pace_round(of->between_ns + (launch->same_call ? of->graph_between_ns : 0));
    uint32_t own = (uint32_t)c->replay.segments.count - 1;
    if (between_ns != 0) PACE_TRY(wait_in(c, own, PACE_WAIT_OVERLAP, PACE_NO_SEGMENT, between_ns));
    PACE_TRY(wait_for_issue(c, c->instances[here].launch_issue[number],
                            of->launch_lag_ns + (several ? of->graph_lag_ns : 0)));
    for (uint8_t k = 0; k < 2; k++)
        if (launch->waits[k] != PACE_NO_LAUNCH) PACE_TRY(wait_for_run(c, (uint8_t)(k + 1), here, launch->waits[k]));
    if (meets) PACE_TRY(add_segment(c, 0, duration, place));
    c->instances[here].launch_run[number] = (uint32_t)(c->replay.segments.count - 1);
    return PACE_OK;
}

static pace_status compile_stream(compiler *c, const pace_lane_lists *kernels, uint32_t rank, uint32_t stream) {
    PACE_TRY(open_lane(c));
    for (unsigned repeat = 0; repeat < c->options->repeats; repeat++)
        for (uint32_t i = kernels->first[stream]; i < kernels->first[stream + 1]; i++)
            PACE_TRY(compile_launch(c, rank, repeat, kernels->items[i]));
    return PACE_OK;
}

/* A lane on which every member arrives in turn: the last segment ends when the last one has. */
static pace_status compile_meeting(compiler *c, const pace_meeting *meeting, unsigned repeat) {
    PACE_TRY(open_lane(c));
    for (uint32_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        const pace_meeting_member *member = &c->meetings.members.items[i];
        uint32_t run = c->instances[instance_of(c, member->rank, repeat)].launch_run[member->launch];
        PACE_TRY(add_segment(c, 0, 0, (pace_walk_place){.rank = PACE_NOBODY}));
        PACE_TRY(wait_in(c, (uint32_t)c->replay.segments.count - 1, 0, run - 1, 0));
    }
    for (uint32_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        const pace_meeting_member *member = &c->meetings.members.items[i];
        uint32_t run = c->instances[instance_of(c, member->rank, repeat)].launch_run[member->launch];
        PACE_TRY(wait_in(c, run, 0, (uint32_t)(c->replay.segments.count - 1), 0));
    }
    return PACE_OK;
}

static pace_status compile_rank(compiler *c, const pace_graph_lanes *lanes, uint32_t rank, uint32_t *open) {
    const pace_graph *graph = c->ranks[rank].graph;
    for (uint32_t thread = 0; thread < graph->thread_count; thread++)
        PACE_TRY(compile_thread(c, lanes, rank, thread, open));
    for (uint32_t stream = 0; stream < graph->stream_count; stream++)
        PACE_TRY(compile_stream(c, &lanes->kernels, rank, stream));
    return PACE_OK;
}

/* About as many segments as will come, one for each operator and two for each launch, and as many waits: two of
 * each launch, and where a device's queue may be full of its call. */
static pace_status make_segments(compiler *c) {
    size_t count = 0, waits = 0, links = 0;
    for (size_t rank = 0; rank < c->rank_count; rank++) {
        const pace_graph *graph = c->ranks[rank].graph;
        count += graph->nodes.count + 2 * graph->launches.count;
        waits += 2 * graph->launches.count;
        links += c->ranks[rank].queue > 0 ? graph->launches.count : 0;
    }
    count *= c->options->repeats, waits *= c->options->repeats, links *= c->options->repeats;
    pace_replay *replay = &c->replay;
    PACE_TRY(pace_grow(&replay->segments.items, &replay->segments.capacity, count, sizeof *replay->segments.items));
    PACE_TRY(pace_grow(&replay->waits.items, &replay->waits.capacity, waits + links, sizeof *replay->waits.items));
    PACE_TRY(pace_grow(&c->links.items, &c->links.capacity, links, sizeof *c->links.items));
    return pace_grow(&c->places.items, &c->places.capacity, count, sizeof *c->places.items);
}

static pace_status compile_lanes(compiler *c) {
    for (uint32_t rank = 0; rank < c->rank_count; rank++) {
        pace_graph_lanes lanes;
        uint32_t *open = pace_alloc(c->ranks[rank].graph->nodes.count + 1, sizeof *open);
        pace_status status = pace_graph_lanes_of(&lanes, c->ranks[rank].graph);
        if (status == PACE_OK) status = open ? compile_rank(c, &lanes, rank, open) : PACE_E_MEMORY;
        pace_graph_lanes_free(&lanes);
        pace_free(open);
        if (status != PACE_OK) return status;
    }
    for (size_t i = 0; i < c->meetings.items.count; i++)
        for (unsigned repeat = 0; c->meetings.items.items[i].count > 1 && repeat < c->options->repeats; repeat++)
            PACE_TRY(compile_meeting(c, &c->meetings.items.items[i], repeat));
    return open_lane(c); /* the end of the last lane */
}

/* --- links ------------------------------------------------------------------------------------------------------- */

/* What a segment that launches does before its call. */
static int64_t before_call_ns(const compiler *c, uint32_t segment) {
    const pace_segment *s = &c->replay.segments.items[segment];
    return s->delay_ns + s->duration_ns - c->places.items[segment].call_ns;
}

/* Dependencies count from the end of a segment. The call alone waits for room in a queue, not what comes before it. */
static pace_status resolve(compiler *c) {
    for (size_t i = 0; i < c->links.count; i++) {
        const lane_link *link = &c->links.items[i];
        const step_instance *at = &c->instances[link->instance];
        uint32_t on = link->kind == LINK_NODE_END ? at->node_end[link->target] : at->launch_run[link->target];
        int64_t lag_ns = link->kind == LINK_ROOM ? -before_call_ns(c, link->segment) : 0;
        PACE_TRY(wait_in(c, link->segment, link->slot, on, lag_ns));
    }
    return PACE_OK;
}

static pace_status make_instances(compiler *c) {
    if (!PACE_MAKE(c->instances, c->rank_count * c->options->repeats + 1)) return PACE_E_MEMORY;
    for (size_t rank = 0; rank < c->rank_count; rank++) {
        size_t nodes = c->ranks[rank].graph->nodes.count, launches = c->ranks[rank].graph->launches.count;
        for (unsigned repeat = 0; repeat < c->options->repeats; repeat++) {
            step_instance *at = &c->instances[instance_of(c, rank, repeat)];
            if (!PACE_MAKE(at->node_end, nodes + 2 * launches + 1)) return PACE_E_MEMORY;
            at->launch_issue = at->node_end + nodes;
            at->launch_run = at->launch_issue + launches;
            for (size_t i = 0; i < launches; i++) at->launch_issue[i] = at->launch_run[i] = PACE_NO_SEGMENT;
        }
    }
    return PACE_OK;
}

static pace_status make_overheads(compiler *c) {
    if (!PACE_MAKE(c->overheads, c->rank_count + 1) || !PACE_MAKE(c->says, c->rank_count + 1)) return PACE_E_MEMORY;
    for (size_t rank = 0; rank < c->rank_count; rank++) {
        size_t names = pace_names_count(&c->ranks[rank].graph->names), count = names * OVERHEAD_KINDS;
        if (!PACE_MAKE(c->overheads[rank], count + 1) || !PACE_MAKE(c->says[rank], names + 1)) return PACE_E_MEMORY;
        for (size_t i = 0; i <= count; i++) c->overheads[rank][i] = -1;
    }
    return PACE_OK;
}

static pace_status count_parameters(compiler *c) {
    if (!PACE_MAKE(c->parameters, c->rank_count + 1)) return PACE_E_MEMORY;
    for (size_t rank = 0; rank < c->rank_count; rank++)
        if (c->ranks[rank].costs->optimizers.count)
            PACE_TRY(pace_optimizer_parameters(&c->parameters[rank], c->ranks[rank].graph));
    return PACE_OK;
}

/* What links name, once they are resolved. */
static void free_targets(compiler *c) {
    for (size_t i = 0; c->instances && i < c->rank_count * c->options->repeats; i++)
        pace_free(c->instances[i].node_end);
    pace_free(c->instances);
    c->instances = NULL;
    PACE_VEC_FREE(&c->links);
}

static void free_compiler(compiler *c) {
    for (size_t i = 0; c->overheads && i < c->rank_count; i++) pace_free(c->overheads[i]);
    for (size_t i = 0; c->says && i < c->rank_count; i++) pace_free(c->says[i]);
    PACE_FREE(c->overheads, c->says, c->parameters);
    free_targets(c);
    pace_replay_free(&c->replay);
    pace_meetings_free(&c->meetings);
    PACE_VEC_FREE(&c->places);
}

static pace_status compile(compiler *c) {
    PACE_TRY(make_instances(c));
    PACE_TRY(make_overheads(c));
    PACE_TRY(count_parameters(c));
    PACE_TRY(pace_meetings_match(&c->meetings, c->ranks, c->rank_count));
    PACE_TRY(make_segments(c));
    PACE_TRY(compile_lanes(c));
    PACE_TRY(resolve(c));
    free_targets(c);
    return PACE_OK;
}

/* When each segment starts; the caller's to free. */
static pace_status run(int64_t **start_ns, const compiler *c) {
    static const double unchanged[PACE_REPLAY_RESOURCES] = {1};
    int64_t *starts = pace_resize(NULL, c->replay.segments.count + 1, sizeof *starts); /* all are written */
    if (!starts) return PACE_E_MEMORY;
    pace_status status = pace_replay_run(&c->replay, unchanged, starts, NULL);
    return PACE_GIVE(start_ns, starts, status, pace_free(starts));
}

pace_status pace_walk(pace_step *out, const pace_walk_rank *ranks, size_t count, const pace_walk_options *options) {
    compiler c = {.ranks = ranks, .rank_count = count, .options = options};
    int64_t *start_ns = NULL;
    pace_walk_extents *extents = NULL;
    pace_status status = compile(&c);
    if (status == PACE_OK) status = run(&start_ns, &c);
    if (status == PACE_OK)
        status = pace_walk_extents_of(&extents, ranks, count, options->repeats, &c.replay, c.places.items, start_ns);
    pace_free(start_ns);
    free_compiler(&c); /* most of the memory of a walk: the steps take its place */
    if (status == PACE_OK) status = pace_walk_steps(out, extents);
    pace_walk_extents_free(extents);
    return status;
}

static bool exchanges_gradients(const pace_graph *graph, uint32_t launch) {
    const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, launch);
    return exchange && exchange->role == PACE_ROLE_GRADIENT;
}

static pace_walk_ends ends_of(const compiler *c, const int64_t *start_ns) {
    pace_walk_ends ends = {0};
    for (size_t i = 0; i < c->replay.segments.count; i++) {
        const pace_walk_place *place = &c->places.items[i];
        int64_t end_ns = start_ns[i] + c->replay.segments.items[i].duration_ns;
        bool device = place->node == PACE_NO_NODE;
        int64_t *last = device ? &ends.device_ns : &ends.host_ns;
        if (place->rank == PACE_NOBODY) continue;
        if (end_ns > *last) *last = end_ns;
        if (device && start_ns[i] > ends.gradients_ns && exchanges_gradients(c->ranks->graph, place->launch))
            ends.gradients_ns = start_ns[i];
    }
    return ends;
}

pace_status pace_walk_ends_of(pace_walk_ends *out, const pace_walk_rank *rank, const pace_walk_options *options) {
    compiler c = {.ranks = rank, .rank_count = 1, .options = options};
    int64_t *start_ns = NULL;
    pace_status status = compile(&c);
    if (status == PACE_OK) status = run(&start_ns, &c);
    if (status == PACE_OK) *out = ends_of(&c, start_ns);
    pace_free(start_ns);
    free_compiler(&c);
    return status;
}
