/*
 * Messages to other hosts. Over TCP, Open MPI uses half of a link that carries messages both ways where the hosts'
 * processors are busy, but nearly all of it for messages that it sends without a handshake (docs/collective.md has the
 * figures). Large messages are therefore sent in parcels of that size, where the network is so slow that the
 * processor's time for them does not count.
 */
#pragma once

#include "comm_state.h"

/** Sets comm->parcel_bytes: what the settings say, else what a short exchange between the first two hosts shows.
 * Collective. */
pace_status pace_parcels_choose(pace_comm *comm) PACE_MUST_CHECK;
