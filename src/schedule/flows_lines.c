#include "schedule/flows_lines.h"

void pace_lines_init(pace_lines *l) { *l = (pace_lines){.next_ns = INFINITY, .next_line = PACE_LINES}; }

void pace_lines_free(pace_lines *l) {
    for (int i = 0; i < PACE_LINES; i++) PACE_VEC_FREE(&l->lines[i].due);
    PACE_VEC_FREE(&l->heap);
}

/* The line whose last comes next before it: so a line keeps to one latency. */
static int line_for(const pace_lines *l, double at_ns) {
    int best = PACE_LINES, empty = PACE_LINES;
    double latest = -INFINITY;
    for (int i = 0; i < PACE_LINES; i++) {
        size_t count = l->lines[i].due.count;
        if (!count) {
            empty = i;
            continue;
        }
        double last_ns = l->lines[i].due.items[count - 1].at_ns;
        if (last_ns > at_ns || last_ns <= latest) continue;
        latest = last_ns;
        best = i;
    }
    return best < PACE_LINES ? best : empty;
}

static pace_status into_heap(pace_lines *l, pace_due entry) {
    PACE_TRY(PACE_PUSH(&l->heap, entry));
    pace_due *heap = l->heap.items;
    size_t i = l->heap.count - 1;
    for (; i && heap[(i - 1) / 2].at_ns > entry.at_ns; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = entry;
    return PACE_OK;
}

pace_status pace_lines_add(pace_lines *l, uint32_t number, double at_ns) {
    const pace_due entry = {at_ns, number};
    int line = line_for(l, at_ns);
    PACE_TRY(line < PACE_LINES ? PACE_PUSH(&l->lines[line].due, entry) : into_heap(l, entry));
    if (at_ns < l->next_ns) l->next_ns = at_ns, l->next_line = line;
    return PACE_OK;
}

static void find_next(pace_lines *l) {
    l->next_ns = l->heap.count ? l->heap.items[0].at_ns : (double)INFINITY;
    l->next_line = PACE_LINES;
    for (int i = 0; i < PACE_LINES; i++) {
        const pace_line *line = &l->lines[i];
        if (!line->due.count || line->due.items[line->first].at_ns >= l->next_ns) continue;
        l->next_ns = line->due.items[line->first].at_ns;
        l->next_line = i;
    }
}

static uint32_t out_of_heap(pace_lines *l) {
    pace_due *heap = l->heap.items;
    const pace_due last = heap[--l->heap.count];
    uint32_t number = heap[0].number;
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < l->heap.count; i = child) {
        if (child + 1 < l->heap.count && heap[child + 1].at_ns < heap[child].at_ns) child++;
        if (heap[child].at_ns >= last.at_ns) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return number;
}

/* A line that has run empty begins anew; one that never does moves up when more than half of it has been taken. */
static uint32_t out_of_line(pace_line *line) {
    uint32_t number = line->due.items[line->first++].number;
    if (line->first == line->due.count) {
        line->first = line->due.count = 0;
    } else if (line->first == line->due.capacity / 2 + 1) {
        line->due.count -= line->first;
        for (size_t i = 0; i < line->due.count; i++) line->due.items[i] = line->due.items[line->first + i];
        line->first = 0;
    }
    return number;
}

uint32_t pace_lines_take(pace_lines *l) {
    uint32_t number = l->next_line < PACE_LINES ? out_of_line(&l->lines[l->next_line]) : out_of_heap(l);
    find_next(l);
    return number;
}
