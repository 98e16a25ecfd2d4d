#include "plan/step_offload.h"

#include "model/emit.h"
#include "plan/step_host.h"

/* To the host, and back. */
static pace_status copy_s(double *out_s, int way, double bytes, const pace_step_place *place) {
    static const char *const ways[2] = {"d2h_pinned", "h2d_pinned"};
    pace_op op = pace_emit_transfer(ways[way], bytes);
    pace_estimate price_s;
    *out_s = 0;
    if (!(bytes > 0)) return PACE_OK;
    PACE_TRY(pace_price_cached(&price_s, place->prices, place->cost, place->device, &op, PACE_SUSTAINED));
    *out_s = price_s.median;
    return PACE_OK;
}

pace_status pace_offload_update_s(double *out_s, const pace_config *config, double parameters,
                                  const pace_step_place *place) {
    double update_ns = pace_step_host_update_ns(config, place->exchange, pace_cost_doubts(place->cost));
    double bytes = parameters * pace_config_parameter_bytes(config), way_s[2];
    for (int way = 0; way < 2; way++) PACE_TRY(copy_s(&way_s[way], way, bytes, place));
    *out_s = parameters * update_ns / 1e9 + way_s[0] + way_s[1];
    return PACE_OK;
}

pace_status pace_offload_copies_s(double out_s[2][PACE_SLOT_PARTS], const pace_step_slots *slots,
                                  const pace_step_place *place) {
    for (unsigned i = 0; i < slots->count; i++)
        for (int way = 0; way < 2 && slots->parts[i].part.place == PACE_PART_LAYER; way++)
            PACE_TRY(copy_s(&out_s[way][i], way, slots->parts[i].kept_bytes, place));
    return PACE_OK;
}
