/*
 * What answers take for granted, from catalog/doubts.yaml: each doubt is a default nobody stated, a formula used beyond
 * what it was fitted on, or another device's figure, with the spread that it adds to an answer. Code names a doubt by
 * its enumerator; the file must have exactly the names below, so that a missing figure fails when it is read.
 */
#pragma once

#include "base/estimate.h"
#include "machine/catalog.h"

/* What an entry of the file gives. */
typedef enum {
    PACE_DOUBT_SPREAD, /* standard deviation of the logarithm, added to an answer's in quadrature */
    PACE_DOUBT_GROWTH, /* the same per unit of |ln factor| by which a what-if changes an amount */
    PACE_DOUBT_TIMES,  /* a factor of the answer's spread */
    PACE_DOUBT_VALUE,  /* a figure used where nothing says; its error is in the spread of what uses it */
    PACE_DOUBT_TABLE,  /* a spread for each family of operations, from another table: no figure here */
    PACE_DOUBT_KINDS
} pace_doubt_kind;

/* PACE_DOUBT_enumerator, name in the file, kind */
#define PACE_DOUBT_LIST(X)                                 \
    X(WALK, "walk", SPREAD)                                \
    X(CLOSED_FORM, "closed_form", VALUE)                   \
    X(CLOSED_FORM_SHARED, "closed_form_shared", VALUE)     \
    X(HOST_CATALOG, "host_catalog", SPREAD)                \
    X(HOST_CPU, "host_cpu", SPREAD)                        \
    X(HOST_SHARED, "host_shared", SPREAD)                  \
    X(HOST_MOVED, "host_moved", SPREAD)                    \
    X(KERNEL_REPEATED, "kernel_repeated", SPREAD)          \
    X(KERNEL_FORMULA, "kernel_formula", TABLE)             \
    X(KERNEL_ROOFLINE, "kernel_roofline", TABLE)           \
    X(KERNEL_GUESS, "kernel_guess", TABLE)                 \
    X(KERNEL_FIT, "kernel_fit", TABLE)                     \
    X(KERNEL_BEYOND, "kernel_beyond", TABLE)               \
    X(KERNEL_UNKNOWN, "kernel_unknown", SPREAD)            \
    X(EXCHANGE_RANKS, "exchange_ranks", SPREAD)            \
    X(EXCHANGE_BUCKET, "exchange_bucket", SPREAD)          \
    X(RATIO_CORRELATION, "ratio_correlation", VALUE)       \
    X(DEVICE_PART, "device_part", SPREAD)                  \
    X(HOST_LINK, "host_link", VALUE)                       \
    X(HOST_UPDATE, "host_update", VALUE)                   \
    X(HOST_AMOUNTS, "host_amounts", SPREAD)                \
    X(LOADER_HANDOVER, "loader_handover", VALUE)           \
    X(BALANCED_TABLES, "balanced_tables", SPREAD)          \
    X(BATCH_UNKNOWN, "batch_unknown", GROWTH)              \
    X(BATCH_EXCHANGE, "batch_exchange", GROWTH)            \
    X(FUSED_RESULTS, "fused_results", SPREAD)              \
    X(SCALING_EXCHANGE, "scaling_exchange", SPREAD)        \
    X(SCALING_STEP, "scaling_step", SPREAD)                \
    X(APPROACH_COSTS, "approach_costs", SPREAD)            \
    X(NCCL, "nccl", SPREAD)                                \
    X(NCCL_DEVICE, "nccl_device", TABLE)                   \
    X(NCCL_BELIEF, "nccl_belief", SPREAD)                  \
    X(TEXTBOOK, "textbook", SPREAD)                        \
    X(NETWORK, "network", SPREAD)                          \
    X(NETWORK_INFINIBAND, "network_infiniband", SPREAD)    \
    X(NETWORK_ROCE, "network_roce", SPREAD)                \
    X(NETWORK_EFA, "network_efa", SPREAD)                  \
    X(NCCL_HOST, "nccl_host", TABLE)                       \
    X(NCCL_CHOICE, "nccl_choice", TABLE)                   \
    X(SLOW_SHARE, "slow_share", SPREAD)                    \
    X(HOST_PATH, "host_path", SPREAD)                      \
    X(CHOICE, "choice", SPREAD)                            \
    X(CHOICE_WAITING, "choice_waiting", SPREAD)            \
    X(ALGORITHM_GAP, "algorithm_gap", TABLE)               \
    X(CURVE_PROBES, "curve_probes", TABLE)                 \
    X(CURVE_LEAST, "curve_least", SPREAD)                  \
    X(CURVE_RANKS, "curve_ranks", SPREAD)                  \
    X(CURVE_BEYOND, "curve_beyond", SPREAD)                \
    X(CURVE_TIER, "curve_tier", SPREAD)                    \
    X(CURVE_COLLECTIVE, "curve_collective", SPREAD)        \
    X(CURVE_DIRECT, "curve_direct", SPREAD)                \
    X(CURVE_HOST_FLOOR, "curve_host_floor", VALUE)         \
    X(CURVE_LARGER_RINGS, "curve_larger_rings", VALUE)     \
    X(CURVE_FLOOR_BYTES, "curve_floor_bytes", VALUE)       \
    X(CURVE_HOP, "curve_hop", VALUE)                       \
    X(CURVE_HELD_OUT, "curve_held_out", VALUE)             \
    X(CURVE_DISTANCE, "curve_distance", SPREAD)            \
    X(CURVE_ALONE, "curve_alone", SPREAD)                  \
    X(SHAPE_NEAR, "shape_near", VALUE)                     \
    X(SHAPE_EVERYWHERE, "shape_everywhere", SPREAD)        \
    X(SHAPE_NOISE, "shape_noise", SPREAD)                  \
    X(SHAPE_ROUGH, "shape_rough", SPREAD)                  \
    X(CURVE_NOISY, "curve_noisy", VALUE)                   \
    X(SHAPE_ALONE, "shape_alone", SPREAD)                  \
    X(SHAPE_REACH, "shape_reach", VALUE)                   \
    X(SHAPE_NEAR_REACH, "shape_near_reach", VALUE)         \
    X(SHAPE_TRUST, "shape_trust", VALUE)                   \
    X(SHAPE_SURPRISE, "shape_surprise", VALUE)             \
    X(LATENCY_INSIDE, "latency_inside", VALUE)             \
    X(LATENCY_BETWEEN, "latency_between", VALUE)           \
    X(LATENCY_TCP, "latency_tcp", VALUE)                   \
    X(LAUNCH, "launch", VALUE)                             \
    X(TCP_STREAM, "tcp_stream", VALUE)                     \
    X(LINK_SHARE, "link_share", VALUE)                     \
    X(LINK_HEADROOM, "link_headroom", VALUE)               \
    X(STAGED_SHARE, "staged_share", VALUE)                 \
    X(SOCKET_SHARE, "socket_share", VALUE)                 \
    X(LEARNED_KIND, "learned_kind", SPREAD)                \
    X(STEP_FORM, "step_form", TABLE)                       \
    X(STEP_FIT, "step_fit", TABLE)                         \
    X(STEP_EXPERTS, "step_experts", TIMES)                 \
    X(STEP_ATTENTION, "step_attention", SPREAD)            \
    X(STEP_MAKER, "step_maker", SPREAD)                    \
    X(STEP_OFFLOAD, "step_offload", SPREAD)                \
    X(STEP_LOSS, "step_loss", SPREAD)                      \
    X(STEP_HALF, "step_half", SPREAD)                      \
    X(STEP_LEFT_OUT, "step_left_out", SPREAD)              \
    X(STEP_SOFTWARE, "step_software", TABLE)               \
    X(MEMORY, "memory", VALUE)                             \
    X(ROW_SPLIT, "row_split", TIMES)                       \
    X(SPREAD_TABLES, "spread_tables", TIMES)               \
    X(ROW_BATCH, "row_batch", TIMES)                       \
    X(ROW_MICRO_BATCHES, "row_micro_batches", TIMES)       \
    X(ROW_PADDING, "row_padding", TIMES)                   \
    X(ROW_NODES, "row_nodes", TIMES)                       \
    X(ROW_NETWORK, "row_network", VALUE)                   \
    X(ROW_SIZE, "row_size", TIMES)                         \
    X(ROW_EXPERTS, "row_experts", TIMES)                   \
    X(ROW_SCHEDULE, "row_schedule", TIMES)                 \
    X(ROW_INTERLEAVING, "row_interleaving", VALUE)         \
    X(ROW_PRECISION, "row_precision", TIMES)               \
    X(ROW_SINGLE_PRECISION, "row_single_precision", TIMES) \
    X(ROW_LAYOUT, "row_layout", SPREAD)                    \
    X(ROW_POWER, "row_power", GROWTH)                      \
    X(ROW_FRAMEWORK, "row_framework", TIMES)               \
    X(STEP_FOUR_BITS, "step_four_bits", TIMES)             \
    X(STEP_DETERMINISTIC, "step_deterministic", SPREAD)    \
    X(ROW_ADAPTERS, "row_adapters", TIMES)                 \
    X(ROW_RECOMPUTE, "row_recompute", TIMES)               \
    X(ROW_HEADS, "row_heads", TIMES)                       \
    X(ROW_RUN, "row_run", TIMES)                           \
    X(ROW_RECIPE, "row_recipe", SPREAD)                    \
    X(JOB_PRIOR, "job_prior", SPREAD)                      \
    X(JOB_SAMPLE, "job_sample", SPREAD)

