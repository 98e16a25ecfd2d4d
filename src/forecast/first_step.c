#include "forecast/first_step.h"

/* The first node that the thread of the steps works in; NULL = no annotation of a step is at hand. */
static pace_graph_node *first_in_steps(pace_graph *graph) {
    uint32_t thread = UINT32_MAX;
    PACE_ITEMS (pace_graph_node, node, &graph->nodes) {
        bool annotation = node->kind == PACE_TASK_ANNOTATION;
        bool marks = node->marks_step || pace_name_marks_step(pace_names_text(&graph->names, node->name));
        if (annotation && marks && thread == UINT32_MAX) thread = node->thread;
        if (!annotation && node->thread == thread) return node;
    }
    return NULL;
}

void pace_first_step_begin(pace_forecast_rank *rank, const pace_mark *mark) {
    pace_graph_node *first = first_in_steps(&rank->graph);
    int64_t before_ns = mark && mark->to_ns > mark->from_ns ? mark->start_ns - mark->from_ns : 0;
    if (!first || before_ns <= 0) return;
    rank->start_ns -= (double)before_ns;
    first->pause_ns += before_ns;
}
