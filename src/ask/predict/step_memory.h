/* Whether a step fits into its device's memory, and what would make it fit. */
#pragma once

#include "ask/predict/step_ask.h"

enum { PACE_REMEDY_TEXT = 240 };

/* A case that does not fit. All is borrowed. */
typedef struct {
    const pace_step_case *asked;
    pace_step_pricer *pricer;
    const pace_machine *machine; /* whose devices it may take; NULL = those it has */
    bool fills_machine;          /* dp was not given: it is what tp, pp and cp leave of the devices */
    bool zero_said;              /* the stage of ZeRO: it must have replicas to divide among */
    bool spread_tables;          /* tables of a recommender lie on all ranks */
    bool whole;                  /* every rank holds the whole model: no ZeRO, no other way to share it */
    const char *option;          /* what stands before a setting: "--set ", or "" in a table */
    const char *batch_option;    /* before a micro-batch, "--batch "; NULL = option and "micro_batch=" */
    double batch_times;          /* what that option counts of a micro-batch; 0 = 1 */
} pace_memory_asked;

/** Of the step that options ask about. */
pace_memory_asked pace_memory_asked_of(pace_step_asked *step);

/** What makes the step fit, by the closed form. One change alone where one does: "--set micro_batch=8, --set
 * recompute=full or --set zero_stage=1", the nearest of each; else the nearest change of several: recomputation with
 * smaller micro-batches, ZeRO, then ranks that the machine still has. Empty: none found. */
pace_status pace_step_remedy(char out[PACE_REMEDY_TEXT], const pace_memory_asked *memory) PACE_MUST_CHECK;

/** The same as a sentence: "It would fit with micro_batch=8.", or how many such devices parameters alone fill. */
pace_status pace_step_advise(char *out, size_t size, const pace_memory_asked *memory,
                             const pace_step_plan *plan) PACE_MUST_CHECK;
