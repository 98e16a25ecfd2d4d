#include "source/jobs/job_lines.h"
#include "base/decimal.h"
#include "base/each_cpu.h"
#include "base/intern.h"

#include <stdio.h>
#include <string.h>

void pace_job_block_clear(pace_job_block *block) {
    pace_jobs_clear(&block->jobs);
    block->id_hashes.count = block->rejects.count = block->scratch.count = 0;
    block->lines = 0;
}

void pace_job_block_free(pace_job_block *block) {
    pace_jobs_free(&block->jobs);
    PACE_VEC_FREE(&block->id_hashes, &block->rejects, &block->scratch);
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

static pace_job_text trimmed(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (pace_job_text){at, (size_t)(end - at)};
}

/* The cell at `at`; returns the place of the comma or the end behind it, or NULL when a quote is left open. */
static const char *take_text(pace_job_text *out, pace_job_block *block, const char *at, const char *end) {
    if (at < end && *at == '"') {
        at = unquote(out, block, at, end);
        return at ? cell_end(at, end) : NULL;
    }
    const char *stop = cell_end(at, end);
    *out = trimmed(at, stop);
    return stop;
}

/* Nothing, or the words that tables write for it. */
static bool is_nothing(pace_job_text text) {
    static const char *const words[] = {"", "nan", "NaN", "NA", "null", "NULL", "None", "\\N"};
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (strlen(words[i]) == text.length && memcmp(words[i], text.data, text.length) == 0) return true;
    return false;
}

static void refuse_number(pace_job_row *row, int role, pace_job_text text) {
    if (role >= PACE_JOB_REQUIRED && is_nothing(text)) return; /* not known */
    if (*row->fault.why) return;
    snprintf(row->fault.why, sizeof row->fault.why, "%s: expected a number, found \"%.*s\"",
             pace_job_column_names[role], (int)(text.length < 40 ? text.length : 40), text.data);
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
        if (text.length == 0 || pace_decimal_read(&value, text.data, text_end) != text_end) {
            refuse_number(row, role, text);
            return stop;
        }
    }
    set_number(row, block, role, value * factor);
    return stop;
}

/* ---- commas ---- */

enum { TOGETHER = 64, AT_ONCE = 8 };

/* A bit for each of 64 bytes that is `byte`. */
static inline uint64_t places_of(char byte, const char *at) {
    uint64_t places = 0;
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi8(byte);
    for (int i = 0; i < TOGETHER; i += 16) {
        __m128i here = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + i)), wanted);
        places |= (uint64_t)(unsigned)_mm_movemask_epi8(here) << i;
    }
#else
    for (int i = 0; i < TOGETHER; i++) places |= (uint64_t)(at[i] == byte) << i;
#endif
    return places;
}

/* Where the cells of [text, text + length) end, when there are `count` and none is quoted. Places are written eight at
 * a time: how many there are is not guessed. */
PACE_FOR_EACH_CPU
static bool find_stops(uint32_t *stops, size_t count, const char *text, size_t length) {
    size_t found = 0;
    for (size_t base = 0; base < length; base += TOGETHER) {
        uint64_t within = length - base < TOGETHER ? (UINT64_C(1) << (length - base)) - 1 : UINT64_MAX;
        uint64_t commas = places_of(',', text + base) & within;
        if (PACE_UNLIKELY(places_of('"', text + base) & within)) return false;
        size_t here = (size_t)__builtin_popcountll(commas);
        if (PACE_UNLIKELY(found + here >= count)) return false;
        for (size_t i = 0; i < here; i += AT_ONCE)
            for (size_t k = 0; k < AT_ONCE; k++, commas &= commas - 1)
                stops[found + i + k] = (uint32_t)(base + (size_t)__builtin_ctzll(commas | UINT64_C(1) << 63));
        found += here;
    }
    stops[found] = (uint32_t)length;
    return found + 1 == count;
}

