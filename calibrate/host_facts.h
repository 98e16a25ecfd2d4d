/* The processor this runs on. */
#pragma once

#include "backend.h"

/** Name, caches, memory. Fields that cannot be found stay 0 or "". */
void pace_host_facts(pace_device_facts *facts);

/** Cores this process may run on. */
int pace_host_cores(void);
