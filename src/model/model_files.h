/* The descriptions of models in catalog/models/, and how their names are compared. */
#pragma once

#include "machine/catalog.h"

/** Whether two names are one however written: letters and digits count, whatever the case, and points between digits,
 * up to a parenthesis. "GPT3-13B (ours)" is gpt3_13b, but not gpt3_1.3b. */
bool pace_model_same_name(const char *a, const char *b);

/** What counts of a name, in small letters: "GPT3-13B (ours)" is "gpt313b". Cut to `size` with its end. */
void pace_model_plain_name(char *out, size_t size, const char *name);

/** Calls `visit` with the document and the name of every model of the catalogue until it fails or says stop. */
typedef pace_status (*pace_description_visit)(void *context, const pace_yaml *yaml, const char *name, bool *stop);
pace_status pace_model_each_description(pace_catalog *catalog, pace_description_visit visit,
                                        void *context) PACE_MUST_CHECK;
