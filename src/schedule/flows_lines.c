#include "schedule/flows_lines.h"

void pace_lines_init(pace_lines *l) {
    *l = (pace_lines){.next_ns = INFINITY, .next_line = PACE_LINES};
    for (int i = 0; i <= PACE_LINES; i++) l->first_ns[i] = INFINITY;
    for (int i = 0; i < PACE_LINES; i++) l->last_ns[i] = -INFINITY;
}

void pace_lines_free(pace_lines *l) {
    for (int i = 0; i < PACE_LINES; i++) PACE_VEC_FREE(&l->lines[i].due);
    PACE_VEC_FREE(&l->heap);
}

static pace_status into_heap(pace_lines *l, pace_due entry) {
    PACE_TRY(PACE_PUSH(&l->heap, entry));
    pace_due *heap = l->heap.items;
    size_t i = l->heap.count - 1;
    for (; i && heap[(i - 1) / 2].at_ns > entry.at_ns; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = entry;
    l->first_ns[PACE_LINES] = heap[0].at_ns;
    return PACE_OK;
}

pace_status pace_lines_add_elsewhere(pace_lines *l, uint32_t number, double at_ns) {
    const pace_due entry = {at_ns, number};
    int line = PACE_LINES - 1;
    while (line >= 0 && l->lines[line].due.count) line--;
    if (line < 0) {
        line = PACE_LINES;
        PACE_TRY(into_heap(l, entry));
    } else {
        PACE_TRY(PACE_PUSH(&l->lines[line].due, entry));
        l->first_ns[line] = l->last_ns[line] = at_ns;
    }
    if (at_ns < l->next_ns) l->next_ns = at_ns, l->next_line = line;
    return PACE_OK;
}

uint32_t pace_lines_take_of_heap(pace_lines *l) {
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
    l->first_ns[PACE_LINES] = l->heap.count ? heap[0].at_ns : (double)INFINITY;
    return number;
}

void pace_line_move_up(pace_line *line) {
    line->due.count -= line->first;
    for (size_t i = 0; i < line->due.count; i++) line->due.items[i] = line->due.items[line->first + i];
    line->first = 0;
}
