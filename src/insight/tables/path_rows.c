#include "insight/tables/path_rows.h"

#include "base/order.h"

#include <stdlib.h>

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

/* Names are numbers in each rank and texts between them: pieces are merged by number, the few left by text. */
static size_t gather(pace_path_row *rows, const pace_critical *critical, const pace_analysis *analysis) {
    for (size_t i = 0; i < critical->pieces.count; i++) {
        const pace_path_piece *piece = &critical->pieces.items[i];
        const pace_step *step = &analysis->ranks.items[piece->rank]->step;
        rows[i] = (pace_path_row){.name = name_of_piece(analysis, piece),
                                  .rank = piece->rank,
                                  .number = piece->task == PACE_NO_TASK ? 0 : step->name[piece->task],
                                  .resource = piece->resource,
                                  .waiting = piece->waiting,
                                  .time_ns = pace_piece_end(piece) - piece->start_ns,
                                  .count = 1};
    }
    size_t kept = merge(rows, critical->pieces.count, by_number);
    kept = merge(rows, kept, by_text);
    if (kept) qsort(rows, kept, sizeof *rows, by_time);
    return kept;
}

pace_status pace_path_rows_of(pace_path_rows *out, const pace_critical *critical, const pace_analysis *analysis) {
    pace_path_row *rows = pace_alloc(critical->pieces.count, sizeof *rows);
    if (!rows) return PACE_E_MEMORY;
    *out = (pace_path_rows){rows, gather(rows, critical, analysis)};
    return PACE_OK;
}

void pace_path_rows_free(pace_path_rows *rows) { pace_free(rows->items); }

int64_t pace_path_visits(const pace_critical *critical, uint32_t rank) {
    int64_t visits = 0;
    for (size_t i = 0; i < critical->pieces.count; i++)
        visits += critical->pieces.items[i].rank == rank && (i == 0 || critical->pieces.items[i - 1].rank != rank);
    return visits;
}
