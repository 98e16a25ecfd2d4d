#include "forecast/remedy_hints.h"
#include "base/pattern.h"

/* What stands behind half of the resource's time or more, or most of the waits. */
enum { MOST_NAMES = 6 };

static size_t list_names(const char *names[MOST_NAMES], const pace_lead *behind) {
    const pace_culprit *c = &behind->culprit;
    size_t count = 0;
    if (c->share >= 0.5 && c->name && !c->before) names[count++] = c->name;
    if (c->share >= 0.5 && c->around && !c->before) names[count++] = c->around;
    if (c->within_share >= 0.5 && c->within) names[count++] = c->within;
    if (behind->reason == PACE_HOST_WAITS && behind->waits_in) names[count++] = behind->waits_in;
    if (behind->reason == PACE_HOST_LAUNCHES_BLOCK) names[count++] = pace_host_reason_names[behind->reason];
    if (behind->meanwhile.share >= 0.5) names[count++] = behind->meanwhile.name;
    return count;
}

static pace_status fits(bool *out, const pace_remedy_hint *hint, const char *const *names, size_t count) {
    regex_t pattern;
    *out = false;
    PACE_TRY(pace_pattern_compile(&pattern, "names:", hint->names));
    for (size_t i = 0; i < count && !*out; i++) *out = pace_pattern_fits(&pattern, names[i]);
    regfree(&pattern);
    return PACE_OK;
}

pace_status pace_hint_find(const pace_remedy_hint **out, const pace_remedy_catalog *catalog, const pace_lead *behind) {
    const char *names[MOST_NAMES];
    size_t count = list_names(names, behind);
    *out = NULL;
    for (size_t i = 0; i < catalog->hints.count && !*out; i++) {
        const pace_remedy_hint *hint = &catalog->hints.items[i];
        bool is_it;
        double stretch = behind->culprit.longest_share;
        if (hint->resource != behind->resource || (hint->of_long_steps && !behind->of_long_steps)) continue;
        if (stretch < hint->least_stretch || stretch > hint->most_stretch) continue;
        PACE_TRY(fits(&is_it, hint, names, count));
        if (is_it) *out = hint;
    }
    return PACE_OK;
}
