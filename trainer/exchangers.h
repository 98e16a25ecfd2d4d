/* The approaches that can exchange gradients for real: which module has which, and what it needs. */
#pragma once

#include "base/status.h"
#include "gradient_exchange.h"

#include "paceline/paceline.h"

/* An exchange of gradients while it is open; `kind` NULL: there is none, as on one rank. */
typedef struct {
    const pace_exchanger *kind;
    void *state;
    pace_train_tensor *tensors; /* that it is about; its own */
} pace_exchange;

/** Finds the module of an approach and opens it. Collective. Errors: PACE_E_USAGE for an approach that is not known or
 * not carried out here (the message lists those that are), PACE_E_MISSING when its module or library is not here (the
 * package is named), PACE_E_IO when another rank or a server does not answer. `folder` NULL: where modules lie. */
pace_status pace_exchange_begin(pace_exchange *out, const char *approach, const pace_exchanger_setup *setup,
                                const char *folder) PACE_MUST_CHECK;
pace_status pace_exchange_ready(pace_exchange *exchange, size_t tensor) PACE_MUST_CHECK;
pace_status pace_exchange_finish(pace_exchange *exchange) PACE_MUST_CHECK;
/** Whether an approach is known, and has the options that the question says. PACE_E_USAGE with those that have. */
pace_status pace_exchange_check(const char *approach, const pace_question *question) PACE_MUST_CHECK;
/** Approaches that can be carried out, were their libraries here: the i-th; NULL behind the last. Static. */
const char *pace_exchange_name(size_t i);
/** The algorithm of the all-reduces that an approach exchanges all gradients by, "" where its library chooses; NULL
 * where it exchanges otherwise. */
const char *pace_exchange_reduction(const char *approach);
/** Whether fresh weights come with finish(). */
bool pace_exchange_updates(const pace_exchange *exchange);
/** Since it was opened. */
pace_exchanger_counts pace_exchange_counts(const pace_exchange *exchange);
void pace_exchange_close(pace_exchange *exchange);
