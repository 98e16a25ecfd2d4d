/*
 * Tokens on their way to experts on several nodes. Where a router keeps each token to a few nodes, a token crosses to
 * each of them once, to the rank in the same place there, which hands it on to its experts' ranks (DeepSeek-V3
 * technical report, arXiv 2412.19437, sections 2.1.2 and 3.2.2). Both ways overlap: the slower one is what the exchange
 * takes.
 */
#pragma once

#include "exchange/exchange.h"

typedef struct {
    double nodes;  /* that a token goes to, at most; 0 = each copy goes by itself, to any */
    double copies; /* of a token: one for each of its experts */
} pace_token_routes;

/** Nodes of `nodes` that a token reaches in the mean when its experts lie anywhere, but on no more than its router
 * allows. */
double pace_token_nodes(const pace_token_routes *routes, double nodes);

/** An all-to-all of tokens in a group at a place. `question` is of the place, with the bytes of one group. Errors:
 * those of pace_exchange_time(). */
pace_status pace_token_exchange_time(pace_estimate *out_s, const pace_exchange *exchange,
                                     const pace_exchange_question *question, const pace_group_place *place,
                                     const pace_token_routes *routes) PACE_MUST_CHECK;
