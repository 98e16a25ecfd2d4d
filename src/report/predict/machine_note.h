/* Which machine an answer is of, and what was taken of its exchange, in words below its tables. */
#pragma once

#include "ask/predict/predict_fits.h"
#include "report/report_node.h"

/** Where its figures are from, and what it was taken for (pace_machine_asked()). */
void pace_put_machine_note(pace_node *root, const pace_machine *machine);

/** The second alone; nothing of a machine that was called by its own name. */
void pace_put_called_note(pace_node *root, const pace_machine *machine);

/** Says below an answer that pieces were taken as equal, of a collective whose pieces may differ in size: "alltoallv",
 * "all-to-all-v". Nothing of others, and of NULL. */
void pace_put_pieces_note(pace_node *root, const char *text);

/** Whose measured curves say what exchanges of a step take. Nothing without a fit of exchanges. */
void pace_put_curves_note(pace_node *root, const pace_predict_fits *fits);
