#include "schedule/flows_due.h"

static void put(pace_due_times *due, size_t i, pace_due entry) {
    due->heap.items[i] = entry;
    due->place[entry.number] = (uint32_t)i + 1;
}

static size_t rise(pace_due_times *due, size_t i, double at_ns) {
    const pace_due *heap = due->heap.items;
    for (; i && heap[(i - 1) / 2].at_ns > at_ns; i = (i - 1) / 2) put(due, i, heap[(i - 1) / 2]);
    return i;
}

static size_t sink(pace_due_times *due, size_t i, double at_ns) {
    const pace_due *heap = due->heap.items;
    for (size_t child; (child = 2 * i + 1) < due->heap.count; i = child) {
        if (child + 1 < due->heap.count && heap[child + 1].at_ns < heap[child].at_ns) child++;
        if (heap[child].at_ns >= at_ns) break;
        put(due, i, heap[child]);
    }
    return i;
}

pace_status pace_due_set(pace_due_times *due, uint32_t number, double at_ns) {
    const pace_due entry = {at_ns, number};
    if (!due->place[number]) {
        PACE_TRY(PACE_PUSH(&due->heap, entry));
        due->place[number] = (uint32_t)due->heap.count;
    }
    put(due, sink(due, rise(due, due->place[number] - 1, at_ns), at_ns), entry);
    return PACE_OK;
}

void pace_due_drop(pace_due_times *due, uint32_t number) {
    size_t i = due->place[number] - 1;
    const pace_due last = due->heap.items[--due->heap.count];
    due->place[number] = 0;
    if (i < due->heap.count) put(due, sink(due, rise(due, i, last.at_ns), last.at_ns), last);
}
