/* The graphs that inputs hold: of a model, of execution traces, or of the steps that traces recorded. */
#pragma once

#include "base/warning.h"
#include "ask/engine_options.h"
#include "machine/catalog.h"
#include "step/graph.h"

typedef struct {
    char *name;     /* of the input */
    uint64_t bytes; /* of it; 0 = it is no file */
    pace_graph graph;
} pace_graph_input;

typedef struct {
    PACE_VEC(pace_graph_input) items; /* one per rank */
    size_t steps;                     /* of a recording, in the graph of its first rank; 0 = none, or not known */
    pace_warnings warnings;
} pace_graph_inputs;

/** Reads the inputs: one model (a name of catalog/models or a file; `set` has its settings), or traces of one or more
 * ranks (files, directories, globs, "-"). Launches of recorded steps have their measured durations, others none.
 * Errors: those of pace_step_model_open(), pace_analysis_load() and pace_graph_read(); PACE_E_USAGE for settings of a
 * trace. */
pace_status pace_graph_inputs_read(pace_graph_inputs *out, const char *const *inputs, size_t count,
                                   const pace_convert_options *options) PACE_MUST_CHECK;
void pace_graph_inputs_free(pace_graph_inputs *inputs);
