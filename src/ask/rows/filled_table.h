/* A table with what its rows do not say, as a caption above it would: "precision=bf16". */
#pragma once

#include "ask/engine_options.h"
#include "base/csv.h"

/** Gives the file `path` to `read` with a column for each "COLUMN=VALUE" of `set`: a cell that the table leaves empty
 * in its own column of that meaning (catalog/columns.yaml, the section `kind`) has the value, and so has each row where
 * no column means that. Errors: PACE_E_USAGE for what is no "COLUMN=VALUE", for a column that is set twice, and for one
 * of whose cells none is empty; those of pace_csv_open() and of `read`. */
pace_status pace_filled_table_read(const char *path, pace_catalog *catalog, const char *kind, const pace_words *set,
                                   pace_status (*read)(void *context, pace_input *input),
                                   void *context) PACE_MUST_CHECK;

/** PACE_E_USAGE naming the first column of `set` that nothing was read from; `looked`: by column of the table. */
pace_status pace_filled_table_check(const pace_csv *csv, const bool *looked, const pace_words *set) PACE_MUST_CHECK;
