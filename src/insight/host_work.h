/*
 * The work of a host that is the device: its operators, by self time, and what of it is the host's own
 * (step/host_operators.h). An operator that works pays for its call first; all else that operators take is calls.
 */
#pragma once

#include "insight/work_item.h"
#include "machine/kernel_class.h"
#include "step/step.h"

/** Adds the items of all host threads, without order; *call_ns is what calling an operator takes. `classes` tells
 * exchanges and compiled code by their names. */
pace_status pace_host_work_add(pace_work_items *items, int64_t *call_ns, const pace_step *step,
                               const pace_kernel_classes *classes) PACE_MUST_CHECK;