typedef enum {
#define PACE_DOUBT_ENUMERATOR(id, name, kind) PACE_DOUBT_##id,
    PACE_DOUBT_LIST(PACE_DOUBT_ENUMERATOR)
#undef PACE_DOUBT_ENUMERATOR
        PACE_DOUBTS
} pace_doubt;

/* The figures alone, small enough to be copied into whatever answers questions. */
typedef struct {
    double figure[PACE_DOUBTS];
} pace_doubts;

/* What an answer took for granted: per doubt what it adds to the answer's spread, in quadrature; 0 = was not used. */
typedef struct {
    double added[PACE_DOUBTS];
    bool beyond_sizes; /* the size asked is smaller or larger than any that was measured */
} pace_doubts_used;

/** Reads the figures. PACE_E_INPUT for a name that is missing, unknown or there twice, an entry without its figure, and
 * a figure out of range. */
pace_status pace_doubts_load(pace_doubts *out, pace_catalog *catalog) PACE_MUST_CHECK;

const char *pace_doubt_name(pace_doubt doubt);
pace_doubt_kind pace_doubt_kind_of(pace_doubt doubt);

/** What of an answer lies beyond everything that was measured, in words; NULL: nothing. */
const char *pace_doubt_beyond(pace_doubt doubt);
/** What of a spread nothing else that was used accounts for is this doubt's. */
void pace_doubts_used_rest(pace_doubts_used *used, pace_doubt doubt, double spread);
/** The first of what an answer used. */
const char *pace_doubts_beyond(const pace_doubts_used *used);

/* What a report says of a doubt, beside its figures. */
typedef struct {
    const char *says, *removed_by, *source, *confidence; /* borrowed from the document */
} pace_doubt_words;

typedef struct {
    const pace_yaml *yaml; /* has the texts; borrowed */
    pace_doubts doubts;
    pace_doubt_words words[PACE_DOUBTS];
} pace_doubt_catalog;

/** Figures and words. Errors: those of pace_doubts_load(); PACE_E_INPUT for an entry without all four texts. */
pace_status pace_doubt_catalog_load(pace_doubt_catalog *out, pace_catalog *catalog) PACE_MUST_CHECK;
