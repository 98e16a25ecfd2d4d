/* What names say about stages, and which may mark steps: catalog/stages.yaml. */
#pragma once

#include "machine/catalog.h"
#include "step/step.h"

typedef struct pace_stage_words pace_stage_words;

/** Errors: PACE_E_INPUT with file:line:column for a malformed rule. */
pace_status pace_stage_words_load(pace_stage_words **out, pace_catalog *catalog) PACE_MUST_CHECK;
void pace_stage_words_free(pace_stage_words *words);

/** The stage a name says, or PACE_STAGE_NONE; `annotation` = the user or a framework named the range. */
uint8_t pace_stage_word(const pace_stage_words *words, const char *name, bool annotation);

/** Whether a name has a word of steps ("train_step 3"), or one of parts of steps ("layer 3"). */
bool pace_word_of_step(const pace_stage_words *words, const char *name);
bool pace_word_of_part(const pace_stage_words *words, const char *name);

/** Whether a framework writes the name once an iteration. */
bool pace_word_once_a_step(const pace_stage_words *words, const char *name);
