#include "server_carrier.h"
#include "ucx_carrier.h"

#include <stdio.h>

bool pace_server_carrier(const pace_carrier **out) {
    static pace_carrier carrier;
    char reason[128];
    pace_ucx *ucx = pace_ucx_open(NULL, 0, reason);
    if (!ucx) return fprintf(stderr, "paceline-train-server-ucx: UCX: %s\n", reason), false;
    carrier = pace_ucx_carrier_of(ucx);
    return *out = &carrier, true;
}
