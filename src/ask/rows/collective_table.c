#include "ask/rows/collective_table.h"
#include "base/decimal.h"
#include "base/input.h"
#include "base/pieces.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

enum { LARGEST_TABLE = 64 << 10 };

static const char first_line[] = "paceline-collective 1", built_in[] = "built-in";

typedef struct {
    const char *path;
    pace_tuned *out;
    int line, ranks;
} reading;

static pace_status wrong(const reading *r, const char *expected, const char *found) {
    return pace_fail(PACE_E_INPUT, "%s:%d: expected %s, found '%.60s'", r->path, r->line, expected, found);
}

/* Ends a piece where it stands, for words are borrowed from the text. */
static char *word_of(const reading *r, pace_piece piece) {
    char *word = r->out->text + (piece.at - r->out->text);
    word[piece.length] = '\0';
    return word;
}

/* "flat:32K", whose sizes begin behind those of the row before. */
static pace_status add_choice(const reading *r, pace_tuned_row *row, pace_piece choice) {
    const char *at = choice.at, *stop = choice.at + choice.length;
    pace_piece way, size;
    row->to_bytes = UINT64_MAX;
    bool named = pace_piece_cut(&way, &at, stop, ":") && way.length > 0;
    if (!named || (pace_piece_cut(&size, &at, stop, "") && !pace_piece_bytes(&row->to_bytes, size)))
        return wrong(r, "a way and a size, such as flat:32K", word_of(r, choice));
    if (row->to_bytes < row->from_bytes) return wrong(r, "sizes that grow", word_of(r, choice));
    row->best = (pace_tuned_way){word_of(r, way), "", PACE_ANY};
    row->own = (pace_tuned_way){built_in, "", PACE_ANY};
    row->first = r->out->sizes.count;
    PACE_TRY(PACE_PUSH(&r->out->rows, *row));
    row->from_bytes = row->to_bytes + 1;
    return PACE_OK;
}

/* "allreduce=flat:32K,copy". Other settings choose nothing by size. */
static pace_status read_item(const reading *r, char *line) {
    const char *at = line, *stop = line + strlen(line);
    pace_piece name, choice;
    pace_tuned_row row = {.nodes = 1, .ranks = r->ranks, .changes = true, .gain = NAN, .low = NAN, .high = NAN};
    if (!strchr(line, '=') || !pace_piece_cut(&name, &at, stop, "=")) return PACE_OK;
    if (!pace_collective_find(&row.collective, word_of(r, name))) return PACE_OK;
    if (!r->ranks) return wrong(r, "ranks and their number first", line);
    while (pace_piece_cut(&choice, &at, stop, ",")) PACE_TRY(add_choice(r, &row, choice));
    return PACE_OK;
}

/* The row of the ranks that are read, of a collective and a size. */
static pace_tuned_row *find_row(const reading *r, pace_collective collective, double bytes) {
    PACE_ITEMS (pace_tuned_row, row, &r->out->rows) {
        if (row->ranks == r->ranks && row->collective == collective && bytes >= (double)row->from_bytes &&
            bytes <= (double)row->to_bytes)
            return row;
    }
    return NULL;
}

static void count_in(pace_tuned_row *row, const pace_tuned_size *size) {
    double log_gain = row->count ? -log(1 - row->gain) * (double)row->count : 0;
    row->count++;
    row->gain = pace_tuned_saving(exp((log_gain + log(size->gain.median)) / (double)row->count));
}

/* "# measured allreduce 4096 flat 1.2e-06 1.4e-06"; other comments say nothing. */
static pace_status read_comment(const reading *r, char *line) {
    const char *at = line, *stop = line + strlen(line);
    pace_piece words[7];
    double bytes, best_s, own_s;
    pace_collective collective;
    int count = 0;
    if (!pace_starts(line, "# measured ")) return PACE_OK;
    while (count < 7 && pace_piece_cut(&words[count], &at, stop, " ")) count++;
    if (count != 7) return wrong(r, "# measured COLLECTIVE BYTES WAY SECONDS SECONDS", line);
    for (int i = 2; i < 7; i++) word_of(r, words[i]);
    bool read = pace_collective_find(&collective, words[2].at) && pace_number_parse(&bytes, words[3].at) &&
                pace_number_parse(&best_s, words[5].at) && pace_number_parse(&own_s, words[6].at);
    if (!read || !(best_s > 0) || !(own_s > 0)) return wrong(r, "a collective, a size and two times", words[2].at);
    pace_tuned_row *row = find_row(r, collective, bytes);
    if (!row || strcmp(row->best.algorithm, words[4].at) != 0) return PACE_OK; /* the table was changed by hand */
    pace_tuned_size size = {.bytes = bytes,
                            .own = row->own,
                            .best = row->best,
                            .own_s = {own_s, 0, PACE_RUNG_MEASURED},
                            .best_s = {best_s, 0, PACE_RUNG_MEASURED},
                            .gain = {own_s / best_s, 0, PACE_RUNG_MEASURED},
                            .changes = true};
    if (row->count == 0) row->first = r->out->sizes.count;
    if (row->first + row->count != r->out->sizes.count) return wrong(r, "measured sizes in order", words[2].at);
    count_in(row, &size);
    return PACE_PUSH(&r->out->sizes, size);
}

static pace_status read_ranks(reading *r, const char *number) {
    double ranks;
    if (!pace_number_parse(&ranks, number) || ranks < 2 || ranks > 1e6 || ranks != floor(ranks))
        return wrong(r, "a number of ranks", number);
    r->ranks = (int)ranks;
    return PACE_OK;
}

static pace_status read_line(reading *r, char *line) {
    if (r->line == 1) return strcmp(line, first_line) == 0 ? PACE_OK : wrong(r, first_line, line);
    if (r->line == 2) {
        if (!pace_starts(line, "machine ")) return wrong(r, "the machine", line);
        r->out->host = line + strlen("machine ");
        return PACE_OK;
    }
    if (*line == '#') return read_comment(r, line);
    return pace_starts(line, "ranks ") ? read_ranks(r, line + strlen("ranks ")) : read_item(r, line);
}

static pace_status read_lines(reading *r) {
    for (char *at = r->out->text, *next; at; at = next) {
        next = strchr(at, '\n');
        if (next) *next++ = '\0';
        at[strcspn(at, "\r")] = '\0';
        r->line++;
        PACE_TRY(read_line(r, at));
    }
    if (!r->out->host) return wrong(r, "the machine in line 2", "the end");
    return r->out->rows.count ? PACE_OK : wrong(r, "a choice, such as allreduce=flat:32K,copy", "the end");
}

pace_status pace_collective_table_read(pace_tuned *out, const char *path) {
    pace_input *input;
    size_t length;
    reading r = {.path = path, .out = out};
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = pace_input_read_all(&out->text, &length, input, LARGEST_TABLE);
    pace_input_free(input);
    if (status == PACE_E_LIMIT) /* what is as large is another file */
        status = pace_fail(PACE_E_INPUT, "%s: expected a table of choices, of at most %d bytes", path, LARGEST_TABLE);
    if (status == PACE_OK && strlen(out->text) != length)
        status = pace_fail(PACE_E_INPUT, "%s: expected a table of choices, found a byte of 0", path);
    return status == PACE_OK ? read_lines(&r) : status;
}
