/* The list of row kinds. */
#pragma once

#include "ask/rows/row_kind.h"

extern const pace_row_kinds pace_all_row_kinds;
