/* Whose measured curves answer for a machine: a fit names systems as logs do. */
#pragma once

#include "exchange/calibration.h"

/** Whether a name, as rows and logs have it, is known to be such a machine. */
bool pace_system_is_machine(const char *system, pace_catalog *catalog, const pace_machine *machine);

/** The system of the fit (borrowed from it) that is `machine`: the one of its name; else one that a log's name says is
 * such a machine; else, where `else_only`, the only one, if nobody knows what machine it is. PACE_E_USAGE: none is, and
 * the message names what the fit has. */
pace_status pace_fit_system_of(const char **out, const pace_exchange_fit *fit, pace_catalog *catalog,
                               const pace_machine *machine, bool else_only) PACE_MUST_CHECK;
