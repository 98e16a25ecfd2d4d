/* Formatted text with a point in its numbers, whatever locale the program has set. */
#pragma once

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

#if defined(__GNUC__)
#define PACE_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define PACE_PRINTF(text, first)
#endif

/** snprintf() and vsnprintf() in the "C" locale. The thread's locale is the caller's again when they return. */
int pace_snprintf(char *out, size_t size, const char *format, ...) PACE_PRINTF(3, 4);
int pace_vsnprintf(char *out, size_t size, const char *format, va_list arguments);

/** Puts formatted text behind the text in `out`, of `size` bytes in all. What does not fit is cut. */
void pace_append(char *out, size_t size, const char *format, ...) PACE_PRINTF(3, 4);
/** The same of an item of a list: behind `separator`, unless it is the first. */
void pace_list(char *out, size_t size, const char *separator, const char *format, ...) PACE_PRINTF(4, 5);

/** The "C" locale; borrowed. */
locale_t pace_c_locale(void);

/** A number with so many significant digits as every reader of YAML takes it for one: YAML 1.1 wants a point before an
 * exponent ("5.0e-10"; PyYAML reads 5e-10 as text). */
void pace_print_figure(char out[32], double value, int digits);
