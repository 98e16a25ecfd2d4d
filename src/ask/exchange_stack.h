/*
 * What started the exchanges of a row, by its words: the version of NCCL, a framework, one process for all devices.
 */
#pragma once

#include "exchange/nccl.h"

/** `variant` as pace_exchange_row has it. */
pace_nccl_stack pace_exchange_stack_of(const char *system, const char *variant);
