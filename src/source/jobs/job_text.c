/* Job tables of comma-separated values: text comes in rounds, is cut into blocks at line ends, and parsed by all
 * threads, while the next round's is read. */
#include "source/jobs/job_rounds.h"
#include "base/csv_records.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_BYTES = 32 << 10, /* most tables of a few rows are no larger */
    BLOCK_BYTES = 128 << 10,
    PADDING = PACE_JOB_PADDING /* zeros before and behind the text */
};

typedef struct {
    pace_job_rounds *rounds;
    pace_input *input;
    char *padded, *text;           /* text: behind the padding */
    char *other;                   /* padded as well: what is parsed while the text is read */
    size_t length, capacity, done; /* [done, length) was not parsed so far */
    bool over, begun;
    uint64_t left;  /* bytes of the stretch that were not read so far */
    char rest[256]; /* of the last row of a stream that broke off */
    size_t rest_length;
    const char **from; /* the blocks of this round: [from[i], from[i + 1]) */
} reader;

/* A stream that breaks off is read as far as it goes. Its last row has lost an unknown part, so it is put aside. */
static pace_status break_off(reader *r) {
    size_t start = r->length;
    while (start > r->done && r->text[start - 1] != '\n') start--;
    r->rest_length = r->length - start < sizeof r->rest ? r->length - start : sizeof r->rest;
    memcpy(r->rest, r->text + start, r->rest_length);
    r->length = start;
    r->over = true;
    memset(r->text + start, 0, PADDING);
    return pace_warn(&r->rounds->reading->remarks, PACE_WARN_FILE_CUT_OFF, NULL, "%s; read as far as it goes",
                     pace_message());
}

static pace_status reject_rest(reader *r) {
    if (r->rest_length == 0) return PACE_OK;
    pace_job_reject fault = {.line = r->rounds->line, .text = r->rest, .length = r->rest_length};
    snprintf(fault.why, sizeof fault.why, "the file breaks off in this row");
    r->rounds->reading->rows++;
    return pace_job_rounds_reject(r->rounds, &fault);
}

static pace_status read_on(reader *r) {
    while (!r->over && r->length < r->capacity) {
        size_t got, room = r->capacity - r->length;
        pace_status status = pace_input_read(r->input, r->text + r->length, room < r->left ? room : r->left, &got);
        if (status == PACE_E_INPUT && r->begun) return break_off(r);
        PACE_TRY(status);
        r->begun = true;
        r->length += got;
        r->left -= got;
        r->over = got == 0 || r->left == 0;
    }
    memset(r->text + r->length, 0, PADDING);
    return PACE_OK;
}

static pace_status resize(char **padded, size_t capacity) {
    char *resized = pace_resize(*padded, PADDING + capacity + PADDING, 1);
    if (!resized) return PACE_E_MEMORY;
    memset(resized, 0, PADDING);
    *padded = resized;
    return PACE_OK;
}

static pace_status make_room(reader *r, size_t capacity) {
    PACE_TRY(resize(&r->padded, capacity));
    PACE_TRY(resize(&r->other, capacity));
    r->text = r->padded + PADDING;
    r->capacity = capacity;
    return PACE_OK;
}

static pace_status read_first(reader *r) {
    PACE_TRY(make_room(r, FIRST_BYTES));
    PACE_TRY(read_on(r));
    if (r->over) return PACE_OK;
    PACE_TRY(make_room(r, r->rounds->block_count * BLOCK_BYTES));
    return read_on(r);
}

static pace_status refill(void *context) {
    reader *r = context;
    char *parsed = r->padded;
    memcpy(r->other + PADDING, r->text + r->done, r->length - r->done);
    r->padded = r->other;
    r->other = parsed;
    r->text = r->padded + PADDING;
    r->length -= r->done;
    r->done = 0;
    return read_on(r);
}

/* Cuts [0, length) into blocks of whole lines. */
static pace_status cut(reader *r) {
    const char *at = r->text, *end = r->text + r->length;
    size_t used = 0;
    if (!r->over) {
        while (end > at && end[-1] != '\n') end--;
        if (end == at)
            return pace_fail(PACE_E_LIMIT, "%s:%llu: the line is longer than %zu bytes", r->rounds->name,
                             (unsigned long long)r->rounds->line, r->capacity);
    }
    for (; at < end; used++) {
        r->from[used] = at;
        const char *stop =
            end - at > BLOCK_BYTES ? memchr(at + BLOCK_BYTES, '\n', (size_t)(end - at - BLOCK_BYTES)) : NULL;
        at = stop ? stop + 1 : end;
    }
    r->from[used] = end;
    r->rounds->used = used;
    r->done = (size_t)(end - r->text);
    return PACE_OK;
}

static pace_status parse_block(void *context, pace_job_block *block, size_t i) {
    const reader *r = context;
    return pace_job_block_parse(block, &r->rounds->layout, &r->rounds->limits, r->from[i], r->from[i + 1]);
}

