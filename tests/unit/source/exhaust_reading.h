/* Lets allocations fail one after the other while a trace is read: each failure must be PACE_E_MEMORY, and nothing is
 * left behind. To be included after cmocka.h. */
#pragma once

#include "source/traces/trace_formats.h"

static inline void exhaust_reading(const char *path) {
    int64_t live = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n++) {
        pace_step_list steps;
        pace_read_notes notes;
        pace_memory_fail_at(n);
        status = pace_trace_read(&steps, path, &notes, (pace_progress){0});
        pace_memory_fail_at(0);
        if (status == PACE_OK) pace_step_list_free(&steps);
        else if (status != PACE_E_MEMORY) fail_msg("%s: allocation %d: %s", path, (int)n, pace_message());
        assert_true(pace_memory_live() == live);
        assert_true(n < 10000);
    }
}
