#include "exchange/token_routes.h"

#include <math.h>

double pace_token_nodes(const pace_token_routes *routes, double nodes) {
    double met = nodes * (1 - pow(1 - 1 / nodes, routes->copies));
    return fmin(met, routes->nodes);
}

pace_status pace_token_exchange_time(pace_estimate *out_s, const pace_exchange *exchange,
                                     const pace_exchange_question *question, const pace_group_place *place,
                                     const pace_token_routes *routes) {
    pace_exchange_question plain = *question, near = *question, far = *question;
    const pace_machine *machine = &exchange->machine;
    plain.bytes *= place->crowding;
    if (!(routes->nodes > 0) || place->nodes < 2) return pace_exchange_time(out_s, exchange, &plain);
    pace_group_place apart; /* the ranks in the same place of each node */
    pace_estimate near_s = {0};
    PACE_TRY(pace_group_place_find(&apart, machine, 0, place->nodes, machine->devices));
    far.bytes *= pace_token_nodes(routes, place->nodes) / routes->copies * apart.crowding;
    far.ranks_per_node = 1;
    near.nodes = 1;
    PACE_TRY(pace_exchange_time(out_s, exchange, &far));
    if (place->ranks_per_node > 1) PACE_TRY(pace_exchange_time(&near_s, exchange, &near));
    if (near_s.median > out_s->median) *out_s = near_s;
    return PACE_OK;
}
