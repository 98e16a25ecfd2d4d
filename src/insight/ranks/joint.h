/*
 * One step of all ranks as one replay: the segments of every rank on one clock, with edges where ranks meet.
 *
 * A collective's or a message's kernel is an arrival (no length) and a transfer. Where ranks meet stands a lane of its
 * own, one segment of no length per arrival in order of time, so that its end is the last arrival; every transfer waits
 * for it. Whoever is last then decides, in the measured order or in any other.
 */
#pragma once

#include "insight/analysis.h"
#include "schedule/replay.h"

/* More segments than these are not joined: about 90 bytes each, and eight replays of them. Of predicted steps no more
 * kernels, whose operators and calls make four to five segments of each. */
enum { PACE_JOINT_MOST_SEGMENTS = 4 << 20, PACE_JOINT_MOST_WORK = 7 << 17 };

typedef struct {
    pace_replay replay;           /* times on the home rank's clock; its lanes stand first */
    PACE_VEC(uint32_t) lane_rank; /* lane -> index of its rank; PACE_NO_INDEX where ranks meet */
    uint32_t home;                /* index of the home rank */
    uint32_t home_segments; /* so many segments, the first, are the home rank's and of its trace's other devices */
    uint32_t first_meeting; /* from here on segments are where ranks meet */
} pace_joint;

/** The window [from, to) of one rank alone: what it waited for others has its length. */
pace_status pace_joint_alone(pace_joint *out, const pace_rank *rank, uint32_t index, int64_t from_ns,
                             int64_t to_ns) PACE_MUST_CHECK;

/** The window [from, to), on the clock of rank `home`, of all ranks. PACE_E_LIMIT past `most_segments`. */
pace_status pace_joint_build(pace_joint *out, const pace_analysis *analysis, uint32_t home, int64_t from_ns,
                             int64_t to_ns, size_t most_segments) PACE_MUST_CHECK;

void pace_joint_free(pace_joint *joint);

/** The same without the edges between ranks: nobody waits for anybody. It shares all but its waits with `joint`, which
 * it must not outlive; pace_joint_parted_free() frees those. */
pace_status pace_joint_part(pace_joint *out, const pace_joint *joint) PACE_MUST_CHECK;
void pace_joint_parted_free(pace_joint *parted);
