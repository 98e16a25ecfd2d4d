#include "cost/optimizer_line.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

void pace_optimizer_line_add(pace_optimizer_line *line, double parameters, double ns) {
    if (!(parameters > 0) || !(ns > 0)) return;
    double weight = 1 / (ns * ns);
    line->least = line->n > 0 ? fmin(line->least, ns) : ns;
    line->n += weight;
    line->x += weight * parameters;
    line->y += weight * ns;
    line->xx += weight * parameters * parameters;
    line->xy += weight * parameters * ns;
}

void pace_optimizer_line_pool(pace_optimizer_line *line, const pace_optimizer_line *more) {
    if (!(more->n > 0)) return;
    line->least = line->n > 0 ? fmin(line->least, more->least) : more->least;
    line->n += more->n;
    line->x += more->x;
    line->y += more->y;
    line->xx += more->xx;
    line->xy += more->xy;
}

double pace_optimizer_line_at(const pace_optimizer_line *line, double parameters) {
    double spread = line->n * line->xx - line->x * line->x;
    if (!(parameters > 0) || !(spread > 1e-9 * line->n * line->xx)) return 0;
    double slope = (line->n * line->xy - line->x * line->y) / spread, start = (line->y - slope * line->x) / line->n;
    return fmax(start + slope * parameters, line->least / 2);
}

bool pace_is_optimizer_step(const char *name) { return pace_starts(name, "Optimizer.step"); }

/* An operator inside another is part of it: autograd notes an accumulation around and within itself. */
static bool is_outermost(const pace_graph *graph, const pace_graph_node *node) {
    return node->parent == PACE_NO_NODE || graph->nodes.items[node->parent].kind == PACE_TASK_ANNOTATION;
}

/* What a name says, looked up once: steps have millions of nodes and hundreds of names. */
enum { OF_OTHERS, OF_STEPS, OF_GRADIENTS };

static void look_up(uint8_t *says, const pace_names *names) {
    for (size_t i = 0; i < pace_names_count(names); i++) {
        const char *name = pace_names_text(names, (pace_name)i);
        says[i] = pace_is_optimizer_step(name)             ? OF_STEPS
                  : strstr(name, "AccumulateGrad") != NULL ? OF_GRADIENTS
                                                           : OF_OTHERS;
    }
}

pace_status pace_optimizer_parameters(double *out, const pace_graph *graph) {
    double gradients = 0, steps = 0;
    uint8_t *says = pace_alloc(pace_names_count(&graph->names) + 1, sizeof *says);
    if (!says) return PACE_E_MEMORY;
    look_up(says, &graph->names);
    PACE_ITEMS (const pace_graph_node, node, &graph->nodes) {
        steps += says[node->name] == OF_STEPS;
        gradients += says[node->name] == OF_GRADIENTS && is_outermost(graph, node);
    }
    pace_free(says);
    double micro_batches = graph->micro_batches > 1 ? graph->micro_batches : 1;
    *out = steps > 0 ? gradients / steps / micro_batches : 0;
    return PACE_OK;
}
