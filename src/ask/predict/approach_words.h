/* The words of --approach: ways to exchange gradients, each with what changes it. */
#pragma once

#include "base/texts.h"
#include "base/words.h"
#include "exchange/approaches.h"

typedef struct {
    PACE_VEC(pace_approach) items;
    pace_texts labels; /* as given */
} pace_approach_list;

/** Appends each of "NAME:KEY=NUMBER,NAME". Errors: those of pace_approach_parse(). */
pace_status pace_approach_list_read(pace_approach_list *out, const pace_approaches *table,
                                    const pace_words *words) PACE_MUST_CHECK;
pace_status pace_approach_list_add(pace_approach_list *out, const pace_approaches *table,
                                   const char *text) PACE_MUST_CHECK;
void pace_approach_list_free(pace_approach_list *list);
