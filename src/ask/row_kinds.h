/* The list of row kinds. */
#ifndef PACE_ASK_ROW_KINDS_H
#define PACE_ASK_ROW_KINDS_H

#include "ask/row_kind.h"

extern const pace_row_kinds pace_all_row_kinds;

#endif
