#include "base/texts.h"

#include <string.h>

pace_status pace_texts_add(pace_texts *texts, const char *text) {
    return pace_texts_take(texts, pace_copy_text(text, strlen(text)));
}

pace_status pace_texts_take(pace_texts *texts, char *text) {
    return text ? PACE_KEEP(texts, text, pace_free(text)) : PACE_E_MEMORY;
}

void pace_texts_free(pace_texts *texts) {
    for (size_t i = 0; i < texts->count; i++) pace_free(texts->items[i]);
    PACE_VEC_FREE(texts);
}

pace_status pace_text_append(pace_text *text, const void *bytes, size_t length) {
    PACE_TRY(pace_grow(&text->items, &text->capacity, text->count + length + 1, 1));
    if (length) memcpy(text->items + text->count, bytes, length);
    text->count += length;
    text->items[text->count] = '\0';
    return PACE_OK;
}
