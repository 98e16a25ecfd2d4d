/* The parts of a report about capacity. Private to report/. */
#ifndef PACE_REPORT_CAPACITY_PARTS_H
#define PACE_REPORT_CAPACITY_PARTS_H

#include "fleet/capacity.h"
#include "report/report.h"

void pace_put_capacity_charts(pace_node *root, const pace_cluster *cluster, const pace_capacity *capacity);

#endif
