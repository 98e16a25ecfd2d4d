#include "source/jobs/job_lines.h"
#include "base/decimal.h"
#include "source/jobs/job_cells.h"
#include "source/jobs/job_ids.h"

#include <stdio.h>
#include <string.h>

void pace_job_block_clear(pace_job_block *block) {
    pace_jobs_clear(&block->jobs);
    block->id_keys.count = block->rejects.count = block->scratch.count = 0;
    block->lines = 0;
}

void pace_job_block_free(pace_job_block *block) {
    pace_jobs_free(&block->jobs);
    PACE_VEC_FREE(&block->id_keys, &block->rejects, &block->scratch);
}

/* ---- cells ---- */

/* The text of a quoted cell goes to the scratch, which does not move within a row: a row is never longer than its line,
 * and room for that was made. Returns the place behind the closing quote, or NULL. */
static const char *unquote(pace_job_text *out, pace_job_block *block, const char *at, const char *end) {
    char *start = block->scratch.items + block->scratch.count, *to = start;
    for (at++; at < end; at++) {
        if (*at == '"') {
            if (at + 1 == end || at[1] != '"') {
                *out = (pace_job_text){start, (size_t)(to - start)};
                block->scratch.count += out->length;
                return at + 1;
            }
            at++;
        }
        *to++ = *at;
    }
    return NULL;
}

static const char *cell_end(const char *at, const char *end) {
    while (at < end && *at != ',') at++;
    return at;
}

/* The cell at `at`; returns the place of the comma or the end behind it, or NULL when a quote is left open. */
static const char *take_text(pace_job_text *out, pace_job_block *block, const char *at, const char *end) {
    if (at < end && *at == '"') {
        at = unquote(out, block, at, end);
        return at ? cell_end(at, end) : NULL;
    }
    const char *stop = cell_end(at, end);
    *out = pace_job_trimmed(at, stop);
    return stop;
}

static void refuse_number(pace_job_row *row, int role, pace_job_text text) {
    if (role >= PACE_JOB_REQUIRED && pace_job_is_nothing(text)) return; /* not known */
    if (*row->fault.why) return;
    snprintf(row->fault.why, sizeof row->fault.why, "%s: expected a number, found \"%.*s\"",
             pace_job_column_names[role], (int)(text.length < 40 ? text.length : 40), text.data);
}

/* Counts with their thousands apart, and any number of several groups: one group alone may be a fraction. */
static bool has_thousands(double *out, int role, pace_job_text text) {
    const double several = 1e6;
    bool counts = role == PACE_JOB_CNODES || role == PACE_JOB_BATCH_SIZE;
    return pace_thousands_parse(out, text.data, text.length) && (counts || *out >= several);
}

static inline void set_number(pace_job_row *row, pace_job_block *block, int role, double value) {
    row->values[role] = value;
    if (value > block->greatest[role]) block->greatest[role] = value;
}

static const char *take_number(pace_job_row *row, pace_job_block *block, int role, double factor, const char *at,
                               const char *end) {
    double value;
    const char *stop = pace_decimal_read_short(&value, at);
    if (PACE_UNLIKELY(!stop || (*stop != ',' && stop != end))) stop = pace_decimal_read_padded(&value, at, end);
    if (PACE_UNLIKELY(!stop || (stop < end && *stop != ','))) { /* blanks, quotes, nothing, or no number */
        pace_job_text text;
        if (!(stop = take_text(&text, block, at, end))) return NULL;
        const char *text_end = text.data + text.length;
        bool good = text.length > 0 && pace_decimal_read(&value, text.data, text_end) == text_end;
        if (!good && !has_thousands(&value, role, text)) {
            refuse_number(row, role, text);
            return stop;
        }
    }
    set_number(row, block, role, value * factor);
    return stop;
}

/* ---- rows ---- */

pace_status pace_job_block_add(pace_job_block *block, const pace_job_limits *limits, pace_job_row *row) {
    char *why = row->fault.why;
    size_t size = sizeof row->fault.why;
    pace_job_text id = row->texts[0], name = row->texts[PACE_JOB_ARCHITECTURE - PACE_JOB_ID];
    pace_job_architecture architecture = PACE_JOB_1W1G;
    if (!*why && id.length == 0) snprintf(why, size, "job: expected a name, found nothing");
    if (!*why && memchr(id.data, '\0', id.length)) snprintf(why, size, "job: a NUL byte: expected text");
    if (!*why && !pace_job_find_architecture(&architecture, name))
        snprintf(why, size,
                 "architecture: expected 1w1g, 1wng, ps_worker, allreduce_local, allreduce_cluster or pearl, found "
                 "\"%.*s\"",
                 (int)(name.length < 40 ? name.length : 40), name.data ? name.data : "");
    if (*why || !pace_job_check(why, size, limits, architecture, row->values))
        return PACE_PUSH(&block->rejects, row->fault);
    PACE_TRY(PACE_PUSH(&block->id_keys, pace_job_id_key(id.data, id.length)));
    return pace_jobs_add(&block->jobs, id, row->texts[PACE_JOB_USER - PACE_JOB_ID], architecture, row->values,
                         row->fault.line);
}

