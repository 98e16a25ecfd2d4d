/*
 * A host that issues work and a device that does it, as two clocks. Whatever is issued in order advances both by a
 * max-plus map of three figures, and such maps compose exactly: what a host loses within a pass is not lost in a sum.
 */
#pragma once

#include <math.h>

/* Where the host is when the device could begin: ahead, so that the device alone counts, or only beginning with it. */
typedef enum { PACE_HOST_AHEAD, PACE_HOST_BESIDE, PACE_HOSTS } pace_host_state;

/* Of work issued in order. From host at H and device at D: the host ends at H + host_s, the device at
 * max(D + device_s, H + idle_s). */
typedef struct {
    double host_s, device_s;
    double idle_s; /* until the device, which had nothing to do when the host began, has done all */
} pace_clocks;

static inline pace_clocks pace_clocks_then(pace_clocks first, pace_clocks next) {
    return (pace_clocks){first.host_s + next.host_s, first.device_s + next.device_s,
                         fmax(first.idle_s + next.device_s, first.host_s + next.idle_s)};
}

/* Work between whose operators others are issued: as much is lost where host and device take turns. */
static inline pace_clocks pace_clocks_with(pace_clocks work, double host_s, double device_s) {
    pace_clocks all = {work.host_s + host_s, work.device_s + device_s, 0};
    all.idle_s = fmax(all.host_s, all.device_s) + work.idle_s - fmax(work.host_s, work.device_s);
    return all;
}

/* So many times the same; of a part of a time, as much is lost at its ends. */
static inline pace_clocks pace_clocks_times(pace_clocks one, double times) {
    double longer_s = fmax(one.host_s, one.device_s);
    return (pace_clocks){times * one.host_s, times * one.device_s, one.idle_s + (times - 1) * longer_s};
}
