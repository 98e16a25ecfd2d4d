/*
 * Members of objects that look alike, read faster: writers of traces put the same keys in the same order with the same
 * white space. A habit learns the bytes between two values (`,\n    "dur": `) and which of them follow which; where
 * they are as expected, comparing them replaces scanning. Anything else is read as pace_json_member() does: the answers
 * are the same (tests/unit/base/test_json_scan.c).
 */
#pragma once

#include "base/json_reader.h"

enum { PACE_JSON_LEAD_BYTES = 48, PACE_JSON_LEADS = 32 };

/* What stands between two values. */
typedef struct {
    char bytes[PACE_JSON_LEAD_BYTES];
    uint32_t length;
    uint8_t meaning; /* of the key, as the caller numbers it */
    uint8_t next[2]; /* leads that followed, the latest first; 0 = none */
    uint8_t unused[9];
} pace_json_lead;

/* Zero-initialise; one for each kind of object. Lead 0 is the beginning of an object, lead 1 anything unknown. */
typedef struct {
    pace_json_lead leads[PACE_JSON_LEADS];
    uint8_t learned, at;
} pace_json_habit;

enum { PACE_JSON_RUN = 16 };

/** What a key means to the caller, a number below 256. */
typedef uint8_t (*pace_json_meaning_fn)(const char *key, size_t length);

/** The next members of the open object, as long as they are numbers and strings without escapes and come as expected;
 * those that mean 0 are passed over. Returns how many it gives: 0 when the next member is another, or there is none.
 * Valid until anything else is read; the last token is none of them. */
size_t pace_json_habit_run(pace_json *json, pace_json_habit *habit, pace_json_value run[PACE_JSON_RUN]);

/** pace_json_member() of the open object, with the meaning of its key instead of the key. */
pace_json_token pace_json_habit_member(pace_json *json, pace_json_habit *habit, pace_json_meaning_fn meaning_of,
                                       uint8_t *meaning);
