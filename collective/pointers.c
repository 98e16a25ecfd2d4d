#include "pointers.h"

#include "base/memory.h"

#include <string.h>

/* Ranges do not overlap and are in order. Of host memory a range is what was asked about: no more is known. */
typedef struct {
    uintptr_t from, to;
    bool on_device;
} range;

enum { MOST_RANGES = 4096 };

struct pace_pointers {
    pace_device device;
    bool remembers;
    PACE_VEC(range) ranges;
    size_t last; /* that was found: mostly the next one too */
    uint64_t queries, remembered;
};

pace_status pace_pointers_open(pace_pointers **out, const pace_device *device, bool remember) {
    pace_pointers *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    p->device = *device;
    p->remembers = remember;
    *out = p;
    return PACE_OK;
}

void pace_pointers_close(pace_pointers *p) {
    if (!p) return;
    PACE_VEC_FREE(&p->ranges);
    pace_free(p);
}

/* The first range that ends behind an address. */
static size_t first_behind(const pace_pointers *p, uintptr_t at) {
    size_t low = 0, high = p->ranges.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->ranges.items[middle].to > at) high = middle;
        else low = middle + 1;
    }
    return low;
}

static void remove_overlaps(pace_pointers *p, uintptr_t from, uintptr_t to) {
    size_t first = first_behind(p, from), behind = first;
    while (behind < p->ranges.count && p->ranges.items[behind].from < to) behind++;
    memmove(&p->ranges.items[first], &p->ranges.items[behind], (p->ranges.count - behind) * sizeof(range));
    p->ranges.count -= behind - first;
}

static pace_status remember(pace_pointers *p, range r) {
    if (p->ranges.count == MOST_RANGES) p->ranges.count = 0;
    if (p->ranges.count) remove_overlaps(p, r.from, r.to);
    size_t at = first_behind(p, r.from);
    PACE_TRY(PACE_PUSH(&p->ranges, r));
    memmove(&p->ranges.items[at + 1], &p->ranges.items[at], (p->ranges.count - 1 - at) * sizeof(range));
    p->ranges.items[at] = r;
    p->last = at;
    return PACE_OK;
}

static const range *known(pace_pointers *p, uintptr_t from, uintptr_t to) {
    if (p->last >= p->ranges.count || from < p->ranges.items[p->last].from || from >= p->ranges.items[p->last].to)
        p->last = first_behind(p, from);
    if (p->last == p->ranges.count) return NULL;
    const range *r = &p->ranges.items[p->last];
    return from >= r->from && (to <= r->to || r->on_device) ? r : NULL;
}

static pace_status ask(range *out, pace_pointers *p, uintptr_t from, uintptr_t to) {
    const void *base = NULL;
    size_t bytes = 0;
    p->queries++;
    int found = p->device.find(p->device.context, (const void *)from, &base, &bytes);
    if (found < 0) return pace_fail(PACE_E_IO, "%s cannot say whose address %p is", p->device.name, (void *)from);
    *out = found ? (range){(uintptr_t)base, (uintptr_t)base + bytes, true} : (range){from, to, false};
    return p->remembers ? remember(p, *out) : PACE_OK;
}

pace_status pace_pointers_find(bool *on_device, pace_pointers *p, const void *at, size_t bytes) {
    uintptr_t from = (uintptr_t)at, to = from + bytes;
    const range *r = p->remembers ? known(p, from, to) : NULL;
    range asked = {0};
    if (r) {
        p->remembered++;
        asked = *r;
    } else PACE_TRY(ask(&asked, p, from, to));
    if (asked.on_device && to > asked.to)
        return pace_fail(PACE_E_USAGE, "%zu bytes at %p reach beyond their device memory, which has %zu from there",
                         bytes, at, (size_t)(asked.to - from));
    *on_device = asked.on_device;
    return PACE_OK;
}

void pace_pointers_forget(pace_pointers *p, const void *at) {
    if (!at) p->ranges.count = 0;
    else if (p->ranges.count) remove_overlaps(p, (uintptr_t)at, (uintptr_t)at + 1);
}

void pace_pointers_count(const pace_pointers *p, uint64_t *queries, uint64_t *remembered) {
    *queries = p ? p->queries : 0;
    *remembered = p ? p->remembered : 0;
}
