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
    uint32_t first, count;                 /* in flows: a heap, that which ends next first */
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

/** `links` of the fabric, or kinds of them; all flows need rates where others' traffic is on the same links. */
pace_status pace_stations_init(pace_stations *stations, const pace_flow_state *state, const pace_flow_routes *routes,
                               const double *bytes_per_s, uint32_t links) PACE_MUST_CHECK;
void pace_stations_free(pace_stations *stations);

/** A lane's message begins; the lane has none under way. `limit` is the same for all of a station that several lanes
 * share. */
void pace_station_begin(pace_stations *stations, uint32_t slot, uint32_t lane, double bytes, double limit_bytes_per_s,
                        double now_ns);

/** Takes out a flow that ends until then; false where none does. The others go on as fast as before. */
bool pace_station_end(uint32_t *lane, pace_stations *stations, uint32_t station, double now_ns, double until_ns);

/** When the next of its flows ends, as many as they are now; INFINITY = none. */
double pace_station_next(pace_stations *stations, uint32_t station);
