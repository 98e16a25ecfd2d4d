/* How Nsight Systems writes what Kineto gives names and arguments. Private to source/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The text of an NVTX range. PyTorch (torch.autograd.profiler.emit_nvtx) writes an operator as "aten::mul, seq = 5,
 * op_id = 12, sizes = [[2, 3], []], input_op_ids = [(7,0)]", each part behind the name only when it is known. */
typedef struct {
    size_t name_length; /* the text without these parts */
    bool is_operator;   /* a framework's, else a range of the user's or a library's */
    bool is_backward;   /* autograd runs it: its number is the node's */
    int64_t sequence;   /* autograd's number, -1 = none */
    const char *sizes;  /* "[[2, 3], []]" within the text, NULL = none */
    size_t sizes_length;
} pace_nvtx_range;

void pace_nvtx_range_read(pace_nvtx_range *out, const char *text, size_t length);

/** Writes a copy's name as Kineto does: "Memcpy HtoD (Pinned -> Device)". */
void pace_nsys_copy_name(char *out, size_t size, int64_t kind, int64_t from, int64_t to);
/** The same of a memset: "Memset (Device)". */
void pace_nsys_memset_name(char *out, size_t size, int64_t memory);

/** Whether a copy migrates pages of unified memory; no stream runs it. */
bool pace_nsys_copy_migrates(int64_t kind);

/** The length of a call's name without the version of its entry point: "cudaLaunchKernel_v7000" has 16. */
size_t pace_nsys_call_length(const char *name, size_t length);
