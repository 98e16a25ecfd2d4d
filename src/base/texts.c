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
