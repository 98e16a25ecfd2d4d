/* Which machine an answer is of, in words below its tables. */
#pragma once

#include "machine/machine.h"
#include "report/report_node.h"

/** Where its figures are from, and what it was taken for (pace_machine_asked()). */
void pace_put_machine_note(pace_node *root, const pace_machine *machine);

/** The second alone; nothing of a machine that was called by its own name. */
void pace_put_called_note(pace_node *root, const pace_machine *machine);
