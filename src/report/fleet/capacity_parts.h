/* The parts of a report about capacity. Private to report/. */
#pragma once

#include "fleet/capacity.h"
#include "report/report.h"

void pace_put_capacity_charts(pace_node *root, const pace_cluster *cluster, const pace_capacity *capacity);
