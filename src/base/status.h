/*
 * Failure: one enum, one thread-local message. The function that finds a fault writes the message with
 * pace_fail(); every caller above it only forwards the status (PACE_TRY).
 */
#pragma once

#include "base/print.h"
#include "paceline/paceline.h"

#if defined(__GNUC__)
#define PACE_MUST_CHECK __attribute__((warn_unused_result))
#define PACE_LIKELY(x) __builtin_expect(!!(x), 1)
#define PACE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define PACE_MUST_CHECK
#define PACE_LIKELY(x) (x)
#define PACE_UNLIKELY(x) (x)
#endif

/** Stands before the name of a field within a message: "expected a machine: " PACE_FIELD "on". pace_message() leaves it
 * out, pace_message_as_options() makes an option of the name. A message that is about one field begins with the plain
 * name and a colon. */
#define PACE_FIELD "\x1f"

/** This thread's message with the marks. */
const char *pace_message_marked(void);

/** This thread's message as an answer holds it, with the marked names as options ("--on"); good until the next call. */
const char *pace_message_in_answer(void);

/** Sets this thread's message and returns `status`, so that `return pace_fail(…)` is one line. */
pace_status pace_fail(pace_status status, const char *format, ...) PACE_PRINTF(2, 3);

/** Puts "prefix: " in front of this thread's message; returns `status`. For the one caller that knows the file. */
pace_status pace_fail_in(pace_status status, const char *prefix);

/** Forwards a failure. */
#define PACE_TRY(expression)                                                     \
    do {                                                                         \
        pace_status pace_try_status_ = (expression);                             \
        if (PACE_UNLIKELY(pace_try_status_ != PACE_OK)) return pace_try_status_; \
    } while (0)

/** Refuses NULL where a caller of a public function owes a pointer. */
#define PACE_GIVEN(pointer) \
    PACE_TRY((pointer) ? PACE_OK : pace_fail(PACE_E_USAGE, "expected a pointer as %s, found NULL", #pointer))

/** How a function ends that made something: it is the caller's on success, else `release` frees it. The status. */
#define PACE_GIVE(out, made, status, release) \
    ((status) == PACE_OK ? (*(out) = (made), PACE_OK) : ((void)(release), (status)))

/** Forwards a failure through a cleanup label: `status` must be the local the label returns. */
#define PACE_TRY_GOTO(expression, label)                  \
    do {                                                  \
        status = (expression);                            \
        if (PACE_UNLIKELY(status != PACE_OK)) goto label; \
    } while (0)
