/* Waits between compute and exchanges, by the memory they share and by the waits that are recorded. */
#include "source/traces/trace_work.h"
#include "base/index.h"

#include <string.h>

/* An exchange and the number that a wait for it repeats. */
typedef struct {
    int64_t sequence;
    uint32_t launch;
} numbered;

struct pace_trace_flow {
    const pace_trace_nodes *trace;
    pace_index touched; /* storage -> launch of the last exchange that touched it */
    PACE_VEC(numbered) exchanges;
    uint32_t last_compute, last_exchange; /* launches */
    uint32_t awaited;                     /* exchange that the next compute launch waits for */
};

pace_status pace_trace_flow_open(pace_trace_flow **out, const pace_trace_nodes *trace) {
    pace_trace_flow *flow = pace_alloc(1, sizeof *flow);
    if (!flow) return PACE_E_MEMORY;
    flow->trace = trace;
    flow->last_compute = flow->last_exchange = flow->awaited = PACE_NO_LAUNCH;
    *out = flow;
    return PACE_OK;
}

void pace_trace_flow_close(pace_trace_flow *flow) {
    if (!flow) return;
    pace_index_free(&flow->touched);
    PACE_VEC_FREE(&flow->exchanges);
    pace_free(flow);
}

static void later(uint32_t *launch, uint32_t other) {
    if (other != PACE_NO_LAUNCH && (*launch == PACE_NO_LAUNCH || other > *launch)) *launch = other;
}

/* An exchange reads what was computed before it; NCCL's stream waits for the compute stream as it stands. */
static pace_status launch_exchange(pace_trace_flow *flow, pace_launch *launch, uint32_t number, uint32_t i) {
    const pace_trace_node *node = &flow->trace->nodes.items[i];
    launch->waits[0] = flow->last_compute;
    for (uint32_t k = 0; k < node->inputs + node->outputs; k++) {
        int64_t storage = flow->trace->tensors.items[node->first_tensor + k].storage;
        PACE_TRY(pace_index_set(&flow->touched, (uint64_t)storage, number));
    }
    flow->last_exchange = number;
    return PACE_PUSH(&flow->exchanges, ((numbered){node->collective_sequence, number}));
}

static void launch_compute(pace_trace_flow *flow, pace_launch *launch, uint32_t number, uint32_t i) {
    const pace_trace_node *node = &flow->trace->nodes.items[i];
    uint32_t on = flow->awaited;
    for (uint32_t k = 0; k < node->inputs + node->outputs; k++) {
        int64_t storage = flow->trace->tensors.items[node->first_tensor + k].storage;
        later(&on, pace_index_get(&flow->touched, (uint64_t)storage));
    }
    launch->waits[0] = on;
    flow->awaited = PACE_NO_LAUNCH;
    flow->last_compute = number;
}

pace_status pace_trace_flow_launch(pace_trace_flow *flow, pace_graph *graph, uint32_t number, uint32_t i) {
    pace_launch *launch = &graph->launches.items[number];
    if (launch->exchange) return launch_exchange(flow, launch, number, i);
    launch_compute(flow, launch, number, i);
    return PACE_OK;
}

/* A recorded wait names its collective by its number; an older one is for the last. */
void pace_trace_flow_node(pace_trace_flow *flow, uint32_t i) {
    const pace_trace_node *node = &flow->trace->nodes.items[i];
    if (strcmp(pace_names_text(&flow->trace->names, node->collective), "wait") != 0) return;
    uint32_t on = flow->last_exchange;
    for (size_t k = flow->exchanges.count; k-- > 0;) {
        if (flow->exchanges.items[k].sequence != node->collective_sequence) continue;
        on = flow->exchanges.items[k].launch;
        break;
    }
    later(&flow->awaited, on);
}
