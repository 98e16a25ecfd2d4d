/*
 * Which ranks of a program are alike: the same class, the same speed and start, and peers that are alike again. Such
 * ranks do everything at the same time, so one of them stands for all (the coarsest equitable partition, found by
 * colour refinement: Cardon, Crochemore, "Partitioning a graph in O(|A| log |V|)", 1982).
 */
#pragma once

#include "exchange/program.h"

typedef struct {
    uint32_t count;      /* of colours */
    uint32_t *colour_of; /* rank -> colour, in order of first appearance */
    uint32_t *first;     /* colour -> its first rank */
    uint32_t *members;   /* colour -> how many */
} pace_fold;

/** `kind_of` (may be NULL): ranks of different kind are never alike; numbers of any size. A program that names peers by
 * rank, or whose ranks are hardly alike, is not folded: every rank is a colour. */
pace_status pace_fold_ranks(pace_fold *out, const pace_program *program, const uint64_t *kind_of) PACE_MUST_CHECK;

/** Every rank a colour of its own. */
pace_status pace_fold_none(pace_fold *out, uint32_t ranks) PACE_MUST_CHECK;
void pace_fold_free(pace_fold *fold);
