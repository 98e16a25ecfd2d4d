#include "ask/step_rows/step_row_worded.h"
#include "base/print.h"
#include "base/text.h"
#include "machine/place.h"

#include <string.h>

const pace_step_worded *pace_step_worded_find(pace_step_things *things, const char *text) {
    if (!pace_place_has_figures(text)) return NULL;
    for (size_t i = 0; i < things->worded.count; i++)
        if (strcmp(things->worded.items[i]->text, text) == 0) return things->worded.items[i];
    pace_step_worded *made = pace_alloc(1, sizeof *made);
    if (!made || !(made->text = pace_copy_text(text, strlen(text))) || PACE_PUSH(&things->worded, made) != PACE_OK) {
        if (made) pace_free(made->text);
        pace_free(made);
        return NULL;
    }
    if (pace_place_asked(&made->device, &made->machine, &made->joined, &things->devices, text) != PACE_OK) {
        made->device = NULL;
        pace_snprintf(made->refused, sizeof made->refused, "%.155s", pace_message_in_answer());
    }
    return made;
}

void pace_step_worded_free(pace_step_things *things) {
    for (size_t i = 0; i < things->worded.count; i++) {
        pace_step_worded *one = things->worded.items[i];
        PACE_FREE(one->text, one);
    }
    PACE_VEC_FREE(&things->worded);
}
