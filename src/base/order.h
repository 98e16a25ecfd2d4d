/*
 * Orders for qsort(), declared by their keys: the first key that differs decides; and the search in what is in order.
 *
 *     PACE_ORDER(by_time, pace_category_row, PACE_DOWN(time_ns) PACE_TEXT(name))
 */
#pragma once

#include <string.h>

/* Defines a static function `name` that compares two items of `type`. */
#define PACE_ORDER(name, type, keys)                       \
    static int name(const void *left, const void *right) { \
        const type *a = left, *b = right;                  \
        keys return 0;                                     \
    }

/* The same for an array of pointers to items. */
#define PACE_ORDER_AT(name, type, keys)                                               \
    static int name(const void *left, const void *right) {                            \
        const type *a = *(const type *const *)left, *b = *(const type *const *)right; \
        keys return 0;                                                                \
    }

/* The smaller number first. */
#define PACE_UP(member)                   \
    if (a->member < b->member) return -1; \
    if (a->member > b->member) return 1;
/* The larger number first. */
#define PACE_DOWN(member)                 \
    if (a->member > b->member) return -1; \
    if (a->member < b->member) return 1;
/* The item first for which a function or macro of it gives the smaller number, the larger one; `*` = it is one. */
#define PACE_UP_OF(number)                                        \
    {                                                             \
        const __typeof__(number(a)) x = number(a), y = number(b); \
        if (x < y) return -1;                                     \
        if (x > y) return 1;                                      \
    }
#define PACE_DOWN_OF(number)                                      \
    {                                                             \
        const __typeof__(number(a)) x = number(a), y = number(b); \
        if (x > y) return -1;                                     \
        if (x < y) return 1;                                      \
    }
/* Texts by their bytes. Names are interned: where many are sorted, most that are equal are one text. */
#define PACE_TEXT(member)                                                         \
    {                                                                             \
        const char *text = a->member, *other_text = b->member;                    \
        const int text_order = text == other_text ? 0 : strcmp(text, other_text); \
        if (text_order) return text_order;                                        \
    }
/* As another order decides. */
#define PACE_THEN(other)                     \
    {                                        \
        const int other_order = other(a, b); \
        if (other_order) return other_order; \
    }

/* Moves `low` up to the first place below `high` of which a condition about the place `at` does not hold, or to `high`.
 * It holds of all places before that one, and of none behind.
 *
 *     size_t first = 0;
 *     PACE_SEARCH(first, set->count, i, set->items[i].end_ns <= at_ns);
 */
#define PACE_SEARCH(low, high, at, holds)                          \
    do {                                                           \
        __typeof__(low) end_ = (high);                             \
        while ((low) < end_) {                                     \
            const __typeof__(low) at = (low) + (end_ - (low)) / 2; \
            if (holds) (low) = at + 1;                             \
            else end_ = at;                                        \
        }                                                          \
    } while (0)
