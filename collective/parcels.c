#include "parcels.h"

/* A parcel is smaller than what Open MPI (64 KiB over TCP) and MPICH (over 64 KiB) send without a handshake. */
enum { TRIED_BYTES = 48 << 10, TRIES = 8, PARCEL_BYTES = 48 << 10, WHOLE = 1 << 30 };

/* Above this rate, which TCP does not reach, parcels would cost more than handshakes. */
static const double slow_bytes_per_s = 3e9;

/* Bytes a second between the leaders of the first two hosts, the best of some tries; 0 where MPI failed. */
static double rate_to_neighbour(const pace_comm *c, char *room) {
    double best = 0;
    int host = c->first_of_host[c->rank], other = 1 - host;
    for (int i = 0; i < TRIES; i++) {
        double start = PMPI_Wtime();
        if (PMPI_Sendrecv_replace(room, TRIED_BYTES, MPI_BYTE, other, 0, other, 0, c->leaders, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return 0;
        double rate = TRIED_BYTES / (PMPI_Wtime() - start + 1e-9);
        if (rate > best) best = rate;
    }
    return best;
}

pace_status pace_parcels_choose(pace_comm *c) {
    double rate = 0;
    c->parcel_bytes = c->settings.parcel_bytes;
    if (c->parcel_bytes || c->hosts == 1) return PACE_OK;
    if (c->me == 0 && c->first_of_host[c->rank] < 2) {
        char *room = pace_alloc(TRIED_BYTES, 1);
        if (room) rate = rate_to_neighbour(c, room);
        pace_free(room);
    }
    if (PMPI_Bcast(&rate, 1, MPI_DOUBLE, 0, c->over) != MPI_SUCCESS)
        return pace_fail(PACE_E_IO, "MPI failed to hand out the rate of the network");
    c->parcel_bytes = rate < slow_bytes_per_s ? PARCEL_BYTES : WHOLE;
    return PACE_OK;
}
