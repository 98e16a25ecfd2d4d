/* Lists of texts that are owned, and a text that grows. */
#pragma once

#include "base/memory.h"

typedef PACE_VEC(char *) pace_texts;
typedef PACE_VEC(char) pace_text;

/** Appends bytes and keeps a NUL behind them. */
pace_status pace_text_append(pace_text *text, const void *bytes, size_t length) PACE_MUST_CHECK;

/** Appends a copy. */
pace_status pace_texts_add(pace_texts *texts, const char *text) PACE_MUST_CHECK;

/** Appends a text that it takes over, whatever comes of it. PACE_E_MEMORY for NULL, which is a text that there was no
 * memory for. */
pace_status pace_texts_take(pace_texts *texts, char *text) PACE_MUST_CHECK;

void pace_texts_free(pace_texts *texts);
