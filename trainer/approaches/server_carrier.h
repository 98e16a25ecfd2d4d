/* What a server's program moves tensors with. */
#pragma once

#include "carrier.h"

/** NULL without a carrier: messages hold the numbers. False: it cannot be used here. */
bool pace_server_carrier(const pace_carrier **out);
