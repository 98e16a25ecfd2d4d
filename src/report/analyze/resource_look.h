/* How resources look in pictures. Private to report/. */
#pragma once

#include "insight/matrix.h"
#include "report/report.h"

extern const pace_class pace_resource_colors[PACE_RESOURCES];
