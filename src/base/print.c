#include "base/print.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

locale_t pace_c_locale(void) {
    static _Atomic(locale_t) kept;
    locale_t plain = atomic_load_explicit(&kept, memory_order_acquire), none = (locale_t)0;
    if (plain) return plain;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (atomic_compare_exchange_strong(&kept, &none, plain)) return plain;
    freelocale(plain); /* another thread was first */
    return none;
}

int pace_vsnprintf(char *out, size_t size, const char *format, va_list arguments) {
    locale_t before = uselocale(pace_c_locale());
    int length = vsnprintf(out, size, format, arguments);
    uselocale(before);
    return length;
}

int pace_snprintf(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = pace_vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return length;
}

/* What does not fit is seen to be cut. */
static void append(char *out, size_t size, const char *format, va_list arguments) {
    static const char cut[] = "...";
    size_t used = strlen(out);
    int length = pace_vsnprintf(out + used, size - used, format, arguments);
    if (length > 0 && used + (size_t)length >= size && size > sizeof cut)
        memcpy(out + size - sizeof cut, cut, sizeof cut);
}

void pace_append(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(out, size, format, arguments);
    va_end(arguments);
}

void pace_list(char *out, size_t size, const char *separator, const char *format, ...) {
    if (*out) pace_append(out, size, "%s", separator);
    va_list arguments;
    va_start(arguments, format);
    append(out, size, format, arguments);
    va_end(arguments);
}

void pace_print_figure(char out[32], double value, int digits) {
    char plain[28];
    pace_snprintf(plain, sizeof plain, "%.*g", digits, value);
    size_t mantissa = strcspn(plain, "e.");
    bool bare = plain[mantissa] == 'e';
    pace_snprintf(out, 32, "%.*s%s%s", (int)mantissa, plain, bare ? ".0" : "", plain + mantissa);
}
