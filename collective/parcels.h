/*
 * The network between hosts, as a communicator meets it. Where MPI moves bytes by a protocol with a handshake, two ranks
 * that send to each other may wait for each other's handshakes behind each other's data: over TCP Open MPI then
 * uses half of a link. Messages between hosts are therefore sent in parcels that MPI sends at once, where the network is so
 * slow that the processor's time for them does not count.
 */
#pragma once

#include "comm.h"

/** Sets comm->parcel_bytes: what the settings say, else what a short exchange between the first two hosts shows.
 * Collective. */
pace_status pace_parcels_choose(pace_comm *comm) PACE_MUST_CHECK;
