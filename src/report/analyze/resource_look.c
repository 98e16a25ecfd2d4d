#include "report/analyze/analyze_parts.h"

const pace_class pace_resource_colors[PACE_RESOURCES] = {PACE_CLASS_COMPUTE,       PACE_CLASS_MEMORY, PACE_CLASS_COPY,
                                                         PACE_CLASS_COMMUNICATION, PACE_CLASS_HOST,   PACE_CLASS_WAIT,
                                                         PACE_CLASS_INPUT,         PACE_CLASS_IDLE};
