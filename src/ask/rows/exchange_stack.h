/*
 * What started the exchanges of a row, by its words: the version of NCCL, a framework, one process for all devices.
 */
#pragma once

#include "exchange/calibration.h"

/** Of a row, or of an option (`system` is then ""); `variant` as pace_exchange_row has it. */
pace_nccl_stack pace_exchange_stack_of(const char *system, const char *variant);

/** The version of NCCL that words name, as "2.7"; NULL: none. */
const char *pace_exchange_version_of(char out[8], const char *words);

/** Beside measured curves, which have the host in them: a guessed one counts for nothing. */
pace_nccl_stack pace_exchange_stack_beside_curves(pace_nccl_stack stack);

/** What started the exchanges of a question that measured curves answer: as `said`, else by the words of the first
 * curve of its system (NULL: the fit's only one). */
pace_nccl_stack pace_exchange_stack_of_curves(const pace_exchange_fit *fit, const char *system, pace_nccl_stack said);