/* ---- rows ---- */

static pace_status reject(pace_job_block *block, const pace_job_reject *fault) {
    return PACE_PUSH(&block->rejects, *fault);
}

/* As it is usually written, else however it may be. */
static bool find_architecture(pace_job_architecture *out, pace_job_text name) {
    for (int i = 0; i < PACE_JOB_ARCHITECTURES; i++) {
        const char *usual = pace_job_architecture_names[i];
        if (name.length == strlen(usual) && memcmp(usual, name.data, name.length) == 0) {
            *out = (pace_job_architecture)i;
            return true;
        }
    }
    return pace_job_architecture_find(out, name.data, name.length);
}

pace_status pace_job_block_add(pace_job_block *block, const pace_job_limits *limits, pace_job_row *row) {
    char *why = row->fault.why;
    size_t size = sizeof row->fault.why;
    pace_job_text id = row->texts[0], name = row->texts[PACE_JOB_ARCHITECTURE - PACE_JOB_ID];
    pace_job_architecture architecture = PACE_JOB_1W1G;
    if (!*why && id.length == 0) snprintf(why, size, "job: expected a name, found nothing");
    if (!*why && memchr(id.data, '\0', id.length)) snprintf(why, size, "job: a NUL byte: expected text");
    if (!*why && !find_architecture(&architecture, name))
        snprintf(why, size,
                 "architecture: expected 1w1g, 1wng, ps_worker, allreduce_local, allreduce_cluster or pearl, found "
                 "\"%.*s\"",
                 (int)(name.length < 40 ? name.length : 40), name.data ? name.data : "");
    if (*why || !pace_job_check(why, size, limits, architecture, row->values)) return reject(block, &row->fault);
    PACE_TRY(PACE_PUSH(&block->id_hashes, pace_hash(id.data, id.length)));
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

/* A row of as many cells as the header has, none of them quoted; false for any other, of which nothing was taken. Where
 * a cell begins does not depend on how the one before it is read, so the processor reads several at a time. */
static bool parse_plain_row(pace_job_row *row, pace_job_block *block, const pace_job_layout *layout, const char *at,
                            const char *end) {
    uint32_t stops[PACE_JOB_MOST_CELLS + AT_ONCE], from = 0;
    if (end - at > UINT32_MAX || !find_stops(stops, layout->count, at, (size_t)(end - at))) return false;
    for (size_t column = 0; column < layout->count; from = stops[column++] + 1) {
        int role = layout->role[column];
        const char *cell = at + from, *stop = at + stops[column];
        double value;
        if (role >= PACE_JOB_COLUMNS) {
            row->texts[role - PACE_JOB_ID] = trimmed(cell, stop);
        } else if (role >= 0) {
            if (pace_decimal_cell(&value, stop, stops[column] - from))
                set_number(row, block, role, value * layout->factor[column]);
            else take_number(row, block, role, layout->factor[column], cell, stop);
        }
    }
    return true;
}

pace_status pace_job_block_parse(pace_job_block *block, const pace_job_layout *layout, const pace_job_limits *limits,
                                 const char *text, const char *end) {
    pace_job_block_clear(block);
    pace_job_row row;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text)), *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        if (stop > text && stop[-1] == '\r') stop--;
        if (stop > text) { /* an empty line is no row */
            pace_job_values_clear(row.values);
            memset(row.texts, 0, sizeof row.texts);
            row.fault.line = block->lines;
            row.fault.text = text;
            row.fault.length = (size_t)(stop - text);
            row.fault.why[0] = '\0';
            block->scratch.count = 0;
            PACE_TRY(pace_grow(&block->scratch.items, &block->scratch.capacity, row.fault.length, 1));
            if (!parse_plain_row(&row, block, layout, text, stop)) parse_row(&row, block, layout, text, stop);
            PACE_TRY(pace_job_block_add(block, limits, &row));
        }
        block->lines++;
        text = next;
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
