/* A Kineto trace event by event, with each event's bytes as the file has them: for what copies traces. Memory does not
 * grow with the trace, except by its distinct names. */
#pragma once

#include "source/traces/kineto_event.h"
#include "source/traces/trace_formats.h"

typedef struct {
    /* An event, and its bytes from '{' to '}'. All is borrowed until the next event. */
    pace_status (*event)(void *context, const pace_kineto_event *event, const char *bytes, size_t length);
    /* A member beside the events, its value as written; NULL = not wanted. */
    pace_status (*member)(void *context, const char *key, const char *bytes, size_t length);
    void *context;
    pace_names *names; /* the events' names */
    pace_progress progress;
} pace_event_visitor;

/** Reads a trace. One that breaks off behind its first event is read as far as it goes: notes->warning says where.
 * PACE_E_INPUT for what is no Kineto trace; PACE_E_IO; what a visitor's function returned. */
pace_status pace_trace_events_read(pace_read_notes *notes, const char *path,
                                   const pace_event_visitor *visitor) PACE_MUST_CHECK;
