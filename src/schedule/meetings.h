/* Which launches of several ranks exchange with each other: the same collective of the same group, the same time
 * around; a send with its receive; or those of one number, where exchanges have been told which others they meet. */
#pragma once

#include "schedule/walk_rank.h"

#define PACE_NO_MEETING UINT32_MAX

typedef struct {
    uint32_t rank, launch;
} pace_meeting_member;

typedef struct {
    uint32_t first, count; /* of members */
} pace_meeting;

typedef struct {
    PACE_VEC(pace_meeting) items;
    PACE_VEC(pace_meeting_member) members;
    uint32_t **of; /* rank -> launch -> its meeting, PACE_NO_MEETING = alone; a rank without any has NULL */
    size_t rank_count;
} pace_meetings;

/** Matches the exchanges of the ranks. One rank alone meets nobody. A collective's members are those ranks of the group
 * that are here; a send or receive whose partner is here but has no counterpart is PACE_E_INPUT. */
pace_status pace_meetings_match(pace_meetings *out, const pace_walk_rank *ranks, size_t count) PACE_MUST_CHECK;
void pace_meetings_free(pace_meetings *meetings);
