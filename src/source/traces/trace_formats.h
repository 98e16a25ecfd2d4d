/*
 * The formats of files that hold a step, or a model, one row each: how a file tells its format, and what reads it.
 * To add a format, write its reader and its row (trace_formats.c).
 */
#pragma once

#include "source/pipelines/pipeline_rows.h"
#include "step/graph.h"

typedef enum {
    PACE_HOLDS_STEP,     /* a measured step: a profiler's trace */
    PACE_HOLDS_TIMELINE, /* when a job's ranks did what, in passes and exchanges: no kernels, nothing of a host */
    PACE_HOLDS_GRAPH,    /* a step without times */
    PACE_HOLDS_MODEL,    /* a description in YAML: pace_model_open() reads it */
} pace_holding;

typedef struct {
    const char *name;
    pace_holding holds;
    const char *suffixes; /* of such files in a directory, each between spaces: " .et .et.gz "; NULL = not looked for */
    const char *members;  /* JSON: each between spaces, one of which stands among the first members; NULL = not JSON */
    bool (*begins)(const char *path, const unsigned char *bytes, size_t length); /* told by its first bytes; or NULL */
    pace_status (*read_step)(pace_step *out, const char *path, pace_read_notes *notes, pace_progress progress);
    /* of files that may hold several ranks, each of which is a step; or none */
    pace_status (*read_ranks)(pace_step_list *out, const char *path, pace_read_notes *notes, pace_progress progress);
    pace_status (*read_graph)(pace_graph *out, pace_read_notes *notes, pace_input *input);
} pace_trace_format;

/** All formats. The first is taken where a file tells none: its reader says what is wrong. */
extern const pace_trace_format pace_trace_formats[];
extern const size_t pace_trace_format_count;

/** The format of a file or of standard input, from its first bytes and members. PACE_E_IO when it cannot be opened. */
pace_status pace_trace_format_of(const pace_trace_format **out, const char *path) PACE_MUST_CHECK;
/** The same where the file itself tells; NULL = it does not. PACE_E_INPUT for a format of another program. */
pace_status pace_trace_format_surely(const pace_trace_format **out, const char *path) PACE_MUST_CHECK;
/** The same among other formats than pace_trace_formats. */
pace_status pace_trace_format_among(const pace_trace_format **out, const char *path, const pace_trace_format *formats,
                                    size_t count) PACE_MUST_CHECK;

/** The patterns of names that pace_is_trace_name() accepts, for messages. */
void pace_trace_patterns(char *out, size_t size);

/** Reads a file that holds a step without times. PACE_E_INPUT for another. Free with pace_graph_free(). */
pace_status pace_graph_read(pace_graph *out, pace_read_notes *notes, const pace_trace_format *format,
                            const char *path) PACE_MUST_CHECK;

/** Reads what holds measured steps, most often one rank's trace: by its first bytes, else by the first format, "-" too.
 * Free each with pace_step_free(), all with pace_step_list_free(). */
pace_status pace_trace_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                            pace_progress progress) PACE_MUST_CHECK;
