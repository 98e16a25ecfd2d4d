#include "base/pieces.h"
#include "base/decimal.h"
#include "base/text.h"

#include <string.h>

bool pace_piece_cut(pace_piece *out, const char **text, const char *stop, const char *ends) {
    const char *at = *text;
    if (at >= stop) return false;
    const char *end = at;
    while (end < stop && !strchr(ends, *end)) end++;
    *text = end < stop ? end + 1 : stop;
    while (at < end && pace_is_space(*at)) at++;
    while (end > at && pace_is_space(end[-1])) end--;
    *out = (pace_piece){at, (size_t)(end - at)};
    return true;
}

bool pace_piece_bytes(uint64_t *out, pace_piece p) {
    double value;
    const char *end = pace_decimal_read(&value, p.at, p.at + p.length);
    if (!end || value < 0) return false;
    const char *units = "KMG", *unit = end < p.at + p.length ? strchr(units, *end) : NULL;
    if (unit && *end) end++;
    for (int i = 0; unit && i <= unit - units; i++) value *= 1024;
    if (end != p.at + p.length || value > 1e18) return false;
    *out = (uint64_t)value;
    return true;
}
