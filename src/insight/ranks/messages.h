/*
 * Messages between two ranks: the sends and receives of pipeline stages. Which kernels they are, which send belongs to
 * which receive, and each split into waiting for the peer and transfer.
 *
 * Who sends to whom is said by the kernel's own metadata, by the host operator that launched it (record_param_comms),
 * or by the title of the range around the launch ("nccl:send 0->1"). A kernel launched for several at once
 * ("coalesced") carries all the sends and receives its thread recorded since the one before.
 */
#pragma once

#include "insight/rank.h"

enum { PACE_SENDS, PACE_RECEIVES };

#define PACE_NO_INDEX UINT32_MAX

/* One side of a message. */
typedef struct {
    uint32_t item;     /* of the rank's work */
    uint32_t place;    /* in the order the host recorded them */
    uint8_t side;      /* PACE_SENDS, PACE_RECEIVES */
    int64_t peer;      /* rank of the world; PACE_NO_RANK = unknown */
    const char *group; /* process group, "" = unknown; borrowed from the rank's step */
    int64_t bytes;     /* -1 = unknown */
} pace_message_side;

typedef PACE_VEC(pace_message_side) pace_message_sides;

/* Index [0] is the sender's, [1] the receiver's. */
typedef struct {
    int64_t number[2]; /* rank of the world; PACE_NO_RANK = unknown */
    uint32_t rank[2];  /* index among those loaded; PACE_NO_INDEX = its trace is not here, or holds no such message */
    uint32_t item[2];  /* of its work */
    const char *group; /* "" = unknown */
    int64_t bytes;     /* -1 = unknown */
    bool matched;      /* both sides are here */
    /* of matched messages, on the first rank's clock: */
    int64_t last_start_ns, end_ns; /* when the later side began; when both had ended */
    int64_t wait_ns[2];            /* how long each side waited for the other; one of them is zero */
    const char *cause; /* what the late side did meanwhile for the longest time: a resource; NULL = no wait */
} pace_p2p_message;

/** Whether two messages go from one rank to one other, in one group. */
bool pace_p2p_same_pair(const pace_p2p_message *a, const pace_p2p_message *b);

typedef struct {
    PACE_VEC(pace_p2p_message) items; /* by sender, receiver, group and order */
    size_t unmatched;                 /* sides whose peer's trace is here but holds no such message */
    size_t by_time;                   /* messages whose sides were told by when they ended alone */
    int64_t unsaid_ns;                /* time of sides of which one rank is not said, nor told by when they end */
    int64_t may_wait_ns;              /* how much of that may be waiting for sides of other ranks, which begin later */
    size_t alone;                     /* sides whose peer's trace is not here, and the others of unknown ranks */
} pace_messages;

/** Finds the messages of a rank and marks its work items. Call before pace_collectives_match(). */
pace_status pace_message_sides_find(pace_message_sides *out, pace_rank *rank) PACE_MUST_CHECK;

/** The k-th send from one rank to another in a group belongs to the k-th receive. `sides` has one list a rank. */
pace_status pace_messages_match(pace_messages *out, pace_rank *const *ranks, const pace_message_sides *sides,
                                size_t rank_count) PACE_MUST_CHECK;

/** Joins sends and receives of which the trace does not say between whom, where their kernels end together; sums what
 * the others may wait. Needs the ranks' clocks. */
pace_status pace_messages_match_times(pace_messages *messages, pace_rank *const *ranks) PACE_MUST_CHECK;

/** Splits the matched ones into waiting and transfer, and sets their work items' wait_until_ns; needs the ranks'
 * clocks. A send that was over before its receive began went into a buffer and waited for nobody. */
void pace_messages_split(pace_messages *messages, pace_rank *const *ranks);

/** Finds the causes; needs the ranks' tiles. */
void pace_messages_explain(pace_messages *messages, pace_rank *const *ranks);
void pace_messages_free(pace_messages *messages);