/* [at, end) without its line break. */
static void parse_row(pace_job_row *row, pace_job_block *block, const pace_job_layout *layout, const char *at,
                      const char *end) {
    size_t column = 0;
    for (;; at++) {
        int role = layout->role[column];
        pace_job_text text;
        if (role >= 0 && role < PACE_JOB_COLUMNS) {
            at = take_number(row, block, role, layout->factor[column], at, end);
        } else {
            at = take_text(&text, block, at, end);
            if (at && role >= PACE_JOB_ID) row->texts[role - PACE_JOB_ID] = text;
        }
        if (!at) {
            snprintf(row->fault.why, sizeof row->fault.why, "a quote is left open on this line");
            return;
        }
        column++;
        if (at == end || column == layout->count) break;
    }
    if (at == end && column == layout->count) return;
    for (; at < end; at++) column += *at == ',';
    snprintf(row->fault.why, sizeof row->fault.why, "expected %zu cells as in the header, found %zu%s", layout->count,
             column, column < layout->count ? ": cut short?" : "");
}

/* Adds the row that `text` begins with, whatever it is; returns the place behind it. */
static pace_status add_row(const char **text, pace_job_block *block, const pace_job_layout *layout,
                           const pace_job_limits *limits, const char *end) {
    pace_job_row row;
    const char *at = *text, *stop = memchr(at, '\n', (size_t)(end - at));
    *text = stop ? stop + 1 : end;
    if (!stop) stop = end;
    if (stop > at && stop[-1] == '\r') stop--;
    if (stop > at) { /* an empty line is no row */
        pace_job_values_clear(row.values);
        memset(row.texts, 0, sizeof row.texts);
        row.fault.line = block->lines;
        row.fault.text = at;
        row.fault.length = (size_t)(stop - at);
        row.fault.why[0] = '\0';
        block->scratch.count = 0;
        PACE_TRY(pace_grow(&block->scratch.items, &block->scratch.capacity, row.fault.length, 1));
        parse_row(&row, block, layout, at, stop);
        PACE_TRY(pace_job_block_add(block, limits, &row));
    }
    block->lines++;
    return PACE_OK;
}

/* Rows are read many at a time; where one of them is unusual, one by one. */
pace_status pace_job_block_parse(pace_job_block *block, const pace_job_layout *layout, const pace_job_limits *limits,
                                 const char *text, const char *end) {
    pace_job_block_clear(block);
    while (text < end) {
        const char *begun = text;
        size_t rows;
        PACE_TRY(pace_job_block_add_plain(&rows, &text, block, layout, limits, end));
        if (text > begun) continue;
        for (size_t i = 0; text < end && i < (rows ? rows : 1); i++)
            PACE_TRY(add_row(&text, block, layout, limits, end));
    }
    return PACE_OK;
}

/* Names are read like texts, and each needs its own end. */
pace_status pace_job_split_names(pace_job_block *block, size_t *count, const char *text, const char *end) {
    size_t length = (size_t)(end - text), found = 0;
    char *names = pace_alloc(length + 2, 2), *to = names;
    if (!names) return PACE_E_MEMORY;
    pace_status status = pace_grow(&block->scratch.items, &block->scratch.capacity, length + 1, 1);
    for (const char *at = text; status == PACE_OK; at++) {
        pace_job_text name;
        block->scratch.count = 0;
        at = take_text(&name, block, at, end);
        if (!at) {
            status = pace_fail(PACE_E_INPUT, "a quote is left open in the header");
            break;
        }
        memcpy(to, name.data, name.length);
        to += name.length;
        *to++ = '\0';
        found++;
        if (at == end) break;
    }
    block->scratch.count = 0;
    for (char *at = names; status == PACE_OK && at < to; at++) status = PACE_PUSH(&block->scratch, *at);
    pace_free(names);
    if (status == PACE_OK) *count = found;
    return status;
}
