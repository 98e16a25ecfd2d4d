/* A model by whatever names it: the catalogue, a file that holds one, or a recording whose repeated layers it is. */
#pragma once

#include "model/model_read.h"
#include "machine/catalog.h"

/** Opens it: as pace_model_open(), and of a trace or an execution trace the layers that its forward pass repeats, as
 * they were run. Errors: those of reading; PACE_E_INPUT where no layers repeat, or ranks hold parts of them, with what
 * to ask instead. */
pace_status pace_found_model_open(pace_model *out, pace_catalog *catalog, const char *name,
                                  const pace_model_setting *settings, size_t setting_count) PACE_MUST_CHECK;
