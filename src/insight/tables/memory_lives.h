/* Which memory event gives back what which one took: allocations of a recording that names addresses. */
#pragma once

#include "step/step.h"

#define PACE_NO_EVENT UINT32_MAX

/** For each event of step->memory that took memory the one that gave it back, and the reverse; PACE_NO_EVENT = none, or
 * no address is recorded. Memory that is taken twice at one address was given back in between at the latest. Free with
 * pace_free(). */
pace_status pace_memory_lives(uint32_t **out, const pace_step *step) PACE_MUST_CHECK;

/** The innermost host task of an event's thread at its instant; PACE_NO_TASK = none. */
uint32_t pace_memory_task(const pace_step *step, const pace_memory_event *event);
/** The operator that asked for memory: the one around those that do nothing but take it; PACE_NO_TASK = none. */
uint32_t pace_memory_asker(const pace_step *step, const pace_memory_event *event);
