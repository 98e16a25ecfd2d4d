/* A device by the name that somebody typed: every word must be used, and only one device may be meant. */
#pragma once

#include "machine/device.h"

/** The device that is meant: the one of that name; the one whose `match` phrase it is ("a100"); or the only one that
 * all of its words describe ("v100 32gb"; words of names and phrases, the vendor, the memory's size). NULL without an
 * error: no device has all of the words. PACE_E_USAGE lists those that it fits where they are several. */
pace_status pace_device_named(const pace_device **out, const pace_device_catalog *catalog, const char *text,
                              double memory_bytes) PACE_MUST_CHECK;
