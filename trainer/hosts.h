/* Several hosts on one: network namespaces joined by links of a set rate, which trainer/paceline-hosts.sh makes and
 * removes. */
#pragma once

#include "base/status.h"

enum { PACE_HOSTS_PATH = 2048, PACE_HOSTS_RATE = 24 };

/* The words that run a command on such hosts: the script, how many, and the rate in bytes/s. They stand before the
 * command. */
typedef struct {
    char script[PACE_HOSTS_PATH], count[12], rate[PACE_HOSTS_RATE];
} pace_hosts;

/** Whether a text is the rate of a link, such as 1Gb/s. PACE_E_USAGE. */
pace_status pace_hosts_check_rate(const char *text) PACE_MUST_CHECK;

/** PACE_E_MISSING where the script is not installed. */
pace_status pace_hosts_word(pace_hosts *out, int count, const char *rate) PACE_MUST_CHECK;
