#include "base/status.h"

#include "base/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[2048];

const char *pace_message(void) { return message; }

const char *pace_version(void) { return PACE_VERSION; }

pace_status pace_fail(pace_status status, const char *format, ...) {
    char text[sizeof message]; /* an argument may be the old message */
    va_list arguments;
    va_start(arguments, format);
    pace_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(message, text, sizeof message);
    return status;
}

pace_status pace_fail_in(pace_status status, const char *prefix) {
    char text[sizeof message];
    memcpy(text, message, sizeof text);
    return pace_fail(status, "%s: %s", prefix, text);
}
