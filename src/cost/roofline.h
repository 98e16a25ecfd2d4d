/* The lowest rung: the time a device needs at its peaks (roofline; Williams et al., CACM 2009). */
#pragma once

#include "machine/device.h"
#include "step/op_shapes.h"

/** The peak matrix rate for elements of so many bytes, flop/s; 0 = unknown. Trainers use TF32 where it exists. */
double pace_device_peak(const pace_device *device, int element_bytes);

/** max(flop / peak, bytes / bandwidth), seconds; 0 when the device's figures are unknown. */
double pace_roofline_s(const pace_device *device, const pace_op_amount *amount);

/* Less than the following nothing takes, by any library and whatever caches hold: `clock` is how far a device's goes
 * beyond that of its rates. 0 = no such bound is known. */

/** Of a product or convolution: at the rate of the fastest units for operands as wide, none for double precision, which
 * libraries emulate, nor for CPUs; a filter of r x s saves no more than the factor r s (Winograd 1980, minimal
 * filtering). */
double pace_roofline_least_flop_s(const pace_device *device, const pace_op *op, double clock);
/** Of any operation: that, or its bytes less twice what fits into the L2 (read there, and never written back) at the
 * memory's rate. NVIDIA's devices alone: others have caches behind it that the catalogue does not know. */
double pace_roofline_least_s(const pace_device *device, const pace_op *op, double clock);
