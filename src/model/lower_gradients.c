/* What happens to the gradients of parameters: they are kept, put into buckets, and exchanged between ranks. */
#include "model/emit.h"

void pace_lower_flat_copy(pace_lowering *to, const char *name, double tensors, double elements, int bytes) {
    pace_emit_flush(to); /* no compiler fuses it with what it computes */
    for (double i = 0; i < tensors; i++) pace_emit_host(to, "aten::view");
    pace_emit_open(to, name);
    pace_emit_sized_op(to, PACE_SAMPLES_NONE, "aten::copy_", pace_emit_copy(to, "copy", elements, bytes));
    pace_emit_close(to);
    pace_emit_flush(to);
}

/* ZeRO scatters what it reduces. Where its group has replicas, these add their parts (hybrid sharding). */
static void send_gradients(pace_lowering *to, pace_group_kind group, double bytes) {
    if (to->config->zero_stage == 0) {
        pace_emit_gradients(to, "allreduce", group, bytes);
        return;
    }
    pace_group_kind shard = pace_config_shard_group(to->config, group == PACE_GROUP_EXPERT_DATA);
    double shards = pace_config_group_size(to->config, shard);
    if (shards > 1) pace_emit_gradients(to, "reducescatter", shard, bytes);
    if (pace_config_copies(to->config) > 1) pace_emit_gradients(to, "allreduce", PACE_GROUP_REPLICA, bytes / shards);
}

/* DistributedDataParallel: gradients go to buckets that are exchanged when full (model/buckets.h). Experts have
 * replicas, and so buckets, of their own. */
static void exchange_bucket(pace_lowering *to, pace_gradient_bucket *bucket, double bytes, bool last) {
    const pace_config *config = to->config;
    pace_group_kind group = bucket == &to->expert_bucket ? PACE_GROUP_EXPERT_DATA : PACE_GROUP_DATA;
    bucket->bytes += bytes;
    bucket->tensors += bytes > 0;
    if (bucket->bytes <= 0 || pace_config_group_size(config, group) < 2) return;
    if (!last && (config->zero_stage >= 3 || !pace_bucket_is_full(bucket, config->bucket_bytes))) return;
    int each = pace_config_parameter_bytes(config);
    if (config->zero_stage >= 3)
        pace_lower_flat_copy(to, "fsdp::chunk_cat", bucket->tensors, bucket->bytes / each, each);
    send_gradients(to, group, bucket->bytes);
    *bucket = (pace_gradient_bucket){.number = bucket->number + 1};
}

void pace_lower_gradient(pace_lowering *to, pace_gradient_tensor tensor) {
    if (to->frozen) return;
    if (to->captures) {
        if (to->status == PACE_OK) to->status = PACE_PUSH(&to->held, tensor);
        return;
    }
    int bytes = pace_config_parameter_bytes(to->config);
    double elements = tensor.elements;
    bool shared = pace_config_shares_gradients(to->config);
    pace_emit_open_backward(to, "torch::autograd::AccumulateGrad");
    bool adds = to->config->keep_gradients > 0 || to->accumulates;
    if (adds && to->config->gradients != PACE_GRADIENTS_IN_PLACE)
        pace_emit_sized_op(to, PACE_SAMPLES_NONE, "aten::add_",
                           pace_emit_elementwise(to, "add", elements, 2, 1, bytes));
    else pace_emit_host(to, "aten::detach");
    if (to->exchanges_gradients) {
        tensor.launches = to->graph->launches.count;
        if (to->status == PACE_OK && to->is_last_micro_batch) to->status = PACE_PUSH(&to->tensors, tensor);
        if (shared && to->config->gradients == PACE_GRADIENTS_BUCKETS && to->config->zero_stage < 3) {
            pace_emit_sized_op(to, PACE_SAMPLES_NONE, "torch::distributed::reducer::mul_out > aten::mul",
                               pace_emit_elementwise(to, "mul", elements, 1, 1, bytes));
        }
        if (shared) exchange_bucket(to, tensor.expert ? &to->expert_bucket : &to->bucket, elements * bytes, false);
    }
    pace_emit_close_backward(to);
}

static void copy_from_bucket(pace_lowering *to, double elements) {
    pace_emit_sized_op(to, PACE_SAMPLES_NONE, "torch.distributed.ddp.reducer::copy_bucket_to_grad > aten::copy_",
                       pace_emit_copy(to, "copy", elements, pace_config_parameter_bytes(to->config)));
}

void pace_lower_send_buckets(pace_lowering *to) {
    exchange_bucket(to, &to->bucket, 0, true);
    exchange_bucket(to, &to->expert_bucket, 0, true);
}

/* ZeRO 1 divides the optimizer alone (ZeroRedundancyOptimizer beside DistributedDataParallel), so that gradients come
 * back from their buckets; what later stages scatter is updated where it comes. */
void pace_lower_last_bucket(pace_lowering *to) {
    if (!pace_config_shares_gradients(to->config)) return;
    pace_lower_send_buckets(to);
    if (to->last_exchange != PACE_NO_LAUNCH) to->await_exchange = to->last_exchange;
    if (to->config->gradients != PACE_GRADIENTS_BUCKETS) { /* the update waits for all of them */
        pace_emit_op(to, "aten::fill_", pace_emit_copy(to, "fill", 1, 4));
        return;
    }
    for (size_t i = 0; i < to->tensors.count && to->config->zero_stage < 2; i++)
        copy_from_bucket(to, to->tensors.items[i].elements);
}
