/* Messages over TCP inside a host: what software alone takes for them. */
#pragma once

#include "backend.h"

typedef struct pace_message_probe pace_message_probe;

/** A connection to a thread that answers each message of `bytes` bytes by one byte. NULL with the message set. */
pace_message_probe *pace_message_probe_make(size_t bytes, char *message);
void pace_message_probe_free(pace_message_probe *probe);

/** Sends so many and waits for each answer; wall-clock seconds. A pace_time_runs_fn. */
pace_probe_status pace_message_probe_time(double *seconds, void *probe, unsigned runs, char *message);
