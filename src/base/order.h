/*
 * Orders for qsort(), declared by their keys: the first key that differs decides.
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

/* The smaller number first. */
#define PACE_UP(member)                   \
    if (a->member < b->member) return -1; \
    if (a->member > b->member) return 1;
/* The larger number first. */
#define PACE_DOWN(member)                 \
    if (a->member > b->member) return -1; \
    if (a->member < b->member) return 1;
/* Texts by their bytes. */
#define PACE_TEXT(member)                                    \
    {                                                        \
        const int text_order = strcmp(a->member, b->member); \
        if (text_order) return text_order;                   \
    }
/* As another order decides. */
#define PACE_THEN(other)                     \
    {                                        \
        const int other_order = other(a, b); \
        if (other_order) return other_order; \
    }
