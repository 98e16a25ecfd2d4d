#include "insight/tables/path_rows.h"

#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* The name of a piece's task; "" = nothing recorded. */
static const char *name_of_piece(const pace_analysis *analysis, const pace_path_piece *piece) {
    return piece->task == PACE_NO_TASK ? "" : pace_step_name(&analysis->ranks.items[piece->rank]->step, piece->task);
}

static int by_kind(const pace_path_row *a, const pace_path_row *b) {
    if (a->resource != b->resource) return a->resource < b->resource ? -1 : 1;
    return (int)a->waiting - (int)b->waiting;
}

PACE_ORDER(by_number, pace_path_row, PACE_UP(rank) PACE_UP(number) PACE_THEN(by_kind))

PACE_ORDER(by_text, pace_path_row, PACE_TEXT(name) PACE_THEN(by_kind))

PACE_ORDER(by_time, pace_path_row, PACE_DOWN(time_ns) PACE_THEN(by_text))

static size_t merge(pace_path_row *rows, size_t count, int (*order)(const void *, const void *)) {
    size_t kept = 0;
    if (count) qsort(rows, count, sizeof *rows, order);
    for (size_t i = 0; i < count; i++) {
        if (kept && order(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].time_ns += rows[i].time_ns;
            rows[kept - 1].count += rows[i].count;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static pace_path_row row_of(const pace_analysis *analysis, const pace_path_piece *piece) {
    const pace_step *step = &analysis->ranks.items[piece->rank]->step;
    return (pace_path_row){.name = name_of_piece(analysis, piece),
                           .rank = piece->rank,
                           .number = piece->task == PACE_NO_TASK ? 0 : step->name[piece->task],
                           .resource = piece->resource,
                           .waiting = piece->waiting,
                           .time_ns = pace_piece_end(piece) - piece->start_ns,
                           .count = 1};
}

enum { RECENT = 1024 };

/* Where a row of that kind may stand among the recent ones. */
static size_t slot_of(const pace_path_row *row) {
    return (row->number * 32 + row->rank * 7 + row->resource * 2 + row->waiting) % RECENT;
}

/* Adds a piece to the row of its kind that was added last, if that is still known. */
static bool add_to_recent(pace_path_row *rows, const uint32_t *recent, const pace_path_row *piece) {
    pace_path_row *row = recent[slot_of(piece)] ? &rows[recent[slot_of(piece)] - 1] : NULL;
    if (!row || by_number(row, piece) != 0) return false;
    row->time_ns += piece->time_ns;
    row->count += piece->count;
    return true;
}

/* Names are numbers in each rank and texts between them: pieces are merged by number, the few left by text. There are
 * far more pieces than rows, so they are merged whenever the room is full, which grows where that leaves half. */
pace_status pace_path_rows_of(pace_path_rows *out, const pace_critical *critical, const pace_analysis *analysis) {
    size_t room = 4096, count = 0;
    uint32_t recent[RECENT] = {0};
    pace_path_row *rows = pace_alloc(room, sizeof *rows);
    pace_status status = rows ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < critical->pieces.count; i++) {
        const pace_path_row row = row_of(analysis, &critical->pieces.items[i]);
        if (add_to_recent(rows, recent, &row)) continue;
        if (count == room) {
            count = merge(rows, count, by_number);
            memset(recent, 0, sizeof recent);
            if (count > room / 2) status = pace_grow(&rows, &room, room + 1, sizeof *rows);
        }
        if (status != PACE_OK) break;
        rows[count++] = row;
        recent[slot_of(&row)] = (uint32_t)count;
    }
    if (status == PACE_OK) count = merge(rows, count, by_number);
    if (status == PACE_OK) count = merge(rows, count, by_text);
    if (status == PACE_OK && count) qsort(rows, count, sizeof *rows, by_time);
    return PACE_GIVE(out, ((pace_path_rows){rows, count}), status, pace_free(rows));
}

void pace_path_rows_free(pace_path_rows *rows) { pace_free(rows->items); }

int64_t pace_path_visits(const pace_critical *critical, uint32_t rank) {
    int64_t visits = 0;
    for (size_t i = 0; i < critical->pieces.count; i++)
        visits += critical->pieces.items[i].rank == rank && (i == 0 || critical->pieces.items[i - 1].rank != rank);
    return visits;
}
