#include "base/status.h"

#include <stdarg.h>
#include <string.h>

static _Thread_local char marked[2048]; /* with PACE_FIELD before names of fields */
static _Thread_local char message[sizeof marked];

const char *pace_message(void) { return message; }

const char *pace_message_marked(void) { return marked; }

const char *pace_message_in_answer(void) {
    static _Thread_local char said[sizeof marked];
    size_t used = 0;
    bool name = false;
    for (const char *c = marked; *c && used + 2 < sizeof said; c++) {
        bool begins = *c == *PACE_FIELD;
        name = begins || (name && ((*c >= 'a' && *c <= 'z') || *c == '_'));
        if (begins) said[used++] = '-';
        said[used++] = begins || (name && *c == '_') ? '-' : *c;
    }
    said[used] = '\0';
    return said;
}

const char *pace_version(void) { return PACE_VERSION; }

static void keep(const char *text) {
    size_t used = 0;
    memcpy(marked, text, sizeof marked);
    for (const char *c = text; *c; c++)
        if (*c != *PACE_FIELD) message[used++] = *c;
    message[used] = '\0';
}

pace_status pace_fail(pace_status status, const char *format, ...) {
    char text[sizeof marked]; /* an argument may be the old message */
    va_list arguments;
    va_start(arguments, format);
    pace_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep(text);
    return status;
}

pace_status pace_fail_in(pace_status status, const char *prefix) {
    char text[sizeof marked];
    memcpy(text, marked, sizeof text);
    return pace_fail(status, "%s: %s", prefix, text);
}
