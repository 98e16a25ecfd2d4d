#include "insight/advice.h"

const char *const pace_advice_names[PACE_ADVICES] = {"compute", "memory", "copy",    "network",
                                                     "host",    "input",  "balance", "gap"};
