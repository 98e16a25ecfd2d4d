/* Tables of StragglerAnalysis (ByteDance, trace-*.parquet written as CSV): its readme lists the columns. */
#include "source/pipelines/pipeline_rows.h"

#include "base/csv.h"
#include "base/text.h"
#include "source/traces/event_time.h"

#include <math.h>

enum { STEP, KIND, START, DURATION, RANK, REPLICA, STAGE, TENSOR, CHUNK, COLUMNS, NEEDED = RANK };

static const char *const names[COLUMNS] = {"step",    "optype", "start_ts", "duration", "rank",
                                           "dp_rank", "stage",  "tp_rank",  "mc"};

typedef struct {
    pace_csv csv;
    int column[COLUMNS];
    const char *path;
} reader;

bool pace_begins_pipeline_table(const char *path, const unsigned char *bytes, size_t length) {
    (void)path;
    size_t line = 0;
    while (line < length && bytes[line] != '\n') line++;
    const char *text = (const char *)bytes;
    return length && *text != '{' && *text != '[' && pace_span_holds(text, line, "optype") &&
           pace_span_holds(text, line, "start_ts") && pace_span_holds(text, line, "duration");
}

static pace_status find_columns(reader *r) {
    for (int i = 0; i < COLUMNS; i++) {
        r->column[i] = pace_csv_find(&r->csv, names[i]);
        if (i == CHUNK && r->column[i] < 0) r->column[i] = pace_csv_find(&r->csv, "model_chunk");
        if (i >= NEEDED || r->column[i] >= 0) continue;
        char instead[320];
        pace_csv_instead(instead, sizeof instead, &r->csv, names[i]);
        return pace_fail(PACE_E_INPUT, "%s: expected a column %s, found none%s", r->path, names[i], instead);
    }
    return PACE_OK;
}

static pace_status refuse(const reader *r, size_t row, int what, const char *expected) {
    return pace_fail(PACE_E_INPUT, "%s:%u: %s: expected %s, found \"%.60s\"", r->path, r->csv.lines.items[row],
                     names[what], expected, pace_csv_at(&r->csv, row, r->column[what]));
}

/* Writers of tables that hold empty cells write whole numbers with a point, and may write "nan" for those cells. */
static pace_status read_whole(int64_t *out, const reader *r, size_t row, int what, int64_t otherwise) {
    const char *cell = pace_csv_at(&r->csv, row, r->column[what]);
    double value;
    *out = otherwise;
    if (!*cell || pace_same_word(cell, "nan")) return PACE_OK;
    if (!pace_csv_number(&value, cell) || value != floor(value) || fabs(value) > 1e9)
        return refuse(r, row, what, "a whole number");
    *out = value < 0 ? otherwise : (int64_t)value;
    return PACE_OK;
}

static pace_status read_seconds(int64_t *out_ns, const reader *r, size_t row, int what) {
    double value;
    if (!pace_csv_number(&value, pace_csv_at(&r->csv, row, r->column[what])) || fabs(value) * 1e9 > PACE_FARTHEST_NS)
        return refuse(r, row, what, "seconds");
    *out_ns = (int64_t)llround(value * 1e9);
    return PACE_OK;
}

static pace_status read_row(pace_pipeline_rows *rows, const reader *r, size_t number) {
    pace_pipeline_row row;
    const char *kind = pace_csv_at(&r->csv, number, r->column[KIND]);
    if (!*kind) return refuse(r, number, KIND, "a kind of operation");
    PACE_TRY(read_whole(&row.step, r, number, STEP, 0));
    PACE_TRY(read_whole(&row.rank, r, number, RANK, 0));
    PACE_TRY(read_whole(&row.replica, r, number, REPLICA, 0));
    PACE_TRY(read_whole(&row.stage, r, number, STAGE, 0));
    PACE_TRY(read_whole(&row.tensor, r, number, TENSOR, 0));
    PACE_TRY(read_whole(&row.chunk, r, number, CHUNK, -1));
    PACE_TRY(read_seconds(&row.start_ns, r, number, START));
    PACE_TRY(read_seconds(&row.duration_ns, r, number, DURATION));
    if (row.duration_ns < 0 || !pace_time_is_sane(row.start_ns, row.duration_ns))
        return refuse(r, number, DURATION, "0 or more seconds, less than 100 days");
    if (row.stage >= rows->stages) rows->stages = row.stage + 1;
    if (row.chunk >= rows->chunks) rows->chunks = row.chunk + 1;
    PACE_TRY(pace_names_add(&row.kind, &rows->names, kind, strlen(kind)));
    return PACE_PUSH(&rows->rows, row);
}

static pace_status read_rows(pace_pipeline_rows *rows, reader *r) {
    PACE_TRY(find_columns(r));
    for (size_t i = 0; i < r->csv.rows; i++) PACE_TRY(read_row(rows, r, i));
    if (r->column[RANK] < 0) pace_pipeline_rows_number(rows);
    return PACE_OK;
}

pace_status pace_pipeline_table_read(pace_step_list *out, const char *path, pace_read_notes *notes,
                                     pace_progress progress) {
    (void)progress;
    reader r = {.path = path};
    pace_pipeline_rows rows;
    *notes = (pace_read_notes){0};
    PACE_TRY(pace_pipeline_rows_init(&rows));
    pace_status status = pace_csv_open(&r.csv, path);
    if (status == PACE_OK) {
        notes->bytes = r.csv.text.count;
        status = read_rows(&rows, &r);
        pace_csv_free(&r.csv);
    }
    if (status == PACE_OK) status = pace_pipeline_steps_make(out, &rows, path, notes);
    pace_pipeline_rows_free(&rows);
    return status;
}
