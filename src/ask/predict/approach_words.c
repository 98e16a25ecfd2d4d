#include "ask/predict/approach_words.h"

#include <string.h>

pace_status pace_approach_list_add(pace_approach_list *out, const pace_approaches *table, const char *text) {
    pace_approach approach;
    PACE_TRY(pace_approach_parse(&approach, table, text));
    PACE_TRY(PACE_PUSH(&out->items, approach));
    return pace_texts_add(&out->labels, text);
}

static pace_status add_words(pace_approach_list *out, const pace_approaches *table, char *words) {
    char *rest = NULL;
    if (!*words) return pace_approach_list_add(out, table, words); /* which says what there is */
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        PACE_TRY(pace_approach_list_add(out, table, word));
    return PACE_OK;
}

pace_status pace_approach_list_read(pace_approach_list *out, const pace_approaches *table, const pace_words *given) {
    for (size_t i = 0; i < given->count; i++) {
        char *words = pace_copy_text(given->items[i], strlen(given->items[i]));
        pace_status status = words ? add_words(out, table, words) : PACE_E_MEMORY;
        pace_free(words);
        if (status != PACE_OK) return status;
    }
    return PACE_OK;
}

void pace_approach_list_free(pace_approach_list *list) {
    pace_texts_free(&list->labels);
    PACE_VEC_FREE(&list->items);
}
