/*
 * Arguments of events that are kept as text: shapes, types, how a kernel was launched. They repeat from step to step,
 * so each text, and each list of texts, is understood once: an array that is the same, byte for byte, as one of the
 * same kind of event before is neither scanned nor copied again. Private to source/.
 */
#pragma once

#include "base/intern.h"
#include "base/json_reader.h"
#include "base/texts.h"

/* An array as it is written. */
typedef struct {
    uint32_t key;
    pace_name text;
    uint32_t length; /* 0 = none */
    char bytes[116];
} pace_known_array;

/* Zero-initialise. */
typedef struct {
    pace_names texts;           /* compact JSON */
    pace_names lists;           /* the names of the parts of a joined text */
    PACE_VEC(pace_name) joined; /* by list: its text among the names it was joined for */
    pace_text scratch;
    pace_known_array *known;
    uint32_t sets, turn; /* of `known` */
} pace_kineto_texts;

void pace_kineto_texts_free(pace_kineto_texts *texts);

/** Reads the array or scalar that `token` begins: arrays without white space, objects as null. `about` tells events
 * apart that are likely to hold other texts. Returns what pace_json_leave() would; never 0 for *out. */
pace_json_token pace_kineto_text_read(pace_name *out, pace_kineto_texts *texts, pace_json *json, pace_json_token token,
                                      uint32_t about, pace_status *status);

/** The same of a number or string. */
pace_status pace_kineto_text_add(pace_name *out, pace_kineto_texts *texts,
                                 const pace_json_value *value) PACE_MUST_CHECK;

/** The length of a text; 0 = an absent one. */
size_t pace_kineto_text_length(const pace_kineto_texts *texts, pace_name text);

/** The texts, a line each, as one of `names`: the same ones in every call. */
pace_status pace_kineto_texts_join(pace_name *out, pace_kineto_texts *texts, const pace_name *parts, size_t count,
                                   pace_names *names) PACE_MUST_CHECK;
