#!/bin/bash
# Megatron launch
GPUS_PER_NODE=8
NNODES=8
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --sequence-parallel \
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 --group-query-attention --num-query-groups 8 \
  --seq-length 8192 --max-position-embeddings 8192 --micro-batch-size 1 --global-batch-size 256 --swiglu --bf16 \
  --use-distributed-optimizer --recompute-activations --overlap-grad-reduce --vocab-size 128256 --untie-embeddings-and-output-weights