/* What is to be said of a file's columns is said by whoever reads its first row. */
static pace_status find_layout(pace_job_rounds *rounds, const char *const *names, size_t count) {
    pace_warnings unsaid = {0};
    bool first = !rounds->stretch || rounds->stretch->begin == 0;
    pace_status status =
        pace_job_layout_find(&rounds->layout, first ? &rounds->reading->remarks : &unsaid, rounds->options->catalog,
                             rounds->name, names, count, rounds->options->columns);
    pace_warnings_free(&unsaid);
    return status;
}

/* The header: the first line that is neither empty nor a comment. */
static pace_status read_header(reader *r) {
    pace_job_rounds *rounds = r->rounds;
    const char *at = r->text, *end = r->text + r->length, *stop;
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3; /* a byte order mark */
    for (;; at = stop + 1, rounds->line++) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if (at == end) return pace_fail(PACE_E_INPUT, "%s: empty: expected a line of column names", rounds->name);
        if (*at != '#' && *at != '\n' && *at != '\r') break;
        if (stop == end)
            return pace_fail(PACE_E_INPUT, "%s: expected a line of column names, found none", rounds->name);
    }
    if (pace_csv_is_records(at, (size_t)(end - at)))
        return pace_fail(
            PACE_E_INPUT,
            "%s: expected a table of jobs in CSV, or records as schedulers write them, found records of no "
            "form that is known",
            rounds->name);
    size_t count;
    const char *names[PACE_JOB_MOST_CELLS];
    pace_job_block *block = &rounds->blocks[0];
    pace_status status = pace_job_split_names(block, &count, at, stop > at && stop[-1] == '\r' ? stop - 1 : stop);
    if (status != PACE_OK) return pace_fail_in(status, rounds->name);
    const char *name = block->scratch.items;
    for (size_t i = 0; i < count && i < PACE_JOB_MOST_CELLS; i++, name += strlen(name) + 1) names[i] = name;
    rounds->line++;
    r->done = (size_t)((stop < end ? stop + 1 : end) - r->text);
    return find_layout(rounds, names, count);
}

/* From the text of a file's beginning to that of the stretch: what lies behind its end is cut off, or read later. */
static pace_status go_to_stretch(reader *r) {
    const pace_job_stretch *stretch = r->rounds->stretch;
    uint64_t at = r->length; /* of the file was read */
    if (stretch->begin > r->done) {
        PACE_TRY(pace_input_seek(r->input, stretch->begin));
        r->rounds->line = stretch->line;
        r->length = r->done = 0;
        at = stretch->begin;
        r->over = false;
    } else if (at > stretch->end) {
        r->length = stretch->end > r->done ? (size_t)stretch->end : r->done;
        at = stretch->end;
    }
    r->left = stretch->end > at ? stretch->end - at : 0;
    r->over = r->over || r->left == 0;
    return PACE_OK;
}

static void tell(const reader *r) {
    const pace_job_reader_options *options = r->rounds->options;
    pace_progress_tell(options->progress, r->rounds->name, pace_input_stored_bytes(r->input),
                       pace_input_stored_size(r->input));
}

/* Of such blocks as its first the file seems to hold, judged by its first round. */
static double expected_blocks(const reader *r) {
    double size = (double)pace_input_stored_size(r->input), read = (double)pace_input_stored_bytes(r->input);
    if (r->rounds->options->repeats || r->rounds->stretch || !(size > read)) return 0;
    return (double)r->length / (double)(r->from[1] - r->from[0]) * size / read;
}

static pace_status read_rounds(reader *r) {
    bool first = true;
    r->rounds->line = 1;
    PACE_TRY(read_first(r));
    PACE_TRY(read_header(r));
    if (r->rounds->stretch && !r->rounds->stretch->whole) PACE_TRY(go_to_stretch(r));
    PACE_TRY(refill(r));
    while (r->length > 0) {
        PACE_TRY(cut(r));
        r->rounds->expected_blocks = first ? expected_blocks(r) : 0;
        first = false;
        PACE_TRY(pace_job_rounds_run(r->rounds, parse_block, refill, r));
        tell(r);
    }
    return reject_rest(r);
}

pace_status pace_job_text_read(pace_job_rounds *rounds, pace_input *input) {
    reader r = {.rounds = rounds, .input = input, .left = UINT64_MAX};
    r.from = pace_alloc(rounds->block_count + 2, sizeof *r.from);
    pace_status status = r.from ? read_rounds(&r) : PACE_E_MEMORY;
    PACE_FREE(r.padded, r.other, r.from);
    const pace_job_stretch *stretch = rounds->stretch;
    if (status != PACE_OK || (stretch && stretch->begin > 0)) return status; /* counted where the file begins */
    return PACE_PUSH(&rounds->reading->bytes,
                     stretch && !stretch->whole ? stretch->size : pace_input_stored_bytes(input));
}
