#include "base/pattern.h"

pace_status pace_pattern_compile(regex_t *out, const char *what, const char *expression) {
    int error = regcomp(out, expression, REG_EXTENDED | REG_NOSUB);
    char text[256];
    if (!error) return PACE_OK;
    regerror(error, out, text, sizeof text);
    return pace_fail(PACE_E_USAGE, "%s '%s': %s", what, expression, text);
}

bool pace_pattern_fits(const regex_t *pattern, const char *text) { return regexec(pattern, text, 0, NULL, 0) == 0; }
