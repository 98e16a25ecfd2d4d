/*
 * Messages to other hosts. Where MPI moves bytes by a protocol with a handshake, each message waits for the other host's
 * answer, which is late where other programs use its processors: over TCP Open MPI then uses half of a link. Such messages
 * are sent in parcels that MPI sends at once, where the network is so slow that the processor's time for them does not
 * count.
 */
#pragma once

#include "comm.h"

/** Sets comm->parcel_bytes: what the settings say, else what a short exchange between the first two hosts shows.
 * Collective. */
pace_status pace_parcels_choose(pace_comm *comm) PACE_MUST_CHECK;
