/* Whether a step fits into its device's memory, and what would make it fit. */
#pragma once

#include "ask/step_ask.h"

enum { PACE_REMEDY_TEXT = 160 };

/* A case that does not fit. All is borrowed. */
typedef struct {
    const pace_step_case *asked;
    pace_step_pricer *pricer;
    const pace_machine *machine; /* whose devices it may take; NULL = those it has */
    bool spread_tables;          /* tables of a recommender lie on all ranks */
    const char *option;          /* what stands before a setting: "--set ", or "" in a table */
} pace_memory_asked;

/** The settings, as "--set micro_batch=8 --set recompute=full", nearest to the ones asked for with which the closed form says that the
 * step fits: the other recomputation, smaller micro-batches, then ranks that the machine still has. Empty: none found. */
pace_status pace_step_remedy(char out[PACE_REMEDY_TEXT], const pace_memory_asked *memory) PACE_MUST_CHECK;

/** The same as a sentence: "It would fit with micro_batch=8.", or how many such devices parameters alone fill. */
pace_status pace_step_advise(char *out, size_t size, const pace_memory_asked *memory,
                             const pace_step_plan *plan) PACE_MUST_CHECK;
