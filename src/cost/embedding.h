/*
 * What a batched embedding lookup moves (Lin et al. 2022, and its successor Lin et al. 2024): one kernel looks L rows
 * of D elements up for each of B samples in each of T tables of E rows, indices uniform. Sectors are 32 bytes, indices
 * and offsets 4-byte words. Backward includes the update of the rows: they are read and written.
 */
#pragma once

#include "step/op.h"

typedef struct {
    double memory_bytes, l2_bytes;
} pace_embedding_traffic;

/** Every row comes from the memory. */
pace_embedding_traffic pace_embedding_plain(const pace_op *op);

/** What an update in place moves through the L2 cache, whatever comes from the memory: a thread has four elements of a
 * row side by side and adds each by an atomic operation of its own (SGDFunctor of the batched lookup), so that each
 * sector goes to the cache and back four times. 0 of a forward pass, and of one table, whose gradient is sorted. */
double pace_embedding_atomics(const pace_op *op);

/** Rows hit when they were looked up before and still fit: unique rows of B L uniform draws against the part of the L2
 * cache that a table has (2024). */
pace_embedding_traffic pace_embedding_unique(const pace_op *op, double l2_bytes, double sm_count);
