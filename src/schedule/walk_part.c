#include "schedule/walk_part.h"

uint8_t pace_walk_look_at_name(const pace_walk_part *part, pace_name name) {
    const char *text = pace_names_text(&part->of->graph->names, name);
    return part->says[name] = (uint8_t)(PACE_SAYS_KNOWN | (pace_name_marks_step(text) ? PACE_SAYS_STEP : 0) |
                                        (pace_is_optimizer_step(text) ? PACE_SAYS_OPTIMIZER : 0));
}

bool pace_walk_host_is_free(const pace_walk_options *options) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (options->scale[type] > 0) return false;
    return true;
}

pace_status pace_walk_part_is_full(void) {
    return pace_fail(PACE_E_INTERNAL, "the walk of a rank: found more segments or waits than its graph can have");
}

pace_status pace_walk_is_too_long(void) {
    return pace_fail(PACE_E_LIMIT, "the step's operators and kernels: expected less than %.0e s in all, found more",
                     PACE_LONGEST_WALK_NS / 1e9);
}

/* --- room --------------------------------------------------------------------------------------------------------- */

/* What a node's begin and end may add (schedule/walk_host.c). */
static void add_node(pace_walk_room *room, const pace_walk_part *part, const pace_graph_node *node, bool host_is_free) {
    bool annotation = node->kind == PACE_TASK_ANNOTATION, waits = node->waits_node != PACE_NO_NODE;
    bool inner =
        node->parent != PACE_NO_NODE && part->of->graph->nodes.items[node->parent].kind != PACE_TASK_ANNOTATION;
    bool marks = node->marks_step || pace_walk_says(part, node->name, PACE_SAYS_STEP);
    bool synchronises = node->waits_launch != PACE_NO_LAUNCH, follows = node->after != PACE_NO_NODE;
    room->segments +=
        (!annotation && !inner) + marks + (annotation && host_is_free) + follows + (waits || synchronises);
    room->waits += follows + waits + synchronises;
}

/* What its call and its place on a stream may. */
static void add_launch(pace_walk_room *room, const pace_walk_part *part, uint32_t number) {
    const pace_launch *launch = &part->of->graph->launches.items[number];
    bool called = !launch->same_call || number == 0;
    room->segments += called + 1 + pace_walk_meets(part, number);
    room->waits += 2 + (launch->waits[0] != PACE_NO_LAUNCH) + (launch->waits[1] != PACE_NO_LAUNCH) + called;
}

static void find_room(pace_walk_part *part) {
    const pace_graph *graph = part->of->graph;
    bool host_is_free = pace_walk_host_is_free(part->options);
    pace_walk_room room = {.segments = host_is_free};
    PACE_ITEMS (const pace_graph_node, node, &graph->nodes) add_node(&room, part, node, host_is_free);
    for (uint32_t i = 0; i < graph->launches.count; i++) add_launch(&room, part, i);
    part->room = (pace_walk_room){.segments = room.segments * part->options->repeats + graph->thread_count,
                                  .waits = room.waits * part->options->repeats,
                                  .lanes = (size_t)graph->thread_count + graph->stream_count};
}

static pace_status make_instances(pace_walk_part *part) {
    size_t nodes = part->of->graph->nodes.count, launches = part->of->graph->launches.count;
    if (!PACE_MAKE(part->instances, part->options->repeats + 1)) return PACE_E_MEMORY;
    for (unsigned repeat = 0; repeat < part->options->repeats; repeat++) {
        pace_step_instance *at = &part->instances[repeat];
        at->node_end = pace_resize(NULL, nodes + 2 * launches + 1, sizeof *at->node_end); /* nodes' are all written */
        if (!at->node_end) return PACE_E_MEMORY;
        at->launch_issue = at->node_end + nodes;
        at->launch_run = at->launch_issue + launches;
        for (size_t i = 0; i < launches; i++) at->launch_issue[i] = at->launch_run[i] = PACE_NO_SEGMENT;
    }
    return PACE_OK;
}

pace_status pace_walk_part_open(pace_walk_part *part) {
    const pace_graph *graph = part->of->graph;
    size_t names = pace_names_count(&graph->names), overheads = names * PACE_OVERHEAD_KINDS;
    if (!PACE_MAKE(part->overheads, overheads + 1) || !PACE_MAKE(part->says, names + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i <= overheads; i++) part->overheads[i] = -1;
    part->parameters = part->of->parameters;
    if (part->of->costs->optimizers.count && !(part->parameters > 0))
        PACE_TRY(pace_optimizer_parameters(&part->parameters, graph));
    PACE_TRY(pace_graph_lanes_of(&part->lanes, graph));
    find_room(part);
    return make_instances(part);
}

void pace_walk_part_free(pace_walk_part *part) {
    for (unsigned i = 0; part->instances && i < part->options->repeats; i++) pace_free(part->instances[i].node_end);
    PACE_FREE(part->instances, part->overheads, part->says);
    pace_graph_lanes_free(&part->lanes);
    PACE_VEC_FREE(&part->links);
}

void pace_walk_part_place(pace_walk_part *part, pace_replay *replay, pace_walk_place *places) {
    part->replay = *replay;
    part->places = places;
    replay->segments.count += part->room.segments;
    replay->waits.count += part->room.waits;
    replay->lane_first.count += part->room.lanes;
    part->replay.segments.capacity = replay->segments.count;
    part->replay.waits.capacity = replay->waits.count;
    part->replay.lane_first.capacity = replay->lane_first.count;
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

pace_status pace_walk_wait(pace_walk_part *part, uint32_t segment, unsigned slot, uint32_t on, int64_t lag_ns) {
    if (part->replay.waits.count == part->replay.waits.capacity) return pace_walk_part_is_full();
    pace_segment_wait *wait = pace_segment_own_wait(&part->replay, &part->replay.segments.items[segment], slot);
    if (!wait) return PACE_E_MEMORY;
    wait->on = on;
    wait->lag_ns = lag_ns;
    return PACE_OK;
}

pace_status pace_walk_link(pace_walk_part *part, uint8_t slot, pace_link_kind kind, uint32_t repeat, uint32_t target) {
    pace_lane_link added = {pace_walk_last(part), target, repeat, (uint8_t)kind, slot};
    return PACE_PUSH(&part->links, added);
}
