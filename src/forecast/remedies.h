/*
 * What would help, tried: the remedies of the catalogue whose resource matters are walked, as predict walks the same
 * what-if, and those that save enough are kept, best first.
 */
#pragma once

#include "forecast/remedy.h"

/* Why nothing was tried. */
typedef enum {
    PACE_REMEDIES_TRIED,
    PACE_REMEDIES_NO_EVIDENCE, /* what would help is unknown (insight/evidence.h) */
    PACE_REMEDIES_TOO_LARGE,   /* one step has more tasks than the catalogue allows */
    PACE_REMEDIES_REPLAY_OFF,  /* the walked step differs too much from the measured one */
    PACE_REMEDIES_NO_REPLAY,   /* the steps cannot be walked */
    PACE_REMEDIES_OUTCOMES
} pace_remedies_outcome;

extern const char *const pace_remedies_outcome_names[PACE_REMEDIES_OUTCOMES];

typedef struct {
    pace_remedies_outcome outcome;
    char *why;   /* that nothing was tried; NULL = the outcome says it */
    char *steps; /* the numbers of those that were walked, "3:5"; NULL = all */
    double measured_s, replayed_s;
    size_t tried, refused; /* refused: the device or the trace has no use for it */
    double threshold;
    pace_remedy_hint hint;       /* what to do about what leads the report, untried; id NULL = nothing */
    pace_remedy_hint beside;     /* where nothing particular can be done about that: what to do about the dearest other
                                    resource; id NULL = nothing, or it costs less than a tenth or twice what a remedy
                                    saves, or a remedy acts on it */
    double beside_share;         /* of the step that would be saved without it */
    PACE_VEC(pace_remedy) items; /* best first */
} pace_remedies;

/** The remedy to try first: of those that act on what leads the report the best one, else the best of all; NULL = there
 * is none. *on_lead tells which. */
const pace_remedy *pace_remedies_first(bool *on_lead, const pace_remedies *remedies, const pace_lead *lead);

/** Whether first uses take most of what was recorded: then other steps are to be recorded before anything else. */
bool pace_remedies_want_later_steps(const pace_remedies *remedies);

/** Tries what may help the step that a path was found for; the names in it are the analysis'. Errors: those of reading
 * the catalogue, and of memory; a remedy that cannot be tried is counted as refused. */
pace_status pace_remedies_try(pace_remedies *out, const pace_analysis *analysis, const pace_critical *critical,
                              const pace_rank *rank) PACE_MUST_CHECK;
void pace_remedies_free(pace_remedies *remedies);
