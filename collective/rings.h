/* Messages between two processes of a host, in order: for every ordered pair and channel a ring of slots in shared
 * memory. The sender copies into a free slot, the receiver reads in place and gives the slot back. */
#pragma once

#include "waiting.h"

#include <stddef.h>

enum { PACE_PAIR_CHANNELS = 4, PACE_PAIR_SLOTS = 4 };

typedef struct {
    char *base;
    size_t slot_bytes, ring_bytes;
    int me, count;
    uint64_t *sent, *taken; /* of each other process and channel */
    pace_waiter *waiter;
} pace_pair_rings;

size_t pace_pair_rings_bytes(int count, size_t slot_bytes);
/** Bytes of a slot so that all rings of so many processes stay within a limit. */
size_t pace_pair_slot_bytes(int count);
pace_status pace_pair_rings_open(pace_pair_rings *out, void *memory, int me, int count, size_t slot_bytes,
                                 pace_waiter *waiter) PACE_MUST_CHECK;
void pace_pair_rings_close(pace_pair_rings *rings);

/** A free slot for the next message to a process, or NULL; then pace_pair_send() shows it. */
char *pace_pair_room(const pace_pair_rings *rings, int to, int channel);
void pace_pair_send(pace_pair_rings *rings, int to, int channel);

/** The next message of a process, or NULL; then pace_pair_done() gives its slot back. */
const char *pace_pair_message(const pace_pair_rings *rings, int from, int channel);
void pace_pair_done(pace_pair_rings *rings, int from, int channel);
