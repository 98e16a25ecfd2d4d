/*
 * Members of objects that look alike, read faster: writers of traces put the same keys in the same order with the same white
 * space. A habit learns the bytes between two values (`,\n    "dur": `) and which of them follow which; where they are as
 * expected, comparing them replaces scanning. Anything else is read as pace_json_member() does: the answers are the same
 * (tests/unit/base/test_json_scan.c).
 */
#pragma once

#include "base/json_reader.h"

enum { PACE_JSON_LEAD_WORDS = 5, PACE_JSON_LEADS = 32 };

/* What stands between two values; in words of eight bytes, filled with zeros. */
typedef struct {
    uint64_t words[PACE_JSON_LEAD_WORDS], last_mask;
    uint8_t count, length; /* words, bytes */
    uint8_t meaning;       /* of the key, as the caller numbers it */
    uint8_t next[2];       /* leads that followed, the latest first; 0 = none */
} pace_json_lead;

/* Zero-initialise; one for each kind of object. Lead 0 is the beginning of an object, lead 1 anything unknown. */
typedef struct {
    pace_json_lead leads[PACE_JSON_LEADS];
    uint8_t learned, at;
} pace_json_habit;

/** What a key means to the caller, a number below 256. */
typedef uint8_t (*pace_json_meaning_fn)(const char *key, size_t length);

/** pace_json_member() of the open object, with the meaning of its key instead of the key. */
pace_json_token pace_json_habit_member(pace_json *json, pace_json_habit *habit, pace_json_meaning_fn meaning_of,
                                       uint8_t *meaning);
