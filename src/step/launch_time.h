/* How soon the device begins what was launched while it stood still. */
#pragma once

/* A launch reaches an idle device within so much after its call returned; where the device stands still for longer, the
 * trace does not say why, and nothing that is done about the host is known to shorten it. */
enum { PACE_LAUNCH_REACHES_NS = 20000 };
