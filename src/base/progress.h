/* Who is told how far a long run has come. */
#pragma once

#include "paceline/paceline.h"

typedef struct {
    pace_progress_fn tell; /* NULL: nobody */
    void *context;
} pace_progress;

static inline void pace_progress_tell(pace_progress to, const char *what, uint64_t done, uint64_t total) {
    if (to.tell) to.tell(to.context, what, done, total);
}
