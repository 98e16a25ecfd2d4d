/*
 * What started the exchanges of a row, by its words: the version of NCCL, a framework, one process for all devices.
 */
#pragma once

#include "exchange/nccl.h"

/** Of a row, or of an option (`system` is then ""); `variant` as pace_exchange_row has it. */
pace_nccl_stack pace_exchange_stack_of(const char *system, const char *variant);

/** Beside measured curves, which have the host in them: a guessed one counts for nothing. */
pace_nccl_stack pace_exchange_stack_beside_curves(pace_nccl_stack stack);
