/* An event of a trace written again, some of its values replaced, everything else byte for byte. */
#pragma once

#include "base/json_writer.h"

enum { PACE_EVENT_KEY = 64 };

typedef struct {
    const char *member;   /* of the event: "name", "args" */
    const char *argument; /* of its args; "" outside of them */
    const char *text;     /* as written, without quotes; not terminated */
    size_t length;
    bool string;    /* in quotes; else a number or a word */
    unsigned depth; /* 1 = a member's own value, 2 = an argument's own; deeper inside of lists and objects */
} pace_event_value;

/* Writes another value, quotes and all, in place of the one it is given, and returns true; or leaves it. */
typedef bool (*pace_event_value_fn)(void *context, pace_sink *sink, const pace_event_value *value);

/** `bytes` is an event that a reader has been through: its brackets balance and its texts end. */
void pace_event_rewrite(pace_sink *sink, const char *bytes, size_t length, pace_event_value_fn replace, void *context);
