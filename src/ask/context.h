/* What questions are asked of: opened once, shared by threads. Private to the library; callers see a pace_context. */
#ifndef PACE_ASK_CONTEXT_H
#define PACE_ASK_CONTEXT_H

#include "machine/catalog.h"

struct pace_context {
    pace_catalog *catalog;
};

#endif
