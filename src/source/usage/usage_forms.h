/* The two forms of records. Private to the reader of cluster records. */
#pragma once

#include "base/input.h"
#include "source/usage/usage_reading.h"
#include "source/usage/usage_held.h"

/* What is being read, and for whom. */
typedef struct {
    pace_usage_reading *reading;
    pace_input *input;
    pace_usage_binding binding;
    pace_usage_held held;
    pace_usage_take_fn take;
    void *context;
} pace_usage_stream;

/** A row's cells to whoever takes rows; refused ones are counted, those with dates of either order held back. */
pace_status pace_usage_deliver(pace_usage_stream *stream, const pace_usage_text *cells, uint64_t line) PACE_MUST_CHECK;
/** Delivers the rows that were held back. */
pace_status pace_usage_release(pace_usage_stream *stream) PACE_MUST_CHECK;
/** A row that is none. */
void pace_usage_refuse(pace_usage_stream *stream, uint64_t line, const char *why);
/** The input failed: PACE_OK for one that breaks off, which is noted. */
pace_status pace_usage_broke_off(pace_usage_stream *stream, pace_status status, uint64_t line);

pace_status pace_usage_read_lines(pace_usage_stream *stream) PACE_MUST_CHECK;
pace_status pace_usage_read_json(pace_usage_stream *stream) PACE_MUST_CHECK;
