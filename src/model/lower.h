/*
 * A model and a configuration become a step without times: the operators that PyTorch would issue for input, forward,
 * loss, backward and update, each with what it puts on the device.
 *
 * Operators bear ATen's and autograd's names, so that host overheads measured by name apply. The forward pass is on
 * thread 0; backward is on thread 1, autograd's, after the loss, while thread 0 waits in "## backward ##". Stream 0
 * computes, stream 1 exchanges gradients, stream 2 what stream 0 waits for. Names of layers are the nodes' modules.
 *
 *   eager      every operator with its launches
 *   compiled   forward and backward are one operator each; element-wise work is fused with its neighbours, matrix
 *              products, convolutions and attention stay kernels of their own
 *              graphs: parts of both are device graphs (lower_region.h), whose launches are one call
 *   graph      the step is one operator whose launches have the call "cudaGraphLaunch": one call for all of them
 *
 * Lowered: data and tensor parallelism (gradients exchanged in buckets; Megatron's two exchanges a layer), several
 * micro-batches, recomputation (selective: of attention that is no single kernel; full: of the segments a model
 * repeats), context parallelism (keys and values are gathered), expert parallelism (tokens go to their experts and
 * back), pipelines (pipeline_stages.h, pipeline_order.h) and ZeRO (lower_shards.h). Tables of tokens and the output
 * layer are split over the tensor-parallel ranks by words.
 *
 * A pipeline is a graph for each stage: that of its first rank, for which the stage's other ranks, alike, are stood. A
 * stage takes its turns in the schedule's order; before one it receives, behind one it sends, each direction on a
 * stream of its own (3, 4: activations in, out; 5, 6: gradients; 7 to 10 those of the second side of a V). A message
 * leaves when the turn has ended, and is received once the receiver's turns before have; the sender goes on meanwhile,
 * as torch.distributed.pipelining does.
 */
#pragma once

#include "model/buckets.h"
#include "model/model.h"
#include "step/graph.h"

/** Backward of one micro-batch on one rank, without exchanges of gradients, and the tensors that have a dense gradient
 * in the order in which it forms them. Free with pace_graph_free() and PACE_VEC_FREE(). */
pace_status pace_model_lower_gradients(pace_graph *out, pace_gradient_tensors *tensors, const pace_model *model,
                                       const pace_config *config) PACE_MUST_CHECK;

/** One step on one rank, of a pipeline on the first rank of a stage (from 0). The graph passes pace_graph_check().
 * Errors: PACE_E_USAGE for a configuration that makes no sense, PACE_E_LIMIT for more than 2^20 launches. Free with
 * pace_graph_free(). */
pace_status pace_model_lower(pace_graph *out, const pace_model *model, const pace_config *config,
                             uint32_t stage) PACE_MUST_CHECK;

/* Parts of a step that are of gradients and parameters, not of layers. */
typedef enum {
    PACE_REST_PLAIN,      /* a micro-batch's gradients are taken as they are: part of its layers' backward */
    PACE_REST_ACCUMULATE, /* the same, added to those of micro-batches before */
    PACE_REST_EXCHANGE,   /* as plain, or added where there are several micro-batches, then divided, exchanged in
                             buckets, and copied back; ZeRO 2: parameters instead */
    PACE_REST_INPUT,      /* a micro-batch comes to the device */
    PACE_REST_GATHER,     /* the parameters of one block gathered, as far as the host is concerned */
    PACE_REST_SHARD,      /* the same, or gradients scattered, with the copy out of FSDP's flat buffer or into it */
    PACE_REST_WITHIN,     /* the same within a pass, which one operator may issue */
    PACE_REST_TWICE,      /* two of them there */
    PACE_REST_MOVE,       /* a layer's activations copied to the host or back, as far as the host is concerned */
    PACE_REST_MESSAGE,    /* a message to another stage, as far as the host is concerned */
    PACE_REST_VIEW,       /* a tensor of the block seen as a part of that buffer: nothing but a call */
    PACE_REST_GRAPH,      /* a device graph replayed, as far as the host is concerned */
    PACE_REST_UPDATE,     /* gradients zeroed where they are kept, and all parameters updated */
    PACE_MODEL_RESTS
} pace_model_rest;

/** Such a part alone, of all parameters of one rank whatever pipeline or ZeRO says (who shares them divides).
 * `tensors`: those of pace_model_lower_gradients() for the same; NULL where nothing is trained. */
pace_status pace_model_lower_rest(pace_graph *out, const pace_model *model, const pace_config *config,
                                  pace_model_rest rest, const pace_gradient_tensors *tensors) PACE_MUST_CHECK;
