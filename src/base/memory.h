/*
 * Allocation, in one place so that tests can make the N-th one fail (tests/fault). All of the library's heap
 * memory comes from here; every function reports failure as a status with a message.
 */
#pragma once

#include "base/status.h"

#include <stdarg.h>
#include <stdlib.h>

/** Zeroed array of `count` elements of `size` bytes, or NULL with the message set. Free with pace_free(). */
void *pace_alloc(size_t count, size_t size) PACE_MUST_CHECK;

/** Elements of an array, which must not have become a pointer. */
#define PACE_COUNT(array) (sizeof(array) / sizeof *(array))

/** Points `pointer` to a zeroed array of `count` of what it points to; false when memory ran out. Of several in one
 * condition those behind the first failure are left as they are: zeroed structures can be freed then. */
#define PACE_MAKE(pointer, count) (((pointer) = pace_alloc((count), sizeof *(pointer))) != NULL)

/** Resizes to `count` × `size` bytes (new bytes are not zeroed); NULL with the message set leaves the old block. */
void *pace_resize(void *block, size_t count, size_t size) PACE_MUST_CHECK;

/** Copy of `length` bytes with a NUL behind, or NULL with the message set. */
char *pace_copy_text(const char *text, size_t length) PACE_MUST_CHECK;

/** A text as long as it comes, or NULL with the message set. */
char *pace_format_text(const char *format, va_list arguments) PACE_MUST_CHECK;

void pace_free(void *block);

/* `what` is done to each of at most 12 arguments. */
#define PACE_EACH_1(what, a) what(a)
#define PACE_EACH_2(what, a, ...) what(a), PACE_EACH_1(what, __VA_ARGS__)
#define PACE_EACH_3(what, a, ...) what(a), PACE_EACH_2(what, __VA_ARGS__)
#define PACE_EACH_4(what, a, ...) what(a), PACE_EACH_3(what, __VA_ARGS__)
#define PACE_EACH_5(what, a, ...) what(a), PACE_EACH_4(what, __VA_ARGS__)
#define PACE_EACH_6(what, a, ...) what(a), PACE_EACH_5(what, __VA_ARGS__)
#define PACE_EACH_7(what, a, ...) what(a), PACE_EACH_6(what, __VA_ARGS__)
#define PACE_EACH_8(what, a, ...) what(a), PACE_EACH_7(what, __VA_ARGS__)
#define PACE_EACH_9(what, a, ...) what(a), PACE_EACH_8(what, __VA_ARGS__)
#define PACE_EACH_10(what, a, ...) what(a), PACE_EACH_9(what, __VA_ARGS__)
#define PACE_EACH_11(what, a, ...) what(a), PACE_EACH_10(what, __VA_ARGS__)
#define PACE_EACH_12(what, a, ...) what(a), PACE_EACH_11(what, __VA_ARGS__)
#define PACE_EACH_OF(a, b, c, d, e, f, g, h, i, j, k, l, chosen, ...) chosen
#define PACE_EACH(what, ...)                                                                                    \
    (PACE_EACH_OF(__VA_ARGS__, PACE_EACH_12, PACE_EACH_11, PACE_EACH_10, PACE_EACH_9, PACE_EACH_8, PACE_EACH_7, \
                  PACE_EACH_6, PACE_EACH_5, PACE_EACH_4, PACE_EACH_3, PACE_EACH_2, PACE_EACH_1, )(what, __VA_ARGS__))

/** Frees several blocks. */
#define PACE_FREE(...) PACE_EACH(pace_free, __VA_ARGS__)

/** The slots of a cache that `count` things may ask: a power of two of at least `count`, from 16 to `most`, which is
 * one. A small input then does not pay for a large cache. */
size_t pace_slots_for(size_t count, size_t most);

/** Grows the array `*data` of `size`-byte elements so that `need` of them fit (doubling). */
pace_status pace_grow(void *data, size_t *capacity, size_t need, size_t size) PACE_MUST_CHECK;

/** A growable array of T: PACE_VEC(int) numbers; zero-initialise; push with PACE_PUSH; free with PACE_VEC_FREE. */
#define PACE_VEC(T)             \
    struct {                    \
        T *items;               \
        size_t count, capacity; \
    }

/** A loop over an array that does not grow meanwhile: PACE_ITEMS (const row, one, &rows) sum += one->ns; */
#define PACE_ITEMS(type, name, vec) for (type *name = (vec)->items; name && name < (vec)->items + (vec)->count; name++)

/** Appends `value`; evaluates to a pace_status. */
#define PACE_PUSH(vec, value)                                                                        \
    (((vec)->count < (vec)->capacity ||                                                              \
      pace_grow(&(vec)->items, &(vec)->capacity, (vec)->count + 1, sizeof *(vec)->items) == PACE_OK) \
         ? ((vec)->items[(vec)->count++] = (value), PACE_OK)                                         \
         : PACE_E_MEMORY)

/** Appends a `value` that owns memory, which `release` frees when there is no room; evaluates to a pace_status. */
#define PACE_KEEP(vec, value, release) (PACE_PUSH(vec, value) == PACE_OK ? PACE_OK : ((void)(release), PACE_E_MEMORY))

/** Frees arrays, which are empty then. */
#define PACE_VEC_FREE(...) PACE_EACH(PACE_VEC_FREE_ONE, __VA_ARGS__)
#define PACE_VEC_FREE_ONE(vec) (pace_free((vec)->items), (vec)->items = NULL, (vec)->count = (vec)->capacity = 0)
/** The same of an array whose items own memory, which `release(&item)` frees. */
#define PACE_VEC_FREE_EACH(vec, release)                                                     \
    do {                                                                                     \
        for (size_t each_ = 0; each_ < (vec)->count; each_++) release(&(vec)->items[each_]); \
        PACE_VEC_FREE(vec);                                                                  \
    } while (0)

/** Sorts an array by an order (base/order.h). */
#define PACE_SORT(vec, order)                                                               \
    do {                                                                                    \
        if ((vec)->count) qsort((vec)->items, (vec)->count, sizeof *(vec)->items, (order)); \
    } while (0)

/** The number of a word in a list; -1 = it is not there, or NULL. */
int pace_word_number(const char *const *words, size_t count, const char *word);

/** The first of `count` rows whose text `member` is `name`; NULL = there is none, or no name. */
#define PACE_FIND(rows, count, member, name) \
    pace_row_named((rows), (count), sizeof *(rows), (count) ? (size_t)((const char *)&(rows)->member - (const char *)(rows)) : 0, \
                   _Generic(&(rows)->member, char **: false, const char **: false, const char *const *: false, default: true), (name))
void *pace_row_named(const void *rows, size_t count, size_t size, size_t at, bool within, const char *name);

/** How many allocations have failed so far on this thread, and on those that worked for it in pace_for_each(). A caller
 * that goes on after a failure, as past a row that cannot be answered, compares two counts to learn whether memory was
 * the reason. */
uint64_t pace_memory_failures(void);

/** Adds failures of threads that worked for this one. */
void pace_memory_add_failures(uint64_t count);

/** Tests only: the N-th allocation from now fails (1 = the next), and every one after it; 0 = never. */
void pace_memory_fail_at(uint64_t n);

/** Tests only: blocks alive now. */
int64_t pace_memory_live(void);
