#include "source/usage/usage_forms.h"

void pace_usage_refuse(pace_usage_stream *stream, uint64_t line, const char *why) {
    pace_usage_reading *r = stream->reading;
    if (r->refused++ == 0)
        pace_snprintf(r->reason, sizeof r->reason, "%.240s:%llu: %.240s", pace_input_name(stream->input),
                      (unsigned long long)line, why);
}

static pace_status read_row(pace_usage_stream *stream, const pace_usage_text *cells, uint64_t line) {
    pace_usage_reading *r = stream->reading;
    pace_usage_row row;
    char why[PACE_USAGE_WHY];
    r->rows++;
    row.line = line;
    switch (pace_usage_row_read(&row, why, &stream->binding, cells)) {
    case PACE_ROW_SKIPPED: r->skipped++; return PACE_OK;
    case PACE_ROW_REFUSED: pace_usage_refuse(stream, line, why); return PACE_OK;
    case PACE_ROW_TAKEN: break;
    }
    r->taken++;
    r->unitless += row.unitless;
    for (size_t i = 0; i < r->mapping->metric_count; i++)
        if (pace_usage_row_of_device(&row, &stream->binding, i, cells))
            PACE_TRY(stream->take(stream->context, r->mapping, &row));
    bool told = r->mapping->metric_count > 0 && r->mapping->metrics[0].device;
    return told ? PACE_OK : stream->take(stream->context, r->mapping, &row);
}

pace_status pace_usage_release(pace_usage_stream *stream) {
    pace_usage_text cells[PACE_USAGE_MOST_CELLS];
    uint64_t line;
    while (pace_usage_next_held(cells, &line, &stream->held, &stream->binding)) PACE_TRY(read_row(stream, cells, line));
    return PACE_OK;
}

pace_status pace_usage_deliver(pace_usage_stream *stream, const pace_usage_text *cells, uint64_t line) {
    pace_usage_binding *b = &stream->binding;
    bool either = false, kept = false;
    if (b->dates == PACE_DATES_UNSAID) {
        b->dates = stream->reading->dates_told = pace_usage_row_dates(&either, b, cells);
        if (b->dates != PACE_DATES_UNSAID) PACE_TRY(pace_usage_release(stream));
    }
    if (either) PACE_TRY(pace_usage_hold(&kept, &stream->held, b, cells, line));
    return kept ? PACE_OK : read_row(stream, cells, line);
}

pace_status pace_usage_broke_off(pace_usage_stream *stream, pace_status status, uint64_t line) {
    pace_usage_reading *r = stream->reading;
    if (status != PACE_E_INPUT || r->taken == 0) return status;
    pace_snprintf(r->cut_off, sizeof r->cut_off, "breaks off after row %llu: %.300s", (unsigned long long)line,
                  pace_message());
    return PACE_OK;
}
