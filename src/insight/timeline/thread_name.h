/* What to call a host thread: "Main thread 123", "Backward thread 456", "Thread 789". */
#pragma once

#include "step/step.h"

enum { PACE_THREAD_NAME = 160 };

/** Who runs the steps, and who runs backward operators beside, is known by what they do. */
void pace_thread_name(char out[PACE_THREAD_NAME], const pace_step *step, const pace_lane *lane);
