/*
 * What measured curves say of one way to do a collective, an algorithm and a protocol of NCCL's: curves that were
 * measured with it forced; else those of the library's own choice, whose sizes that went this way say how far the model
 * of the way is off. docs/tune.md has the equations.
 */
#pragma once

#include "exchange/calibration.h"

/* One way: numbers of NCCL's algorithms and protocols. */
typedef struct {
    int algorithm, protocol;
    int channels; /* PACE_ANY = as many as the library takes */
    bool exact;   /* this very size was measured with the way forced */
} pace_measured_way;

/* Behind the number of channels that the library was told to use, as a word of a curve's variant. */
#define PACE_CHANNELS_WORD " channels"

/** The curves that name no algorithm, no protocol and no number of channels: what the library does by itself. Free with
 * pace_exchange_fit_free(). */
pace_status pace_exchange_fit_own(pace_exchange_fit *out, const pace_exchange_fit *fit) PACE_MUST_CHECK;

/** How far the model may be off between two ways, one of them not measured, where `waiting` is the share of the time in
 * which no byte moves; `used` (may be NULL) receives its parts. */
double pace_way_doubt(pace_doubts_used *used, const pace_doubts *doubts, double waiting);

/** The time of a way on exactly these ranks, of curves of the question's system and collective; of several numbers of
 * channels that were measured the fastest, which `way` receives. `q` has a model; where
 * that is not of NCCL, only curves that name both tell. PACE_E_MISSING when no measured size does. */
pace_status pace_measured_way_time(pace_estimate *out_s, const pace_exchange_fit *fit, const pace_fit_question *q,
                                   pace_measured_way *way) PACE_MUST_CHECK;

/** The time by an algorithm that is named, of curves that name it too, on exactly these ranks. PACE_E_MISSING without
 * one. */
pace_status pace_named_algorithm_time(pace_estimate *out_s, const pace_exchange_fit *fit, const pace_fit_question *q,
                                      const char *algorithm) PACE_MUST_CHECK;

/** Whether a curve names this algorithm. */
bool pace_fit_names_algorithm(const pace_exchange_fit *fit, const char *algorithm);

/** Whether this very size was measured of the library's own choice. */
bool pace_own_size_measured(const pace_exchange_fit *fit, const pace_fit_question *q);
