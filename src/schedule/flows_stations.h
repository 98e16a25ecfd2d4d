/* Stations: links on which messages meet only when all their ways are the same, so that at any time each of them has an
 * equal share, or when they are those of one lane, so that none meets another. Flows there need no max-min rates: all
 * that are under way have been served equally since the last one came or went, so a flow ends when what each was served
 * has grown by its bytes (processor sharing in virtual time; Parekh, Gallager 1993). Inside of flows*.c. */
#pragma once

#include "schedule/flows_routes.h"

#define PACE_NO_STATION UINT32_MAX

typedef struct {
    double ends; /* when so much has been served */
    uint32_t lane;
} pace_station_flow;

typedef struct {
    double served; /* of each flow, in bytes · 1e9 / s · ns, since there was none */
    double then_ns, each_bytes_per_s;
    double bytes_per_s, limit_bytes_per_s; /* of all together; of each */
    pace_station_flow *flows;              /* a heap, that which ends next first */
    uint32_t count;
    uint32_t place; /* among those of its region that a flow leaves next, + 1; 0 = none does */
} pace_station;

typedef struct {
    uint32_t *group_of;   /* slot of send_queue -> links that are crossed together, directly or not */
    uint32_t *group_lane; /* group -> a lane that crosses it */
    uint32_t *station_of; /* slot -> station; PACE_NO_STATION: its flows need rates */
    double *bytes_per_s;  /* slot -> what its way gives a flow alone */
    bool *alone;          /* lane -> its messages meet those of no other */
    PACE_VEC(pace_station) all;
    pace_station_flow *flows; /* a lane has at most one */
    uint32_t group_count;
} pace_stations;

typedef struct {
    double at_ns;
    uint32_t station;
} pace_station_end;

/* Which of a region's stations a flow leaves next: a heap, with room for all and one more. */
typedef struct {
    pace_station_end *heap; /* [0].at_ns INFINITY: none does */
    uint32_t count;
} pace_station_ends;

/** `links` of the fabric, or kinds of them; all flows need rates where others' traffic is on the same links. */
pace_status pace_stations_init(pace_stations *stations, const pace_flow_state *state, const pace_flow_routes *routes,
                               const double *bytes_per_s, uint32_t links) PACE_MUST_CHECK;
void pace_stations_free(pace_stations *stations);

static inline void pace_station_serve(pace_station *s, double now_ns) {
    if (s->count && now_ns > s->then_ns) s->served += (now_ns - s->then_ns) * s->each_bytes_per_s;
    s->then_ns = now_ns;
}

/** When the next of its flows ends, as many as they are now; there is one. */
static inline double pace_station_next(pace_station *s) {
    double share = s->bytes_per_s / s->count;
    s->each_bytes_per_s = share < s->limit_bytes_per_s ? share : s->limit_bytes_per_s;
    double left = s->flows->ends - s->served;
    return s->then_ns + (left > 0 ? left / s->each_bytes_per_s : 0);
}

/** A lane's message of so many bytes begins; the lane has none under way. `bytes_per_s` is that of its way, `limit` the
 * same for all of a station that several lanes share. */
static inline void pace_station_begin(pace_station *s, uint32_t lane, double bytes, double bytes_per_s,
                                      double limit_bytes_per_s, double now_ns) {
    pace_station_flow *heap = s->flows;
    pace_station_serve(s, now_ns);
    if (!s->count) s->served = 0;
    s->bytes_per_s = bytes_per_s;
    s->limit_bytes_per_s = limit_bytes_per_s;
    double ends = s->served + bytes * 1e9;
    uint32_t i = s->count++;
    for (; i && heap[(i - 1) / 2].ends > ends; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = (pace_station_flow){ends, lane};
}

/** Whether the next of its flows, if there is one, ends until then. */
static inline bool pace_station_ends_until(const pace_station *s, double until_ns) {
    return s->count && s->flows->ends - s->served <= s->each_bytes_per_s * (until_ns - s->then_ns);
}

/** Takes out the lane whose flow ends next; there is one. The others go on as fast as before. */
static inline uint32_t pace_station_take(pace_station *s) {
    pace_station_flow *heap = s->flows;
    uint32_t lane = heap[0].lane;
    const pace_station_flow last = heap[--s->count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < s->count; i = child) {
        if (child + 1 < s->count && heap[child + 1].ends < heap[child].ends) child++;
        if (heap[child].ends >= last.ends) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return lane;
}

/* --- which of several comes next ---------------------------------------------------------------------------------- */

static inline void pace_station_put(pace_station_ends *ends, pace_station *all, uint32_t i, pace_station_end entry) {
    ends->heap[i] = entry;
    all[entry.station].place = i + 1;
}

/* Entry i moves to where it belongs. */
static inline void pace_station_move(pace_station_ends *ends, pace_station *all, uint32_t i, pace_station_end entry) {
    const pace_station_end *heap = ends->heap;
    for (; i && heap[(i - 1) / 2].at_ns > entry.at_ns; i = (i - 1) / 2)
        pace_station_put(ends, all, i, heap[(i - 1) / 2]);
    for (uint32_t child; (child = 2 * i + 1) < ends->count; i = child) {
        child += (child + 1 < ends->count) & (heap[child + 1].at_ns < heap[child].at_ns);
        if (heap[child].at_ns >= entry.at_ns) break;
        pace_station_put(ends, all, i, heap[child]);
    }
    pace_station_put(ends, all, i, entry);
}

/** From now on a flow leaves this station next then. */
static inline void pace_station_leaves(pace_station_ends *ends, pace_station *all, uint32_t station, double at_ns) {
    uint32_t place = all[station].place;
    pace_station_move(ends, all, place ? place - 1 : ends->count++, (pace_station_end){at_ns, station});
}

/** Nothing leaves it any more. */
static inline void pace_station_is_empty(pace_station_ends *ends, pace_station *all, uint32_t station) {
    uint32_t i = all[station].place - 1;
    const pace_station_end last = ends->heap[--ends->count];
    all[station].place = 0;
    if (i < ends->count) pace_station_move(ends, all, i, last);
    else if (!ends->count) ends->heap[0].at_ns = INFINITY;
}
