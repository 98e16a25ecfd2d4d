/* Formats the rate of a resource. */
#pragma once

#include "fleet/job_catalog.h"

typedef struct {
    char text[48];
} pace_rate_text;

/** "100 Gb/s" of a network, "16 TFLOP/s" of computation, "50 GB/s" elsewhere; at most three decimals. */
pace_rate_text pace_show_resource_rate(pace_job_resource resource, double rate);
