/* What the nodes of an execution trace put on the device, and through which memory they depend. Private to source/. */
#pragma once

#include "source/traces/trace_nodes.h"
#include "step/graph.h"
#include "step/op_call.h"

enum { PACE_TRACE_COMPUTE, PACE_TRACE_EXCHANGE }; /* streams */

/* What one node itself puts on the device; of most nodes nothing. */
typedef struct {
    unsigned count; /* operations, or one exchange */
    pace_op ops[PACE_CALL_OPS];
    bool unknown; /* its amount is a guess from its tensors */
    bool waits;   /* the host waits for it: a number is read back */
    bool exchange;
    const char *collective;
    double exchange_bytes;
} pace_trace_work;

typedef PACE_VEC(pace_trace_work) pace_trace_works; /* one per node of the trace */

pace_status pace_trace_works_find(pace_trace_works *out, const pace_trace_nodes *trace) PACE_MUST_CHECK;
void pace_trace_works_free(pace_trace_works *works);

/** The index of the node with this id, PACE_NO_NODE when there is none. */
uint32_t pace_trace_find(const pace_trace_nodes *trace, int64_t id);

/** Waits between the streams, found while launches are added in order. */
typedef struct pace_trace_flow pace_trace_flow;

pace_status pace_trace_flow_open(pace_trace_flow **out, const pace_trace_nodes *trace) PACE_MUST_CHECK;
void pace_trace_flow_close(pace_trace_flow *flow);

/** Sets the waits of a launch that node `i` of the trace has issued. */
pace_status pace_trace_flow_launch(pace_trace_flow *flow, pace_graph *graph, uint32_t launch,
                                   uint32_t i) PACE_MUST_CHECK;

/** Takes notice of a node: it may be a wait for an exchange. */
void pace_trace_flow_node(pace_trace_flow *flow, uint32_t i);
