/* What questions are asked of: opened once, shared by threads. Private to the library; callers see a pace_context. */
#pragma once

#include "machine/catalog.h"

struct pace_context {
    pace_catalog *catalog;
};
