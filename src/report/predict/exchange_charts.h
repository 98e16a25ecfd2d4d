/* The curves of an exchange: time and bus bandwidth against size. */
#pragma once

#include "ask/predict/exchange_curves.h"
#include "report/report.h"

/** Both charts, for a page; nothing of fewer than two sizes. */
void pace_put_exchange_charts(pace_node *root, const pace_exchange_curves *curves);
