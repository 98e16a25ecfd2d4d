#include "base/estimate.h"

const char *const pace_rung_names[PACE_RUNGS] = {"measured", "calibrated", "learned", "formula", "roofline"};
