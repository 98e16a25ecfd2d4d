#include "forecast/remedy.h"

void pace_remedy_free(pace_remedy *remedy) { PACE_FREE(remedy->value, remedy->says, remedy->how); }
