#include "base/words.h"
#include "base/print.h"

#include <string.h>

const char *pace_word_at(const pace_word_list *list, size_t index) {
    const char *word;
    if (index >= list->count) return NULL;
    memcpy(&word, (const char *)list->first + index * list->stride, sizeof word);
    return word;
}

pace_status pace_word_fail(const char *what, const pace_word_list *list, const char *others, const char *text) {
    char all[512] = "";
    for (size_t i = 0; i < list->count; i++)
        pace_list(all, sizeof all, i + 1 < list->count || *others ? ", " : " or ", "%s", pace_word_at(list, i));
    return pace_fail(PACE_E_USAGE, "%s: expected %s%s, found \"%.80s\"", what, all, others, text);
}

pace_status pace_word_read(int *out, const char *what, const pace_word_list *list, const char *text) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(pace_word_at(list, i), text) == 0) {
            *out = (int)i;
            return PACE_OK;
        }
    return pace_word_fail(what, list, "", text);
}
