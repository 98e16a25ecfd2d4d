/* Which layers have experts, as Megatron's --moe-layer-freq says it: "[0]*3+[1]*58", "[0,1]*12", a number. */
#pragma once

#include <stdbool.h>

typedef struct {
    int dense; /* layers that stand first and have none */
    int every; /* behind them each so many-th has some: 1 = all */
} pace_layer_pattern;

/** Sums and multiples of lists of 0 and 1, in parentheses or not. False for what is none, for more than 1,000 layers,
 * and for an order that these two numbers do not tell. */
bool pace_layer_pattern_read(pace_layer_pattern *out, const char *text);
