/*
 * The work of a device, in order of start: what every figure is computed from. With a device these are its
 * kernels, copies and memsets; without one the host is the device and its operators, by self time, the kernels.
 */
#pragma once

#include "base/interval.h"
#include "insight/work_item.h"
#include "machine/device.h"
#include "machine/kernel_class.h"
#include "step/step.h"

/* What a rank did between two instants. */
typedef struct {
    int64_t span_ns, busy_ns, compute_ns, communication_ns, overlapped_ns, exposed_ns, idle_ns, memory_ns;
    int64_t first_ns, last_ns;
    size_t kernels;
} pace_window;

typedef struct {
    const pace_step *step;
    bool host_is_device;
    pace_work_items items;
    pace_intervals compute, communication, memory;
    pace_intervals calls; /* of a host that is the device; not busy */
    int64_t call_ns;      /* what such a host takes to call an operator that works; else 0 */
    pace_window window;   /* of the whole trace */
} pace_work;

/** `device` may be NULL (unknown). Stages must have been attributed (insight/steps/stages.h). */
pace_status pace_work_build(pace_work *out, const pace_step *step, const pace_kernel_classes *classes,
                            const pace_device *device) PACE_MUST_CHECK;
/** The work of one device of a trace of several. */
pace_status pace_work_build_device(pace_work *out, const pace_step *step, const pace_kernel_classes *classes,
                                   const pace_device *device, uint32_t device_id) PACE_MUST_CHECK;
void pace_work_free(pace_work *work);

/** How long the device is busy inside [start, end), with whatever. */
int64_t pace_work_busy_within(const pace_work *work, int64_t start_ns, int64_t end_ns);
/** Figures clipped to [start, end); kernels are those that start inside. */
pace_window pace_work_window(const pace_work *work, int64_t start_ns, int64_t end_ns);
