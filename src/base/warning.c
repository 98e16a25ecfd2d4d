#include "base/warning.h"

#include <stdarg.h>
#include <string.h>

const pace_warning_kind pace_warning_kinds[PACE_WARNING_CODES] = {
#define PACE_WARNING_ROW(id, code, strict, means) {code, means, strict},
    PACE_WARNING_LIST(PACE_WARNING_ROW)
#undef PACE_WARNING_ROW
};

const pace_warning_kind *pace_warning_kind_at(size_t index) {
    return index < PACE_WARNING_CODES ? &pace_warning_kinds[index] : NULL;
}

static void free_one(pace_held_warning *one) { PACE_FREE(one->text, one->place); }

pace_status pace_warn_take(pace_warnings *to, pace_warning_code code, const char *place, char *text) {
    pace_held_warning one = {code, text, place ? pace_copy_text(place, strlen(place)) : NULL};
    if (text && (one.place || !place)) return PACE_KEEP(to, one, free_one(&one));
    free_one(&one);
    return PACE_E_MEMORY;
}

pace_status pace_warn(pace_warnings *to, pace_warning_code code, const char *place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pace_format_text(format, arguments);
    va_end(arguments);
    return pace_warn_take(to, code, place, text);
}

bool pace_warnings_hold(const pace_warnings *list, const pace_held_warning *one) {
    PACE_ITEMS (const pace_held_warning, other, list) {
        bool same_place =
            one->place && other->place ? strcmp(one->place, other->place) == 0 : one->place == other->place;
        if (one->code == other->code && same_place && strcmp(one->text, other->text) == 0) return true;
    }
    return false;
}

pace_status pace_warnings_add(pace_warnings *to, const pace_warnings *from) {
    PACE_ITEMS (const pace_held_warning, one, from)
        if (!pace_warnings_hold(to, one)) PACE_TRY(pace_warn(to, one->code, one->place, "%s", one->text));
    return PACE_OK;
}

void pace_warnings_free(pace_warnings *warnings) { PACE_VEC_FREE_EACH(warnings, free_one); }
